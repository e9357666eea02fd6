"""An episode as a conversation in a model's dialect: prompts and replies, in segments.

The prompt of a segment only grows, so each of its prompts is the beginning of its turns.
"""

from dataclasses import dataclass
from enum import StrEnum


class MaskReason(StrEnum):
    """Why a reply is not learnt, in a word, as it is counted."""

    PERSON = "by_a_person"
    """A person acted."""
    FAILED = "not_carried_out"
    """The action could not be carried out."""
    MISTAKE = "on_purpose"
    """It is a mistake that the policy made on purpose."""
    UNSEEN = "unseen"
    """Its prompt no longer shows what it needs."""
    UNTRUE_NOTE = "untrue_note"
    """Its note states what its prompt does not show."""


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
