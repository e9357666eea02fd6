"""The packages of worlds: how they are installed from a registry, locked, and served."""

import io
import json
import tarfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from support.worlds.made_world import SHOP
from support.worlds.world_visits import visiting

from generators.worlds.packages import __main__, lock
from generators.worlds.packages.install import find_registry, install_packages
from generators.worlds.packages.lock import Package, check_packages, not_here, read_served
from schemas.errors import Refusal, Unfinished

FILES = {
    "package.json": b'{"license": "MIT"}',
    "dist/kit.css": b"a { color: red }",
    "dist/kit.js": b"1",
}


ADVISORY = {
    "url": "https://advisories.example/1",
    "title": "It reads too much.",
    "severity": "high",
    "id": 1,
}


class _Registry(ThreadingHTTPServer):
    """A registry that is started once; each test says in which folder its archives are."""

    folder = ""


class _Quiet(SimpleHTTPRequestHandler):
    def __init__(self, request: Any, address: Any, server: _Registry) -> None:
        super().__init__(request, address, server, directory=server.folder)

    def do_POST(self) -> None:
        """Answer as npm's registry does: with what is known of the versions that are asked for."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = Path(self.directory) / "advisories.json"
        if self.path != "/-/npm/v1/security/advisories/bulk" or not known.exists():
            self.send_error(405)
            return
        told = json.loads(known.read_text())
        body = json.dumps(told if asked == {"@made/kit": ["1.2.3"]} else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[_Registry]:
    """The server of registries; to stop one takes half a second."""
    with _Registry(("127.0.0.1", 0), _Quiet) as server:
        Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


@pytest.fixture
def registry(tmp_path: Path, server: _Registry) -> str:
    """A registry with the package `@made/kit` of version 1.2.3."""
    server.folder = str(tmp_path / "registry")
    pack(tmp_path / "registry", FILES)
    return f"http://127.0.0.1:{server.server_port}"


def pack(folder: Path, files: dict[str, bytes]) -> None:
    archive = folder / "@made/kit/-/kit-1.2.3.tgz"
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


@pytest.fixture
def made(tmp_path: Path, registry: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A lock with that package alone, written by the command that writes it; the data folder of a user."""
    path = tmp_path / "packages.json"
    path.write_text("[]")
    monkeypatch.setattr(lock, "LOCK", path)
    monkeypatch.setattr(__main__, "LOCK", path)
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", registry)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    lock.read_lock.cache_clear()
    assert __main__.main(["@made/kit", "1.2.3", "dist/*.css"]) == 0
    lock.read_lock.cache_clear()
    yield lock.packages_data()
    lock.read_lock.cache_clear()


def install(data: Path, registry: str) -> int:
    return install_packages(data, environ={"NPM_CONFIG_REGISTRY": registry})


def the_package() -> Package:
    return lock.read_lock()["@made/kit"]


def test_only_the_files_of_the_lock_are_installed(made: Path, registry: str) -> None:
    assert (
        not_here()
        == "@made/kit@1.2.3 of worlds' pages: not installed: stepmill sites install worlds"
    )
    assert install(made, registry) == 1

    folder = the_package().folder(made)
    assert not_here() is None
    assert [path.name for path in folder.rglob("*.*")] == ["kit.css"]
    assert read_served("@made/kit/1.2.3/dist/kit.css", ["@made/kit@1.2.3"]) == FILES["dist/kit.css"]


@pytest.mark.parametrize(
    ("address", "pinned"),
    [
        ("@made/kit/1.2.3/dist/kit.js", ["@made/kit@1.2.3"]),
        ("@made/kit/1.2.4/dist/kit.css", ["@made/kit@1.2.3"]),
        ("@made/kit/1.2.3/../1.2.3/dist/kit.css", ["@made/kit@1.2.3"]),
        ("@made/kit/1.2.3/dist/kit.css", []),
        ("@made/kit/1.2.3/dist/kit.css", ["other@1.0.0"]),
    ],
)
def test_a_world_is_served_the_files_of_its_own_packages_alone(
    made: Path, registry: str, address: str, pinned: list[str]
) -> None:
    install(made, registry)

    assert read_served(address, pinned) is None


def test_an_archive_of_another_hash_leaves_nothing(
    made: Path, registry: str, tmp_path: Path
) -> None:
    pack(tmp_path / "registry", {**FILES, "dist/kit.css": b"a { color: blue }"})

    with pytest.raises(
        Refusal, match=r"@made/kit@1.2.3: the registry's archive is not that of the lock"
    ):
        install(made, registry)
    assert list((made / "worlds/packages").iterdir()) == []


