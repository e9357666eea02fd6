"""Nights that a schedule makes become one dataset on the Hub and one in a bucket, whatever is killed meanwhile."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest
from deltalake import DeltaTable
from hub.server import TOKEN, LocalHub
from support.runs.commands import LOOK, UNREPLAYED, stepmill, until
from support.servers.prefect_deployment import ENDED, Deployed
from support.servers.prefect_home import SERVED, prefect_home
from support.servers.seaweedfs import Weed
from support.stores.collection_readers import Ids, read_versions

from schemas.configuration.sections import PublishSection, StorageSection
from storage.objects.urls import open_store
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.destinations.protocol import Destination
from storage.publish.destinations.store import StoreDestination
from storage.publish.plan.manifest import MANIFEST, Manifest, read_manifest
from storage.publish.verify import verify_published

pytestmark = [pytest.mark.browser, pytest.mark.prefect]

NIGHTS = 10
KILLED = {2: "server", 7: "worker", 9: "prefect.engine"}
"""In which night what is killed: a word of its command line.

Of a flow run that begins within five minutes of its being put on the schedule Prefect's automations hear a quarter of an
hour late, so that flows die in later nights.
"""

EPISODES = 6
"""Of a night."""

SECONDS = 1_800
"""How long all nights may take on a busy machine."""

UNDER_WAY = ("SCHEDULED", "PENDING", "RUNNING")
"""States of a night that has not ended."""

REPOSITORY = "org/nights"


@dataclass(frozen=True)
class Places:
    """Where the nights are published."""

    hub: LocalHub
    bucket: str
    environ: Mapping[str, str]
    """Of whoever may write there."""

    @property
    def urls(self) -> tuple[str, str]:
        return f"hf://datasets/{REPOSITORY}", self.bucket

    def opened(self) -> list[Destination]:
        repository, bucket = self.urls
        return [
            HubDestination(repository, PublishSection(), endpoint=self.hub.url),
            StoreDestination(open_store(bucket, StorageSection())),
        ]

    def manifests(self) -> list[Manifest]:
        """Return the manifest at each place."""

        async def read(place: Destination) -> Manifest:
            listing = await place.listing()
            return read_manifest(listing.texts[MANIFEST], place.address)

        return [asyncio.run(read(one)) for one in self.opened()]


@pytest.fixture
def places(weed: Weed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Places]:
    with LocalHub(tmp_path / "hub", xet=False) as hub:
        environ = {
            **weed.environment,
            "HF_ENDPOINT": hub.url,
            "HF_TOKEN": TOKEN,
            "HF_HOME": f"{tmp_path}/home",
            "HF_HUB_DISABLE_XET": "1",  # the folder of chunks takes one process at a time
        }
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        yield Places(hub, f"{weed.place()}/nights", environ)


@pytest.fixture
def deployed(places: Places, shared_folder: Path, tmp_path: Path) -> Iterator[Deployed]:
    prefect_home(shared_folder, tmp_path / "served" / "prefect", SERVED)
    with Deployed(tmp_path / "served", places.environ) as started:
        yield started


def _kill(deployed: Deployed, part: str) -> None:
    """Kill each process that has a word in the beginning of its command line."""
    victims = [one for one in deployed.processes if part in _words(one)[1:5]]
    assert victims, part
    for one in victims:
        one.kill()


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _is_at_work(deployed: Deployed, runs: Path, number: int) -> bool:
    """Return whether a night has begun to store episodes, and is not over."""
    begun = sorted(runs.glob("*"))
    stored = len(begun) >= number and any(begun[-1].glob("tables/episodes/*.parquet"))
    return stored and any("prefect.engine" in words[1:5] for words in deployed.words())


def _schedule(deployed: Deployed, runs: Path, places: Places) -> str:
    """Have the nightly deployment make a small night a minute; return the path of its schedule."""
    nightly = deployed.deployment("generate/generate-nightly")
    of_nightly = f"deployments/{nightly['id']}"
    few = ["tasks.seeds=[0,1]", "tasks.unit_size=1", "browser.sessions=2"]
    to = [f"publish.to={list(places.urls)}", "publish.append=true"]
    parameters: dict[str, Any] = {
        "config": "configs/smoke.toml",
        "run": f"{runs}/{{time}}",
        "settings": [*few, *to, *(flag.removeprefix("--set=") for flag in UNREPLAYED)],
        "missed": NIGHTS,
    }
    deployed.ask(of_nightly, {"parameters": parameters}, "PATCH")
    for old in nightly["schedules"]:
        deployed.ask(f"{of_nightly}/schedules/{old['id']}", verb="DELETE")
    often = {"active": True, "schedule": {"cron": "* * * * *", "timezone": "UTC"}}
    [schedule] = deployed.ask(f"{of_nightly}/schedules", [often])
    return f"{of_nightly}/schedules/{schedule['id']}"


def _await_nights(deployed: Deployed, schedule: str) -> list[dict[str, Any]]:
    """Wait for the nights, and for the end of those that have begun then; return those that were made.

    A night that is crashed by then is put on the schedule again here, as `stepmill-again` does a minute after its crash.
    """
    until(lambda: len(deployed.on_schedule("COMPLETED")) >= NIGHTS, every=1, seconds=SECONDS)
    deployed.ask(schedule, verb="DELETE")
    again = {"state": {"type": "SCHEDULED", "name": "AwaitingRetry"}, "force": True}
    for crashed in deployed.on_schedule("CRASHED"):
        deployed.ask(f"flow_runs/{crashed['id']}/set_state", again)

    def all_have_ended() -> bool:
        begun = (one for one in deployed.on_schedule(*ENDED, *UNDER_WAY) if one["run_count"])
        return all(one["state_type"] == "COMPLETED" for one in begun)

    until(all_have_ended, every=1, seconds=SECONDS)
    return deployed.on_schedule("COMPLETED")


def _episodes(run: Path) -> set[str]:
    """Return the episodes of a run."""
    table = DeltaTable(str(run / "tables" / "episodes")).to_pyarrow_table(columns=["episode_id"])
    return set(map(str, table["episode_id"].to_pylist()))


@pytest.mark.full
@pytest.mark.timeout(2 * SECONDS)
def test_scheduled_nights_of_which_everything_is_killed_in_turn_become_one_dataset(
    deployed: Deployed, places: Places, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    schedule = _schedule(deployed, runs, places)
    for number, part in KILLED.items():
        until(lambda: _is_at_work(deployed, runs, number), every=LOOK, seconds=SECONDS)  # noqa: B023 - called at once
        _kill(deployed, part)
    made = _await_nights(deployed, schedule)

    assert max(one["run_count"] for one in made) >= 2, "no night went on after it was killed"
    nights = sorted(runs.glob("*"))
    assert len(nights) >= NIGHTS
    episodes = {id_ for run in nights for id_ in _episodes(run)}
    assert len(episodes) == len(nights) * EPISODES
    for run in nights:
        said = stepmill("audit", str(run), "--deep", "--json")
        assert said.code == 0, said.out
    for place, there in zip(places.opened(), places.manifests(), strict=True):
        assert len({one.run for one in there.nights}) == len(there.nights) == len(nights)
        assert there.counts.attempts == len(episodes)
        audit = asyncio.run(verify_published(place, deep=True))
        assert (audit.findings, audit.leftovers) == ((), ())
    assert "version" in made[-1]["state"]["message"]

    read = _read_every_version(places)
    for reader, versions in read.items():
        last = Counter(id_ for ids in versions[-1].values() for id_ in ids)
        assert {*last} == episodes, reader
        assert set(last.values()) == {1}, reader
        for earlier, later in pairwise(versions):
            for split, ids in earlier.items():
                assert later[split][: len(ids)] == ids, reader

    gone = min(episodes)
    for url in places.urls:
        said = stepmill("withdraw", url, gone, "--reason=shows a name", "--json")
        assert said.code == 0, said.err
    for reader, versions in _read_every_version(places).items():
        *before, withdrawn = versions
        assert before == read[reader]
        assert withdrawn == {
            split: [id_ for id_ in ids if id_ != gone] for split, ids in before[-1].items()
        }
    for place in places.opened():
        assert asyncio.run(verify_published(place, deep=True)).findings == ()


def _read_every_version(places: Places) -> dict[str, list[Ids]]:
    """Return the attempts of each version in its order, by reader, each in its place."""
    repository, bucket = places.urls
    of_hub, of_bucket = (_versions(place) for place in places.opened())
    assert of_hub == [int(tag[1:]) for tag in places.hub.repo(REPOSITORY).tags]
    given = {"datasets": (repository, of_hub)}
    given |= dict.fromkeys(("duckdb", "polars"), (bucket, of_bucket))
    return {
        reader: read_versions(reader, place, "attempts", versions, places.environ)
        for reader, (place, versions) in given.items()
    }


def _versions(place: Destination) -> list[int]:
    """Return the numbers of a collection's versions, each of which a night or a withdrawal made."""
    there = read_manifest(asyncio.run(place.listing()).texts[MANIFEST], place.address)
    if place.has_tags:
        return list(range(1, there.version + 1))
    named = (Path(file.path) for file in there.files if file.path.startswith("versions/"))
    return sorted(int(path.stem) for path in named)
