"""Verifiers by the names that configurations use."""

import difflib
from collections.abc import Callable, Mapping, Sequence

from generators.browser.protocol import Sessions
from generators.sites.protocol import Site
from generators.verify.outcome import OutcomeVerifier
from generators.verify.protocol import Verifier
from generators.verify.replay import Replay
from generators.verify.structure import Structure
from schemas.errors import NotFound

Maker = Callable[[Mapping[str, Site], Sessions, float], Verifier]
"""Makes a verifier from the run's sites, the sessions for replays and the least reward of success."""

MAKERS: dict[str, Maker] = {
    "structure": lambda _sites, _sessions, _reward: Structure(),
    "outcome": lambda sites, _sessions, reward: OutcomeVerifier(sites, min_reward=reward),
    "replay": lambda sites, sessions, _reward: Replay(sites, sessions=sessions),
}
"""Every verifier by the name that configurations use, cheapest first."""

VERIFIER_NAMES = tuple(MAKERS)
"""The names of those that ship."""


def check_verifier_names(names: Sequence[str]) -> None:
    """Refuse names of unknown verifiers.

    Raises:
        NotFound: naming it and the nearest that exists.
    """
    for name in names:
        if name not in MAKERS:
            near = difflib.get_close_matches(name, MAKERS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise NotFound(f"there is no verifier '{name}'{hint} (there are: {', '.join(MAKERS)})")


def make_verifiers(
    names: Sequence[str], *, sites: Mapping[str, Site], sessions: Sessions, min_reward: float
) -> tuple[Verifier, ...]:
    """Return the verifiers named, in that order. `sessions` are what replays run in.

    Raises:
        NotFound: there is no verifier of that name.
    """
    check_verifier_names(names)
    return tuple(MAKERS[name](sites, sessions, min_reward) for name in names)
