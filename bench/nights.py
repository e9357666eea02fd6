"""What a night costs a collection: bytes that are new to the Hub, and the time of an append after many.

Five nights of 200 episodes of ten states, with pictures of 60 to 160 kB, are added to a collection on a local Hub, whose files go
through the real `hf_xet` into a store of chunks in a folder; what that folder grows by is what would be uploaded. Lines,
all shares of the bytes of the five:

* a night of a tenth more episodes: at most 11 %;
* a tenth of every night judged anew, their labels changed (`include_rejected`): at most 1 %;
* one of the 1,000 episodes withdrawn: at most 5 %.

Then a collection in a folder gets a night of 80 such episodes as its third, and as its 300th, with small nights between: the
median time of three such appends there is held to 1.5 times that of three here.
"""

import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
HOME = tempfile.mkdtemp(prefix="stepmill-bench-")
os.environ |= {"HF_HOME": HOME, "HF_HUB_DISABLE_TELEMETRY": "1"}  # read by what comes next

from hub.publishing import TO  # noqa: E402
from hub.server import TOKEN, LocalHub  # noqa: E402
from support.episodes.factories import make_verdict  # noqa: E402
from support.runs.memory_run import RULE, MemorySnapshot, make_run_file  # noqa: E402

from bench.measuring.result import report  # noqa: E402
from bench.synthetic.published import UNIT, make  # noqa: E402
from schemas.configuration.sections import PublishSection  # noqa: E402
from schemas.verdicts.verdict import Status  # noqa: E402
from storage.publish.collection.append import NightSource, append  # noqa: E402
from storage.publish.collection.withdraw import withdraw  # noqa: E402
from storage.publish.destinations.hub.destination import HubDestination  # noqa: E402
from storage.publish.destinations.protocol import Destination  # noqa: E402
from storage.publish.destinations.store import FolderDestination  # noqa: E402

MAX_GROWN, MAX_JUDGED, MAX_WITHDRAWN, MAX_RATIO = 0.11, 0.01, 0.05, 1.5
NIGHTS, EPISODES = 5, 200
MANY = 300
TYPICAL = 20
SHARD_MB = 256
TERMS = PublishSection(append=True, include_rejected=True)

Open = Callable[[], Destination]


def add(number: int, snapshot: MemorySnapshot, open_place: Open) -> None:
    """Add a night to a collection."""
    run = make_run_file(f"{number:08x}" + "0" * 24, name=f"night {number}")
    asyncio.run(append(NightSource(snapshot, run, RULE, TERMS, SHARD_MB), open_place))


def night_of(number: int, *, episodes: int = EPISODES, rejudged: int = 0) -> MemorySnapshot:
    """Return a night, some of whose episodes were judged once more, and failed; those make its second version."""
    run, every = make(episodes=episodes, first=number * EPISODES // UNIT)
    first = run.seal()
    if not rejudged:
        return first
    chosen = Random(number).sample(every, rejudged)
    run.judge([make_verdict(e, verifier="replay", round_=1, status=Status.FAILED) for e in chosen])
    return run.seal()


def measure_bytes() -> dict[str, object]:
    """Return the bytes that are new to a Hub, as shares of those of the five nights."""
    with LocalHub(Path(HOME) / "hub") as hub:

        def place() -> Destination:
            return HubDestination(TO, TERMS, endpoint=hub.url)

        for number in range(1, NIGHTS + 1):
            add(number, night_of(number), place)
        whole = hub.state.cas.bytes

        def share_of(work: Callable[[], object]) -> float:
            before = hub.state.cas.bytes
            work()
            return round((hub.state.cas.bytes - before) / whole, 4)

        grown = night_of(NIGHTS + 1, episodes=NIGHTS * EPISODES // 10)
        found = {"grown_share": share_of(lambda: add(NIGHTS + 1, grown, place))}
        judged = [night_of(n, rejudged=EPISODES // 10) for n in range(1, NIGHTS + 1)]

        def add_judged() -> None:
            for number, snapshot in enumerate(judged, 1):
                add(number, snapshot, place)

        found["judged_share"] = share_of(add_judged)
        gone = make(episodes=UNIT, first=EPISODES // UNIT)[1][0].episode_id
        found["withdrawn_share"] = share_of(
            lambda: asyncio.run(withdraw(place, [gone], "it shows a name"))
        )
    limits = {"grown": MAX_GROWN, "judged": MAX_JUDGED, "withdrawn": MAX_WITHDRAWN}
    held = all(found[f"{name}_share"] <= limit for name, limit in limits.items())
    return {
        "episodes": NIGHTS * EPISODES,
        "megabytes": round(whole / 1e6),
        **found,
        **{f"max_{name}": limit for name, limit in limits.items()},
        "bytes_held": held,
    }


def measure_appends() -> dict[str, object]:
    """Return the median ms of adding a night of 80 episodes beside two nights, and beside many small ones."""
    root = Path(HOME) / "many"

    def measure(number: int) -> float:
        snapshot = make(first=number * TYPICAL)[0].seal()
        begun = time.perf_counter()
        add(number, snapshot, lambda: FolderDestination(root))
        return (time.perf_counter() - begun) * 1e3

    def fill(first: int, last: int) -> None:
        for number in range(first, last + 1):
            small = make(
                episodes=UNIT,
                first=number * TYPICAL,
                paint=lambda random: b"noise" + random.randbytes(2_000),
            )
            add(number, small[0].seal(), lambda: FolderDestination(root))

    fill(1, 2)
    early = [measure(number) for number in (3, 4, 5)]
    fill(6, MANY - 1)
    late = [measure(number) for number in (MANY, MANY + 1, MANY + 2)]
    ratio = statistics.median(late) / statistics.median(early)
    return {
        "nights": MANY,
        "append_3_ms": round(statistics.median(early)),
        "append_300_ms": round(statistics.median(late)),
        "append_ratio": round(ratio, 2),
        "max_append_ratio": MAX_RATIO,
        "appends_held": ratio <= MAX_RATIO,
    }


def main() -> int:
    """Measure, print one line of JSON, and say whether every line was held."""
    os.environ["HF_TOKEN"] = TOKEN
    found = {"bench": "nights", **measure_bytes(), **measure_appends()}
    found["held"] = bool(found["bytes_held"] and found["appends_held"])
    report(found)
    return 0 if found["held"] else 1


if __name__ == "__main__":
    try:
        CODE = main()
    finally:
        shutil.rmtree(HOME, ignore_errors=True)
    sys.exit(CODE)
