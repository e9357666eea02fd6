"""Random weights from a seed, as a safetensors file; nothing but Python is needed to make them.

Weights are 16-bit floats whose upper half is a 32-bit float's (bfloat16), so a constant is cut from
an ordinary float, and a random one is a random word with its exponent set: its size lies between
two powers of two, its sign is drawn. The same seed gives the same bytes anywhere.

Such a model generates all tokens about equally often, and its replies would hardly ever end. So the
embeddings of all tokens share one large number, and the rows of the head for the few tokens that end
something respond to it: quotation marks and the end of a reply come about as often as in real text.
"""

import json
import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from support.checkpoints.shape import CheckpointShape, VisionShape
from support.checkpoints.tokenizer import END_ID, byte_id

_DRAWN = 0x807F
"""The bits of a weight that are drawn: its sign and its fraction."""
_SMALL = 1 / 64
"""The smallest size of a weight that is multiplied with others."""
_LARGE = 1 / 2
"""The smallest size of an embedding's numbers: layers must not drown them."""
_BYTES = 2

_COMMON = 4.0
"""The first number of every token's embedding: large beside all that is drawn."""
_RESPONSE = 1.0
"""The response of a token that ends something: some sixty times as likely as another."""
_ENDING = (END_ID, byte_id('"'))


@dataclass(frozen=True)
class Tensor:
    """A tensor of the checkpoint before it has its numbers."""

    name: str
    shape: tuple[int, ...]
    values: tuple[float, ...] | None = None
    """Its numbers, or the one number it is full of; None: drawn."""
    firsts: tuple[float, ...] | None = None
    """Where it is drawn, what its rows begin with; None: that is drawn too."""
    min_size: float = _SMALL
    """Where it is drawn: its numbers lie between this power of two and twice as much."""

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    def data(self, random: Random) -> bytes:
        """Return its numbers as they lie in the file."""
        if self.values is not None:
            repeats = self.size // len(self.values)
            return b"".join(bfloat16(value) for value in self.values) * repeats
        data = drawn(random, self.size, self.min_size)
        if self.firsts is None:
            return data
        filled, row = bytearray(data), _BYTES * self.size // len(self.firsts)
        for number, first in enumerate(self.firsts):
            filled[number * row : number * row + _BYTES] = bfloat16(first)
        return bytes(filled)


def bfloat16(value: float) -> bytes:
    """Return a number as a 16-bit float, cut off."""
    return struct.pack("<f", value)[_BYTES:]


def drawn(random: Random, count: int, min_size: float = _SMALL) -> bytes:
    """Return so many random weights between `min_size`, a power of two, and twice as much."""
    size = int.from_bytes(bfloat16(min_size), "little")
    every = int.from_bytes(b"\1\0" * count, "little")
    words = int.from_bytes(random.randbytes(_BYTES * count), "little")
    return ((words & every * _DRAWN) | every * size).to_bytes(_BYTES * count, "little")


def safetensors(tensors: Iterable[Tensor], seed: int) -> Iterator[bytes]:
    """Yield the file's pieces: the length of its head, its head, each tensor."""
    listed = list(tensors)
    head: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for tensor in listed:
        begin, end = end, end + _BYTES * tensor.size
        head[tensor.name] = {
            "dtype": "BF16",
            "shape": tensor.shape,
            "data_offsets": (begin, end),
        }
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)  # readers map the tensors, which wants them aligned
    yield struct.pack("<Q", len(text))
    yield text
    random = Random(seed)
    for tensor in listed:
        yield tensor.data(random)


