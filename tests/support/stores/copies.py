"""Places that a small run is published to, and the hand of somebody else there."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from hub.publishing import BUCKET, DATASET, TO, TO_BUCKET, place_on
from hub.server import LocalHub
from huggingface_hub import HfApi
from support.episodes.factories import RUN_ID
from support.runs.memory_run import RULE, STORAGE, make_run_file, small_run

from schemas.base import sha256_hex
from schemas.configuration.sections import PublishSection
from storage.objects.protocol import ObjectStore
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.destinations.protocol import Destination
from storage.publish.plan.manifest import MANIFEST, Manifest, read_manifest
from storage.publish.publish import PublishReport, publish_to
from storage.publish.verify import Discrepancy, VerificationReport, verify_published

_ALTERED, _FOREIGN, _MISSING = Discrepancy.ALTERED, Discrepancy.FOREIGN, Discrepancy.MISSING


@dataclass(frozen=True)
class Copy:
    """A place that a run is published to, and the hand of somebody else there."""

    at: Callable[[], Destination]
    put: Callable[[str, bytes], object]
    remove: Callable[[str], object]
    everything: Callable[[], Mapping[str, object]]

    def publish(self) -> PublishReport:
        return asyncio.run(
            publish_to(
                small_run(alike=True).seal(),
                make_run_file(),
                RULE,
                self.at(),
                terms=PublishSection(),
                shard_mb=STORAGE.shard_mb,
            )
        )

    def prove(self, *, deep: bool, run_id: str = RUN_ID) -> VerificationReport:
        return asyncio.run(verify_published(self.at(), run_id=run_id, deep=deep))

    def named(self, *, deep: bool) -> dict[str, tuple[Discrepancy, str]]:
        return {f.path: (f.kind, f.message) for f in self.prove(deep=deep).findings}

    def data(self, config: str) -> str:
        """Return the path of the only file of a config's training split."""
        [path] = [path for path in self.everything() if f"{config}/train-" in path]
        return path


def in_store(at: Callable[[], Destination], store: ObjectStore) -> Copy:
    async def everything() -> dict[str, object]:
        return {item.key: (item.size, item.modified) async for item in store.list()}

    return Copy(
        at=at,
        put=lambda path, data: asyncio.run(store.put(path, data)),
        remove=lambda path: asyncio.run(store.delete([path])),
        everything=lambda: asyncio.run(everything()),
    )


def in_hub_bucket(hub: LocalHub) -> Copy:
    api = HfApi(endpoint=hub.url)
    return Copy(
        at=lambda: place_on(hub.url, TO_BUCKET),
        put=lambda path, data: api.batch_bucket_files(BUCKET, add=[(data, f"demo/{path}")]),
        remove=lambda path: hub.bucket(BUCKET).files.pop(f"demo/{path}"),
        everything=lambda: {
            path.removeprefix("demo/"): xet for path, xet in hub.objects(BUCKET).items()
        },
    )


def on_hub(hub: LocalHub) -> Copy:
    api = HfApi(endpoint=hub.url)
    return Copy(
        at=lambda: HubDestination(TO, PublishSection(), endpoint=hub.url),
        put=lambda path, data: api.upload_file(
            path_or_fileobj=data, path_in_repo=path, repo_id=DATASET, repo_type="dataset"
        ),
        remove=lambda path: hub.edit(DATASET, path, None),
        everything=lambda: hub.files(DATASET),
    )


def manifest_in(place: Path) -> Manifest:
    """Return the manifest of a dataset in a folder."""
    return read_manifest((place / MANIFEST).read_bytes(), "here")


def without_columns(place: Path, config: str, *columns: str) -> None:
    """Take columns out of a config's files, as if an earlier version had published them."""
    manifest = manifest_in(place)
    files = []
    for file in manifest.files:
        if file.config == config:
            path = place / file.path
            pq.write_table(pq.read_table(path).drop_columns(list(columns)), path)
            data = path.read_bytes()
            update = {"bytes": len(data), "sha256": sha256_hex(data)}
            files.append(file.model_copy(update=update))
        else:
            files.append(file)
    (place / MANIFEST).write_bytes(manifest.model_copy(update={"files": tuple(files)}).to_bytes())
