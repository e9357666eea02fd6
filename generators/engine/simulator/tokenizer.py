"""A toy tokenizer and a chat template, deterministic and append-only.

A text becomes pieces, a piece the hash of its bytes within the vocabulary; a picture becomes a run
of one placeholder, one for each 32×32 px. Every part of a message is cut into pieces on its own,
so that a later message never changes the tokens of an earlier one. The last two tokens of a prompt,
its generation suffix, open the reply and are in no history.
"""

import json
import re
import zlib
from collections import OrderedDict
from dataclasses import dataclass

from generators.engine.simulator.chat import ChatRequest, ChatRole

TILE = 32
"""Side of what one picture token covers, px."""

VOCABULARY = 131_072
RESERVED = 16
"""The first ids mean structure, never text."""

BEGIN, END, IMAGE_START, IMAGE_END, IMAGE, GENERATE = range(6)
ROLES = {role: 6 + number for number, role in enumerate(ChatRole)}
END_TEXT = "<end>"

_PIECE = re.compile(r" ?[^\W_]{1,6}|\s+|.", re.DOTALL)
_KEPT_TEXTS = 16_384


@dataclass(frozen=True)
class TokenizedPrompt:
    """A chat as tokens."""

    ids: tuple[int, ...]
    """The ids as a model would read them, placeholders included."""
    keys: tuple[int, ...]
    """The same, with each placeholder replaced by what its picture shows."""
    image_tokens: int
    """Placeholders among them."""


def picture_tokens(width: int, height: int) -> int:
    """Return how many placeholders a picture takes."""
    return -(-width // TILE) * -(-height // TILE)


def pieces(text: str) -> list[str]:
    """Return the pieces of a text; joined they are the text."""
    return _PIECE.findall(text)


class Tokenizer:
    """Turns texts and chats into tokens; remembers the tokens of the latest texts."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    def ids(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a text."""
        known = self._texts.get(text)
        if known is None:
            room = VOCABULARY - RESERVED
            known = self._texts[text] = tuple(
                RESERVED + zlib.crc32(piece.encode("utf-8", "surrogatepass")) % room
                for piece in pieces(text)
            )
            if len(self._texts) > _KEPT_TEXTS:
                self._texts.popitem(last=False)
        else:
            self._texts.move_to_end(text)
        return known

    def strings(self, chat: ChatRequest, *, suffix: bool = True) -> list[str]:
        """Return the string of each token of `prompt`."""
        strings = ["<begin>"]
        if chat.tools:
            strings += pieces(json.dumps(chat.tools, ensure_ascii=False))
        for turn in chat.turns:
            strings.append(f"<{turn.role.value}>")
            for part in turn.parts:
                if isinstance(part, str):
                    strings += pieces(part)
                else:
                    count = picture_tokens(part.width, part.height)
                    strings += ["<images>", *["<image>"] * count, "</images>"]
            strings.append(END_TEXT)
        return [*strings, *([f"<{ChatRole.ASSISTANT.value}>", "<generate>"] if suffix else [])]

    def prompt(self, chat: ChatRequest, *, suffix: bool = True) -> TokenizedPrompt:
        """Return a chat as tokens, with the generation suffix unless `suffix` is False."""
        ids: list[int] = [BEGIN]
        keys: list[int] = [BEGIN]
        placeholders = 0
        if chat.tools:
            tools = self.ids(json.dumps(chat.tools, ensure_ascii=False))
            ids += tools
            keys += tools
        for turn in chat.turns:
            ids.append(ROLES[turn.role])
            keys.append(ROLES[turn.role])
            for part in turn.parts:
                if isinstance(part, str):
                    text = self.ids(part)
                    ids += text
                    keys += text
                else:
                    count = picture_tokens(part.width, part.height)
                    mark = -1 - int(part.digest[:15], 16)
                    ids += (IMAGE_START, *(IMAGE,) * count, IMAGE_END)
                    keys += (IMAGE_START, *(mark,) * count, IMAGE_END)
                    placeholders += count
            ids.append(END)
            keys.append(END)
        last = (ROLES[ChatRole.ASSISTANT], GENERATE) if suffix else ()
        return TokenizedPrompt((*ids, *last), (*keys, *last), placeholders)
