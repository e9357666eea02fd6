"""A prompt as a server's chat template and tokenizer make it: the tokens that the model reads.

Source: vLLM's `POST /tokenize`, which takes the messages of a chat and returns `tokens`, and `token_strs` beside
them if it is asked for these. The strings are those of the vocabulary, so a space or a line end may have
another spelling there: byte-level vocabularies have a printable character for each byte, SentencePiece's have
`▁` and `<0x0A>`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from generators.engine.client.transport import IncompleteResponse, ResponseTooLarge, Transport

TOKENIZE = "/tokenize"
"""The path, beside the API's base."""

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = [byte for byte in range(0x100) if byte not in _PRINTABLE]
_BYTES = {chr(byte): byte for byte in _PRINTABLE} | {
    chr(0x100 + number): byte for number, byte in enumerate(_OTHERS)
}
"""The character of each byte in a byte-level vocabulary, as GPT-2's tokenizer defined them."""

_SPELLINGS = frozenset("ĠĊ")
"""A space and a line end there, by which such a vocabulary is known."""


@dataclass(frozen=True)
class RenderedPrompt:
    """A prompt's tokens, in their own strings."""

    tokens: tuple[str, ...]
    """Each as the vocabulary spells it."""

    @property
    def text(self) -> str:
        """The tokens as one text, special tokens and placeholders of pictures included."""
        if not any(_SPELLINGS & set(token) for token in self.tokens):
            return "".join(self.tokens).replace("▁", " ").replace("<0x0A>", "\n")
        spelt = "".join(self.tokens)
        data = b"".join(
            bytes([_BYTES[one]]) if one in _BYTES else one.encode("utf-8", "replace")
            for one in spelt
        )
        return data.decode("utf-8", "replace")


async def fetch_rendered_prompt(
    transport: Transport, body: bytes, *, seconds: float = 60.0
) -> RenderedPrompt | None:
    """Return the tokens of the chat in `body`; None: the server does not show them within `seconds`."""
    try:
        answer = await transport.post(TOKENIZE, body, seconds=seconds)
    except (IncompleteResponse, ResponseTooLarge):
        return None
    if not answer.ok:
        return None
    try:
        found: JsonValue = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    strings = found.get("token_strs") if isinstance(found, dict) else None
    if not isinstance(strings, Sequence) or isinstance(strings, str) or not strings:
        return None
    return RenderedPrompt(tuple(str(one) for one in strings))
