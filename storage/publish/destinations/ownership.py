"""The files at a destination, and the run they belong to: the one that the manifest or the mark names.

A destination is accepted only if it is empty or holds a dataset of the same run, or where a run is added to a
collection, that; anything else is refused before a byte is written. The manifest names the run of a finished publication. Until there
is one, the mark does: a publication writes it first and removes it last.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.errors import Damaged, OtherRun, Unwritable
from storage.publish.plan.manifest import COLLECTION, MANIFEST, Manifest, read_manifest

MARK = ".publishing"
"""A file with the run's id, which exists until the first publication has ended."""


@dataclass(frozen=True)
class Listing:
    """The files at a destination, of any owner."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    """The size of every file in bytes, by path."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of the files for which the destination gives it at no cost, by path."""
    texts: Mapping[str, bytes] = field(default_factory=dict)
    """The bytes of those of `TEXTS` and the mark that exist, by path."""
    unfinished: tuple[str, ...] = ()
    """Unfinished files of a killed publication."""


@dataclass(frozen=True)
class OwnedListing(Listing):
    """The files at a destination that is empty or belongs to the run."""

    manifest: Manifest | None = None
    """The manifest; None before the first publication has ended."""


def _what_is_there(owner: str, run_id: str) -> str:
    """Return why a run may not be published where the dataset of `owner` is, and what can be done."""
    if owner == COLLECTION:
        return "holds a collection; --append (publish.append) adds this run to it"
    if run_id == COLLECTION:
        return (
            f"holds the dataset of one run ({owner}), which is no collection; `stepmill publish RUN1 RUN2 --to PLACE` "
            "makes one of both runs at another place"
        )
    return (
        f"holds the dataset of another run ({owner}, not {run_id}); publish to another place, or make a collection "
        "of both there: `stepmill publish RUN1 RUN2 --to PLACE`"
    )


def check_owner(address: str, run_id: str, content: Listing) -> OwnedListing:
    """Return the files at a destination, which must be empty or of this run.

    Raises:
        OtherRun: it holds the dataset of another run.
        Unwritable: it holds files that name no run.
    """
    texts, manifest = content.texts, None
    if MANIFEST in texts:
        try:
            manifest = read_manifest(texts[MANIFEST], f"{address}/{MANIFEST}")
        except Damaged as error:
            raise Unwritable(f"{error}; publish to an empty place") from None
    owner = manifest.run if manifest else texts.get(MARK, run_id.encode()).decode(errors="replace")
    if owner != run_id:
        raise OtherRun(f"{address}: {_what_is_there(owner, run_id)}")
    if manifest is None and MARK not in texts and content.sizes:
        raise Unwritable(
            f"{address}: is not empty and holds no dataset of this run "
            f"(it has {min(content.sizes)}); publish to an empty place"
        )
    return OwnedListing(
        sizes=content.sizes,
        digests=content.digests,
        texts={path: text for path, text in texts.items() if path != MARK},
        unfinished=content.unfinished,
        manifest=manifest,
    )
