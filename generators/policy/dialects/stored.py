"""From a stored system prompt back to the dialect that wrote it.

A run's options are not stored with its episodes. Those on which the meaning of a reply depends show in
the reply's schema, in the convention of its points, in the size of its pictures and in the prompt's own
words; they are read from there, and proven by writing schema, size and words again.
"""

import contextlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from generators.policy.dialects import fara, holo, holo3, holotron3, qwen3_vl
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Dialect
from generators.policy.dialects.registry import PARTS, make_dialect, settings_of
from generators.policy.dialects.settings import (
    FunctionSettings,
    HoloSettings,
    HolotronSettings,
)
from generators.policy.dialects.shared.browser_tools import ANSWER, EVERYTHING
from generators.policy.dialects.shared.function_dialect import COMMON
from generators.policy.dialects.shared.tools import Tool
from schemas.base import JsonObject
from schemas.episodes.call import Prompt
from schemas.errors import BadConfig

_OBSERVATION = re.compile(r"shows you the browser in an <([\w-]+)> block")
_RESULTS = re.compile(r"gave back, in <([\w-]+)> if it was carried out and in <([\w-]+)> if it")
_FUNCTION = re.compile(
    r'^(?:\{"type": "function", "function": \{"name": "|- browser\.)(\w+)', re.MULTILINE
)
_LIMIT = re.compile(r"\{0,(\d+)\}\$$")


_HOLO3 = (holo3.PUBLISHED, holo3.ADDED)
_HOLOTRON3 = (holotron3.PUBLISHED, holotron3.ADDED)

TOOLS: Mapping[str, tuple[tuple[Tool, ...], tuple[Tool, ...]]] = {
    "holotron": (EVERYTHING, ()),
    "holo1_5": (holo.PUBLISHED, holo.ADDED),
    "holo2": (holo.PUBLISHED, holo.ADDED),
    **dict.fromkeys(("holo3", "holo3_1", "holo4"), _HOLO3),
    **dict.fromkeys(("holotron3", "holotron4"), _HOLOTRON3),
    **dict.fromkeys(("qwen3_vl", "gui_owl"), ((), qwen3_vl.BESIDE)),
    "fara": ((), fara.BESIDE),
    "opencua": ((), (*COMMON, ANSWER)),
}
"""The tools of each dialect as it was published, and those that are added to them."""


class ForeignPrompt(ValueError):
    """No dialect of this program writes such a prompt; the text says why."""


class EarlierPrompt(ValueError):
    """An earlier version of the dialect wrote the prompt, and its replies cannot be read any more.

    The same holds where a plug-in's dialect wrote it with options that do not show in it.
    """


def stored_dialect(prompt: Prompt, *, coordinates: str | None, frame: Frame) -> Dialect:
    """Return the dialect of the stored prompt of a role that does not decide.

    `coordinates` is the convention of the replies' points, None for a role without points. The frame's
    sent size is that of the pictures. Roles of several dialects may share a prompt, which is stored with
    one of them; so any that sends such pictures will do.

    Raises:
        ForeignPrompt: the dialect does not exist, or none sends pictures of that size.
        EarlierPrompt: an earlier version wrote it.
    """
    options: JsonObject = {} if coordinates is None else {"convention": coordinates}
    try:
        return _make(prompt, options, frame)
    except ForeignPrompt as error:
        for name in PARTS.built_in if prompt.dialect in PARTS.built_in else ():
            with contextlib.suppress(ForeignPrompt):
                return _make(prompt.model_copy(update={"dialect": name}), options, frame)
        raise error from None


def deciding_dialect(prompt: Prompt, *, coordinates: str | None, frame: Frame) -> Dialect:
    """Return the dialect of the stored prompt of the role that decides.

    Raises:
        ForeignPrompt: as `stored_dialect`, or the dialect does not write such words or such a schema.
        EarlierPrompt: an earlier version wrote it, or a plug-in's dialect did, with other options than are
            known here.
    """
    try:
        return _deciding_dialect(prompt, coordinates=coordinates, frame=frame)
    except ForeignPrompt as error:
        if PARTS.plugin(prompt.dialect) is None:
            raise
        raise EarlierPrompt(str(error)) from error


def _deciding_dialect(prompt: Prompt, *, coordinates: str | None, frame: Frame) -> Dialect:
    options: JsonObject = {} if coordinates is None else {"convention": coordinates}
    if settings_of(prompt.dialect) is not None:
        try:
            options |= dict(_options(prompt))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ForeignPrompt(f"its schema is none of '{prompt.dialect}'") from error
    for page_line in (True, False):
        dialect = _make(prompt, {**options, "page_line": page_line}, frame)
        words = dialect.system_prompt(frame)
        if prompt.text == words or prompt.text.startswith(words + "\n\n"):
            if (list(dialect.functions(frame)) or dialect.reply_schema(frame)) == prompt.tools:
                return dialect
            raise ForeignPrompt(f"its schema is none of '{prompt.dialect}'")
    raise ForeignPrompt(f"its words are none of '{prompt.dialect}'")


