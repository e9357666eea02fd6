"""The files that pages of worlds load: those of packages, and our own in `generators/worlds/rendering/static`."""

from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from pathlib import Path, PurePosixPath

from starlette.exceptions import HTTPException
from starlette.responses import Response

from generators.worlds.packages.lock import read_served

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "font-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'"
    ),
}
"""The headers of every page: it may load files of its own origin only."""

_STATIC = Path(__file__).parents[1] / "rendering" / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
KEPT = {**HEADERS, "Cache-Control": "public, max-age=31536000, immutable"}
"""The headers of files that stay the same during a visit; the browser and its cache are discarded afterwards."""


def package_file(address: str, pinned: Iterable[str]) -> Response:
    """Answer with a file of a world's packages; `address` is the path after `/_/packages/`.

    Raises:
        HTTPException: no package has the file.
        Refusal: the file is missing, or differs from the lock.
    """
    content = read_served(address, pinned)
    if content is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return Response(
        content, headers={**KEPT, "Content-Type": _TYPES[PurePosixPath(address).suffix]}
    )


def own_file(name: str) -> Response:
    """Answer with a file of our own.

    Raises:
        HTTPException: there is no such file.
    """
    content = _own_files().get(name)
    if content is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return Response(content, headers={**KEPT, "Content-Type": _TYPES[PurePosixPath(name).suffix]})


@cache
def _own_files() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(_STATIC.glob("*.*"))}
