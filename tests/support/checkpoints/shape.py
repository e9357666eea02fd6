"""How large each part of a checkpoint is, and the two shapes there are.

The names are those of the architecture's `config.json`. `TINY` keeps every kind of layer and the
smallest vision tower that vLLM knows, on tiles a quarter as wide, so that a picture costs a CPU
little. `HOLOTRON` is Holotron-12B: its language model is published for its base, Nemotron Nano 12B
v2; the sizes around the vision tower are those of the base's vision-language sibling.
"""

from pydantic import Field

from schemas.base import Record


class VisionShape(Record):
    """The vision tower, and what makes its patches words of the language model."""

    name: str
    """The trunk as vLLM names it."""
    hidden: int
    """Width of the trunk; with `depth` and `ffn` it follows from the name."""
    depth: int
    """Blocks of the trunk."""
    ffn: int
    """Width inside a block's MLP."""
    tile: int
    """Side of the square tiles a picture is cut into, px."""
    patch: int = 16
    """Side of a patch, px; four patches become one token."""
    most_pixels: int
    """The longest side that position embeddings are there for, px."""
    registers: int
    """The class token and the registers come in a multiple of this."""
    projector: int
    """Width between the vision tower and the language model."""

    @property
    def tile_tokens(self) -> int:
        """Tokens a tile becomes."""
        return (self.tile // self.patch) ** 2 // 4


class CheckpointShape(Record):
    """A whole checkpoint."""

    layers: str = Field(pattern=r"^[M*-]+$")
    """In order: M for Mamba-2, - for an MLP, * for attention."""
    vocabulary: int
    """Tokens, the special ones included."""
    hidden: int
    """Width of the language model."""
    ffn: int
    """Width inside an MLP."""
    heads: int
    """Of attention."""
    kv_heads: int
    """Of attention, for keys and values."""
    head_dim: int
    """Width of one of them."""
    mamba_heads: int
    """Of Mamba-2."""
    mamba_head_dim: int
    """Width of one of them."""
    state: int
    """Of Mamba-2, for each channel."""
    groups: int
    """Heads of Mamba-2 that share their B and C."""
    conv: int = 4
    """Width of Mamba-2's convolution, tokens."""
    chunk: int
    """Tokens that Mamba-2 reads at once."""
    context: int
    """The longest prompt and reply together, tokens."""
    vision: VisionShape
    """The vision tower."""

    @property
    def mamba_inner(self) -> int:
        """Width inside a Mamba-2 layer."""
        return self.mamba_heads * self.mamba_head_dim

    @property
    def mamba_channels(self) -> int:
        """What the convolution runs over."""
        return self.mamba_inner + 2 * self.groups * self.state


TINY = CheckpointShape(
    layers="M-M*-",
    vocabulary=266,
    hidden=128,
    ffn=256,
    heads=2,
    kv_heads=1,
    head_dim=64,
    mamba_heads=8,
    mamba_head_dim=32,
    state=32,
    groups=1,
    chunk=64,
    context=32_768,
    vision=VisionShape(
        name="vit_small_patch16_224",
        hidden=384,
        depth=12,
        ffn=1_536,
        tile=128,
        most_pixels=512,
        registers=8,
        projector=256,
    ),
)
"""Some 23 million parameters: 46 MB, one token a byte, 16 tokens a tile."""

HOLOTRON = CheckpointShape(
    layers="M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M*-M-M-M-M-",
    vocabulary=131_072,
    hidden=5_120,
    ffn=20_480,
    heads=40,
    kv_heads=8,
    head_dim=128,
    mamba_heads=128,
    mamba_head_dim=80,
    state=128,
    groups=8,
    chunk=128,
    context=131_072,
    vision=VisionShape(
        name="vit_huge_patch16_224",
        hidden=1_280,
        depth=32,
        ffn=5_120,
        tile=512,
        most_pixels=2_048,
        registers=16,
        projector=20_480,
    ),
)
"""Holotron-12B: 28 Mamba-2 layers, 28 MLPs, 6 of attention; 256 tokens a tile."""
