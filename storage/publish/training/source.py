"""The source of training rows: an episode with its verdicts, and its conversation in a dialect.

Storage depends on no dialect. A renderer, which `flows` passes in, returns the prompts that a model
would have got and the replies it would have given, in segments: the prompt of a segment only grows, so
each of its prompts is the beginning of its turns. `replies_of` takes the segments apart again, into one
prompt for each reply.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from schemas.base import JsonObject
from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from schemas.verdicts.step_label import StepLabel, StepQuality
from schemas.verdicts.verdict import Acceptance


@dataclass(frozen=True, slots=True)
class FullEpisode:
    """An episode with its task and acceptance."""

    episode: Episode
    """Complete, with steps, elements, calls and prompts."""
    task: Task
    """The task attempted."""
    acceptance: Acceptance
    """The result of the run's rule."""
    labels: tuple[StepLabel, ...] | None = None
    """The label of each of its actions; None if `steps` has not judged it."""

    def quality(self, step: int) -> StepQuality | None:
        """Return the quality of a step's action; None if unknown."""
        return self.label(step).quality

    def label(self, step: int) -> StepLabel:
        """Return the label of a step by `steps`; a label without values if `steps` gave none."""
        known = self.labels or ()
        return known[step] if step < len(known) else StepLabel()


class MaskReason(StrEnum):
    """The reason why a reply is not learnt; replies are counted by it."""

    PERSON = "by_a_person"
    """A person acted."""
    FAILED = "not_carried_out"
    """The action could not be carried out."""
    UNSEEN = "unseen"
    """Its prompt lacks a picture that the reply depends on."""


@dataclass(frozen=True, slots=True)
class MessagePicture:
    """A picture in a message."""

    step: int
    """The step that it is the screenshot of."""
    jpeg: bytes
    """The picture's bytes."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of a conversation."""

    role: str
    """system, user or assistant."""
    parts: tuple[str | MessagePicture, ...]
    """Texts and pictures in order."""
    learnt: bool = False
    """Whether the loss counts it: a reply that belongs to this segment."""
    masked: str | None = None
    """Why the loss does not count a reply that belongs to this segment; None for any other message."""
    step: int | None = None
    """The step of a reply that belongs to this segment; None for any other message."""
    mask_reason: MaskReason | None = None
    """The kind of reason that `masked` tells; None for any other message."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of an episode in which the prompt only grew, with its last reply."""

    number: int
    """From 0."""
    steps: tuple[int, ...]
    """The steps whose replies belong to it."""
    turns: tuple[ChatMessage, ...]
    """All messages."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """An episode as a dialect's prompts and replies."""

    segments: tuple[Segment, ...]
    """In order; empty if not even the first step can be rendered."""
    ended: str | None = None
    """The reason why it ends before its last step, as it is counted; None: it does not."""


class Renderer(Protocol):
    """Renders an episode in a dialect."""

    @property
    def about(self) -> JsonObject:
        """All settings that affect the result; `dialect` is the dialect's name."""
        ...

    def render(self, episode: Episode) -> Rendered:
        """Return the prompts that a model would have got, and the replies it would have given."""
        ...


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with the prompt that it answers."""

    step: int
    """The step whose action it is."""
    prompt: tuple[ChatMessage, ...]
    """Every message before it."""
    turn: ChatMessage
    """The reply."""

    @property
    def text(self) -> str:
        """The text of the reply."""
        return "".join(part for part in self.turn.parts if isinstance(part, str))

    @property
    def shown(self) -> tuple[tuple[str, tuple[str | bytes, ...]], ...]:
        """The prompt as a model is shown it: roles, texts and pictures' bytes."""
        return tuple(
            (turn.role, tuple(part if isinstance(part, str) else part.jpeg for part in turn.parts))
            for turn in self.prompt
        )

    @property
    def failed(self) -> bool:
        """Whether it is masked because its action could not be carried out."""
        return self.turn.mask_reason is MaskReason.FAILED


def replies_of(rendered: Rendered) -> Iterator[Reply]:
    """Yield every reply of an episode with its prompt, in order, those that are masked too."""
    for segment in rendered.segments:
        for place, turn in enumerate(segment.turns):
            if turn.step is not None:
                yield Reply(turn.step, segment.turns[:place], turn)
