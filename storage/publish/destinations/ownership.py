"""Whose a destination is: the run's whose manifest or mark lies there, or nobody's yet.

A destination is taken only if it is empty, or holds a dataset of the same run; anything else is
refused before a byte is written. The manifest says whose a finished publication is. Until there
is one, the mark does: it is the first thing a publication writes and the last it removes.
"""

from collections.abc import Mapping

from schemas.errors import Damaged, OtherRun, Unwritable
from storage.publish.destinations.listing import Content, Stock
from storage.publish.plan.manifest import MANIFEST, Manifest, read_manifest

MARK = ".publishing"
"""Lies at a destination until its first publication has ended, and holds the run's id."""


def owned(address: str, run_id: str, content: Content) -> Stock:
    """Return what lies at a destination, if it is of this run or nothing is there.

    Raises:
        OtherRun: the dataset of another run lies there.
        Unwritable: something lies there that does not say whose it is.
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
            f"(there is {min(content.sizes)}); publish to an empty place"
        )
    return Stock(
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
