"""How many episodes may live at one endpoint, and how many of their requests may be under way.

A pure state machine; time is passed in. A server whose prefix cache cannot hold what its episodes will ask next drops each
prompt's beginning just before it is wanted, and reads everything again: with a model of recurrent states 64 episodes made
0.57 of the steps of 32, and no gauge showed it. What shows it are *lost calls* (`window.py`), those that come back to find
that their conversation's beginning has been dropped, so the number of episodes is found by them:

* **Live episodes** climb while hardly a call is lost, stay while a few are, and fall by the share of those that are. Each
  decision looks at a whole *residence*: three times the median time between two calls of an episode. They climb fast up to
  a careful share of what fits by reckoning, and slowly from there, but not while prompts still grow: a number that is good
  with young episodes says little. Where the number failed it is an edge: the number stays under it for long and then
  tries it in small steps.
* Where the server says nothing of a cache, or has none, the number climbs unless computed tokens a second fall.
* **Requests under way** are fewer while the server makes some of them start again, or while more wait in it than it works
  on, and more while none waits.
"""

import math
import statistics
from collections import deque
from dataclasses import dataclass, field

from generators.engine.governor.signals import CallFigures, Gauges, Memory
from generators.engine.governor.window import Usual, Window

RESIDENCE_GAPS = 3.0
"""A residence in times between two calls of an episode."""

MIN_CALLS = 24
"""Calls that a decision needs at least."""

START_EPISODES = 24
"""Episodes that may live at first."""

START_SHARE = 0.33
"""Share of the episodes that fit by reckoning, up to which their number climbs fast."""

FAST, SLOW = 1.5, 1.05
"""By how much the number climbs below and above that."""

GROWS = 1.05
"""Prompts that are longer than at the last decision by this factor still grow, and the number does not climb slowly."""

FEW_LOST, MANY_LOST = 0.01, 0.05
"""Share of lost calls up to which more episodes may live, and beyond which fewer may."""

MIN_KEPT = 0.5
"""What is left of the number at least when it falls, however many calls are lost."""

IS_MENDING = 0.01
"""Where the share of lost calls has fallen by so much since the last decision, the number does not fall again."""

SETTLES = 1.0
"""Residences after a fall or a slow step in which nothing is looked at: a cache fills up, and what was dropped is made anew."""

SERVES_AT_ALL = 0.05
"""Hit efficiency below which a server that has never been better has no cache to speak of."""

NEAR_EDGE, PAST_EDGE = 0.96, 1.06
"""Where the number stays below the one that failed, and how far the edge moves when it was good for a while."""

PATIENCE, MOST_PATIENCE = 3, 24
"""Good decisions after which the edge is tried again: at first, and at most; each time that it fails twice as many."""

SLOWER, BACK = 0.85, 0.9
"""Computed tokens a second, relative to the best of late, for which the number falls where nothing is said of a cache; and to what."""

BEST_FADES = 0.998
"""What is left of the best own efficiency after each decision, because the work changes."""

PREEMPTED = 0.01
"""Share of requests that may have to start again."""

FEWER, MORE = 0.85, 1.05
"""By how much the requests under way change."""

MOST_WAITING = 0.6
"""Requests that may wait in a server for each that it works on."""

FEW_WAITING = 4
"""Requests that may wait in a server in any case."""

KEPT_FIRSTS = 16
"""First calls of conversations by which it is known what all prompts share."""

_KEPT = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """What a governor allows, and why."""

    live: int
    """Episodes that may live."""
    requests: int
    """Requests that may be under way."""
    because: str
    """Why it is so many episodes, in a few words."""


