"""What was heard of an endpoint since the last decision, and how many of its calls were *lost*.

A cache that is too small does not serve each call a little less: it serves most calls all and others nothing, those whose
conversation's beginning was dropped. So calls are counted, not tokens: the share that is lost is nothing below the edge and
a tenth just beyond it, while the tokens' share moves with the prompts' sizes too. A call that goes back further than
half of its conversation, as when old pictures leave the prompt, is left out: what it needs was often never kept. What all
prompts share is left out too, because it is never dropped.
"""

from dataclasses import dataclass

from generators.engine.governor.signals import CallFigures

GOES_ON = 0.5
"""Share of its conversation's last prompt that a call could be served at least; otherwise it begins nearly anew."""

LOST = 0.5
"""What a lost call is served less than: of what it could be beyond what all prompts share, a share of the usual one."""

MIN_JUDGED = 12
"""Calls that a share of lost ones is of at least, so that one among few is not many."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What a call is compared with."""

    last: int
    """Tokens of its conversation's last prompt; 0: it is the first."""
    shared: int
    """Tokens that all prompts share: the fewest that the first call of a conversation was served of late."""
    best: float
    """The best own efficiency that the server has shown."""


@dataclass(slots=True)
class Window:
    """What was heard since the last decision."""

    begun: float
    """When that was."""
    calls: int = 0
    """Calls that were answered."""
    prompts: int = 0
    """Tokens of their prompts."""
    computed: int = 0
    """The number of these that no cache served."""
    _cached: int = 0
    _cacheable: int = 0
    _said: int = 0
    _full: int = 0
    _own: float = 0.0
    _could_own: float = 0.0
    _judged: int = 0
    _lost: int = 0

    def add(self, call: CallFigures, usual: Usual, *, is_full: bool) -> None:
        """Count a call; `is_full`: as many lived as may."""
        prompt, cached = call.prompt_tokens, call.cached_tokens
        self.calls += 1
        self._full += is_full
        self.prompts += max(0, prompt or 0)
        self.computed += max(0, (prompt or 0) - max(0, cached or 0))
        if cached is None:
            return
        could = max(0, min(call.cacheable_tokens, prompt or call.cacheable_tokens))
        served = max(0, min(cached, could))
        self._said += 1
        self._cached += served
        self._cacheable += could
        if could >= GOES_ON * usual.last > 0:
            shared = min(usual.shared, could)
            own, could_own = served - shared, could - shared
            self._own += max(0, own)
            self._could_own += could_own
            self._judged += 1
            self._lost += own < LOST * usual.best * could_own

    @property
    def efficiency(self) -> float | None:
        """Hit efficiency; None: the server seldom says it, or nothing could have been served."""
        if self._said * 2 < self.calls or not self._cacheable:
            return None
        return self._cached / self._cacheable

    @property
    def own_efficiency(self) -> float:
        """Hit efficiency of what is beyond the part that all prompts share; 0: nothing is."""
        return self._own / self._could_own if self._could_own else 0.0

    @property
    def lost(self) -> float:
        """Share of the calls that came back to find that their conversation's beginning had been dropped."""
        return self._lost / max(self._judged, MIN_JUDGED)

    @property
    def is_full(self) -> bool:
        """Whether as many lived as may, most of the time."""
        return self._full * 2 > self.calls
