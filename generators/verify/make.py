"""Verifiers by the names that configurations use."""

import difflib
from collections.abc import Mapping, Sequence

from generators.browser.protocol import Sessions
from generators.sites.protocol import Site
from generators.verify.outcome import OutcomeVerifier
from generators.verify.protocol import Verifier
from generators.verify.replay import Replay
from generators.verify.structure import Structure
from schemas.errors import NotFound

NAMES = ("structure", "outcome", "replay")
"""Every verifier there is, cheapest first."""


def check_names(names: Sequence[str]) -> None:
    """Refuse names that are no verifier's.

    Raises:
        NotFound: naming it and the nearest that exists.
    """
    for name in names:
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise NotFound(f"there is no verifier '{name}'{hint} (there are: {', '.join(NAMES)})")


def make_verifiers(
    names: Sequence[str], *, sites: Mapping[str, Site], sessions: Sessions, min_reward: float
) -> tuple[Verifier, ...]:
    """Return the verifiers named, in that order. `sessions` are what replays run in.

    Raises:
        NotFound: a name is no verifier's.
    """
    check_names(names)
    verifiers: dict[str, Verifier] = {
        "structure": Structure(),
        "outcome": OutcomeVerifier(sites, min_reward=min_reward),
        "replay": Replay(sites, sessions=sessions),
    }
    return tuple(verifiers[name] for name in names)
