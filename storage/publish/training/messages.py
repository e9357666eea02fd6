"""A reply with its prompt, in the spellings of the columns, or the reason why it gives no row.

Both spellings are made of the same parts: adjacent texts are one, as a chat template would join them,
and every text is escaped (see `placeholders`). A trainer drops a row whose placeholders and pictures
differ in number or whose roles do not take turns, some silently; so such a reply gives no row here, and
is counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from schemas.base import JsonObject
from schemas.episodes.conversation import ChatMessage, MessagePicture
from schemas.episodes.placeholders import IMAGE, PLACEHOLDER, escape
from schemas.tables.tables import Row
from storage.publish.training.options import SystemPrompt
from storage.publish.training.source import Reply


class NoRow(StrEnum):
    """The reason why a reply gives no row, beside the reasons of masks; rows are counted by it."""

    NO_PICTURE = "without_its_picture"
    """The prompt lacks the picture of the reply's step."""
    ROLES = "roles_do_not_alternate"
    """User and assistant do not alternate, which trainers require."""
    PLACEHOLDER = "placeholder_in_reply"
    """The reply holds a word that trainers take for a picture; escaping would change the reply."""


@dataclass(frozen=True, slots=True)
class Spelt:
    """A reply with its prompt, in all spellings."""

    prompt: list[JsonObject]
    """The messages before the reply, as parts."""
    reply: JsonObject
    """The reply, as parts."""
    strings: list[JsonObject]
    """The prompt's messages as strings."""
    text: str
    """The reply as a string."""
    system: str | None
    """The system prompt left out of the messages; None if they have it, or the episode has no system
    prompt."""
    pictures: tuple[MessagePicture, ...]
    """In the order of their placeholders."""

    @property
    def reply_string(self) -> JsonObject:
        """The reply as a message with a string."""
        return {"role": "assistant", "content": self.text}

    def images(self, episode_id: str) -> list[Row]:
        """Return the pictures as a column holds them."""
        return [
            {"bytes": shown.jpeg, "path": f"{episode_id}-{shown.step}.jpg"}
            for shown in self.pictures
        ]


def spell(reply: Reply, system: SystemPrompt) -> Spelt | NoRow:
    """Return a reply in all spellings, or why trainers could not learn it from a row."""
    turns = [turn for turn in reply.prompt if turn.role != "system"]
    openings = [turn for turn in reply.prompt if turn.role == "system"]
    roles = [turn.role for turn in (*turns, reply.turn)]
    if roles != ["user", "assistant"] * (len(roles) // 2) or reply.prompt[: len(openings)] != (
        *openings,
    ):
        return NoRow.ROLES
    text = reply.text
    if PLACEHOLDER.search(text):
        return NoRow.PLACEHOLDER
    if system is SystemPrompt.ROW:
        turns = [*openings, *turns]
    pictures = tuple(
        part for turn in turns for part in turn.parts if isinstance(part, MessagePicture)
    )
    if reply.step not in {shown.step for shown in pictures}:
        return NoRow.NO_PICTURE
    left_out = "".join(_string(turn) for turn in openings)
    return Spelt(
        prompt=[{"role": turn.role, "content": list(map(_part, _parts(turn)))} for turn in turns],
        reply={"role": "assistant", "content": [_part(text)]},
        strings=[{"role": turn.role, "content": _string(turn)} for turn in turns],
        text=text,
        system=left_out if openings and system is SystemPrompt.TRAINER else None,
        pictures=pictures,
    )


def _parts(turn: ChatMessage) -> Iterator[str | MessagePicture]:
    """Yield a message's pictures and, between them, its texts, joined and escaped."""
    texts: list[str] = []
    for part in (*turn.parts, None):
        if isinstance(part, str):
            texts.append(part)
            continue
        if any(texts):
            yield escape("".join(texts))
            texts.clear()
        if part is not None:
            yield part


def _part(part: str | MessagePicture) -> JsonObject:
    """Return a part as a column holds it: every part has both keys."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {"type": "image", "text": None}


def _string(turn: ChatMessage) -> str:
    return "".join(part if isinstance(part, str) else IMAGE for part in _parts(turn))
