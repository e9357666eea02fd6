"""The pool of blocks, whatever is done with it: nothing is lost, nothing in use is dropped, the longest unused goes first."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from generators.engine.simulator.batching.blocks import Piece, Pool

BLOCKS = 24


class PoolMachine(RuleBasedStateMachine):
    """A pool, and what a list of pieces says of it."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = Pool(BLOCKS)
        self.used: list[Piece] = []
        """Once for each user."""
        self.idle: list[tuple[Piece, int]] = []
        """Named pieces that nobody uses with their names, the longest unused first."""

    def _drop(self) -> None:
        """Forget what the pool dropped, which must be the first ones."""
        while self.idle and self.idle[0][0].name is None:
            self.idle.pop(0)

    @rule(size=st.integers(1, 5), name=st.one_of(st.none(), st.integers(0, 8)))
    def take(self, size: int, name: int | None) -> None:
        if self.pool.free < size:
            return
        dropped = len(self.idle)
        blank = self.pool.blank
        piece = self.pool.take(size)
        self._drop()
        assert (dropped == len(self.idle)) == (blank >= size)
        self.used.append(piece)
        if name is not None:
            self.pool.name(piece, name)

    @rule(name=st.integers(0, 8))
    def use(self, name: int) -> None:
        found = self.pool.find(name)
        if found is None:
            assert all(one.name != name for one in (*self.used, *(one for one, _ in self.idle)))
            return
        assert found.name == name
        self.pool.use(found)
        self.idle = [pair for pair in self.idle if pair[0] is not found]
        self.used.append(found)

    @precondition(lambda self: self.used)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        piece = self.used.pop(data.draw(st.integers(0, len(self.used) - 1)))
        self.pool.leave(piece)
        if piece.name is not None and all(one is not piece for one in self.used):
            self.idle.append((piece, piece.name))

    @rule(blocks=st.integers(0, BLOCKS))
    def shrink(self, blocks: int) -> None:
        if blocks > self.pool.blocks:
            return
        self.pool.shrink_to(blocks)
        self._drop()
        assert self.pool.blocks == max(blocks, self.pool.used)

    @invariant()
    def every_block_is_somewhere(self) -> None:
        used = sum({id(piece): piece.size for piece in self.used}.values())
        idle = sum(piece.size for piece, _ in self.idle)
        assert self.pool.used == used
        assert self.pool.blank >= 0
        assert used + idle + self.pool.blank == self.pool.blocks
        assert self.pool.free == idle + self.pool.blank

    @invariant()
    def what_was_not_dropped_is_found(self) -> None:
        assert all(piece.name == name for piece, name in self.idle)
        for piece in self.used:
            assert piece.users == sum(one is piece for one in self.used)
            if piece.name is not None:
                found = self.pool.find(piece.name)
                assert found is not None
                assert found.name == piece.name


TestPool = PoolMachine.TestCase
