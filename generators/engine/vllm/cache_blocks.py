"""What is known of models whose prefix cache keeps states at the ends of blocks, and the flags that livelock them.

A model with Mamba layers is computed to the end of a block, where its state is kept. vLLM schedules such a block only
if all pictures that it touches can be encoded in the same step. Where the budget of the encoder is too small for
them, the scheduler tries again for ever: nothing is computed, and `/health` stays 200. This is arithmetic on the
flags and on a picture's tokens, so it is decided before anything is started.
"""

import math
import re
from collections.abc import Mapping, Sequence

from generators.engine.vllm.command import CACHE_MODE_FLAG, flag_value
from schemas.base import Record

BUDGET_FLAG = "--max-num-batched-tokens"
"""Bounds the tokens of a step, and with them the tokens of pictures that are encoded for it."""

STATE_FLAG = "--mamba-ssm-cache-dtype"
"""The numbers that a state is kept in."""

_CACHING = {
    "--enable-prefix-caching": True,
    "--no-enable-prefix-caching": False,
    "--disable-prefix-caching": False,
}
_OTHER_BLOCKS = ("--block-size", "--mamba-block-size", "--kv-cache-dtype", "--mamba-cache-dtype")
_OTHER_SHAPES = ("--tensor-parallel-size", "-tp", "--pipeline-parallel-size", "-pp", "--dtype")
_USUAL = frozenset({None, "1", "auto", "bfloat16"})
"""Values of these flags with which the blocks are as large as the table says."""

_ALIGNED = "align"
_WIDE = frozenset({None, "auto", "float32"})
_TOKENS = re.compile(r"^(\d+(?:\.\d+)?)([kmKM]?)$")
_UNITS = {"": 1, "k": 1_000, "K": 1_024, "m": 10**6, "M": 2**20}


class StateBlocks(Record):
    """The blocks of a model's prefix cache, which are as large as a state of its Mamba layers."""

    wide_tokens: int
    """Tokens of a block with states of 32 bits."""
    narrow_tokens: int
    """Tokens of a block with states of 16 bits."""


_QWEN_35B = StateBlocks(wide_tokens=1_056, narrow_tokens=544)
_NEMOTRON_30B = StateBlocks(wide_tokens=2_096, narrow_tokens=1_072)

KNOWN_BLOCKS: Mapping[str, StateBlocks] = {
    "Hcompany/Holotron-12B": StateBlocks(wide_tokens=1_312, narrow_tokens=672),
    **dict.fromkeys(("Hcompany/Holo3-35B-A3B", "Hcompany/Holo4-35B-A3B"), _QWEN_35B),
    **dict.fromkeys(("Hcompany/Holotron-3-Nano", "Hcompany/Holotron4-30B-A3B"), _NEMOTRON_30B),
}
"""By model, as vLLM computes them for one GPU and 16-bit attention; of other models nothing is known.

A block is as many tokens of one attention layer as a state of one other layer takes, rounded up to 16. Of Qwen3.5's
35B-A3B a gated-delta layer takes 2,146,304 bytes at 32 bits and a token 2,048; of Nemotron 3 Nano's 30B-A3B a Mamba
layer takes 2,134,016 and a token 1,024. Both follow from the published configurations, and were not run here.
"""


def block_tokens(model: str | None, args: Sequence[str]) -> int | None:
    """Return the tokens of a block at whose end a state is kept; None: unknown, or no state is kept.

    Where the arguments do not say how a state is kept, it is taken to be of 32 bits, in which a block touches more
    pictures: versions of vLLM differ there.
    """
    blocks = KNOWN_BLOCKS.get(model or "")
    flags = (*_OTHER_BLOCKS, *_OTHER_SHAPES)
    if blocks is None or not _keeps_states(args):
        return None
    if any(flag_value(args, flag) not in _USUAL for flag in flags):
        return None
    return blocks.wide_tokens if flag_value(args, STATE_FLAG) in _WIDE else blocks.narrow_tokens


def _keeps_states(args: Sequence[str]) -> bool:
    """Return whether states are kept at the ends of blocks, as far as the arguments say."""
    names = [arg.partition("=")[0].replace("_", "-") for arg in args]
    caching = next((_CACHING[name] for name in reversed(names) if name in _CACHING), None)
    mode = flag_value(args, CACHE_MODE_FLAG)
    return caching is not False and mode in {None, _ALIGNED} and bool(caching or mode)


def step_tokens(args: Sequence[str]) -> int | None:
    """Return the tokens of a step; None: the arguments do not say, so vLLM decides by the machine."""
    found = _TOKENS.match(flag_value(args, BUDGET_FLAG) or "")
    return None if found is None else int(float(found[1]) * _UNITS[found[2]])


def encoded_tokens(block: int, *, picture: int, pictures: int) -> int:
    """Return the tokens of the pictures that one block can touch, which one step must be able to encode.

    `block` and `picture` are tokens of a block and of a picture, and `pictures` is how many a prompt may have.
    """
    return min(math.ceil((block - 1) / picture) + 1, pictures) * picture


def livelock(block: int, step: int, *, picture: int, pictures: int) -> str | None:
    """Return why a server can stand still for ever over adjacent pictures, and the remedy; None: it cannot.

    `block` and `step` are tokens of a block and of a step, `picture` tokens of a picture, and `pictures` is how many
    of them a prompt may have.
    """
    needed = encoded_tokens(block, picture=picture, pictures=pictures)
    touched, budget = needed // picture, max(step, picture)
    if needed <= budget:
        return None
    return (
        f"{BUDGET_FLAG} {step}: a step encodes at most {budget} tokens of pictures, and a block of {block} tokens can "
        f"touch {touched} pictures of {picture}, which are {needed}: vLLM would stand still for ever over them "
        f"and call itself healthy; give {BUDGET_FLAG} at least {needed}"
    )
