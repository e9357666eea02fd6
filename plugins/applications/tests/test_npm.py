"""Fetching from the npm registry, here one of the test's own: the lock's archives, and no others."""

import io
import json
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from generators.worlds.packages.install import integrity_of
from schemas.errors import Refusal, Unfinished
from stepmill_applications.pages.server import import_map
from stepmill_applications.sources.npm import Npm


def _packed(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


ARCHIVE = _packed(
    {
        "package.json": json.dumps(
            {"exports": {".": {"import": "./dist/a.js"}, "./more": "./dist/b.js", "./all/*": "./x"}}
        ),
        "dist/a.js": "export {}",
    }
)


@pytest.fixture
def registry() -> Iterator[str]:
    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here = self.path == "/@quay/rope/-/rope-2.0.0.tgz"
            self.send_response(200 if here else 404)
            self.end_headers()
            self.wfile.write(ARCHIVE if here else b"")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _npm(folder: Path, *, name: str = "@quay/rope", archive: bytes = ARCHIVE) -> Npm:
    lock = [{"name": name, "version": "2.0.0", "integrity": integrity_of(archive)}]
    (folder / "rope.json").write_text(json.dumps(lock))
    return Npm(package=name, lock="rope", locks=folder)


def test_packages_are_fetched_once_whole(registry: str, tmp_path: Path) -> None:
    one, said = _npm(tmp_path), list[str]()
    assert one.find("rope", tmp_path) is None

    made = one.install("rope", tmp_path, environ={"NPM_CONFIG_REGISTRY": registry}, say=said.append)
    again = one.install(
        "rope", tmp_path, environ={"NPM_CONFIG_REGISTRY": "http://x"}, say=said.append
    )

    assert (made, made.version, said) == (again, "2.0.0", ["rope: fetching 1 packages"])
    assert (made.tree / "@quay/rope/dist/a.js").read_text() == "export {}"


def test_modules_have_addresses_by_the_names_that_they_are_imported_by(
    registry: str, tmp_path: Path
) -> None:
    environ = {"NPM_CONFIG_REGISTRY": registry}
    made = _npm(tmp_path).install("rope", tmp_path, environ=environ, say=lambda _: None)

    assert import_map(made.tree) == {
        "@quay/rope": "/packages/@quay/rope/dist/a.js",
        "@quay/rope/more": "/packages/@quay/rope/dist/b.js",
    }


def test_an_archive_of_another_hash_is_refused_and_leaves_nothing(
    registry: str, tmp_path: Path
) -> None:
    one = _npm(tmp_path, archive=b"another")

    with pytest.raises(Refusal, match="the registry's archive is not that of the lock"):
        one.install("rope", tmp_path, environ={"NPM_CONFIG_REGISTRY": registry}, say=lambda _: None)

    assert one.find("rope", tmp_path) is None


def test_what_the_registry_does_not_have_can_be_asked_for_again(
    registry: str, tmp_path: Path
) -> None:
    one = _npm(tmp_path, name="knot")

    with pytest.raises(Unfinished, match="run it again to go on"):
        one.install("knot", tmp_path, environ={"NPM_CONFIG_REGISTRY": registry}, say=lambda _: None)
