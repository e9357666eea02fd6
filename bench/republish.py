"""What publishing a grown or corrected dataset to the Hub again costs: bytes that are new to it.

A run of 80 episodes of ten states, with pictures of 60 to 160 kB is published to a local Hub, whose files go
through the real `hf_xet` into a store of chunks in a folder; what that folder grows by is what
would be uploaded. Then the same run is published again, each time beside the first, to a store
that holds the first alone. An episode that goes costs about one chunk of 64 kB where its neighbours
now meet, so short episodes cost more. Four lines are held, all shares of the first publication's bytes:

* a tenth of the episodes judged anew, their labels changed (`include_rejected`): at most 3 %;
* a tenth judged anew and no longer accepted, so that their rows go: at most 3 %;
* a tenth replaced by other rollouts of the same attempts: at most 18 %;
* a tenth more episodes: at most 13 %.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path
from random import Random

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
HOME = tempfile.mkdtemp(prefix="stepmill-bench-")
os.environ |= {"HF_HOME": HOME, "HF_HUB_DISABLE_TELEMETRY": "1"}  # read by what comes next

from hub.publishing import DATASET, TO  # noqa: E402
from hub.server import TOKEN, LocalHub  # noqa: E402
from support.episodes.factories import make_verdict  # noqa: E402
from support.runs.memory_run import RULE, MemorySnapshot, make_run_file  # noqa: E402

from bench.measuring.result import report  # noqa: E402
from bench.synthetic.published import EPISODES, make  # noqa: E402
from schemas.configuration.sections import PublishSection  # noqa: E402
from schemas.verdicts.verdict import Status  # noqa: E402
from storage.publish.destinations.hub.destination import HubDestination  # noqa: E402
from storage.publish.publish import publish_to  # noqa: E402

MAX_JUDGED = 0.03
MAX_DROPPED = 0.03
MAX_REPLACED = 0.18
MAX_GROWN = 0.13
SHARD_MB = 256
TENTH = frozenset(Random(7).sample(range(EPISODES), EPISODES // 10))


def judged_anew() -> MemorySnapshot:
    """Return the run of which a tenth was judged once more, and failed."""
    run, every = make()
    rejudged = [every[place] for place in sorted(TENTH)]
    run.judge(
        [make_verdict(e, verifier="replay", round_=1, status=Status.FAILED) for e in rejudged]
    )
    return run.seal()


class Hubs:
    """Hubs that begin with what the first publication left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def new_bytes(
        self, before: MemorySnapshot, after: MemorySnapshot, terms: PublishSection
    ) -> tuple[float, int, int]:
        """Publish one snapshot and then the other.

        Returns the bytes that the second added, as a share of the first's, and the second's
        changed files of all.
        """
        self._count += 1
        folder = self._folder / str(self._count)
        with LocalHub(folder) as hub:
            publish(hub, before, terms)
            first, old = hub.state.cas.bytes, hub.files(DATASET)
            publish(hub, after, terms)
            share = (hub.state.cas.bytes - first) / first
            new = hub.files(DATASET)
        shutil.rmtree(folder)
        return share, len(new.items() - old.items()), len(new)


def publish(hub: LocalHub, snapshot: MemorySnapshot, terms: PublishSection) -> None:
    """Publish a snapshot to a Hub."""
    destination = HubDestination(TO, terms, endpoint=hub.url)
    work = publish_to(snapshot, make_run_file(), RULE, destination, terms=terms, shard_mb=SHARD_MB)
    asyncio.run(work)


def main() -> int:
    """Measure, print one line of JSON, and say whether every line was held."""
    os.environ["HF_TOKEN"] = TOKEN
    labelled, accepted = PublishSection(include_rejected=True), PublishSection()
    base = make()[0].seal()
    cases = {
        "judged": (judged_anew(), labelled, MAX_JUDGED),
        "dropped": (judged_anew(), accepted, MAX_DROPPED),
        "replaced": (make(replaced=TENTH)[0].seal(), accepted, MAX_REPLACED),
        "grown": (make(episodes=EPISODES * 11 // 10)[0].seal(), accepted, MAX_GROWN),
    }
    hubs = Hubs(Path(HOME))
    results: dict[str, object] = {}
    held = True
    for name, (after, terms, limit) in cases.items():
        share, changed, files = hubs.new_bytes(base, after, terms)
        held = held and share <= limit
        results[name] = {"new": round(share, 4), "max": limit, "changed": changed, "files": files}
    report({"bench": "republish", "held": held, **results})
    return 0 if held else 1


if __name__ == "__main__":
    try:
        CODE = main()
    finally:
        shutil.rmtree(HOME, ignore_errors=True)
    sys.exit(CODE)