def test_a_lock_whose_file_is_not_in_the_archive_is_refused(made: Path, registry: str) -> None:
    entries = json.loads(lock.LOCK.read_text())
    entries[0]["files"]["dist/kit.css"] = "0" * 64
    lock.LOCK.write_text(json.dumps(entries))
    lock.read_lock.cache_clear()

    with pytest.raises(Refusal, match=r"its archive has no dist/kit.css of the lock's hash"):
        install(made, registry)


def test_what_cannot_be_fetched_is_said_without_the_registrys_password(made: Path) -> None:
    with pytest.raises(
        Unfinished, match=r"could not be fetched from 127.0.0.1: \w+; run it again"
    ) as caught:
        install(made, "http://me:secret@127.0.0.1:9")
    assert "secret" not in str(caught.value)


def test_a_package_that_the_registry_lacks_is_said(
    made: Path, registry: str, tmp_path: Path
) -> None:
    (tmp_path / "registry/@made/kit/-/kit-1.2.3.tgz").unlink()

    with pytest.raises(Unfinished, match="it answered 404"):
        install(made, registry)


def test_a_file_that_was_changed_or_removed_is_refused(made: Path, registry: str) -> None:
    install(made, registry)
    file = the_package().folder(made) / "dist/kit.css"
    file.write_text("changed")
    with pytest.raises(
        Refusal, match=r"@made/kit@1.2.3: dist/kit.css is not what the lock says; remove /"
    ):
        check_packages(["@made/kit@1.2.3"])
    file.unlink()
    with pytest.raises(
        Refusal, match=r"dist/kit.css: No such file or directory: stepmill sites install"
    ):
        check_packages(["@made/kit@1.2.3"])


@pytest.mark.usefixtures("made")
def test_a_package_of_another_version_is_refused() -> None:
    with pytest.raises(Refusal, match=r"@made/kit@1.2.2 is not among the packages"):
        check_packages(["@made/kit@1.2.2"])


@pytest.mark.usefixtures("made")
def test_the_command_that_locks_says_what_an_archive_lacks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert __main__.main(["@made/kit", "1.2.3", "none.css"]) == 2
    assert __main__.main(["@made/kit"]) == 2
    said = capsys.readouterr().err
    assert "@made/kit@1.2.3 has no none.css; it has dist/kit.css, dist/kit.js, package.json" in said
    assert "python -m generators.worlds.packages NAME VERSION FILE" in said


def test_the_registry_is_the_one_that_npm_would_use(tmp_path: Path) -> None:
    assert find_registry({"HOME": str(tmp_path)}) == "https://registry.npmjs.org"
    (tmp_path / ".npmrc").write_text("fund=false\nregistry = http://mirror.test/npm/\n")
    assert find_registry({"HOME": str(tmp_path)}) == "http://mirror.test/npm"
    assert (
        find_registry({"HOME": str(tmp_path), "NPM_CONFIG_REGISTRY": "http://a.test/"})
        == "http://a.test"
    )


async def test_a_visit_is_served_its_packages_with_their_media_types(
    made: Path, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generators.worlds.drawing.look._SYMBOLS", {})  # this lock has no fonts
    install(made, registry)
    world = SHOP.model_copy(update={"packages": ("@made/kit@1.2.3",)})
    async with visiting(world=world) as hands:
        style = await hands.http.get("/_/packages/@made/kit/1.2.3/dist/kit.css")
        await hands.see("/_/packages/@made/kit/1.2.3/dist/kit.js", 404)
        await hands.see("/_/own/none.js", 404)

    assert (style.content, style.headers["content-type"]) == (
        FILES["dist/kit.css"],
        "text/css; charset=utf-8",
    )
    assert "immutable" in style.headers["cache-control"]


@pytest.mark.parametrize(
    ("advisories", "code", "said"),
    [
        ("{}", 0, ""),
        (json.dumps({"@made/kit": [ADVISORY]}), 1, "@made/kit: high: It reads too much. (https"),
        (json.dumps({"@made/kit": [ADVISORY | {"title": "\x1b[2J"}]}), 1, "high: \\x1b[2J (https"),
        ('{"@made/kit": 1}', 1, ""),
        ("<html>", 1, ""),
        (None, 1, ""),
    ],
)
@pytest.mark.usefixtures("made")
def test_an_audit_names_every_locked_package_with_an_advisory(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    advisories: str | None,
    code: int,
    said: str,
) -> None:
    if advisories is not None:
        (tmp_path / "registry" / "advisories.json").write_text(advisories)

    assert __main__.main(["--audit"]) == code

    _, err = capsys.readouterr()
    assert said in err
    assert ("advisories.example" in err) == bool(said)
    looked_up = advisories is not None and (code == 0 or bool(said))
    assert ("could not be asked for" in err) != looked_up
