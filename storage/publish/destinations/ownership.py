"""Which run a destination belongs to: the one that its manifest or its mark names.

A destination is accepted only if it is empty or holds a dataset of the same run; anything else is
refused before a byte is written. The manifest names the run of a finished publication. Until there
is one, the mark does: a publication writes it first and removes it last.
"""

from collections.abc import Mapping

from schemas.errors import Damaged, OtherRun, Unwritable
from storage.publish.destinations.listing import Listing, OwnedListing
from storage.publish.plan.manifest import MANIFEST, Manifest, read_manifest

MARK = ".publishing"
"""A file with the run's id, which exists until the first publication has ended."""


def check_owner(address: str, run_id: str, content: Listing) -> OwnedListing:
    """Return the files at a destination, which must be empty or of this run.

    Raises:
        OtherRun: it holds the dataset of another run.
        Unwritable: it holds files that name no run.
    """
    texts = content.texts
    manifest = _manifest(address, texts)
    owner = manifest.run if manifest else texts.get(MARK, run_id.encode()).decode(errors="replace")
    if owner != run_id:
        raise OtherRun(
            f"{address}: holds the dataset of another run ({owner}, not {run_id}); "
            "publish to another place"
        )
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


def _manifest(address: str, texts: Mapping[str, bytes]) -> Manifest | None:
    if MANIFEST not in texts:
        return None
    try:
        return read_manifest(texts[MANIFEST], f"{address}/{MANIFEST}")
    except Damaged as error:
        raise Unwritable(f"{error}; publish to an empty place") from None
