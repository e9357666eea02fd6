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
"""Of every page: it loads what its own origin serves, and nothing else."""

_STATIC = Path(__file__).parents[1] / "rendering" / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
KEPT = {**HEADERS, "Cache-Control": "public, max-age=31536000, immutable"}
"""Of what is the same on every page of a visit, whose browser is forgotten with its cache."""


def package_file(address: str, pinned: Iterable[str]) -> Response:
    """Answer with a file of the packages of a world; `address` is what follows `/_/packages/`.

    Raises:
        HTTPException: none of them has it.
        Refusal: the file is missing, or it is not what the lock says.
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
        HTTPException: there is none of this name.
    """
    content = _own_files().get(name)
    if content is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return Response(content, headers={**KEPT, "Content-Type": _TYPES[PurePosixPath(name).suffix]})


@cache
def _own_files() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(_STATIC.glob("*.*"))}
