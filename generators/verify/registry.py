"""The registry of verifiers by their names in configurations: shipped ones and those of plug-ins.

A plug-in offers a class or a function that takes the run's sites and the sessions for replays, and returns
a `Verifier` of the entry point's name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from generators.browser.protocol import Sessions
from generators.sites.protocol import Site
from generators.verify.novelty import Novelty
from generators.verify.outcome import OutcomeVerifier
from generators.verify.protocol import Verifier
from generators.verify.replay import Replay
from generators.verify.seen import Seen
from generators.verify.steps import Steps
from generators.verify.structure import Structure
from registries.entry_points import Group
from registries.registry import Registry, callable_part, plugin_errors
from schemas.errors import BadConfig

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
"""The shipped verifiers by name, cheapest first."""

VERIFIER_NAMES = tuple(MAKERS)
"""The names of the shipped verifiers."""

VERIFIERS = Registry[Maker](
    Group.VERIFIERS, MAKERS, adapt=lambda found: cast("Maker", callable_part(found))
)
"""All verifiers by name."""


def check_verifier_names(names: Sequence[str]) -> None:
    """Refuse names of verifiers that are unknown or cannot be used.

    Raises:
        NotFound: with the unknown name and the nearest known one.
        BadConfig: the verifier's plug-in cannot be used.
    """
    for name in names:
        VERIFIERS.get(name)


def make_verifiers(
    names: Sequence[str], *, sites: Mapping[str, Site], sessions: Sessions
) -> tuple[Verifier, ...]:
    """Return the verifiers with these names, in that order. Replays run in `sessions`.

    Raises:
        NotFound: a name is unknown.
        BadConfig: the verifier's plug-in cannot be used.
    """
    return tuple(_make(name, sites, sessions) for name in names)


def _make(name: str, sites: Mapping[str, Site], sessions: Sessions) -> Verifier:
    make = VERIFIERS.get(name)
    with plugin_errors(f"the verifier '{name}'", "it is not made"):
        made = make(sites, sessions)
    if made.name != name:  # its verdicts would be stored under another name
        raise BadConfig(
            f"the verifier '{name}' calls itself '{made.name}': its name should be '{name}'"
        )
    return made
