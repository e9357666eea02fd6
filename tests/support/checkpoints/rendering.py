"""A prompt as a server of the tiny model makes it: the chat template, then one token a byte.

vLLM renders the template as transformers does, puts an enclosed run of placeholders where the template says
`<image>`, and cuts the text by the checkpoint's tokenizer.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import Template
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import JsonValue
from support.checkpoints.shape import TINY
from support.checkpoints.tokenizer import IMAGE, tokenizer
from tokenizers import Tokenizer

from generators.engine.protocol import Message

SIDE = TINY.vision.tile
"""Of the pictures that this module knows the tokens of: they are one tile at most, px."""

_PICTURE = f"<img>{IMAGE * TINY.vision.tile_tokens}</img>"


def chat(messages: Sequence[Message]) -> list[Mapping[str, JsonValue]]:
    """Return messages as vLLM hands them to a template that goes through the parts of a message."""
    return [
        {
            "role": message.role.value,
            "content": [
                {"type": "text", "text": part} if isinstance(part, str) else {"type": "image"}
                for part in message.parts
            ],
        }
        for message in messages
    ]


def render(
    messages: Sequence[Mapping[str, JsonValue]], template: str, *, suffix: bool = True
) -> str:
    """Return a chat in the words of a template, with the generation suffix unless `suffix` is False."""
    return _compiled(template).render(messages=messages, add_generation_prompt=suffix)


def prompt_ids(
    messages: Sequence[Mapping[str, JsonValue]], template: str, *, suffix: bool = True
) -> list[int]:
    """Return the ids of a chat's tokens, those of its pictures included."""
    text = render(messages, template, suffix=suffix).replace(IMAGE, _PICTURE)
    return list(tiny_tokenizer().encode(text).ids)


@cache
def _compiled(template: str) -> Template:
    return ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(template)


@cache
def tiny_tokenizer() -> Tokenizer:
    """Return the tokenizer of the tiny model."""
    return Tokenizer.from_str(json.dumps(tokenizer(TINY.vocabulary)))
