"""The memory of a server with a hybrid model: blocks of attention and states of Mamba layers, in one pool.

Made after vLLM 0.26's `v1/core/block_pool.py` and `v1/core/single_type_kv_cache_manager.py` (`MambaManager`, mode `align`).
A piece is a block of attention (1 block of memory) or a state (one block for each group of Mamba layers). A piece in use
cannot be dropped. One that nobody uses is kept, if it has a name, until its memory is wanted; the one unused for the
longest goes first. A name covers everything up to the piece's end, so a prompt finds the pieces of its own beginning. Two
requests that read the same at once make two pieces of one name, and both are kept: the older is found first.
"""

from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass(eq=False, slots=True)
class Piece:
    """A block of attention or a state."""

    size: int
    """Blocks of memory."""
    name: int | None = None
    """What it is found by; None: nobody can find it."""
    users: int = 1
    """Requests that use it."""


@dataclass(eq=False, slots=True)
class Pool:
    """All memory for blocks and states."""

    blocks: int
    """Blocks of memory."""
    blank: int = field(init=False)
    """Blocks that hold nothing."""
    used: int = 0
    """Blocks of pieces in use."""
    _idle: OrderedDict[Piece, None] = field(default_factory=OrderedDict)
    _named: dict[int, dict[Piece, None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.blank = self.blocks

    @property
    def free(self) -> int:
        """Blocks that are not in use: blank ones, and pieces that may be dropped."""
        return self.blocks - self.used

    def find(self, name: int) -> Piece | None:
        """Return the oldest piece of this name; None: there is none (any more)."""
        pieces = self._named.get(name)
        return next(iter(pieces)) if pieces else None

    def take(self, size: int) -> Piece:
        """Return a new piece, for which the longest unused ones are dropped. There must be `size` free blocks."""
        while self.blank < size:
            dropped, _ = self._idle.popitem(last=False)
            self._forget(dropped)
            self.blank += dropped.size
        self.blank -= size
        self.used += size
        return Piece(size)

    def use(self, piece: Piece) -> None:
        """Use a piece that was found."""
        if piece.users == 0:
            del self._idle[piece]
            self.used += piece.size
        piece.users += 1

    def name(self, piece: Piece, name: int) -> None:
        """Let a piece that has no name be found from now on."""
        piece.name = name
        self._named.setdefault(name, {})[piece] = None

    def leave(self, piece: Piece) -> None:
        """Stop using a piece."""
        piece.users -= 1
        if piece.users:
            return
        self.used -= piece.size
        if piece.name is None:
            self.blank += piece.size
        else:
            self._idle[piece] = None

    def shrink_to(self, blocks: int) -> None:
        """Have fewer blocks, for which the longest unused pieces are dropped; never fewer than are in use."""
        wanted = max(blocks, self.used)
        while self.blocks - self.blank > wanted:
            dropped, _ = self._idle.popitem(last=False)
            self._forget(dropped)
            self.blank += dropped.size
        self.blank -= self.blocks - wanted
        self.blocks = wanted

    def _forget(self, piece: Piece) -> None:
        if piece.name is None:
            return
        pieces = self._named[piece.name]
        del pieces[piece]
        if not pieces:
            del self._named[piece.name]
        piece.name = None
