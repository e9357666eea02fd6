"""Fara: thoughts, then one call of its browser's `computer_use` in `<tool_call>` tags.

Source: microsoft/fara, `src/fara/_prompts.py` and `src/fara/fara_agent.py`, of Fara-7B: points in pixels of the
picture as it was sent, Qwen2.5-VL's processor, the actions below, temperature 0, the last three screenshots. Its
runner scrolls by a page whatever the number, presses Enter after typing unless told not to, looks up what is
no address with a search engine, and takes the thoughts of the last reply for the answer.

A fact to remember is an action of its own, `pause_and_memorize_fact`: it is read as the shortest wait, with the
fact as its note. A note beside another action stands in the thoughts. While tools beyond the published ones
are offered, `answer` is one of them, so that a last thought is no answer.
"""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote_plus

from generators.policy.dialects.coordinates import Convention
from generators.policy.dialects.image_size import QWEN2_5_PATCHES
from generators.policy.dialects.protocol import InexpressibleAction, UnreadableReply
from generators.policy.dialects.settings import FunctionSettings
from generators.policy.dialects.shared import browser_tools
from generators.policy.dialects.shared.arguments import Boolean, Scale, Text, parse_integer, quote
from generators.policy.dialects.shared.computer_tool import (
    ACTIONS,
    PARAMETERS,
    computer_function,
    format_duration,
    parse_duration,
    required_argument,
    resolution_of,
)
from generators.policy.dialects.shared.function_dialect import (
    COMMON,
    FunctionDialect,
    FunctionFamily,
)
from generators.policy.dialects.shared.keys import Chord
from generators.policy.dialects.shared.prompt_text import ENDING
from generators.policy.dialects.shared.prompted_text import TextFamily
from generators.policy.dialects.shared.text_dialect import Fields, format_point, parse_point
from generators.policy.dialects.shared.tools import page_px
from generators.policy.dialects.switch_words import QWEN2_5_VL
from schemas.base import JsonObject
from schemas.episodes.action import (
    Action,
    Answer,
    Back,
    Button,
    Click,
    Direction,
    Goto,
    Hover,
    Key,
    Scroll,
    TypeText,
    Wait,
)

_FACT = "fact"
_SEARCH = "https://www.bing.com/search?q={}&FORM=QBLH"
_SCHEMES = ("https://", "http://", "file://", "about:")
_WAITS_SECONDS = 3

_OWN_ACTIONS: Mapping[str, str] = {
    **{name: ACTIONS[name] for name in ("key", "type", "mouse_move", "left_click")},
    "scroll": "scroll by a page",
    "visit_url": "open url",
    "web_search": "look up query with a search engine",
    "history_back": "go back to the previous page",
    "pause_and_memorize_fact": "remember fact, and do nothing else",
    **{name: ACTIONS[name] for name in ("wait", "terminate")},
}
_OWN_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "keys": PARAMETERS["keys"],
    "text": ("string", "For type."),
    "press_enter": ("boolean", "For type: whether Enter is pressed afterwards."),
    "delete_existing_text": (
        "boolean",
        "For type: whether what the field holds is deleted before.",
    ),
    "coordinate": (
        "array",
        "A point, as [x, y] in pixels from the top left corner; type takes one too.",
    ),
    "pixels": ("number", "For scroll: positive is up, negative is down."),
    "url": ("string", "For visit_url."),
    "query": ("string", "For web_search."),
    _FACT: ("string", "For pause_and_memorize_fact."),
    "time": PARAMETERS["time"],
}


_TWICE = {"write", "press_keys", "go_back"}

BESIDE = (*(one for one in COMMON if one.name not in _TWICE), browser_tools.ANSWER)
"""Functions for what `computer_use` does not do, which writes, presses keys and goes back."""

_WORDS_END = "say what was asked for, exact and complete, or why the task cannot be done, and call computer_use with terminate."


def fara(settings: FunctionSettings) -> FunctionDialect:
    """Return the family's dialect, set as `settings` say.

    Raises:
        BadConfig: a tool left out does not exist.
    """
    family = FunctionFamily(
        text=TextFamily(
            name="fara",
            version="2",
            published=Convention.RESIZED,
            processor=QWEN2_5_PATCHES,
            switch_words=QWEN2_5_VL,
        ),
        function=lambda scale: computer_function(
            resolution_of(scale), _OWN_ACTIONS, _OWN_PARAMETERS
        ),
        read=_read,
        write=lambda action, scale: [_write(action, scale)],
        added=BESIDE,
        fact=_FACT,
        ending=(ENDING, _WORDS_END),
        answers_in_words=True,
    )
    return FunctionDialect(family, settings)


