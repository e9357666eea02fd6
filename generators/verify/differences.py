"""Differences between a replay and the record, or between stated and derived values, as sentences.

Quoted values are cut to a length, because pages and models write them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from generators.sites.protocol import Visit
from schemas.base import JsonObject, Record
from schemas.configuration.masks import Masks
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Observation, Target
from schemas.tasks.task import Task
from schemas.truncation import truncate

ADDED_KEYS: Mapping[str, frozenset[str]] = {
    "visit": frozenset({"allowed_paths", "bare"}),
    "session": frozenset({"allowed_paths", "chance", "draws_lists"}),
}
"""Keys of each part of a capsule that capsules of earlier versions lack."""

ADDED_COLUMNS = frozenset({"tab", "tabs"})
"""Columns of a page's state that are null where an earlier version recorded it."""

Parts = Mapping[str, tuple[JsonObject, Record]]
"""The recorded part of a capsule and the record that it should equal, by the capsule's key."""

MAX_QUOTED = 80
"""Characters of a value that `quote` returns."""

SHOWN_BYTES = 300
"""Largest size of each value in a difference, UTF-8 bytes."""


def compare_way(task: Task, episode: Episode, visit: Visit) -> Iterator[str]:
    """Compare the episode's site, start URL, seed and clock with those of its task and visit."""
    yield from compare("site", episode.site, task.site)
    yield from compare("start_url", episode.start_url, visit.start_url)
    yield from compare("seed", episode.seed, task.seed)
    yield from compare("clock_ms", episode.clock_ms, visit.clock and visit.clock.start_ms)


def compare_capsule(task: Task, episode: Episode, parts: Parts) -> Iterator[str]:
    """Compare the capsule with the one that the task and the columns give."""
    capsule = episode.capsule
    yield from compare("capsule.template_id", capsule.get("template_id"), task.template_id)
    yield from compare("capsule.site_version", capsule.get("site_version"), task.site_version)
    for part, (recorded, record) in parts.items():
        found = record.model_dump(mode="json")
        for key in sorted({*recorded, *found}):
            if key in recorded or key not in ADDED_KEYS[part]:
                said = recorded.get(key, "missing"), found.get(key, "missing")
                yield from compare(f"capsule.{part}.{key}", *said)


EARLIER_CUT = 400
"""Elements at which earlier versions stopped, in document order, and said nothing of what they left out."""


def compare_shown(recorded: Step, found: Observation, masks: Masks | None = None) -> Iterator[str]:
    """Yield the differing numbers of elements and sights, and the first pair that differs.

    Sights are compared only where the episode has them, and elements only where no earlier version cut them.
    """
    if recorded.elements_left_out is not None or len(recorded.elements) < EARLIER_CUT:
        yield from _compare_items("elements", recorded.elements, found.elements, masks)
    if recorded.elements_left_out is not None:
        yield from compare("elements_left_out", recorded.elements_left_out, found.elements_left_out)
    if recorded.sights is not None:
        yield from _compare_items("sights", recorded.sights, found.sights or (), masks)


def compare_targets(
    recorded: Step, seen: Observation, found: Target | None, masks: Masks | None = None
) -> Iterator[str]:
    """Compare the target with the element on the replayed page `seen` before the action.

    If only the replay has sights, an earlier version recorded the step. Its targets' names and texts may
    include hidden text and are not compared.
    """
    told = recorded.target
    older = recorded.sights is None and seen.sights is not None
    if older and told is not None and found is not None:
        found = found.model_copy(update={"name": told.name, "text": told.text})
    yield from compare_records("target", told, found, masks)


def locate(recorded: Step, shown: Sequence[str]) -> str:
    """Return where a document differs whose digest does, given the differences of what is listed of it."""
    if shown:
        return "what is listed of it differs too"
    if recorded.elements_left_out is None and len(recorded.elements) >= EARLIER_CUT:
        return "an earlier version listed a part of the elements"
    return (
        "the listed elements are equal, so it is in what is not listed, as a hidden field or an attribute; for an "
        "application `stepmill sites check` visits the start page twice and prints the first difference"
    )


def _compare_items(
    what: str, recorded: Sequence[Record], found: Sequence[Record], masks: Masks | None
) -> Iterator[str]:
    for difference in compare(f"number of {what}", len(recorded), len(found)):
        yield difference + _first_without_pair(what, recorded, found, masks)
    for number, (one, other) in enumerate(zip(recorded, found, strict=False)):
        if one != other and (
            differs := list(compare_records(f"{what}[{number}]", one, other, masks))
        ):
            yield from differs
            return


def _first_without_pair(
    what: str, recorded: Sequence[Record], found: Sequence[Record], masks: Masks | None
) -> str:
    """Return the first item that only one of two lists has, where all pairs before it are equal; else nothing."""
    pairs = zip(recorded, found, strict=False)
    if any(one != other and [*compare_records(what, one, other, masks)] for one, other in pairs):
        return ""
    both = min(len(recorded), len(found))
    longer, whose = (recorded, "record") if recorded[both:] else (found, "replay")
    return f", the first of which only the {whose} has {what}[{both}]: {truncate(repr(longer[both]), SHOWN_BYTES)}"


def compare_records(
    what: str, recorded: Record | None, found: Record | None, masks: Masks | None = None
) -> Iterator[str]:
    """Compare two records field by field; one of them may be None."""
    if recorded is None or found is None:
        yield from compare(what, recorded, found)
        return
    for name, value in recorded:
        yield from compare(f"{what}.{name}", value, getattr(found, name), masks)


def compare(
    what: str, recorded: object, found: object, masks: Masks | None = None
) -> Iterator[str]:
    """Yield the recorded and the replayed value, each cut to `SHOWN_BYTES`, unless they are equal.

    Masked parts of texts are not compared.
    """
    if masks is not None and isinstance(recorded, str) and isinstance(found, str):
        recorded, found = masks.hide(recorded), masks.hide(found)
    if recorded != found:
        shown = (truncate(repr(value), SHOWN_BYTES) for value in (recorded, found))
        yield f"{what}: {' → '.join(shown)}"


def differences(columns: Iterable[tuple[str, object, object]]) -> Iterator[str]:
    """Yield a sentence for each name whose stated value differs from the derived one."""
    for name, stated, derived in columns:
        if isinstance(stated, float) and isinstance(derived, float):
            same = math.isclose(stated, derived, rel_tol=1e-9, abs_tol=1e-9)
        else:
            same = stated == derived
        if not same:
            yield f"{name} is {quote(stated)}, derived again it is {quote(derived)}"


def quote(value: object) -> str:
    """Return a value as findings quote it, cut to `MAX_QUOTED` characters."""
    text = repr(value)
    return text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 1] + "…"
