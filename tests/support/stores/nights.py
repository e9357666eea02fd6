"""Nights for tests of collections: small runs in memory, added to a place, by several processes at once too."""

import asyncio
import io
import os
from collections.abc import Callable, Mapping, Sequence
from threading import Barrier
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub import constants
from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.forks import FORKS
from support.runs.memory_run import (
    RULE,
    STORAGE,
    TEST,
    TRAIN,
    MemoryRun,
    MemorySnapshot,
    commit_unit,
    make_run_file,
)

from schemas.configuration.sections import AcceptSection, PublishSection
from schemas.configuration.select_section import SelectSection
from schemas.episodes.episode import Episode
from schemas.tables.training_renderer import Renderer
from schemas.verdicts.novelty import Fingerprints
from schemas.verdicts.sketch import sketch_of
from storage.objects.protocol import ObjectStore
from storage.publish.collection.append import NightSource, append
from storage.publish.collection.withdraw import WithdrawReport, withdraw
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.destinations.protocol import Destination
from storage.publish.destinations.store import StoreDestination
from storage.publish.plan.manifest import MANIFEST, Manifest, read_manifest
from storage.publish.publish import PublishReport, open_destination

NOVEL = RULE.model_copy(update={"passed": (*RULE.passed, "novelty")})
"""The rule of these tests where copies are to be left out."""

_SECONDS = 240.0
"""How long nights that are added at once may take on a busy machine."""


def run_id(number: int) -> str:
    """Return the id of a run."""
    return f"{number:08x}" + "0" * 24


ATTEMPTS, TRAJECTORIES = 8, 7
"""Rows of a `night` of one unit."""


def night(
    number: int, *, units: int = 1, rejects: Sequence[int] = (1,), alike: bool = False
) -> MemorySnapshot:
    """Return a run of its own tasks, a unit in train and one in test for each of `units`.

    A card of nights that are `alike` is drawn faster, as all episodes of a template begin with the same picture.
    """
    run = MemoryRun()
    for unit in range(units):
        first = 20 * number + 2 * unit
        commit_unit(run, first, TRAIN, rejects=rejects, alike=alike)
        commit_unit(run, first + 1, TEST, alike=alike)
    return run.seal()


def with_goal(number: int, template: str, goal: str, **changes: Any) -> MemorySnapshot:
    """Return a run of one attempt at a task of a template with this goal, its rows changed so."""
    run = MemoryRun()
    task = make_task(number, template=template, instruction=goal).model_copy(update=changes)
    _, episodes = make_unit([task])
    run.commit([task], episodes)
    run.judge([make_verdict(one, verifier=name) for one in episodes for name in RULE.passed])
    return run.seal()


def judge_novelty(run: MemoryRun, episodes: Sequence[Episode], *, near: int = 0) -> None:
    """Judge episodes as `novelty` does, by fingerprints of which `near` bits of a picture differ."""
    run.judge(
        [
            make_verdict(one, verifier="novelty").model_copy(
                update={"evidence": _evidence(place, near)}
            )
            for place, one in enumerate(episodes)
        ]
    )


def _evidence(place: int, near: int) -> dict[str, Any]:
    picture = f"{(place << 40) | ((1 << near) - 1):064x}"
    prints = Fingerprints(
        f"{near:08x}{place:08x}", f"{place:032x}", (picture, picture), f"{place:032x}"
    )
    shown = {**prints._asdict(), "pictures": [*prints.pictures]}
    return {**shown, "sketch": sketch_of(prints).hex()}


def add(
    snapshot: MemorySnapshot,
    store: ObjectStore,
    number: int,
    *,
    rule: AcceptSection = RULE,
    renderer: Renderer | None = None,
    section: SelectSection | None = None,
    **terms: Any,
) -> PublishReport:
    """Add a run to the collection in a store."""
    return add_to(
        lambda: StoreDestination(store),
        snapshot,
        number,
        rule=rule,
        renderer=renderer,
        section=section,
        **terms,
    )


def add_to(
    open_place: Callable[[], Destination],
    snapshot: MemorySnapshot,
    number: int,
    *,
    rule: AcceptSection = RULE,
    renderer: Renderer | None = None,
    section: SelectSection | None = None,
    **terms: Any,
) -> PublishReport:
    """Add a run to the collection at a place."""
    source = NightSource(
        snapshot,
        make_run_file(run_id(number), name=f"night {number}"),
        rule,
        PublishSection(append=True, **terms),
        shard_mb=64,
        section=section or SelectSection(),
        renderer=renderer,
    )
    return asyncio.run(append(source, open_place))


def add_at_once(to: str, numbers: Sequence[int], environ: Mapping[str, str]) -> list[int | None]:
    """Add nights to the collection at a URL, each in a process of its own; return their exit codes."""
    begin = FORKS.Barrier(len(numbers))
    processes = [
        FORKS.Process(target=_add_together, args=(to, number, dict(environ), begin))
        for number in numbers
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(_SECONDS)
    return [process.exitcode for process in processes]


def _add_together(to: str, number: int, environ: dict[str, str], begin: Barrier) -> None:
    os.environ.update(environ)
    constants.HF_HUB_DISABLE_XET = (
        True  # the local Hub's folder of chunks takes one process at a time
    )
    endpoint = environ.get("HF_ENDPOINT")
    terms = PublishSection(append=True)

    def place() -> Destination:
        if to.startswith("hf:"):
            return HubDestination(to, terms, endpoint=endpoint)
        return open_destination(to, terms, STORAGE)

    snapshot = night(number, alike=True)
    begin.wait(_SECONDS)
    add_to(place, snapshot, number)


def take_out(store: ObjectStore, *ids: str) -> WithdrawReport:
    """Withdraw episodes from the dataset in a store."""
    return take_out_of(lambda: StoreDestination(store), *ids)


def take_out_of(open_place: Callable[[], Destination], *ids: str) -> WithdrawReport:
    """Withdraw episodes from the dataset at a place."""
    return asyncio.run(withdraw(open_place, ids, "it shows a name"))


def objects(store: ObjectStore) -> dict[str, bytes]:
    """Return every object of a store."""

    async def read() -> dict[str, bytes]:
        return {item.key: await store.get(item.key) async for item in store.list()}

    return asyncio.run(read())


def manifest_of(store: ObjectStore) -> Manifest:
    """Return the manifest in a store."""
    return read_manifest(asyncio.run(store.get(MANIFEST)), MANIFEST)


def rows_of(store: ObjectStore, config: str, split: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of a config as a reader has them, night by night."""
    there = objects(store)
    files = [
        file
        for file in manifest_of(store).files
        if file.config == config and split in (None, file.split)
    ]
    files.sort(key=lambda file: (file.night or 0, file.path))
    return [row for file in files for row in table_of(there, file.path).to_pylist()]


def table_of(there: Mapping[str, bytes], path: str) -> pa.Table:
    """Return a Parquet file of a store's objects."""
    return pq.read_table(io.BytesIO(there[path]))
