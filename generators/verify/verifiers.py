"""The verifiers that ship, by the names that configurations use."""

import difflib
from collections.abc import Callable, Mapping, Sequence

from generators.browser.protocol import Sessions
from generators.sites.protocol import Site
from generators.verify.novelty import Novelty
from generators.verify.outcome import OutcomeVerifier
from generators.verify.protocol import Verifier
from generators.verify.replay import Replay
from generators.verify.seen import Seen
from generators.verify.steps import Steps
from generators.verify.structure import Structure
from schemas.errors import NotFound

Maker = Callable[[Mapping[str, Site], Sessions], Verifier]
"""Makes a verifier from the run's sites and the sessions for replays."""

MAKERS: dict[str, Maker] = {
    "structure": lambda _sites, _sessions: Structure(),
    "steps": lambda sites, _sessions: Steps(sites),
    "outcome": lambda sites, _sessions: OutcomeVerifier(sites),
    "seen": lambda _sites, _sessions: Seen(),
    "novelty": lambda _sites, _sessions: Novelty(),
    "replay": lambda sites, sessions: Replay(sites, sessions=sessions),
}
"""Every verifier by the name that configurations use, cheapest first."""

VERIFIER_NAMES = tuple(MAKERS)
"""The names of the verifiers that ship."""


def check_verifier_names(names: Sequence[str]) -> None:
    """Refuse names of unknown verifiers.

    Raises:
        NotFound: with the unknown name and the nearest known one.
    """
    for name in names:
        if name not in MAKERS:
            near = difflib.get_close_matches(name, MAKERS, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise NotFound(f"unknown verifier '{name}'{hint} (known: {', '.join(MAKERS)})")


def make_verifiers(
    names: Sequence[str], *, sites: Mapping[str, Site], sessions: Sessions
) -> tuple[Verifier, ...]:
    """Return the verifiers with these names, in that order. Replays run in `sessions`.

    Raises:
        NotFound: a name is unknown.
    """
    check_verifier_names(names)
    return tuple(MAKERS[name](sites, sessions) for name in names)
