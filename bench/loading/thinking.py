"""How long a session takes between a reply and its next request: what a browser does meanwhile.

The quantiles are recorded: 419 steps of a run of this program over all MiniWoB++ families, 8
sessions of 1024×1024 on two busy cores, mean 0.72 s. A step's think-time is what acting and
observing took (`act_ms` + `observe_ms` of its row), as the recorded delay of H Company's h_cua_perf
is what lies between a reply and the next request. Live pages are slower: `scale` stretches every
time.
"""

from bisect import bisect_right
from random import Random

SECONDS = (
    *((0.0, 0.061), (0.05, 0.198), (0.10, 0.257), (0.25, 0.345), (0.50, 0.569)),
    *((0.75, 0.891), (0.90, 1.358), (0.95, 1.821), (0.99, 3.029), (1.0, 5.207)),
)
"""(share of steps, at most so many seconds), rising."""


def think_seconds(rng: Random, *, scale: float = 1.0) -> float:
    """Return a think-time drawn from the recorded ones."""
    share = rng.random()
    above = min(bisect_right(SECONDS, (share, float("inf"))), len(SECONDS) - 1)
    (low_share, low), (high_share, high) = SECONDS[above - 1], SECONDS[above]
    return scale * (low + (high - low) * (share - low_share) / (high_share - low_share))
