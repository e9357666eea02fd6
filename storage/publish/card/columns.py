"""The table of columns on a card: the type and meaning of each column of each config.

The records are the one source. A column's type comes from its Arrow schema, its meaning from the
docstring under the record's field, read from the record's source, which an installed package has too.
"""

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TypeVar, get_args

import pyarrow as pa

from schemas.base import Record
from schemas.columns import Spread
from schemas.configuration.sections import RowKind
from schemas.episodes.action import ActionColumns
from schemas.tables.published import Attempt, Result
from schemas.tables.tables import EPISODE_TABLES, TABLES, json_columns
from schemas.verdicts.step_label import StepLabel
from schemas.verdicts.verdict import Acceptance
from storage.lake.row_batch import PICTURE
from storage.publish.plan.config_columns import TRAINING_CONFIGS, config_schema
from storage.publish.training.schema import LIKE_SFT, own_columns

T = TypeVar("T")

NO_FIELD: Mapping[str, str] = {
    "episode_id": "The episode the row belongs to.",
    "unit_id": "The unit the episode was committed with.",
    "action_type": "The `type` of `action`.",
    "elements": "What was on the page, a list of elements in document order.",
    "sights": "What the picture shows: a list of lines of text and of drawn things, each with its box, in"
    " document order; null where an earlier version recorded the step.",
    "step": "From 0, contiguous.",
}
"""The meaning of columns that are no field of a record."""

_TABLES = {"trajectories": "episodes"}
_RECORDS: Mapping[str, type[Record]] = {"attempts": Attempt, "results": Result}
"""The record of a config's rows, for configs that are no table of a run."""
_BESIDE: Mapping[str, type[Record]] = {"trajectories": Acceptance, "steps": StepLabel}
"""The record whose fields a config has in addition to those of its table."""


@cache
def member_docs(kind: type) -> Mapping[str, str]:
    """Return the docstring under each field of a record or member of an enumeration."""
    tree = ast.parse(inspect.getsource(kind)).body[0]
    if not isinstance(tree, ast.ClassDef):
        raise TypeError(f"{kind!r} is no class")
    out: dict[str, str] = {}
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
            continue
        if isinstance(node, ast.AnnAssign):
            out[ast.unparse(node.target)] = " ".join(str(after.value.value).split())
        elif isinstance(node, ast.Assign):
            out[ast.unparse(node.targets[0])] = " ".join(str(after.value.value).split())
    return out


def column_docs(kind: type[Record]) -> dict[str, str]:
    """Return the meaning of each column of a record's table."""
    out = dict(member_docs(kind))
    for name, info in kind.model_fields.items():
        for marker in info.metadata:
            if isinstance(marker, Spread):
                nested = member_docs(kind_in(info.annotation, Record) or Record)
                out |= {marker.prefix + key: doc for key, doc in nested.items()}
        if name == "action":
            out |= member_docs(ActionColumns)
    return out


def kind_in(annotation: object, base: type[T]) -> type[T] | None:
    """Return the class below `base` that a field holds; None if it holds none."""
    for part in (annotation, *get_args(annotation)):
        if isinstance(part, type) and issubclass(part, base):
            return part
    return None


def table_docs(name: str) -> dict[str, str]:
    """Return the meaning of each column of a run's table."""
    docs = column_docs(TABLES[name]) if name != "observations" else {}
    if name in EPISODE_TABLES:
        docs |= {key: NO_FIELD[key] for key in ("episode_id", "unit_id")}
    return docs


def type_name(kind: pa.DataType) -> str:
    """Return an Arrow type in words."""
    if pa.types.is_list(kind):
        return f"list<{type_name(kind.value_type)}>"
    if kind == PICTURE:
        return "image (bytes, path)"
    if pa.types.is_struct(kind):
        parts = [kind.field(place) for place in range(kind.num_fields)]
        return f"{{{', '.join(f'{part.name}: {type_name(part.type)}' for part in parts)}}}"
    return str(kind)


def column_lines(configs: Iterable[str]) -> Iterator[str]:
    """Yield, for each config, the table of its columns as lines of Markdown."""
    for config in configs:
        if config in TRAINING_CONFIGS:
            yield from _training_lines(RowKind(config))
            continue
        table, own = _TABLES.get(config, config), _RECORDS.get(config)
        docs = table_docs(table) if own is None else column_docs(own)
        if config in _BESIDE:
            docs |= member_docs(_BESIDE[config])
        as_json = json_columns(table) if own is None else frozenset[str]()
        yield from (f"### `{config}`", "", "| column | type | meaning |", "|---|---|---|")
        for field in config_schema(config):
            kind = "JSON" if field.name in as_json else type_name(field.type)
            meaning = docs.get(field.name) or NO_FIELD[field.name]
            yield f"| `{field.name}` | `{kind}` | {meaning.replace('|', chr(92) + '|')} |"
        yield ""


def _training_lines(kind: RowKind) -> Iterator[str]:
    """Yield the table of a kind of training rows."""
    yield from (f"### `{kind}`", "")
    if kind in LIKE_SFT:
        yield from (f"As `{RowKind.SFT}`, but for:", "")
    yield from ("| column | type | meaning |", "|---|---|---|")
    for column in own_columns(kind):
        meaning = column.about.replace("|", chr(92) + "|")
        yield f"| `{column.name}` | `{type_name(column.type)}` | {meaning} |"
    yield ""