def tensors(shape: CheckpointShape) -> Iterator[Tensor]:
    """Yield every tensor of a checkpoint, under the name that a server loads it by."""
    text, size = "language_model.model.", (shape.vocabulary, shape.hidden)
    responses = (_RESPONSE if token in _ENDING else 0.0 for token in range(shape.vocabulary))
    common = (_COMMON,) * shape.vocabulary
    yield Tensor(f"{text}embeddings.weight", size, firsts=common, min_size=_LARGE)
    yield Tensor("language_model.lm_head.weight", size, firsts=tuple(responses))
    yield _full(f"{text}norm_f.weight", shape.hidden, 1)
    for number, kind in enumerate(shape.layers):
        layer = f"{text}layers.{number}."
        yield _full(f"{layer}norm.weight", shape.hidden, 1)
        yield from _LAYERS[kind](shape, f"{layer}mixer.")
    yield from _vision(shape.vision, shape.hidden)


def _full(name: str, size: int, value: float) -> Tensor:
    return Tensor(name, (size,), (value,))


def _mlp(shape: CheckpointShape, mixer: str) -> Iterator[Tensor]:
    yield Tensor(f"{mixer}up_proj.weight", (shape.ffn, shape.hidden))
    yield Tensor(f"{mixer}down_proj.weight", (shape.hidden, shape.ffn))


def _attention(shape: CheckpointShape, mixer: str) -> Iterator[Tensor]:
    queries, keys = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    yield Tensor(f"{mixer}q_proj.weight", (queries, shape.hidden))
    yield Tensor(f"{mixer}k_proj.weight", (keys, shape.hidden))
    yield Tensor(f"{mixer}v_proj.weight", (keys, shape.hidden))
    yield Tensor(f"{mixer}o_proj.weight", (shape.hidden, queries))


def _mamba(shape: CheckpointShape, mixer: str) -> Iterator[Tensor]:
    inner, channels, heads = shape.mamba_inner, shape.mamba_channels, shape.mamba_heads
    yield Tensor(f"{mixer}in_proj.weight", (inner + channels + heads, shape.hidden))
    yield Tensor(f"{mixer}conv1d.weight", (channels, 1, shape.conv))
    yield _full(f"{mixer}conv1d.bias", channels, 0)
    yield Tensor(f"{mixer}out_proj.weight", (shape.hidden, inner))
    yield _full(f"{mixer}norm.weight", inner, 1)
    yield _full(f"{mixer}dt_bias", heads, 1)
    yield _full(f"{mixer}D", heads, 1)
    decays = tuple(math.log(head) for head in range(1, heads + 1))
    yield Tensor(f"{mixer}A_log", (heads,), decays)


_LAYERS = {"M": _mamba, "-": _mlp, "*": _attention}


def _vision(vision: VisionShape, hidden: int) -> Iterator[Tensor]:
    trunk, width = "vision_model.radio_model.model.", vision.hidden
    patches = f"{trunk}patch_generator."
    places = (vision.most_pixels // vision.patch) ** 2
    yield Tensor(f"{patches}embedder.weight", (width, 3 * vision.patch**2))
    yield Tensor(f"{patches}pos_embed", (1, places, width))
    yield Tensor(f"{patches}cls_token.token", (vision.registers, width))
    for number in range(vision.depth):
        yield from _block(vision, f"{trunk}blocks.{number}.")
    yield _full("mlp1.0.weight", 4 * width, 1)
    yield Tensor("mlp1.1.weight", (vision.projector, 4 * width))
    yield Tensor("mlp1.3.weight", (hidden, vision.projector))


def _block(vision: VisionShape, block: str) -> Iterator[Tensor]:
    for norm in ("norm1", "norm2"):
        yield _full(f"{block}{norm}.weight", vision.hidden, 1)
        yield _full(f"{block}{norm}.bias", vision.hidden, 0)
    sizes = {
        "attn.qkv": (3 * vision.hidden, vision.hidden),
        "attn.proj": (vision.hidden, vision.hidden),
        "mlp.fc1": (vision.ffn, vision.hidden),
        "mlp.fc2": (vision.hidden, vision.ffn),
    }
    for name, (out, into) in sizes.items():
        yield Tensor(f"{block}{name}.weight", (out, into))
        yield _full(f"{block}{name}.bias", out, 0)
