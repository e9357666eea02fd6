"""Whose a destination is: the run's whose manifest or mark lies there, or nobody's yet.

A destination is taken only if it is empty, or holds a dataset of the same run; anything else is
refused before a byte is written. The manifest says whose a finished publication is. Until there
is one, the mark does: it is the first thing a publication writes and the last it removes.
"""

from collections.abc import Iterable, Mapping

from schemas.errors import Damaged, OtherRun, Unwritable
from storage.publish.manifest import MANIFEST, Manifest, read_manifest

MARK = ".publishing"
"""Lies at a destination until its first publication has ended, and holds the run's id."""


def owned(address: str, run_id: str, *, texts: Mapping[str, bytes]) -> Manifest | None:
    """Return the manifest among `texts`, if it and the mark are of this run.

    Raises:
        OtherRun: the dataset of another run lies there.
        Unwritable: a manifest of something else lies there.
    """
    try:
        manifest = (
            read_manifest(texts[MANIFEST], f"{address}/{MANIFEST}") if MANIFEST in texts else None
        )
    except Damaged as error:
        raise Unwritable(f"{error}; publish to an empty place") from None
    owner = manifest.run if manifest else texts.get(MARK, run_id.encode()).decode(errors="replace")
    if owner != run_id:
        raise OtherRun(
            f"{address}: holds the dataset of another run ({owner}, not {run_id}); "
            "publish to another place"
        )
    return manifest


def refuse_foreign(
    address: str, paths: Iterable[str], *, manifest: Manifest | None, texts: Mapping[str, bytes]
) -> None:
    """Refuse a place that holds something, and nothing that says whose it is.

    Raises:
        Unwritable: it does; one of the things is named.
    """
    first = next(iter(paths), None)
    if manifest is None and MARK not in texts and first is not None:
        raise Unwritable(
            f"{address}: is not empty and holds no dataset of this run "
            f"(there is {first}); publish to an empty place"
        )
