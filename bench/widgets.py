"""How many components of well-known kits can be operated, by ordinary actions and by the generic skills alone.

`tests/widgets/kits` says which components a kit has, from the package's own index, which of them can be acted on, and
what counts as operated. Two lines to hold, over all components that can be acted on: nine in ten are operated by
the actions listed there, in three visits that show the same; seven in ten by the generic skills, which are told what
to do in the words of the page and know nothing of a kit.

The packages have to be installed: `make test-widgets` does it.
"""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from widgets.index import version
from widgets.kits import Kit, kits
from widgets.operate import Outcome
from widgets.run import operate_all
from widgets.site import INSTALLED

from bench.measuring.result import report

MIN_OPERATED = 0.9
MIN_GENERIC = 0.7


def main() -> int:
    """Run the benchmark; the exit status says whether both lines are held."""
    if not INSTALLED.is_dir():
        sys.stderr.write("widgets: the kits are not installed: `make test-widgets` installs them\n")
        return 1
    chosen = [(kit, one) for kit in kits().values() for one in kit.component.values()]
    outcomes = asyncio.run(operate_all(chosen))
    operated = sum(one.operated for one in outcomes.values()) / len(outcomes)
    generic = sum(one.generic for one in outcomes.values()) / len(outcomes)
    held = operated >= MIN_OPERATED and generic >= MIN_GENERIC
    report(
        {
            "bench": "widgets",
            "held": held,
            "operated": round(operated, 3),
            "min_operated": MIN_OPERATED,
            "generic": round(generic, 3),
            "min_generic": MIN_GENERIC,
            "kits": {kit.kit: _row(kit, outcomes) for kit in kits().values()},
        }
    )
    return int(not held)


def _row(kit: Kit, outcomes: Mapping[tuple[str, str], Outcome]) -> dict[str, object]:
    mine = {name: outcomes[kit.name, name] for name in kit.component}
    return {
        "package": kit.package,
        "version": version(kit.package),
        "index": kit.index,
        "in_index": len(kit.names()),
        "inert": {reason: sorted(names) for reason, names in kit.inert.items()},
        "acted_on": len(mine),
        "operated": sum(one.operated for one in mine.values()),
        "generic": sum(one.generic for one in mine.values()),
        "components": {name: _component(kit, name, mine[name]) for name in sorted(mine)},
    }


def _component(kit: Kit, name: str, outcome: Outcome) -> dict[str, object]:
    """Return what became of a component, with the reasons that its file gives for a failure."""
    stated = kit.component[name]
    return {
        "operated": outcome.operated,
        "generic": outcome.generic,
        **({} if outcome.operated else {"fails": stated.fails or outcome.why}),
        **({} if outcome.generic else {"beyond": stated.beyond or outcome.why_generic}),
    }


if __name__ == "__main__":
    sys.exit(main())
