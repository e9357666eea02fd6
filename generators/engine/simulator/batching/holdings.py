"""What requests hold of a server's memory: the blocks and states that the cache has of them, and those that they take.

Made after vLLM 0.26's `v1/core/kv_cache_coordinator.py` (`find_longest_cache_hit`) and `v1/core/kv_cache_manager.py`.
"""

from generators.engine.simulator.batching.blocks import Piece, Pool
from generators.engine.simulator.batching.presets import ServerPreset, StateRule
from generators.engine.simulator.batching.requests import BatchedRequest

_STATE = 1
"""Is added to the name of a block for that of the state at its end."""


class Holdings:
    """The memory of one server, as its requests hold it."""

    def __init__(self, preset: ServerPreset) -> None:
        self._preset = preset
        self.pool = Pool(preset.blocks - 1)
        """All of it, but the block that stands for none."""
        self._kept: set[int] = set()

    def begin_iteration(self) -> None:
        """Let the states that the last iteration kept be found from now on."""
        self._kept.clear()

    def look_up(self, request: BatchedRequest) -> tuple[int, Piece | None, int]:
        """Return how many tokens the cache serves, the state there, and up to where others share the prompt; 0: no further."""
        if not self._preset.caches:
            return 0, None, 0
        block, pool = self._preset.block_tokens, self.pool
        most = (request.length - 1) // block
        whole = 0
        while whole < most and pool.find(request.names[whole]) is not None:
            whole += 1
        if not self._preset.state_blocks:
            return whole * block, None, 0
        for blocks in range(whole, 0, -1):
            state = pool.find(request.names[blocks - 1] + _STATE)
            if state is not None:
                return blocks * block, state, whole * block if blocks < whole else 0
        return 0, None, whole * block

    def fits(self, request: BatchedRequest, found: int, state: Piece | None) -> bool:
        """Whether the whole prompt has room, and its state is not of this very iteration."""
        if state is not None and state.name in self._kept:
            return False
        block = self._preset.block_tokens
        shared = found // block
        idle = sum(
            1
            for name in request.names[:shared]
            if (piece := self.pool.find(name)) and not piece.users
        )
        if state is not None and not state.users:
            idle += state.size
        wanted = -(-request.length // block) - shared + self._preset.state_blocks + idle
        return wanted <= self.pool.free

    def begin(self, request: BatchedRequest, found: int, state: Piece | None) -> None:
        """Use what the cache has of a prompt."""
        request.computed = found
        for name in request.names[: found // self._preset.block_tokens]:
            piece = self.pool.find(name)
            if piece is None:
                raise AssertionError("a block went that was just found")
            self.pool.use(piece)
            request.attention.append(piece)
        if state is not None:
            self.pool.use(state)
            request.states.append(state)

    def needs(self, request: BatchedRequest, end: int) -> tuple[int, int]:
        """Return the blocks of attention and of a state that a request needs to get to `end`, tokens.

        Within a block a state is written over.
        """
        preset = self._preset
        blocks = -(-end // preset.block_tokens) - len(request.attention)
        is_new = blocks > 0 if preset.caches else not request.states
        return blocks, preset.state_blocks if is_new else 0

    def take(self, request: BatchedRequest, end: int) -> None:
        """Take what a request needs to get to `end`; there must be room."""
        blocks, state = self.needs(request, end)
        for _ in range(blocks):
            request.attention.append(self.pool.take(1))
        if state:
            request.states.append(self.pool.take(state))
        self.keep(request, end)

    def leave_states(self, request: BatchedRequest, newest: int) -> None:
        """Stop using the states of a request but the newest ones."""
        while len(request.states) > newest:
            self.pool.leave(request.states.pop(0))

    def keep(self, request: BatchedRequest, end: int) -> None:
        """Give names to the whole blocks up to `end`, and to a state there."""
        preset = self._preset
        if not preset.caches:
            return
        whole = end // preset.block_tokens
        for piece, name in zip(request.attention[:whole], request.names[:whole], strict=False):
            if piece.name is None:
                self.pool.name(piece, name)
        if request.states and request.states[-1].name is None and self._is_kept(request, end):
            name = request.names[whole - 1] + _STATE
            self.pool.name(request.states[-1], name)
            self._kept.add(name)

    def _is_kept(self, request: BatchedRequest, end: int) -> bool:
        """Whether the state at `end` can be found again."""
        block = self._preset.block_tokens
        if end % block or not 0 < end // block <= len(request.names):
            return False
        last, junction = (request.prompt - 1) // block * block, request.junction // block * block
        return self._preset.rule is StateRule.CHUNKS or end in {last, junction}

    def release(self, request: BatchedRequest) -> None:
        """Stop using all that a request uses, the ends of its prompt first."""
        for piece in (*reversed(request.states), *reversed(request.attention)):
            self.pool.leave(piece)
        request.attention.clear()
        request.states.clear()
