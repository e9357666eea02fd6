"""How a published dataset is loaded: its name, the lines of Python, and the card's front matter.

`datasets` opens a folder by its path and a repository by its name, with a branch as its revision. It
opens a bucket only file by file, so there the lines of Python name the files of one split.

The Hub and `datasets` read the front matter, which is YAML. It names every data file, split by split,
instead of a pattern: a reader gets the files of this version and no others, both during a publication
and after one that was killed. The types of the columns are spelt as `datasets` spells them, the picture
as an image. Only the title and the licence are foreign text; `yaml_string` writes them as the Hub shows
them, not as escapes.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import yaml

from schemas.tasks.task import SPLITS
from storage.lake.row_batch import PICTURE
from storage.publish.card.escape import python_string, yaml_string
from storage.publish.plan.config_columns import config_schema
from storage.publish.plan.manifest import PublishedFile, rows_by_config

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

_DUMPER = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
"""The one in C takes an eighth of the other's time, and writes the same."""
_WIDTH = 1_000_000
"""Characters: no line is that long, so none is broken."""

TASK_CATEGORIES = ("image-text-to-text", "reinforcement-learning")
"""The Hub's task categories of steps: a picture and a goal give an action; actions have rewards."""


@dataclass(frozen=True, slots=True)
class DatasetName:
    """The name by which readers load a dataset."""

    name: str
    """A folder, a bucket's URL or a repository."""
    branch: str | None = None
    """A branch of the repository; None: the main one, or not a repository."""
    by_file: bool = False
    """Whether `datasets` opens it file by file."""
    is_repository: bool = False
    """Whether it is a repository on the Hub."""


def loading_lines(files: Sequence[PublishedFile], name: DatasetName) -> list[str]:
    """Return the three lines of Python that load the dataset."""
    rows = rows_by_config(files)
    config = default_config(rows)
    split = next(split for split in SPLITS if split in rows[config])
    if name.by_file:
        paths = python_string(f"{name.name}/data/{config}/{split}-*.parquet")
        arguments = f'"parquet", data_files={{"{split}": {paths}}}, split="{split}"'
    else:
        branch = "" if name.branch is None else f", revision={python_string(name.branch)}"
        arguments = f'{python_string(name.name)}, "{config}", split="{split}"{branch}'
    row = '[0]["screenshot"].load()' if config == "steps" else "[0]"
    return ["from datasets import load_dataset", f"data = load_dataset({arguments})", f"data{row}"]


def default_config(rows: Collection[str]) -> str:
    """Return the config that readers get without naming one: the one with pictures, if it has rows."""
    return "steps" if "steps" in rows else next(iter(rows))


def front_matter(
    title: str,
    files: Sequence[PublishedFile],
    *,
    license_name: str | None,
    languages: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the lines of the front matter, without the fences around it; empty `languages` are unknown."""
    rows = rows_by_config(files)
    shown = default_config(rows)
    largest = max((sum(splits.values()) for splits in rows.values()), default=0)
    yield f"pretty_name: {yaml_string(title)}"
    if license_name is not None:
        yield f"license: {yaml_string(license_name)}"
    card: dict[str, object] = {"language": [*languages]} if languages else {}
    card |= {"task_categories": [*TASK_CATEGORIES]} if "steps" in rows else {}
    card |= {
        "tags": ["computer-use", "trajectories", "web-agents"],
        "size_categories": [next((name for limit, name in _SIZES if largest < limit), _LARGEST)],
        "configs": [_config(config, files, default=config == shown) for config in rows],
        "dataset_info": [_dataset_info(config, files) for config in rows],
    }
    written_out = json.loads(json.dumps(card))  # an object that occurs twice would become an anchor
    yield from yaml.dump(
        written_out, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=_WIDTH
    ).splitlines()


def _config(config: str, files: Sequence[PublishedFile], *, default: bool) -> dict[str, object]:
    head: dict[str, object] = {"config_name": config} | ({"default": True} if default else {})
    data_files = []
    for split, in_split in _by_split(files, config):
        paths = [file.path for file in in_split]
        data_files.append({"split": split, "path": paths[0] if len(paths) == 1 else paths})
    return head | {"data_files": data_files}


def _dataset_info(config: str, files: Sequence[PublishedFile]) -> dict[str, object]:
    total = sum(file.bytes for file in files if file.config == config)
    return {
        "config_name": config,
        "features": [
            {"name": field.name} | _feature(field.type) for field in config_schema(config)
        ],
        "splits": [
            {
                "name": split,
                "num_bytes": sum(file.bytes for file in in_split),
                "num_examples": sum(file.rows for file in in_split),
            }
            for split, in_split in _by_split(files, config)
        ],
        "download_size": total,
        "dataset_size": total,
    }


def _feature(kind: pa.DataType) -> dict[str, object]:
    """Return the type of a column as `datasets` spells it."""
    if kind == PICTURE:
        return {"dtype": "image"}
    if pa.types.is_struct(kind):
        return {"struct": _parts(kind)}
    if not pa.types.is_list(kind):
        return {"dtype": {"double": "float64", "float": "float32"}.get(str(kind), str(kind))}
    if pa.types.is_struct(kind.value_type) and kind.value_type != PICTURE:
        return {"list": _parts(kind.value_type)}
    inner = _feature(kind.value_type)
    return {"sequence": inner.get("dtype", inner)}


def _parts(kind: pa.DataType) -> list[dict[str, object]]:
    """Return the parts of a struct as `datasets` spells them."""
    parts = [kind.field(place) for place in range(kind.num_fields)]
    return [{"name": part.name} | _feature(part.type) for part in parts]


def _by_split(
    files: Iterable[PublishedFile], config: str
) -> Iterator[tuple[str, list[PublishedFile]]]:
    """Yield the splits in which `config` has files, and these by path."""
    for split in SPLITS:
        in_split = [file for file in files if (file.config, file.split) == (config, split)]
        if in_split:
            yield split, sorted(in_split, key=lambda file: (file.night or 0, file.path))
