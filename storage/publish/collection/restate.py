"""The files that state a version of a collection: its plot, its card, the list of its files, and its manifest."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from storage.lake.withdrawals import Withdrawal
from storage.publish.card.filmstrip import Film
from storage.publish.card.loading import front_matter
from storage.publish.card.plots import yield_plot
from storage.publish.collection.card import CollectionFacts, make_collection_card, yields_of
from storage.publish.collection.versions import version_bytes
from storage.publish.destinations.protocol import Destination, is_version, version_path
from storage.publish.plan.config_columns import config_schema
from storage.publish.plan.manifest import (
    CARD,
    COLLECTION,
    CONTACT_SHEET,
    FILMSTRIP,
    MANIFEST,
    YIELD_PLOT,
    Counts,
    Manifest,
    Night,
    PublishedFile,
    Tally,
    row_counts,
    total,
)
from storage.publish.plan.plan import PublishPlan, TrainingTerms
from storage.publish.publish import describe_texts


@dataclass(frozen=True)
class Contents:
    """What a version of a collection has."""

    version: int
    """Its number."""
    files: Sequence[PublishedFile]
    """Its data files, in the order of the nights."""
    nights: Sequence[Night]
    """Its nights, by number."""
    empty: Collection[str]
    """Recipes that gave no row."""
    withdrawn: Sequence[Withdrawal]
    """The episodes that were withdrawn from it."""


@dataclass(frozen=True)
class Shown:
    """What its card shows of the night that came last; nothing where no night came."""

    title: str
    """Its title."""
    training: TrainingTerms | None = None
    """Its training rows."""
    film: Film | None = None
    """One of its trajectories."""
    pages: Sequence[bytes] = ()
    """Its first pages."""
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    """The pictures beside the card, by path."""


def collection_texts(
    state: Contents, there: Manifest | None, place: Destination, shown: Shown
) -> dict[str, bytes]:
    """Return the files that state a version, by path, the manifest last; `there` is the version before."""
    last = state.nights[-1]
    texts = {**shown.pictures, YIELD_PLOT: yield_plot(yields_of(state.nights))}
    facts = CollectionFacts(
        files=state.files,
        nights=state.nights,
        version=state.version,
        before=there,
        name=place.name,
        title=shown.title,
        license=last.license,
        training=shown.training,
        film=shown.film,
        pages=shown.pages,
        pictures=tuple(texts),
    )
    texts[CARD] = make_collection_card(facts).encode()
    if not place.has_tags:
        texts[version_path(state.version)] = version_bytes(state.version, state.files)
    older = [f for f in (there.files if there else ()) if is_version(f.path)]
    files = [*state.files, *describe_texts(texts), *(night.index for night in state.nights), *older]
    texts[MANIFEST] = _manifest(state, there, files).to_bytes()
    return texts


def empty_recipes(
    plan: PublishPlan, own: Sequence[PublishedFile], there: Manifest | None
) -> frozenset[str]:
    """Return the recipes of a collection that gave no row, once a night's files are made."""
    built = {file.recipe for file in own}
    empty = {file.recipe for file in plan.files if file.recipe not in built}
    return frozenset(empty | {*(there.empty if there else ())})


def _manifest(state: Contents, there: Manifest | None, files: Sequence[PublishedFile]) -> Manifest:
    last = max(state.nights, key=lambda night: night.added)
    rows = row_counts(state.files)
    tally = total(night.tally for night in state.nights)
    return Manifest(
        layout=2,
        run=COLLECTION,
        version=state.version,
        rule=last.rule,
        include_rejected=last.include_rejected,
        select=last.select,
        counts=_counts(tally, rows),
        files=tuple(sorted(files, key=lambda file: file.path)),
        empty=tuple(sorted(state.empty)),
        nights=tuple(state.nights),
        former=_former(there, files),
        columns={name: tuple(config_schema(name).names) for name in rows},
        withdrawn=tuple(state.withdrawn),
    )


def _counts(tally: Tally, rows: Mapping[str, int]) -> Counts:
    configs = ("trajectories", "steps", "tasks", "attempts", "results", "verdicts")
    return Counts(
        episodes=tally.total, **tally.model_dump(), **{name: rows.get(name, 0) for name in configs}
    )


def _former(there: Manifest | None, files: Sequence[PublishedFile]) -> tuple[PublishedFile, ...]:
    """Return the files of earlier versions that the next one has no more: data files, and indexes."""
    listed = {file.path for file in files}
    known = {file.path: file for file in (*there.former, *there.files)} if there else {}
    gone = (
        f
        for path, f in known.items()
        if path not in listed and (f.config is not None or f.night is not None)
    )
    return tuple(sorted(gone, key=lambda file: file.path))


def texts_of_run(
    card: bytes,
    there: Manifest,
    files: Sequence[PublishedFile],
    withdrawn: Sequence[Withdrawal],
    tally: Tally,
) -> dict[str, bytes]:
    """Return card and manifest of the dataset of one run from which episodes were withdrawn.

    `tally` is of those withdrawn now. The card's pictures and the words about them are left out, as they may show what
    was withdrawn, and its last section says how many rows its figures count too many.
    """
    listed = [f for f in there.files if f.config is None]
    listed = [f for f in listed if f.path not in (FILMSTRIP, CONTACT_SHEET, CARD)]
    texts = {CARD: _card_without(card.decode(), files, len(withdrawn)).encode()}
    left = {name: getattr(there.counts, name) - count for name, count in tally.model_dump().items()}
    counts = _counts(Tally(**left), row_counts(files))
    manifest = there.model_copy(
        update={
            "files": tuple(
                sorted([*files, *listed, *describe_texts(texts)], key=lambda file: file.path)
            ),
            "counts": counts,
            "withdrawn": tuple(withdrawn),
        }
    )
    return texts | {MANIFEST: manifest.to_bytes()}


_HEAD = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
_SECTION = "\n## Withdrawn\n"


def _card_without(card: str, files: Sequence[PublishedFile], count: int) -> str:
    """Return a card whose front matter lists other files, without its pictures."""
    match = _HEAD.match(card)
    stated = yaml.safe_load(match[1]) if match else {}
    body = card[match.end() :] if match else card
    body = re.sub(r"\n!\[[^\n]*\n.*?(?=\n## )", "\n", body, count=1, flags=re.DOTALL)
    body = body.partition(_SECTION)[0]
    head = front_matter(
        str(stated.get("pretty_name", "stepmill")),
        files,
        license_name=stated.get("license"),
        languages=stated.get("language") or (),
    )
    noun = "episode was" if count == 1 else "episodes were"
    told = (
        f"{count:,} {noun} withdrawn after this was published: no file here holds rows of them, and the figures "
        "above count them still."
    )
    return "\n".join(["---", *head, "---", body.rstrip(), _SECTION, told, ""])
