"""The prompt of one episode: it only grows, except when old pictures or steps are evicted.

System prompt and task come first, then the steps in order, each as an observation with its picture
and the reply in canonical form. A request repeats the one before unchanged, so that an engine's prefix
cache serves it. There are two exceptions; both are rare, evict a block at once and begin a new segment.
When more than `keep_images + slack_images` pictures would be sent, placeholders replace all but the
newest `keep_images`. When the text alone fills the budget, the older half of the steps is dropped; their notes stay,
behind the task.
Tokens are estimated, and every count that an engine gives corrects the estimate. If an engine refuses a
prompt as too long all the same, one block is evicted, and the prompt is sent once more.
"""

import math
from dataclasses import dataclass, field

from generators.engine.protocol import Message, Part, Picture, Role
from schemas.errors import FailureKind, RolloutFailure

BYTES_PER_TOKEN = 3.0
"""Bytes of text for each token, for a high estimate; English is nearer to 4."""

TOKENS_PER_MESSAGE = 8
"""Overhead of a chat template."""

MIN_CORRECTION, MAX_CORRECTION = 0.5, 4.0
"""How far a count may correct the estimate.

English has 4 bytes a token and markup rarely more than 6, so a true count is hardly ever below half
of the estimate. A tokenizer without the words of a language makes a token of every byte, three times
the estimate, and a chat template adds to that. A count outside these bounds is not of this prompt
(some servers leave pictures out): following it would overrun the context, or drop steps that fit.
"""

DROPPED_PART = 2
"""The oldest 1/2 of the steps is dropped when the text is too long: half of them at once, because every
eviction invalidates the whole prefix cache."""

NOTES = "Notes from earlier steps, which are not shown any more:"
"""The line before the notes of steps that were dropped."""

NOTES_PART = 4
"""The notes of dropped steps fill at most 1/4 of the budget: the oldest go first."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a prompt."""

    keep_images: int
    """Pictures left after an eviction."""
    slack_images: int
    """Pictures that may be added before the next eviction."""
    tokens: int | None
    """Prompt tokens; None: no limit is known."""


@dataclass(slots=True)
class _Turn:
    """One step in the prompt."""

    before: str
    picture: Picture
    after: str
    text_tokens: int
    picture_tokens: int
    has_picture: bool = True
    """The picture is sent; False: the placeholder is."""
    replies: list[Message] = field(default_factory=list)
    """The messages after the observation; empty until the first reply."""
    notes: list[str] = field(default_factory=list)
    """What its replies noted."""

    @property
    def tokens(self) -> int:
        """Estimated."""
        return self.text_tokens + (self.picture_tokens if self.has_picture else TOKENS_PER_MESSAGE)


