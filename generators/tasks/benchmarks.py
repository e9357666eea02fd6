"""Task files of published benchmarks, as they are published: WebVoyager and Online-Mind2Web.

A file is recognised by its fields, and each row becomes the columns of a task file. A task that starts
on the origin of a known site is that site's; every other is `live`. The benchmark's own id stays with
the task as a parameter, and the website is the template, so that a sample is even over websites. Nothing
is guessed: a row that lacks something gives no task, and the reader says which and why.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum

from generators.tasks.files import BadRow, origin_of
from generators.tasks.site_templates import LIVE, SiteOffer


class FileFormat(StrEnum):
    """Whose columns the rows of a task file have."""

    STEPMILL = "stepmill"
    """Those of the `tasks` table; a row with a mistake refuses the file."""
    WEBVOYAGER = "webvoyager"
    """`web_name`, `id`, `ques` and `web`, as in `WebVoyager_data.jsonl`."""
    ONLINE_MIND2WEB = "online-mind2web"
    """`task_id`, `confirmed_task` or `task_description`, `website`, and where they are known
    `reference_length` and `level`, as in `Online_Mind2Web.json`."""


_GOALS = ("confirmed_task", "task_description")
_TAKEN = {
    FileFormat.WEBVOYAGER: frozenset({"web_name", "id", "ques", "web"}),
    FileFormat.ONLINE_MIND2WEB: frozenset(
        {"task_id", *_GOALS, "website", "reference_length", "level"}
    ),
}
_EASY, _MEDIUM = 5, 10
"""The longest references, in steps, of tasks that Online-Mind2Web calls easy and medium."""


def recognise(columns: Collection[str]) -> FileFormat:
    """Return the format whose fields these are."""
    if {"ques", "web"} <= set(columns):
        return FileFormat.WEBVOYAGER
    if "website" in columns and any(name in columns for name in _GOALS):
        return FileFormat.ONLINE_MIND2WEB
    return FileFormat.STEPMILL


def fields_left_out(row: Collection[str], kind: FileFormat) -> set[str]:
    """Return the fields of a benchmark's row that nothing is made of."""
    return set(row) - _TAKEN[kind]


def map_row(
    row: Mapping[str, object], kind: FileFormat, sites: Mapping[str, SiteOffer]
) -> dict[str, object]:
    """Return the columns of a task file that a benchmark's row gives.

    Raises:
        BadRow: a field is missing, or is no text.
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
    """Return the site of whose origin an address is; `live` if it is of none."""
    origin = origin_of(start)
    known = (one.name for one in sites.values() if not one.templates and one.origin == origin)
    return next(known, LIVE.name)
