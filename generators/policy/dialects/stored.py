"""From a stored system prompt back to the dialect that wrote it.

A run's options are not stored with its episodes. Those on which the meaning of a reply depends show in
the reply's schema, in the convention of its points, in the size of its pictures and in the prompt's own
words; they are read from there, and proven by writing schema, size and words again.
"""

import contextlib
import math
import re
from collections.abc import Iterator

from pydantic import JsonValue

from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.holo import ADDED, PUBLISHED
from generators.policy.dialects.protocol import Dialect
from generators.policy.dialects.registry import PARTS, make_dialect, settings_of
from generators.policy.dialects.settings import HoloSettings, HolotronSettings, Settings
from generators.policy.dialects.shared.browser_tools import EVERYTHING
from schemas.base import JsonObject
from schemas.episodes.call import Prompt
from schemas.errors import BadConfig

_OBSERVATION = re.compile(r"shows you the browser in an <([\w-]+)> block")
_RESULTS = re.compile(r"gave back, in <([\w-]+)> if it was carried out and in <([\w-]+)> if it")
_LIMIT = re.compile(r"\{0,(\d+)\}\$$")


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
    if settings_of(prompt.dialect) is not None and isinstance(prompt.tools, dict):
        try:
            options |= dict(_options(prompt, prompt.tools))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ForeignPrompt(f"its schema is none of '{prompt.dialect}'") from error
    for page_line in (True, False):
        dialect = _make(prompt, {**options, "page_line": page_line}, frame)
        words = dialect.system_prompt(frame)
        if prompt.text == words or prompt.text.startswith(words + "\n\n"):
            if dialect.reply_schema(frame) == prompt.tools:
                return dialect
            raise ForeignPrompt(f"its schema is none of '{prompt.dialect}'")
    raise ForeignPrompt(f"its words are none of '{prompt.dialect}'")


def _make(prompt: Prompt, options: JsonObject, frame: Frame) -> Dialect:
    """Return the dialect, its pictures of the size that was sent."""
    known = settings_of(prompt.dialect)
    if known is None:
        raise ForeignPrompt(f"there is no dialect '{prompt.dialect:.80}'")
    picture = (frame.picture_width, frame.picture_height)
    names = {"schema_in_prompt": False} if issubclass(known, Settings) else {}
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
    if issubclass(known, HoloSettings):
        wide, high = frame.picture_width, frame.picture_height
        shrink = min(wide / frame.sent_width, high / frame.sent_height)
        bound = math.ceil(wide * high / shrink**2)
        yield {"max_pixels": min(max(bound, 3_136), 16_777_216)}


def _options(prompt: Prompt, schema: JsonObject) -> Iterator[tuple[str, JsonValue]]:
    """Yield the options that follow from a reply's schema and from the words of its prompt.

    Raises:
        KeyError, IndexError, TypeError, ValueError: the schema is not that of a reply with one call.
    """
    properties: dict[str, dict[str, JsonValue]] = schema["properties"]  # type: ignore[assignment]
    note, thought, call = _texts(schema["required"])
    tools: list[dict[str, dict[str, dict[str, list[str]]]]]
    tools = properties[call]["anyOf"]  # type: ignore[assignment]
    name = _texts(tools[0]["required"])[0]  # type: ignore[arg-type]
    offered = [tool["properties"][name]["enum"][0] for tool in tools]
    bound = _LIMIT.search(str(properties[thought].get("pattern", "")))
    yield "text_limit", int(bound[1]) if bound else None
    if prompt.dialect != "holotron":
        extended = "click_element_with" in offered
        yield "extended", extended
        known = (*PUBLISHED, *ADDED) if extended else PUBLISHED
        yield "leave_out", [tool.name for tool in known if tool.name not in offered]
        return
    yield from zip(("note_key", "thought_key", "call_key"), (note, thought, call), strict=True)
    yield "name_key", name
    yield "leave_out", [tool.name for tool in EVERYTHING if tool.name not in offered]
    for names, found in (
        (("observation_tag",), _OBSERVATION.search(prompt.text)),
        (("output_tag", "error_tag"), _RESULTS.search(prompt.text)),
    ):
        if found:
            yield from zip(names, found.groups(), strict=True)


def _texts(value: JsonValue) -> list[str]:
    if not isinstance(value, list):
        raise TypeError(f"not a list: {value!r:.40}")
    return [str(item) for item in value]
