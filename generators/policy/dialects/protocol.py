"""The protocol of a dialect: how one model family is prompted and how its reply is parsed.

A dialect is made once for a configuration and knows no episode; the `Frame` gives it the sizes between
which points are converted. It formats and parses text and calls no engine. Its text for an earlier step
never changes, because the prompt is append-only.
"""

from typing import Protocol

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import PictureRule
from generators.policy.dialects.switch_words import MARKUP
from schemas.base import JsonObject, Record
from schemas.episodes.action import Action
from schemas.episodes.episode import Step
from schemas.episodes.observation import PageState


class Rationale(Record):
    """The text of a reply beside its action."""

    thought: str | None = None
    """Why the action was chosen; None if not stated."""
    note: str | None = None
    """A note to remember; None without one."""
    element: str | None = None
    """A description of the element; None without one."""


NO_RATIONALE = Rationale()
"""An action without any text."""


class ParsedAction(Record):
    """A parsed reply."""

    action: Action
    """The action, in CSS pixels of the viewport."""
    thought: str | None = None
    """Why the action was chosen; None if not stated."""
    note: str | None = None
    """A note to remember; None without one."""
    element: str | None = None
    """A description of the element; None without one."""
    canonical_reply: str
    """The reply as it goes into the history, formatted again from the parsed parts."""
    dropped: str | None = None
    """The part of the reply that was left out, in words; None: nothing was."""

    @property
    def rationale(self) -> Rationale:
        """The text beside the action."""
        return Rationale(thought=self.thought, note=self.note, element=self.element)


class UnreadableReply(ValueError):
    """A reply is not a valid action; the text says what to fix, and the repair turn quotes it."""


class InexpressibleAction(ValueError):
    """The model family has no way to express an action."""


class Dialect(Protocol):
    """How one model family is prompted and its replies are parsed, with defaults for all families."""

    @property
    def name(self) -> str:
        """The name in configurations."""
        ...

    @property
    def version(self) -> str:
        """Changes with the prompt's text and with the parser."""
        ...

    @property
    def convention(self) -> Convention:
        """The convention of its points."""
        ...

    @property
    def drives_engine(self) -> bool:
        """Whether it can prompt an engine; False: it only parses and formats replies."""
        ...

    @property
    def pictures(self) -> PictureRule:
        """The size at which pictures are sent, and their tokens."""
        ...

    def sent_size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size a picture of `width`×`height` px is resized to before it is sent."""
        return self.pictures.sent_size(width, height)

    def image_tokens(self, width: int, height: int) -> int:
        """Return how many prompt tokens a picture of that size takes once it is sent."""
        return self.pictures.tokens(width, height)

    def system_prompt(self, frame: Frame) -> str:
        """Return the system prompt, with the reply's schema where the family expects it there."""
        ...

    def reply_schema(self, frame: Frame) -> JsonObject | None:
        """Return the JSON schema of a reply; None: replies are free text."""
        del frame
        return None

    def functions(self, frame: Frame) -> tuple[JsonObject, ...]:
        """Return the tools that go with a request, in OpenAI's form; empty: its calls are text.

        A family that has them writes its calls as `generators/engine/call_text.py` says.
        """
        del frame
        return ()

    def task_message(self, instruction: str) -> str:
        """Return the text that states the task, before the first observation."""
        ...

    def observation_text(self, step: int, page: PageState) -> tuple[str, str]:
        """Return the text before and after the picture of an observation."""
        ...

    def result_text(self, step: Step) -> str:
        """Return the result of an executed action, for the model; empty if it has none."""
        ...

    def rejection_text(self, action: Action, why: str) -> str:
        """Return why an action was not carried out, for the model."""
        ...

    @property
    def request_fields(self) -> JsonObject:
        """Fields of a request's body that the family needs beside the prompt."""
        return {}

    @property
    def switch_words(self) -> tuple[str, ...]:
        """The words that the family's chat template or tokenizer takes for something other than text.

        No text of a page or a task has one whole in a prompt. A word stands for all that begin with it.
        """
        return MARKUP

    @property
    def image_placeholder(self) -> str:
        """Replaces a picture that was evicted."""
        return "[screenshot removed]"

    def repair_message(self, problem: str) -> str:
        """Return the repair turn after a reply that could not be parsed."""
        ...

    def parse(self, reply: str, frame: Frame) -> ParsedAction:
        """Parse a reply.

        Raises:
            UnreadableReply: it is not a valid action; the text says why.
        """
        ...

    def format_action(
        self, action: Action, frame: Frame, rationale: Rationale = NO_RATIONALE
    ) -> str:
        """Return the reply with which a model of the family would take `action`.

        Raises:
            InexpressibleAction: the family has no way to express it.
        """
        ...
