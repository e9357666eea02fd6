"""From a description to a point: shows a model the page and asks it where an element is.

The request follows what H Company published for its localizers: one user turn, the picture before
the words, and a point as JSON in reply, in the convention and at the picture size of the localizer's
own dialect. Every request is separate, without task, history or earlier replies. The caller decides
what to do when a reply cannot be parsed even after its repair turn.
"""

from collections.abc import Iterable
from functools import partial

from generators.engine.protocol import Message, Picture, Role
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Dialect, ParsedAction, UnreadableReply
from generators.policy.dialects.shared.arguments import Coordinate, Scale
from generators.policy.dialects.shared.json_reply import find_json_object, json_line, strip_thinking
from generators.policy.dialects.shared.json_schema import object_schema
from generators.policy.dialects.shared.prompt_text import point_rules
from generators.policy.dialects.shared.sanitize import break_words, one_line
from generators.policy.dialects.switch_words import EVERY_FAMILY
from generators.policy.model.model_call import RecordedEngine
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.repair import ParsedReply, ReplyParser, WholePrompt
from generators.policy.model.try_account import Account
from schemas.base import JsonObject
from schemas.episodes.action import Action, target_point
from schemas.episodes.observation import Element

ROLE = "localizer"
"""The role's name in rows of `calls`."""

Point = tuple[float, float]
"""CSS px of the viewport."""

MAX_DESCRIPTION_CHARS = 500
"""Largest length of a description in a request, characters."""

_X, _Y = Coordinate("x"), Coordinate("y")

_REQUEST = """\
Localize one element of a web page on its screenshot, and give the position to click to hit it.
- {measured}
- Aim at the middle of the element, or of the part of it that can be seen.
- Reply with one JSON object that follows this schema, and nothing else: {schema}
The element is described as:"""

_REPAIR = """\
Your last reply could not be used: {problem}.
Reply again to the same screenshot: one JSON object with x and y, and nothing else."""


def localizer_schema(dialect: Dialect, frame: Frame) -> JsonObject:
    """Return the JSON schema of a point on the picture."""
    scale = _scale(dialect, frame)
    return object_schema({"x": _X.schema(scale), "y": _Y.schema(scale)})


def localizer_request(dialect: Dialect, frame: Frame) -> str:
    """Return the text of the request, up to the description of the element."""
    return _REQUEST.format(
        measured=point_rules(_scale(dialect, frame)),
        schema=json_line(localizer_schema(dialect, frame)),
    )


class Localizer:
    """Locates elements on screenshots, for one episode."""

    def __init__(self, model: ModelConfig, account: Account, *, session: str) -> None:
        self._request = model.prompt.text
        self._dialect = model.dialect
        self._n_asked = 0
        self._parser: ReplyParser[Point] = ReplyParser(
            RecordedEngine(model, account, session=session),
            ROLE,
            read=partial(parse_localizer_reply, dialect=model.dialect, frame=model.frame),
            repair=partial(repair_text, dialect=model.dialect),
            switch_words=role_words(model.dialect),
        )

    async def locate(self, picture: Picture, element: str, *, step: int) -> ParsedReply[Point]:
        """Return where `element` is on `picture`.

        Raises:
            UnreadableReply: two replies give no point on the picture; the text says why.
            RolloutFailure: the engine gives no reply.
        """
        words = question_text(self._request, element, dialect=self._dialect)
        question = Message(role=Role.USER, parts=(picture, words))
        self._n_asked += 1
        return await self._parser.ask_and_parse(
            WholePrompt((question,), self._n_asked - 1), step=step
        )


def question_text(request: str, element: str, *, dialect: Dialect) -> str:
    """Return the words after the picture: the request, and the description of the element."""
    said = one_line(element, MAX_DESCRIPTION_CHARS, switch_words=role_words(dialect))
    return f"{request}\n{said}"


def repair_text(problem: str, *, dialect: Dialect) -> str:
    """Return the repair turn after a reply that gave no point."""
    return _REPAIR.format(problem=break_words(problem, role_words(dialect)))


def role_words(dialect: Dialect) -> tuple[str, ...]:
    """Return the switch words that are broken in prompts which do not depend on the dialect.

    These are every family's, because a stored prompt names only one of the dialects that share it.
    """
    return (*EVERY_FAMILY, *dialect.switch_words)


def element_to_locate(parsed: ParsedAction) -> str | None:
    """Return the description of the element that an action needs located; None if it has none."""
    return parsed.element if target_point(parsed.action) is not None else None


def element_name(action: Action, elements: Iterable[Element]) -> str | None:
    """Return the name of the smallest element under an action's point that nothing covers; None without one."""
    point = target_point(action)
    if point is None:
        return None
    under = [
        (width * height, element.name)
        for element in elements
        for left, top, width, height in (element.bbox,)
        if element.name
        and not element.covered
        and left <= point[0] < left + width
        and top <= point[1] < top + height
    ]
    return min(under)[1] if under else None


def move_action(action: Action, point: Point) -> Action:
    """Return `action` at another point; the end of a drag stays as it is."""
    return action.model_copy(update={"x": point[0], "y": point[1]})


def parse_localizer_reply(reply: str, dialect: Dialect, frame: Frame) -> Point:
    """Return the point that a reply gives.

    Raises:
        UnreadableReply: it gives no point on the picture; the text says why.
    """
    given, scale = find_json_object(strip_thinking(reply), with_key="x"), _scale(dialect, frame)
    for axis in (_X, _Y):
        if axis.axis not in given:
            raise UnreadableReply(f"'{axis.axis}' is missing")
        try:
            given[axis.axis] = axis.to_action(axis.parse(given[axis.axis], scale), scale)
        except UnreadableReply as error:
            raise UnreadableReply(f"'{axis.axis}' {error}") from error
    x, y = given["x"], given["y"]
    assert isinstance(x, float)  # noqa: S101 - a frame converts numbers to numbers
    assert isinstance(y, float)  # noqa: S101 - as above
    return x, y


def format_localizer_reply(point: Point, dialect: Dialect, frame: Frame) -> str:
    """Return the reply that gives `point`.

    Raises:
        InexpressibleAction: it lies outside the picture.
    """
    scale = _scale(dialect, frame)
    return json_line({"x": _X.from_action(point[0], scale), "y": _Y.from_action(point[1], scale)})


def _scale(dialect: Dialect, frame: Frame) -> Scale:
    return Scale(frame=frame, convention=dialect.convention)