def _read(calls: Sequence[JsonObject], scale: Scale) -> Fields:
    if len(calls) > 1:
        raise UnreadableReply(f"the reply holds {len(calls)} calls; give exactly one")
    (given,) = calls
    named = given.get("action")
    reader = _READERS.get(named) if isinstance(named, str) else None
    if reader is None:
        listed = ", ".join(_OWN_ACTIONS)
        raise UnreadableReply(f"there is no action {quote(named)}; use one of {listed}")
    return reader(given, scale)


def _read_key(given: JsonObject, scale: Scale) -> Fields:
    keys = Chord().parse(required_argument(given, "keys"), scale)
    return {"type": "key", "key": Chord().to_action(keys, scale)}


def _read_scroll(given: JsonObject, scale: Scale) -> Fields:
    pixels = parse_integer(required_argument(given, "pixels"), -100_000, 100_000)
    way = Direction.UP if pixels > 0 else Direction.DOWN
    return {"type": "scroll", "direction": way.value, "amount": page_px(way, scale)}


def _read_visit(given: JsonObject, scale: Scale) -> Fields:
    return {"type": "goto", "url": _address(_text(given, "url", scale))}


def _read_search(given: JsonObject, scale: Scale) -> Fields:
    return {"type": "goto", "url": _SEARCH.format(quote_plus(_text(given, "query", scale)))}


def _read_fact(given: JsonObject, scale: Scale) -> Fields:
    _text(given, _FACT, scale)
    return {"type": "wait", "ms": 1}


def _read_wait(given: JsonObject, scale: Scale) -> Fields:
    del scale
    return {"type": "wait", "ms": parse_duration(given.get("time", _WAITS_SECONDS))}


def _write(action: Action, scale: Scale) -> JsonObject:
    if isinstance(action, Click | Hover | TypeText):
        return _write_pointed(action, scale)
    match action:
        case Key():
            return {"action": "key", "keys": Chord().from_action(action.key, scale)}
        case Scroll(x=None, direction=Direction.UP | Direction.DOWN as way) if (
            action.amount == page_px(way, scale)
        ):
            sign = 1 if way is Direction.UP else -1
            return {"action": "scroll", "pixels": sign * action.amount}
        case Goto() if action.url == _address(action.url):
            url = Text(min_length=1).from_action(action.url, scale)
            return {"action": "visit_url", "url": url}
        case Wait():
            return {"action": "wait", "time": format_duration(action.ms)}
        case Back() | Answer():
            ended: JsonObject = {"action": "terminate", "status": "success"}
            return ended if isinstance(action, Answer) else {"action": "history_back"}
        case _:
            raise InexpressibleAction(f"fara cannot express this '{action.type}'")


def _write_pointed(action: Click | Hover | TypeText, scale: Scale) -> JsonObject:
    if isinstance(action, Click) and (action.button, action.count) != (Button.LEFT, 1):
        raise InexpressibleAction("fara clicks once with the left button")
    name = {"click": "left_click", "hover": "mouse_move", "type": "type"}[action.type]
    call: JsonObject = {"action": name}
    if isinstance(action, TypeText):
        call["text"] = Text().from_action(action.text, scale)
    if action.x is not None and action.y is not None:
        call["coordinate"] = format_point(action.x, action.y, scale)
    if isinstance(action, TypeText):
        call |= {"press_enter": action.enter, "delete_existing_text": action.overwrite}
    return call


def _read_type(given: JsonObject, scale: Scale) -> Fields:
    point = given.get("coordinate")
    switches = {
        name: Boolean().parse(given.get(key, usual), scale)
        for name, key, usual in (
            ("enter", "press_enter", True),
            ("overwrite", "delete_existing_text", False),
        )
    }
    at = {} if point is None else parse_point(point, scale)
    return {"type": "type", "text": _text(given, "text", scale), **at, **switches}


def _point(given: JsonObject, scale: Scale) -> Fields:
    return parse_point(required_argument(given, "coordinate"), scale)


def _text(given: JsonObject, name: str, scale: Scale) -> str:
    try:
        return str(Text().parse(required_argument(given, name), scale))
    except UnreadableReply as error:
        raise UnreadableReply(f"'{name}' {error}") from error


def _address(url: str) -> str:
    """Return the address that Fara's runner opens for what a reply gives."""
    if url.startswith(_SCHEMES):
        return url
    return _SEARCH.format(quote_plus(url)) if " " in url else f"https://{url}"


_READERS: Mapping[str, Callable[[JsonObject, Scale], Fields]] = {
    "left_click": lambda given, scale: {"type": "click", **_point(given, scale)},
    "mouse_move": lambda given, scale: {"type": "hover", **_point(given, scale)},
    "type": _read_type,
    "key": _read_key,
    "scroll": _read_scroll,
    "visit_url": _read_visit,
    "web_search": _read_search,
    "history_back": lambda _given, _scale: {"type": "back"},
    "pause_and_memorize_fact": _read_fact,
    "wait": _read_wait,
    "terminate": lambda _given, _scale: {"type": "answer", "text": ""},
}
"""How the arguments of each action are read; the runner's other names for some are not in its prompt."""
