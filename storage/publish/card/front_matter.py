"""The front matter of the card: what the Hub and `datasets` read, as YAML.

It names every data file, split by split, instead of a pattern: a reader gets the files of this
version and no other, while a publication goes on and after one was killed. The types of the
columns are spelt as `datasets` spells them, the picture as an image. Only the title is foreign
text.
"""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

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
    yield "tags:"
    yield from (f"- {tag}" for tag in ("computer-use", "trajectories", "web-agents"))
    yield "size_categories:"
    yield f"- {next((name for limit, name in _SIZES if largest < limit), _LARGEST)}"
    yield "configs:"
    for config in rows:
        yield from _config(config, files, default=config == next(iter(rows)))
    yield "dataset_info:"
    for config in rows:
        yield from _info(config, files)


def _config(config: str, files: Sequence[PublishedFile], *, default: bool) -> Iterator[str]:
    yield f"- config_name: {config}"
    if default:
        yield "  default: true"
    yield "  data_files:"
    for split in SPLITS:
        paths = [file.path for file in _of(files, config, split)]
        if paths:
            yield f"  - split: {split}"
            yield f"    path: {paths[0]}" if len(paths) == 1 else "    path:"
            yield from (f"    - {path}" for path in paths if len(paths) > 1)


def _info(config: str, files: Sequence[PublishedFile]) -> Iterator[str]:
    yield f"- config_name: {config}"
    yield "  features:"
    for field in schema_of(config):
        yield f"  - name: {field.name}"
        yield f"    {_feature(field.type)}"
    yield "  splits:"
    for split in SPLITS:
        mine = _of(files, config, split)
        if mine:
            yield f"  - name: {split}"
            yield f"    num_bytes: {sum(file.bytes for file in mine)}"
            yield f"    num_examples: {sum(file.rows for file in mine)}"
    total = sum(file.bytes for file in files if file.config == config)
    yield f"  download_size: {total}"
    yield f"  dataset_size: {total}"


def _feature(kind: pa.DataType) -> str:
    """Return the type of a column in the card's words."""
    if pa.types.is_struct(kind):
        return "dtype: image"
    if pa.types.is_list(kind):
        return f"sequence: {_dtype(kind.value_type)}"
    return f"dtype: {_dtype(kind)}"


def _dtype(kind: pa.DataType) -> str:
    return {"double": "float64", "float": "float32"}.get(str(kind), str(kind))


def _of(files: Iterable[PublishedFile], config: str, split: str) -> list[PublishedFile]:
    mine = (file for file in files if (file.config, file.split) == (config, split))
    return sorted(mine, key=lambda file: file.path)
