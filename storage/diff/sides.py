"""One of the two sides of a comparison: a version of a run, or a published dataset at a version."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from schemas.base import JsonObject, Record
from schemas.configuration.sections import AcceptSection
from schemas.tables.tables import TABLES
from storage.diff.episode_facts import EpisodeFacts, facts_of_dataset, facts_of_run
from storage.lake.lake_reader import Snapshot
from storage.publish.plan.rows import open_tables
from storage.reading.place import OpenDataset
from storage.reading.row_files import RowFiles, read_errors, table_files


class SideInfo(Record):
    """What a side is."""

    address: str
    """Its URL or path as it was given, with its version."""
    kind: str
    """`run`, `dataset` or `collection`."""
    version: int
    """The version: of the run, or of the collection."""
    run: str
    """The id of the run; `collection` for a collection."""
    rule: JsonObject
    """The rule of acceptance that its episodes were judged by; in a collection that of the night that came last."""
    episodes: int
    """Its episodes; of a dataset, its attempts."""
    accepted: int
    """The number of these that meet the rule."""


@dataclass(frozen=True, slots=True)
class Side:
    """A side, opened."""

    info: SideInfo
    """What it is."""
    configs: Mapping[str, RowFiles]
    """Its files, by table of a run or config of a dataset; those without a file are left out."""
    episodes: list[EpisodeFacts]
    """Its episodes."""
    withdrawn: frozenset[str] = frozenset()
    """The ids of episodes that were withdrawn from it."""

    @property
    def is_run(self) -> bool:
        """Whether it is a run."""
        return self.info.kind == "run"


async def open_run_side(
    snapshot: Snapshot, rule: AcceptSection, *, address: str, run_id: str
) -> Side:
    """Return a version of a run as a side; its episodes are judged by `rule`. `address` is how the caller names it.

    Raises:
        Damaged: its tables cannot be read.
    """
    datasets = {name: await snapshot.dataset(name) for name in TABLES}
    found = {name: table_files(one, f"{run_id}/{name}") for name, one in datasets.items()}
    with read_errors(address):
        episodes = facts_of_run(await open_tables(snapshot), rule)
    return _side(
        episodes,
        found,
        address=address,
        kind="run",
        version=snapshot.version,
        run=run_id,
        rule=rule.model_dump(mode="json"),
    )


def dataset_side(dataset: OpenDataset, *, address: str) -> Side:
    """Return a dataset as a side; `address` is how the caller names it.

    Raises:
        Damaged: its files cannot be read.
    """
    with read_errors(dataset.address):
        episodes = facts_of_dataset(dataset.configs, dataset.address)
    manifest = dataset.manifest
    side = _side(
        episodes,
        dataset.configs,
        address=address,
        kind="collection" if manifest.nights else "dataset",
        version=manifest.version,
        run=manifest.run,
        # What an earlier version published without a key obeys the reviews that were not there.
        rule={"reviews": AcceptSection().reviews.value, **manifest.rule},
    )
    return replace(side, withdrawn=frozenset(one.episode for one in manifest.withdrawn))


def _side(
    episodes: list[EpisodeFacts],
    configs: Mapping[str, RowFiles],
    *,
    address: str,
    kind: str,
    version: int,
    run: str,
    rule: JsonObject,
) -> Side:
    info = SideInfo(
        address=address,
        kind=kind,
        version=version,
        run=run,
        rule=rule,
        episodes=len(episodes),
        accepted=sum(one.status.value == "accepted" for one in episodes),
    )
    return Side(info, {name: files for name, files in configs.items() if files}, episodes)
