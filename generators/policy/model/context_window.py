"""The prompt of one episode, which only ever grows: what is kept of it and what leaves.

System and task come first, then the steps in order, each as an observation with its picture and
the reply that was understood. Whatever was sent stays as it was sent, so that an engine's prefix
cache serves it, with two exceptions, both rare and in blocks, and each begins a new segment. When
more than `keep_images + slack_images` pictures would be sent, all but the newest `keep_images`
give way to a placeholder. When the text alone fills the budget, the older half of the steps
leaves. Tokens are estimated, and the estimate is corrected by every count an engine gives.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from generators.engine.protocol import Message, Part, Picture, Role
from schemas.errors import FailureKind, RolloutFailure

BYTES_PER_TOKEN = 3.0
"""Of text, for an estimate on the safe side; English is nearer to 4."""

TOKENS_PER_MESSAGE = 8
"""What a chat template puts around a message."""

LEAST_CORRECTION, MOST_CORRECTION = 0.5, 4.0
"""How far a count may correct the estimate."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a prompt may hold."""

    keep_images: int
    """Pictures left after an eviction."""
    slack_images: int
    """Pictures let in beyond that before the next."""
    tokens: int | None
    """Prompt tokens; None: nobody knows a limit."""


@dataclass(slots=True)
class _Turn:
    """One step as it stands in the prompt."""

    before: str
    picture: Picture
    after: str
    text_tokens: int
    picture_tokens: int
    shown: bool = True
    """The picture is sent; else the placeholder is."""
    since: list[Message] = field(default_factory=list)
    """What was said since, replies as they were understood; empty while the first is awaited."""

    @property
    def tokens(self) -> int:
        """What the turn takes, estimated."""
        return self.text_tokens + (self.picture_tokens if self.shown else TOKENS_PER_MESSAGE)


class Window:
    """The prompt of one episode."""

    def __init__(self, system: str, opening: str, *, gone: str, budget: Budget) -> None:
        self._system = Message(role=Role.SYSTEM, parts=(system,))
        self._opening = opening
        self._gone = gone
        self._budget = budget
        self._turns: list[_Turn] = []
        self._messages: list[Message] = []
        self._fixed_tokens = text_tokens(system) + text_tokens(opening) + 2 * TOKENS_PER_MESSAGE
        self._correction = 1.0
        self.segment = 0
        """Grows with every eviction: one segment is one append-only sequence."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The prompt as it is sent now."""
        return (self._system, *self._messages)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """The pictures that are sent now, oldest first."""
        return tuple(turn.picture for turn in self._turns if turn.shown)

    def saw(self, before: str, picture: Picture, after: str, *, picture_tokens: int) -> None:
        """Append an observation; what no longer fits gives way.

        Raises:
            RolloutFailure: even this observation alone does not fit.
        """
        tokens = text_tokens(before) + text_tokens(after) + TOKENS_PER_MESSAGE
        turn = _Turn(before, picture, after, tokens, picture_tokens)
        self._turns.append(turn)
        if not self._made_room():
            self._messages += self._written(turn)

    def answered(self, echo: str) -> None:
        """Append the reply to the last observation, as it was understood."""
        self._messages.append(self._kept(Role.ASSISTANT, echo))

    def told(self, text: str) -> None:
        """Append what is told of a reply that was not acted on; what no longer fits gives way.

        Raises:
            RolloutFailure: even this observation alone does not fit.
        """
        said = self._kept(Role.USER, text)
        if not self._made_room():
            self._messages.append(said)

    def counted(self, prompt_tokens: int | None) -> None:
        """Take down how long the prompt really was; None where the engine does not say."""
        if prompt_tokens is not None:
            ratio = prompt_tokens / self._estimate()
            self._correction = min(max(ratio, LEAST_CORRECTION), MOST_CORRECTION)

    def _estimate(self) -> int:
        return self._fixed_tokens + sum(turn.tokens for turn in self._turns)

    def _too_long(self) -> bool:
        limit = self._budget.tokens
        return limit is not None and self._estimate() * self._correction > limit

    def _kept(self, role: Role, text: str) -> Message:
        turn, message = self._turns[-1], Message(role=role, parts=(text,))
        turn.since.append(message)
        turn.text_tokens += text_tokens(text) + TOKENS_PER_MESSAGE
        return message

    def _made_room(self) -> bool:
        """Say whether something had to give way; if so, everything is written anew."""
        hidden = self._hide_pictures()
        dropped = self._drop_turns()
        if hidden or dropped:
            self.segment += 1
            self._messages = [message for turn in self._turns for message in self._written(turn)]
        return hidden or dropped

    def _hide_pictures(self) -> bool:
        shown = [turn for turn in self._turns if turn.shown]
        keep, slack = self._budget.keep_images, self._budget.slack_images
        if len(shown) <= keep + slack and not (len(shown) > keep and self._too_long()):
            return False
        for turn in shown[:-keep]:
            turn.shown = False
        return True

    def _drop_turns(self) -> bool:
        dropped = False
        while self._too_long():
            if len(self._turns) == 1:
                raise RolloutFailure(
                    FailureKind.ENGINE,
                    f"one observation needs about {self._estimate() * self._correction:.0f} tokens, "
                    f"and the prompt may have {self._budget.tokens}",
                )
            del self._turns[: len(self._turns) // 2]
            dropped = True
        return dropped

    def _written(self, turn: _Turn) -> list[Message]:
        before = turn.before
        if turn is self._turns[0]:
            before = self._opening + before
        picture: Part = turn.picture if turn.shown else self._gone
        parts = [before, picture, turn.after]
        seen = Message(role=Role.USER, parts=tuple(_joined(parts)))
        return [seen, *turn.since]


def _joined(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts with texts that follow each other made one, as templates would."""
    for is_text, group in itertools.groupby(parts, key=lambda part: isinstance(part, str)):
        if is_text:
            yield "".join(str(part) for part in group)
        else:
            yield from group


def text_tokens(text: str) -> int:
    """Return about how many tokens a text takes, rather too many than too few."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)