def _make(prompt: Prompt, options: JsonObject, frame: Frame) -> Dialect:
    """Return the dialect, its pictures of the size that was sent."""
    known = settings_of(prompt.dialect)
    if known is None:
        raise ForeignPrompt(f"there is no dialect '{prompt.dialect:.80}'")
    picture = (frame.picture_width, frame.picture_height)
    names = {"schema_in_prompt": False, "reconstructed": True}
    given = {key: value for key, value in (options | names).items() if key in known.model_fields}
    for bound in ({}, *_bounds(known, frame)):
        try:
            dialect = make_dialect(prompt.dialect, {**given, **bound})
        except BadConfig as error:
            raise ForeignPrompt(str(error)) from error
        _check_version(prompt, dialect)
        if dialect.sent_size(*picture) == frame.sent_size:
            return dialect
    sent = f"{frame.sent_width}×{frame.sent_height}"
    raise ForeignPrompt(f"'{prompt.dialect}' sends no pictures of {sent}")


def _check_version(prompt: Prompt, dialect: Dialect) -> None:
    if prompt.dialect_version != dialect.version:
        said = f"it is of version {prompt.dialect_version:.20} of '{prompt.dialect}'"
        if re.fullmatch("[1-9][0-9]*", prompt.dialect_version) and (
            int(prompt.dialect_version) < int(dialect.version)
        ):
            raise EarlierPrompt(said)
        raise ForeignPrompt(f"{said}, which there is not")


def _bounds(known: type[object], frame: Frame) -> Iterator[JsonObject]:
    """Yield the options that bound the size of a picture."""
    if issubclass(known, HolotronSettings):
        for number in range(1, 12):
            yield {"tiles": number}
    if issubclass(known, HoloSettings | FunctionSettings):
        wide, high = frame.picture_width, frame.picture_height
        shrink = min(wide / frame.sent_width, high / frame.sent_height)
        bound = math.ceil(wide * high / shrink**2)
        yield {"max_pixels": min(max(bound, 3_136), 16_777_216)}


def _options(prompt: Prompt) -> Iterator[tuple[str, JsonValue]]:
    """Yield the options that follow from a prompt's words, its schema and its functions.

    Raises:
        KeyError, IndexError, TypeError, ValueError: the schema is not that of a reply with one call.
    """
    if not isinstance(prompt.tools, dict):
        if prompt.dialect in TOOLS:
            yield from _offered_options(prompt.dialect, _functions(prompt))
        return
    properties: dict[str, dict[str, JsonValue]] = prompt.tools["properties"]  # type: ignore[assignment]
    note, thought, call = _texts(prompt.tools["required"])
    tools: list[dict[str, dict[str, dict[str, list[str]]]]]
    tools = properties[call]["anyOf"]  # type: ignore[assignment]
    name = _texts(tools[0]["required"])[0]  # type: ignore[arg-type]
    offered = [tool["properties"][name]["enum"][0] for tool in tools]
    bound = _LIMIT.search(str(properties[thought].get("pattern", "")))
    yield "text_limit", int(bound[1]) if bound else None
    yield from _offered_options(prompt.dialect, offered)
    if prompt.dialect != "holotron":
        return
    yield from zip(("note_key", "thought_key", "call_key"), (note, thought, call), strict=True)
    yield "name_key", name
    for names, found in (
        (("observation_tag",), _OBSERVATION.search(prompt.text)),
        (("output_tag", "error_tag"), _RESULTS.search(prompt.text)),
    ):
        if found:
            yield from zip(names, found.groups(), strict=True)


def _offered_options(dialect: str, offered: Sequence[str]) -> Iterator[tuple[str, JsonValue]]:
    """Yield the options about tools by the names of those that were offered; a plug-in's are taken for a navigator's."""
    published, added = TOOLS.get(dialect, TOOLS["holo2"])
    extended = any(tool.name in offered for tool in added)
    yield "extended", extended
    known = (*published, *added) if extended else published
    yield "leave_out", [tool.name for tool in known if tool.name not in offered]


def _functions(prompt: Prompt) -> list[str]:
    """Return the names of the functions that went with a prompt's requests, or stand in its text.

    Raises:
        KeyError, TypeError: they are not in OpenAI's form.
    """
    if isinstance(prompt.tools, list):
        functions: list[dict[str, dict[str, str]]] = prompt.tools  # type: ignore[assignment]
        return [one["function"]["name"] for one in functions]
    return _FUNCTION.findall(prompt.text)


def _texts(value: JsonValue) -> list[str]:
    if not isinstance(value, list):
        raise TypeError(f"not a list: {value!r:.40}")
    return [str(item) for item in value]
