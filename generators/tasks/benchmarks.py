"""Task files of published benchmarks, unchanged: WebVoyager and Online-Mind2Web.

A file is recognised by its fields, and each row becomes the columns of a task file. A task that starts on the origin
of a known site belongs to that site, every other task to `live`. The benchmark's own id becomes a parameter, and the
website becomes the template, so that samples are even over websites. A row that lacks a field is skipped and
reported.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum

from generators.tasks.files import BadRow, origin_of
from generators.tasks.site_offers import LIVE, SiteOffer


class FileFormat(StrEnum):
    """The format of a task file's rows."""

    STEPMILL = "stepmill"
    """The columns of the `tasks` table; any mistake rejects the file."""
    WEBVOYAGER = "webvoyager"
    """`web_name`, `id`, `ques` and `web`, as in `WebVoyager_data.jsonl`."""
    ONLINE_MIND2WEB = "online-mind2web"
    """`task_id`, `confirmed_task` or `task_description`, `website`, and if known `reference_length` and `level`, as
    in `Online_Mind2Web.json`."""
    HARBOR = "harbor"
    """A folder of Harbor's task directories, as `stepmill tasks export` writes them; any mistake rejects the folder."""


OWN_FORMATS = (FileFormat.STEPMILL, FileFormat.HARBOR)
"""Formats whose rows are those of the `tasks` table."""

_GOALS = ("confirmed_task", "task_description")
_TAKEN = {
    FileFormat.WEBVOYAGER: frozenset({"web_name", "id", "ques", "web"}),
    FileFormat.ONLINE_MIND2WEB: frozenset(
        {"task_id", *_GOALS, "website", "reference_length", "level"}
    ),
}
_EASY, _MEDIUM = 5, 10
"""Maximum reference length, in steps, of easy and of medium tasks of Online-Mind2Web."""


def recognise(columns: Collection[str]) -> FileFormat:
    """Return the format with these columns."""
    if {"ques", "web"} <= set(columns):
        return FileFormat.WEBVOYAGER
    if "website" in columns and any(name in columns for name in _GOALS):
        return FileFormat.ONLINE_MIND2WEB
    return FileFormat.STEPMILL


def fields_left_out(row: Collection[str], kind: FileFormat) -> set[str]:
    """Return the fields of a benchmark's row that are ignored."""
    return set(row) - _TAKEN[kind]


def map_row(
    row: Mapping[str, object], kind: FileFormat, sites: Mapping[str, SiteOffer]
) -> dict[str, object]:
    """Return a benchmark's row as columns of a task file.

    Raises:
        BadRow: a field is missing or not a text.
    """
    if kind is FileFormat.WEBVOYAGER:
        name, start = _text(row, "web_name"), _address(row, "web")
        own: dict[str, object] = {
            "instruction": _text(row, "ques"),
            "parameters": {"id": _text(row, "id")},
        }
    else:
        start = _address(row, "website")
        name, own = origin_of(start).partition("://")[2], _mind2web(row)
    site = _site_of(start, sites)
    label = f"{kind}/{name}"
    return {
        "site": site,
        "start_url": start,
        "template_id": label,
        "tags": [kind.value, name],
        **own,
    }


def _mind2web(row: Mapping[str, object]) -> dict[str, object]:
    goal = next((name for name in _GOALS if row.get(name)), _GOALS[0])
    length, level = row.get("reference_length"), row.get("level")
    parameters: dict[str, object] = {"id": _text(row, "task_id")}
    if length is not None:
        if not isinstance(length, int) or isinstance(length, bool) or length < 1:
            raise BadRow(f"reference_length = {length!r}: expected a number of steps, at least 1")
        parameters["reference_length"] = length
        level = level or ("easy" if length <= _EASY else "medium" if length <= _MEDIUM else "hard")
    return {"instruction": _text(row, goal), "parameters": parameters, "difficulty": level}


def _text(row: Mapping[str, object], field: str) -> str:
    value = row.get(field)
    if value is None or value == "":
        raise BadRow(f"{field} is missing")
    if not isinstance(value, str):
        raise BadRow(f"{field} is no text")
    return value


def _address(row: Mapping[str, object], field: str) -> str:
    text = _text(row, field)
    try:
        origin = origin_of(text)
    except ValueError as error:
        raise BadRow(f"{field} = {text!r}: {error}") from None
    if not origin.startswith(("http://", "https://")):
        raise BadRow(f"{field} = {text!r}: expected an http or https address")
    return text


def _site_of(start: str, sites: Mapping[str, SiteOffer]) -> str:
    """Return the site with the origin of a URL; `live` if no site has this origin."""
    origin = origin_of(start)
    known = (one.name for one in sites.values() if not one.templates and one.origin == origin)
    return next(known, LIVE.name)