@dataclass(slots=True)
class Governor:
    """The limits of one endpoint."""

    ceiling: int
    """Episodes that may live at most, 1 or more."""
    memory: Memory | None = None
    """The server's memory; None: it does not say."""
    hears_hits: bool = True
    """Whether it looks at hit efficiency; false for what a bench compares with."""
    limits: Limits = field(init=False)
    """What it allows now."""
    _live: float = field(init=False)
    _requests: float = field(init=False)
    _because: str = "the first episodes begin"
    _window: Window | None = None
    _holds_until: float = 0.0
    _best: float = 0.0
    _best_own: float = 0.0
    _lost: float = 0.0
    _length: float = 0.0
    _edge: float = float("inf")
    _steady: int = 0
    _patience: int = PATIENCE
    _tries: bool = False
    _rates: deque[float] = field(default_factory=lambda: deque(maxlen=6))
    _last: dict[str, tuple[float, int]] = field(default_factory=dict)
    _firsts: deque[int] = field(default_factory=lambda: deque(maxlen=KEPT_FIRSTS))
    _gaps: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    _prompts: deque[int] = field(default_factory=lambda: deque(maxlen=_KEPT))
    _gauges: Gauges | None = None

    def __post_init__(self) -> None:
        self._live = float(min(self.ceiling, START_EPISODES))
        self._requests = float(self.ceiling)
        self._set_limits()

    @property
    def residence(self) -> float | None:
        """Seconds after which each episode has asked again; None: it is not known yet."""
        if len(self._gaps) < MIN_CALLS // 2:
            return None
        return RESIDENCE_GAPS * statistics.median(self._gaps)

    def hear(self, call: CallFigures, now: float, *, live: int) -> None:
        """Learn of a reply at `now`, seconds of any clock; `live` episodes live by then."""
        before, last = self._last.get(call.episode, (None, 0))
        self._last[call.episode] = now, max(0, call.prompt_tokens or call.cacheable_tokens)
        if before is not None:
            self._gaps.append(now - before)
        if call.prompt_tokens is not None and call.prompt_tokens > 0:
            self._prompts.append(call.prompt_tokens)
        if not last and call.cached_tokens is not None:
            self._firsts.append(max(0, call.cached_tokens))
        if self._window is None or now < self._holds_until:
            self._window = Window(now)
            return
        usual = Usual(last, min(self._firsts, default=0), self._best_own)
        self._window.add(call, usual, is_full=live >= self.limits.live)
        self._decide(self._window, now)

    def forget(self, episode: str) -> None:
        """Forget an episode that has ended."""
        self._last.pop(episode, None)

    def read(self, gauges: Gauges) -> None:
        """Learn of the server's metrics, and decide on the requests under way."""
        before, self._gauges = self._gauges, gauges
        if before is None:
            return
        served = _rise(before.served, gauges.served)
        preempted = _rise(before.preemptions, gauges.preemptions)
        running, waiting = _sane(gauges.running), _sane(gauges.waiting)
        if preempted > PREEMPTED * max(served, 1.0):
            self._requests = min(self._requests, running or self._requests) * FEWER
        elif waiting == 0:
            self._requests = self._requests * MORE + 1
        elif (
            waiting is not None
            and running is not None
            and waiting > running * MOST_WAITING + FEW_WAITING
        ):
            self._requests = min(self._requests, running + waiting) * FEWER
        self._set_limits()

    def _decide(self, window: Window, now: float) -> None:
        residence = self.residence
        if residence is None or window.calls < MIN_CALLS or now - window.begun <= residence:
            return
        efficiency = window.efficiency if self.hears_hits else None
        if efficiency is None or max(self._best, efficiency) < SERVES_AT_ALL:
            self._follow_rate(window, now - window.begun)
        else:
            self._follow_cache(window, efficiency)
            rise = round(self._live) - self.limits.live
            if rise < 0 or (rise > 0 and self._live > self._careful_reckoning() + 1):
                self._holds_until = now + residence * SETTLES
        self._window = Window(now)
        self._set_limits()

    def _follow_cache(self, window: Window, efficiency: float) -> None:
        self._because = f"the cache served {efficiency:.0%} of what it could"
        self._best = max(self._best, efficiency)
        self._best_own = max(self._best_own * BEST_FADES, window.own_efficiency)
        before, self._lost = self._lost, window.lost
        length = window.prompts / window.calls
        grows, self._length = length > GROWS * self._length, length
        if window.lost > MANY_LOST:
            if window.lost > before - IS_MENDING or self._edge == float("inf"):
                self._fall(window.lost)
        elif window.lost <= FEW_LOST and window.is_full:
            self._climb(grows=grows)

    def _fall(self, lost: float) -> None:
        """Let fewer episodes live, and remember the edge."""
        if self._tries:
            self._patience = min(self._patience * 2, MOST_PATIENCE)
        self._edge, self._tries, self._steady = min(self._edge, self._live), False, 0
        self._live *= max(MIN_KEPT, 1.0 - lost)

    def _climb(self, *, grows: bool) -> None:
        """Let more episodes live: many up to what may fit, then few, and none just below where it failed."""
        grown = max(min(self._live * FAST, self._careful_reckoning()), self._live * SLOW) + 0.5
        if grows and self._live * SLOW >= self._careful_reckoning():
            return
        self._steady += 1
        if grown > self._edge * NEAR_EDGE and self._steady > self._patience:
            self._edge, self._tries, self._steady = self._edge * PAST_EDGE + 1, True, 0
        self._live = max(self._live, min(grown, self._edge * NEAR_EDGE))

    def _careful_reckoning(self) -> float:
        """Return how many episodes may fit by reckoning; any number where it cannot be reckoned."""
        if self.memory is None or not self._prompts:
            return float("inf")
        prompts = sorted(self._prompts)
        return START_SHARE * self.memory.episodes(prompts[len(prompts) * 3 // 4])

    def _follow_rate(self, window: Window, seconds: float) -> None:
        # Where prompts are not counted, calls are.
        rate = (window.computed or window.calls) / seconds
        what = "computed tokens" if window.computed else "calls"
        self._because = f"{rate:,.0f} {what} a second, and nothing is heard of a cache"
        self._rates.append(rate)
        if not window.is_full:
            return
        if rate < SLOWER * max(self._rates):
            self._live *= BACK
            self._rates.clear()
        else:
            self._live = self._live * FAST + 0.5

    def _set_limits(self) -> None:
        self._live = min(max(self._live, 1.0), float(self.ceiling))
        self._requests = min(max(self._requests, 1.0), float(self.ceiling))
        live, requests = round(self._live), round(self._requests)
        self.limits = Limits(live, requests, self._because)


def _rise(before: float | None, now: float | None) -> float:
    """Return by how much a counter rose; 0 where it is not named, or has begun anew."""
    before, now = _sane(before), _sane(now)
    if before is None or now is None or now < before:
        return 0.0
    return now - before


def _sane(value: float | None) -> float | None:
    """Return a figure of a page of metrics; None where it is no number of requests."""
    return value if value is not None and math.isfinite(value) and value >= 0 else None
