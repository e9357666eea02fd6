"""A run or a published dataset opened for looking at: its files by table, under the names that a run's tables have."""

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.base import content_hash
from schemas.configuration.sections import AcceptSection
from schemas.tables.tables import TABLES
from storage.lake.lake_reader import Snapshot
from storage.publish.plan.rows import Tables, open_tables
from storage.reading.place import OpenDataset
from storage.reading.row_files import RowFiles, table_files

_JUDGING = ("verdicts", "reviews")
"""The tables that grow while episodes are judged."""

_CONFIG_OF = {"episodes": "trajectories"}
"""The config of a dataset that holds the rows of a run's table, where it has another name."""


@dataclass(frozen=True)
class Opened:
    """A run or a dataset, opened; nothing of its rows is read yet."""

    address: str
    """Its URL or path."""
    kind: str
    """`run`, `dataset` or `collection`."""
    run_id: str
    """The id of the run; `collection` for a collection."""
    version: int
    """The version: of the run, the last one that was sealed, 0 before the first; or of the dataset."""
    identity: str
    """Hash of all that decides which episodes there are, what they hold and where they lie."""
    judgement: str
    """Hash of all else that heads are made of: verdicts, reviews and the rule."""
    files: Mapping[str, RowFiles]
    """Its files by table; of a dataset also `attempts`. Tables without a file are left out."""
    rule: AcceptSection | None
    """The rule by which a run is judged; None for a dataset, whose rows have what its own made of them."""
    tables: Tables | None
    """The run's tables; None for a dataset."""
    withdrawn: frozenset[str]
    """The ids of episodes that were withdrawn, which are not shown."""

    @property
    def is_run(self) -> bool:
        """Whether it is a run."""
        return self.tables is not None


async def open_run_tables(
    snapshot: Snapshot, rule: AcceptSection, *, address: str, run_id: str
) -> Opened:
    """Return a run as it is at `snapshot`, judged by `rule`.

    Raises:
        Damaged: its tables cannot be read.
    """
    tables = await open_tables(snapshot)
    found = {name: await snapshot.dataset(name) for name in TABLES}
    files = {name: table_files(one, f"{run_id}/{name}") for name, one in found.items()}
    judged = {name: snapshot.tables.get(name, -1) for name in _JUDGING}
    made = {name: at for name, at in snapshot.tables.items() if name not in _JUDGING}
    told = [run_id, made, sorted(tables.withdrawn)]
    return Opened(
        address=address,
        kind="run",
        run_id=run_id,
        version=snapshot.version,
        identity=content_hash(told),
        judgement=content_hash([judged, rule.model_dump(mode="json")]),
        files={name: one for name, one in files.items() if one},
        rule=rule,
        tables=tables,
        withdrawn=tables.withdrawn,
    )


def open_dataset_files(dataset: OpenDataset) -> Opened:
    """Return a published dataset or a collection."""
    manifest = dataset.manifest
    configs = dataset.configs
    names = {name: _CONFIG_OF.get(name, name) for name in (*TABLES, "attempts")}
    listed = sorted((file.path, file.sha256) for file in manifest.files if file.config is not None)
    return Opened(
        address=dataset.address,
        kind="collection" if manifest.nights else "dataset",
        run_id=manifest.run,
        version=manifest.version,
        identity=content_hash([manifest.run, manifest.version, [list(one) for one in listed]]),
        judgement=content_hash([]),
        files={name: configs[config] for name, config in names.items() if configs.get(config)},
        rule=None,
        tables=None,
        withdrawn=frozenset(one.episode for one in manifest.withdrawn),
    )
