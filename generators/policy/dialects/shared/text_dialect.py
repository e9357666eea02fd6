"""Model families whose replies are parsed and formatted, but for which no engine is called.

Exports format trajectories in them, and their logs can be parsed. The parts that an engine would need (tool
definitions in requests, a loop of their own) are not implemented. The text about a page is plain, and the
same for all.
"""

from typing import ClassVar

from pydantic import JsonValue, ValidationError
from typing_extensions import override

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import PictureRule
from generators.policy.dialects.protocol import Dialect, InexpressibleAction, UnreadableReply
from generators.policy.dialects.settings import TextSettings
from generators.policy.dialects.shared.arguments import Coordinate, Scale, quote
from generators.policy.dialects.shared.prompt_text import (
    MAX_RESULT_CHARS,
    MAX_TASK_CHARS,
    tabs_and_dialog,
)
from generators.policy.dialects.shared.remark import (
    Remark,
    bound_remark,
    join_remark,
    split_remark,
)
from generators.policy.dialects.shared.sanitize import break_words, escape_markup, one_line
from generators.policy.dialects.switch_words import MARKUP
from schemas.episodes.action import ACTION, Action, AnswerDialog, Key, TypeText
from schemas.episodes.episode import Step
from schemas.episodes.observation import PageState

Fields = dict[str, JsonValue]
"""An action's fields, `type` among them."""

ACROSS, DOWN = Coordinate("x"), Coordinate("y")


class TextDialect(Dialect):
    """The base of families that are only parsed and formatted."""

    drives_engine = False
    version = "1"
    prompt: ClassVar[str]
    processor: ClassVar[PictureRule]
    published: ClassVar[Convention]
    words: ClassVar[tuple[str, ...]] = MARKUP

    def __init__(self, settings: TextSettings) -> None:
        self._convention = settings.convention or self.published

    @property
    @override
    def convention(self) -> Convention:
        return self._convention

    @property
    @override
    def switch_words(self) -> tuple[str, ...]:
        return self.words

    @property
    @override
    def pictures(self) -> PictureRule:
        return self.processor

    @override
    def system_prompt(self, frame: Frame) -> str:
        """Return a short system prompt that names the format."""
        wide, high = (edge for edge in frame.span(self.convention))
        return self.prompt.format(wide=f"{wide:g}", high=f"{high:g}")

    @override
    def task_message(self, instruction: str) -> str:
        return f"Task: {self._escape(instruction, MAX_TASK_CHARS)}"

    @override
    def observation_text(self, step: int, page: PageState) -> tuple[str, str]:
        """Return the page's address, tabs and dialog before the picture, and nothing after it."""
        del step
        url = one_line(page.url, 500, switch_words=self.switch_words)
        return f"URL: {url}\n{tabs_and_dialog(page, switch_words=self.switch_words)}", ""

    @override
    def result_text(self, step: Step) -> str:
        """Return why an action failed, or its result; empty if it has none."""
        if step.action_error is not None:
            return self.rejection_text(step.action, step.action_error)
        return self._escape(step.result_text or "", MAX_RESULT_CHARS)

    @override
    def rejection_text(self, action: Action, why: str) -> str:
        """Return why an action was not carried out."""
        del action
        return f"Error: {self._escape(why, MAX_RESULT_CHARS)}"

    @override
    def repair_message(self, problem: str) -> str:
        said = break_words(problem, self.switch_words)
        return f"Your last reply could not be used: {said}. Reply again with one action."

    def _scale(self, frame: Frame) -> Scale:
        return Scale(frame=frame, convention=self.convention)

    def _escape(self, text: str, max_chars: int) -> str:
        return escape_markup(text, max_chars, switch_words=self.switch_words)


def build_action(fields: Fields) -> Action:
    """Return the action of these fields.

    Raises:
        UnreadableReply: they are not an action.
    """
    try:
        return ACTION.validate_python(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        raise UnreadableReply(f"{where}: {first['msg']}".removeprefix(": ")) from error


def parse_point(value: JsonValue, scale: Scale, *, names: tuple[str, str] = ("x", "y")) -> Fields:
    """Return the fields of a point that is given as a list of two numbers.

    Raises:
        UnreadableReply: it is not a point on the picture.
    """
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004 - a point
        raise UnreadableReply(f"a point must be two numbers, but is {quote(value)}")
    fields: Fields = {}
    for name, axis, part in zip(names, (ACROSS, DOWN), value, strict=True):
        try:
            fields[name] = axis.to_action(axis.parse(part, scale), scale)
        except UnreadableReply as error:
            raise UnreadableReply(f"{axis.axis} of the point {error}") from error
    return fields


def format_point(x: float, y: float, scale: Scale) -> list[JsonValue]:
    """Return the two numbers of a CSS point.

    Raises:
        InexpressibleAction: it lies outside the picture.
    """
    return [ACROSS.from_action(x, scale), DOWN.from_action(y, scale)]


def plain_remark(thought: str | None, note: str | None) -> str:
    """Return a thought and a note as the text before a call: bounded, without tags and braces; may be empty."""
    kept = bound_remark(thought, note)
    return join_remark(kept.thought, kept.note).translate(_PLAIN).strip()


def read_plain_remark(before: str) -> Remark:
    """Return the thought and the note of the text before a call."""
    return bound_remark(*split_remark(before.translate(_PLAIN)))


_PLAIN = str.maketrans({"<": "‹", ">": "›", "{": "(", "}": ")"})  # noqa: RUF001 - look-alikes on purpose


def as_keys(action: Action) -> Action:
    """Return what a keyboard does for the answer to a dialog, and any other action as it is.

    Enter accepts, Escape dismisses; a text is typed first, and its line end presses Enter.

    Raises:
        InexpressibleAction: a keyboard cannot do it in one action.
    """
    match action:
        case AnswerDialog(accept=False):
            return Key(key="Escape")
        case AnswerDialog(text=None):
            return Key(key="Enter")
        case AnswerDialog(text=str(text)) if text and "\n" not in text:
            return TypeText(text=text + "\n")
        case AnswerDialog():
            raise InexpressibleAction("no key empties a dialog's field and accepts it at once")
        case _:
            return action
