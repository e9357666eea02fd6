"""Servers by name: the sizes and times that the batching clock reckons with, from one data file."""

import tomllib
from enum import StrEnum
from functools import cache
from importlib.resources import files

from pydantic import Field

from schemas.base import Record


class StateRule(StrEnum):
    """Which states of a prompt can be found again."""

    CHUNKS = "chunks"
    """The one at the end of each chunk, as vLLM 0.26 keeps in `align`."""
    JUNCTIONS = "junctions"
    """The one at the prompt's last block boundary and those where prompts part, as vLLM after 0.28 keeps."""
    NONE = "none"
    """None, without a prefix cache."""


class ServerPreset(Record):
    """One server: a model's shape on a card, with the flags it was started with."""

    blocks: int = Field(ge=8)
    """Blocks of memory for attention and states (`num_gpu_blocks`)."""
    block_tokens: int = Field(ge=1)
    """Tokens of a block."""
    state_blocks: int = Field(ge=0)
    """Blocks of a state; 0: the model has attention alone."""
    rule: StateRule
    """Which states can be found again."""
    batched_tokens: int = Field(ge=1)
    """The most tokens of one iteration (`--max-num-batched-tokens`)."""
    sequences: int = Field(ge=1)
    """The most requests in progress (`--max-num-seqs`)."""
    encoder_tokens: int = Field(ge=0)
    """Tokens of pictures that may be encoded, or kept until they are read, at once."""
    iteration_seconds: float = Field(ge=0)
    """Time of an iteration without any token."""
    token_seconds: float = Field(ge=0)
    """Time of a token of a prompt."""
    picture_token_seconds: float = Field(ge=0)
    """Further time of a token of a picture that is encoded."""
    reply_token_seconds: float = Field(ge=0)
    """Time of one token of a reply beside others."""

    @property
    def caches(self) -> bool:
        """Whether it has a prefix cache."""
        return self.rule is not StateRule.NONE


@cache
def read_presets() -> dict[str, ServerPreset]:
    """Return the servers of `presets.toml` by name."""
    tables = tomllib.loads(files(__package__).joinpath("presets.toml").read_text("utf-8"))
    found: dict[str, ServerPreset] = {}
    for name, table in tables.items():
        base = found[table.pop("like")].model_dump() if "like" in table else {}
        found[name] = ServerPreset.model_validate({**base, **table})
    return found
