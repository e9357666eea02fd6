"""The tokenizer of the checkpoints: one token a byte, and the special tokens of the family.

Text becomes bytes and every byte a token, so any Unicode goes in and comes out. Where the model
has more tokens than that, the rest are words of four letters: text is never cut into them, but a
model with random weights may generate them.
"""

import string

from schemas.base import JsonObject

IMAGE = "<image>"
"""The placeholder of a picture in a prompt."""

SYSTEM, TURN, END = "<SPECIAL_10>", "<SPECIAL_11>", "<SPECIAL_12>"
"""Begins the rules; begins any other turn; ends a reply."""

SPECIAL = (
    "<unk>",
    "<s>",
    "</s>",
    SYSTEM,
    TURN,
    END,
    IMAGE,
    "<img>",
    "</img>",
    "<video>",
)
"""The first tokens, in order; the server looks the pictures' up by name."""

PAD_ID, BEGIN_ID, END_ID = SPECIAL.index("<unk>"), SPECIAL.index("<s>"), SPECIAL.index(END)

BYTES = 256
_LETTERS = string.ascii_lowercase
_WORD = 4

CHAT_TEMPLATE = f"""\
{{%- macro said(content) -%}}
  {{%- if content is string -%}}
    {{{{- content -}}}}
  {{%- else -%}}
    {{%- for part in content -%}}
      {{{{- part.text if part.type == 'text' else '{IMAGE}' -}}}}
    {{%- endfor -%}}
  {{%- endif -%}}
{{%- endmacro -%}}
{{{{- '<s>' -}}}}
{{%- for message in messages -%}}
  {{%- if message.role == 'system' -%}}
    {{{{- '{SYSTEM}System\\n' + said(message.content) + '\\n' -}}}}
  {{%- elif message.role == 'assistant' -%}}
    {{{{- '{TURN}Assistant\\n' + said(message.content) + '{END}\\n' -}}}}
  {{%- else -%}}
    {{{{- '{TURN}User\\n' + said(message.content) + '\\n' -}}}}
  {{%- endif -%}}
{{%- endfor -%}}
{{%- if add_generation_prompt -%}}
  {{{{- '{TURN}Assistant\\n' -}}}}
{{%- endif -%}}
"""
"""Append-only: each prompt of a conversation begins with the one before it."""


def tokenizer(vocabulary: int) -> JsonObject:
    """Return a `tokenizer.json` of so many tokens, the special ones included."""
    level: JsonObject = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    tokens = [*SPECIAL, *_bytes()]
    tokens += [
        "".join(
            _LETTERS[number // len(_LETTERS) ** place % len(_LETTERS)] for place in range(_WORD)
        )
        for number in range(vocabulary - len(tokens))
    ]
    return {
        "version": "1.0",
        "added_tokens": [
            {
                "id": number,
                "content": token,
                "special": True,
                "normalized": False,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
            }
            for number, token in enumerate(SPECIAL)
        ],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {
            "type": "BPE",
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [],
        },
    }


def byte_id(character: str) -> int:
    """Return the token that a character of one byte is."""
    return len(SPECIAL) + ord(character)


def _bytes() -> list[str]:
    """Return the characters that stand for the bytes in a byte-level vocabulary, in their order.

    A printable byte stands for itself; the others are given characters from U+0100 on.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(BYTES)]
