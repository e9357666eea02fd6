"""The versions of a collection, each with the files that it has: `versions/000007.json`, or a tag on the Hub."""

from collections.abc import Sequence

from schemas.base import JsonObject, canonical_json
from schemas.tasks.task import SPLITS
from storage.publish.card.escape import python_string
from storage.publish.card.loading import loading_lines
from storage.publish.destinations.protocol import Destination, version_path
from storage.publish.plan.config_columns import DATASET_CONFIGS
from storage.publish.plan.manifest import PublishedFile


def version_bytes(version: int, files: Sequence[PublishedFile]) -> bytes:
    """Return the file of a version: by config and split the paths of its files, in the order of its rows."""
    configs: JsonObject = {}
    for config in DATASET_CONFIGS:
        splits: JsonObject = {}
        for split in SPLITS:
            if paths := [f.path for f in files if (f.config, f.split) == (config, split)]:
                splits[split] = [*paths]
        if splits:
            configs[config] = splits
    return canonical_json({"version": version, "configs": configs}).encode() + b"\n"


def loading_of(files: Sequence[PublishedFile], place: Destination, version: int) -> list[str]:
    """Return the lines of Python that load a version of a collection."""
    if not place.local_name.by_file:
        return loading_lines(files, place.local_name)
    root = python_string(place.local_name.name)
    listed = python_string(f"{place.local_name.name}/{version_path(version)}")
    return [
        "import fsspec, json",
        "from datasets import load_dataset",
        f"version = json.load(fsspec.open({listed}).open())",
        f'files = [f"{{{root}}}/{{path}}" for path in version["configs"]["steps"]["train"]]',
        'data = load_dataset("parquet", data_files={"train": files}, split="train")',
    ]
