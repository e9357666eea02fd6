"""The words of a selection on a card, and what they left out."""

from collections.abc import Iterator, Mapping

from schemas.base import JsonObject, canonical_json
from storage.publish.card.escape import visible
from storage.publish.plan.selection import Selection


def selection_lines(selection: Selection) -> Iterator[str]:
    """Yield the words of a selection and how many episodes each left out; nothing where all were selected."""
    if not selection.section.stated:
        return
    published = sum(1 for _ in selection.published)
    left_out = selection.left_out
    yield ""
    yield f"Of {published + sum(left_out.values()):,} episodes that might have trajectories here {published:,} were selected:"
    yield from words_lines(selection.section.stated)
    if left_out:
        yield from ("| left out by | episodes |", "|---|---:|")
        yield from (f"| `{key}` | {count:,} |" for key, count in left_out.items())
        yield ""
    yield "`left_out_by` of `attempts` says it of each. Of more episodes than there may be the first are here, in the"
    yield "order in which they are published; the yields below are over all attempts."


def words_lines(stated: JsonObject) -> Iterator[str]:
    """Yield the words of a selection as literal text, a key a line, between blank lines."""
    yield ""
    yield from (f"    select.{key} = {_value(value)}" for key, value in _flat(stated).items())
    yield ""


def _flat(stated: JsonObject) -> Mapping[str, object]:
    """Return the keys of a selection with their values, those of a table one by one."""
    out: dict[str, object] = {}
    for key, value in stated.items():
        inner = value if isinstance(value, dict) else None
        out |= {key: value} if inner is None else {f"{key}.{k}": v for k, v in inner.items()}
    return out


def _value(value: object) -> str:
    return visible(value) if isinstance(value, str) else canonical_json(value)
