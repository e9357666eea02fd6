"""The front matter of the card: what the Hub and `datasets` read, as YAML.

It names every data file, split by split, instead of a pattern: a reader gets the files of this
version and no others, both during a publication and after one that was killed. The types of the
columns are spelt as `datasets` spells them, the picture as an image. Only the title and the licence
are foreign text; `yaml_string` writes them as the Hub shows them, not as escapes.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import inf

import pyarrow as pa
import yaml
from typing_extensions import override

from schemas.task import SPLITS
from storage.publish.card.escape import yaml_string
from storage.publish.plan.manifest import PublishedFile, rows_by_config
from storage.publish.plan.plan import schema_of

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
    (1_000_000_000, "100M<n<1B"),
    (10_000_000_000, "1B<n<10B"),
)
_LARGEST = "10B<n<100B"


def front_matter(
    title: str, files: Sequence[PublishedFile], *, license_name: str | None
) -> Iterator[str]:
    """Yield the lines of the front matter, without the fences around it."""
    rows = rows_by_config(files)
    largest = max((sum(splits.values()) for splits in rows.values()), default=0)
    yield f"pretty_name: {yaml_string(title)}"
    if license_name is not None:
        yield f"license: {yaml_string(license_name)}"
    card = {
        "tags": ["computer-use", "trajectories", "web-agents"],
        "size_categories": [next((name for limit, name in _SIZES if largest < limit), _LARGEST)],
        "configs": [_config(config, files, default=config == next(iter(rows))) for config in rows],
        "dataset_info": [_info(config, files) for config in rows],
    }
    yield from yaml.dump(
        card, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=inf
    ).splitlines()


class _Dumper(yaml.SafeDumper):
    """Writes a value that occurs twice out twice, without an anchor."""

    @override
    def ignore_aliases(self, data: object) -> bool:
        return True


def _config(config: str, files: Sequence[PublishedFile], *, default: bool) -> dict[str, object]:
    head: dict[str, object] = {"config_name": config} | ({"default": True} if default else {})
    paths = {split: [file.path for file in _of(files, config, split)] for split in SPLITS}
    return head | {
        "data_files": [
            {"split": split, "path": some[0] if len(some) == 1 else some}
            for split, some in paths.items()
            if some
        ]
    }


def _info(config: str, files: Sequence[PublishedFile]) -> dict[str, object]:
    splits = {split: _of(files, config, split) for split in SPLITS}
    total = sum(file.bytes for file in files if file.config == config)
    return {
        "config_name": config,
        "features": [{"name": field.name} | _feature(field.type) for field in schema_of(config)],
        "splits": [
            {
                "name": split,
                "num_bytes": sum(file.bytes for file in some),
                "num_examples": sum(file.rows for file in some),
            }
            for split, some in splits.items()
            if some
        ],
        "download_size": total,
        "dataset_size": total,
    }


def _feature(kind: pa.DataType) -> dict[str, str]:
    """Return the type of a column as the card names it."""
    if pa.types.is_struct(kind):
        return {"dtype": "image"}
    if pa.types.is_list(kind):
        return {"sequence": _dtype(kind.value_type)}
    return {"dtype": _dtype(kind)}


def _dtype(kind: pa.DataType) -> str:
    return {"double": "float64", "float": "float32"}.get(str(kind), str(kind))


def _of(files: Iterable[PublishedFile], config: str, split: str) -> list[PublishedFile]:
    mine = (file for file in files if (file.config, file.split) == (config, split))
    return sorted(mine, key=lambda file: file.path)