class ContextWindow:
    """The prompt of one episode."""

    def __init__(
        self, system: str, task_message: str, *, image_placeholder: str, budget: Budget
    ) -> None:
        self._system = Message(role=Role.SYSTEM, parts=(system,))
        self._task_message = task_message
        self._placeholder = image_placeholder
        self._budget = budget
        self._turns: list[_Turn] = []
        self._messages: list[Message] = []
        self._fixed_tokens = (
            text_tokens(system) + text_tokens(task_message) + 2 * TOKENS_PER_MESSAGE
        )
        self._notes: list[str] = []
        self._correction = 1.0
        self._is_answered = True
        """A prompt of this segment got a reply."""
        self.segment = 0
        """Grows with every eviction: one segment is one append-only sequence."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The prompt as it is sent now."""
        return (self._system, *self._messages)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """The pictures that are sent now, oldest first."""
        return tuple(turn.picture for turn in self._turns if turn.has_picture)

    def append_observation(
        self, before: str, picture: Picture, after: str, *, picture_tokens: int
    ) -> None:
        """Append an observation, and evict earlier steps if it does not fit.

        Raises:
            RolloutFailure: even this observation alone does not fit.
        """
        tokens = text_tokens(before) + text_tokens(after) + TOKENS_PER_MESSAGE
        turn = _Turn(before, picture, after, tokens, picture_tokens)
        self._turns.append(turn)
        if not self._evict():
            self._messages += self._turn_messages(turn)

    def append_reply(self, text: str, note: str | None = None) -> None:
        """Append the reply to the last observation, in canonical form; `note` is what it notes, None: nothing."""
        self._is_answered = True
        if note:
            self._turns[-1].notes.append(note)
        self._messages.append(self._add_to_turn(Role.ASSISTANT, text))

    def append_user_text(self, text: str) -> None:
        """Append why a reply was rejected, and evict earlier steps if it does not fit.

        Raises:
            RolloutFailure: even this observation alone does not fit.
        """
        message = self._add_to_turn(Role.USER, text)
        if not self._evict():
            self._messages.append(message)

    def evict_block(self) -> bool:
        """Evict one block, because an engine refused the prompt as too long; return whether there was one.

        The older pictures go, or if there are none but those that are always kept, the older half of the
        steps. The last observation stays.
        """
        keep = self._budget.keep_images
        if len(self.pictures) > keep:
            self._hide_all_but(keep)
        elif len(self._turns) > 1:
            self._drop_block()
        else:
            return False
        self._begin_segment()
        return True

    def calibrate(self, prompt_tokens: int | None) -> None:
        """Take note of a reply; correct the estimate by the prompt's true length.

        None: the engine does not report it.
        """
        self._is_answered = True
        if prompt_tokens is not None:
            ratio = prompt_tokens / self._estimate()
            self._correction = min(max(ratio, MIN_CORRECTION), MAX_CORRECTION)

    def _estimate(self) -> int:
        fixed = self._fixed_tokens + text_tokens(self._notes_text())
        return fixed + sum(turn.tokens for turn in self._turns)

    def _too_long(self) -> bool:
        limit = self._budget.tokens
        return limit is not None and self._estimate() * self._correction > limit

    def _add_to_turn(self, role: Role, text: str) -> Message:
        turn, message = self._turns[-1], Message(role=role, parts=(text,))
        turn.replies.append(message)
        turn.text_tokens += text_tokens(text) + TOKENS_PER_MESSAGE
        return message

    def _evict(self) -> bool:
        """Evict as much as necessary and rebuild all messages; return whether anything was evicted."""
        hidden = self._hide_pictures()
        dropped = self._drop_turns()
        if hidden or dropped:
            self._begin_segment()
        return hidden or dropped

    def _begin_segment(self) -> None:
        """Rebuild all messages; evictions without a reply in between begin one segment together."""
        self.segment += self._is_answered
        self._is_answered = False
        self._messages = [message for turn in self._turns for message in self._turn_messages(turn)]

    def _hide_pictures(self) -> bool:
        count = len(self.pictures)
        keep, slack = self._budget.keep_images, self._budget.slack_images
        if count <= keep + slack and not (count > keep and self._too_long()):
            return False
        self._hide_all_but(keep)
        return True

    def _hide_all_but(self, keep: int) -> None:
        pictured = [turn for turn in self._turns if turn.has_picture]
        for turn in pictured[:-keep]:
            turn.has_picture = False
            turn.picture.drop_url()

    def _drop_turns(self) -> bool:
        dropped = False
        while self._too_long():
            if len(self._turns) == 1:
                raise RolloutFailure(
                    FailureKind.ENGINE,
                    f"one observation needs about {self._estimate() * self._correction:.0f} tokens, "
                    f"and the prompt may have {self._budget.tokens}",
                )
            self._drop_block()
            dropped = True
        return dropped

    def _drop_block(self) -> None:
        count = len(self._turns) // DROPPED_PART
        for turn in self._turns[:count]:
            turn.picture.drop_url()
            self._notes += turn.notes
        del self._turns[:count]
        limit = self._budget.tokens
        while limit is not None and text_tokens(self._notes_text()) * NOTES_PART > limit:
            del self._notes[0]

    def _notes_text(self) -> str:
        """Return the notes of dropped steps as they are told; empty without any."""
        return "".join(f"{line}\n" for line in (NOTES, *self._notes, "")) if self._notes else ""

    def _turn_messages(self, turn: _Turn) -> list[Message]:
        before = turn.before
        if turn is self._turns[0]:
            before = self._task_message + self._notes_text() + before
        parts: tuple[Part, ...] = (before + self._placeholder + turn.after,)
        if turn.has_picture:
            parts = (before, turn.picture, turn.after)
        return [Message(role=Role.USER, parts=parts), *turn.replies]


def text_tokens(text: str) -> int:
    """Return about how many tokens a text takes; the estimate errs on the high side."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)
