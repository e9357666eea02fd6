"""Installing from Debian packages, with an apt of the test's own on the PATH."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from fake_application import packages

from schemas.errors import Refusal, Unfinished
from stepmill_applications.sources.source import Installed

APT = """#!{python} -IS
import os, pathlib, sys
log = pathlib.Path({log!r})
with log.open("a") as lines:
    lines.write(" ".join(sys.argv[1:]) + chr(10))
if os.environ.get("APT_FAILS"):
    sys.stderr.write(os.environ["APT_FAILS"] + chr(10))
    sys.exit(100)
if "--simulate" in sys.argv:
    everything = any("status" in word for word in sys.argv)
    for name in ("libc6", "libneeded", "harbour", "harbour-data") if everything else ("libneeded", "harbour"):
        print("Inst", name, "(1.0 Debian)")
else:
    for name in sys.argv[sys.argv.index("download") + 1:]:
        pathlib.Path(name + "_1%3a2.0_amd64.deb").write_text(name)
"""

DPKG = """#!{python} -IS
import os, pathlib, sys
package, folder = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
if os.environ.get("DPKG_FAILS"):
    sys.stderr.write("not a Debian archive")
    sys.exit(2)
name = package.name.split("_")[0]
place = folder / "usr" / "share" / name
place.mkdir(parents=True)
(place / "content").write_text(name)
if name == "harbour":
    (folder / "usr" / "bin").mkdir(parents=True)
    (folder / "usr" / "bin" / "harbour").write_text("")
    (place / "data").symlink_to("/usr/share/harbour-data")
    (place / "elsewhere").symlink_to("/etc/hostname")
"""


def find_installed(data: Path, *, system: Path) -> Installed | None:
    return packages(system=system).find("harbour", data)


def install(
    data: Path,
    *,
    environ: dict[str, str],
    system: Path,
    parts: tuple[str, ...] = ("usr/bin/harbour",),
) -> Installed:
    one = packages(system=system, parts=parts)
    return one.install("harbour", data, environ=environ, say=lambda _: None)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a folder with an apt-get and a dpkg-deb."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, text in (("apt-get", APT), ("dpkg-deb", DPKG)):
        tool = folder / name
        tool.write_text(text.format(python=sys.executable, log=str(tmp_path / "asked")))
        tool.chmod(0o755)
    return folder


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """Return a system that has nothing installed."""
    (tmp_path / "system").mkdir()
    return tmp_path / "system"


def _environ(tools: Path, **more: str) -> dict[str, str]:
    return {"PATH": str(tools), **more}


def _asked(tools: Path) -> list[str]:
    return (tools.parent / "asked").read_text().splitlines()


def test_packages_are_unpacked_into_a_tree_of_the_users(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    found = install(tmp_path / "data", environ=_environ(tools), system=nowhere)

    assert found.tree == tmp_path / "data" / "harbour" / "tree"
    assert found.version == "1:2.0"
    assert (found.tree / "usr/bin/harbour").is_file()
    assert sorted(path.name for path in (tmp_path / "data/harbour").iterdir()) == ["tree"]


def test_only_what_the_system_lacks_or_the_family_needs_is_downloaded(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    install(tmp_path / "data", environ=_environ(tools), system=nowhere)

    (download,) = [line for line in _asked(tools) if "download" in line]
    names = download.partition("download ")[2].split()
    assert names == ["harbour", "harbour-data", "harbour-extra", "libneeded"]


def test_installing_again_does_nothing(tmp_path: Path, tools: Path, nowhere: Path) -> None:
    first = install(tmp_path / "data", environ=_environ(tools), system=nowhere)
    asked = _asked(tools)

    assert install(tmp_path / "data", environ=_environ(tools), system=nowhere) == first
    assert _asked(tools) == asked


def test_absolute_links_lead_into_the_tree_where_it_has_their_target(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    found = install(tmp_path / "data", environ=_environ(tools), system=nowhere)

    place = found.tree / "usr/share/harbour"
    assert (place / "data" / "content").read_text() == "harbour-data"
    assert (place / "data").readlink() == Path("../harbour-data")
    assert (place / "elsewhere").readlink() == Path("/etc/hostname")


def test_what_the_system_has_is_used_as_it_is(tmp_path: Path, tools: Path, nowhere: Path) -> None:
    (nowhere / "usr/bin").mkdir(parents=True)
    (nowhere / "usr/bin/harbour").touch()

    found = install(tmp_path / "data", environ=_environ(tools), system=nowhere)

    assert found.tree == nowhere
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("tool", ["apt-get", "dpkg-deb"])
def test_a_machine_without_debians_tools_is_refused_in_one_line(
    tmp_path: Path, tools: Path, nowhere: Path, tool: str
) -> None:
    (tools / tool).unlink()

    with pytest.raises(Refusal) as refused:
        install(tmp_path / "data", environ=_environ(tools), system=nowhere)

    assert str(refused.value) == (
        f"harbour is not here, and {tool} is not either, to get it from Debian's packages; "
        "install harbour-extra, harbour by other means"
    )


def test_a_package_that_apt_does_not_know_is_refused_with_what_to_do(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    environ = _environ(tools, APT_FAILS="E: Unable to locate package harbour")

    with pytest.raises(Refusal, match="Unable to locate package harbour; run apt-get update"):
        install(tmp_path / "data", environ=environ, system=nowhere)


def test_a_download_that_breaks_can_be_gone_on_with(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    environ = _environ(tools, APT_FAILS="W: slow\nE: Failed to fetch harbour")

    with pytest.raises(Unfinished, match="E: Failed to fetch harbour; run it again to go on"):
        install(tmp_path / "data", environ=environ, system=nowhere)

    found = install(tmp_path / "data", environ=_environ(tools), system=nowhere)
    assert found.version == "1:2.0"


def test_a_torn_package_leaves_no_tree(tmp_path: Path, tools: Path, nowhere: Path) -> None:
    environ = _environ(tools, DPKG_FAILS="1")

    with pytest.raises(Unfinished, match=r"deb: dpkg-deb -x failed: not a Debian archive"):
        install(tmp_path / "data", environ=environ, system=nowhere)

    assert find_installed(tmp_path / "data", system=nowhere) is None


def test_what_a_killed_installation_left_is_removed(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    dead = tmp_path / "data/harbour/making-999999999-x"
    own = tmp_path / f"data/harbour/making-{os.getpid()}-x"
    for folder in (dead, own):
        (folder / "usr").mkdir(parents=True)

    install(tmp_path / "data", environ=_environ(tools), system=nowhere)

    assert not dead.exists()
    assert own.exists()


def test_a_tree_without_its_manifest_is_not_taken_for_an_installation(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    (tmp_path / "data/harbour/tree/usr/bin").mkdir(parents=True)
    (tmp_path / "data/harbour/tree/usr/bin/harbour").touch()

    assert find_installed(tmp_path / "data", system=nowhere) is None
    with pytest.raises(Unfinished, match="harbour/tree is not whole; remove it"):
        install(tmp_path / "data", environ=_environ(tools), system=nowhere)


def test_a_release_whose_packages_lack_a_part_is_named(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    parts = ("usr/bin/harbour", "usr/lib/*/clock.so")

    with pytest.raises(Unfinished, match=r"this release have no usr/lib/\*/clock\.so"):
        install(tmp_path / "data", environ=_environ(tools), system=nowhere, parts=parts)


def test_the_environment_names_the_trees_libraries_and_the_clock(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    found = install(tmp_path / "data", environ=_environ(tools), system=nowhere)
    library = found.tree / "usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
    library.parent.mkdir(parents=True)
    library.touch()

    environment = found.environment({"PATH": "/bin", "SECRET": "x"}, at="2026-01-15 10:00:00")

    assert environment["LD_LIBRARY_PATH"] == str(library.parent.parent)
    assert environment["LD_PRELOAD"] == str(library)
    assert environment["FAKETIME"] == "2026-01-15 10:00:00"
    assert environment["PATH"] == "/bin"
    assert "SECRET" not in environment


def test_a_part_that_was_removed_is_named(tmp_path: Path, tools: Path, nowhere: Path) -> None:
    found = install(tmp_path / "data", environ=_environ(tools), system=nowhere)
    shutil.rmtree(found.tree / "usr/bin")

    with pytest.raises(
        Refusal, match="has no usr/bin/harbour; remove the folder and install again"
    ):
        found.find("usr/bin/harbour")


def test_the_manifest_says_which_versions_were_unpacked(
    tmp_path: Path, tools: Path, nowhere: Path
) -> None:
    found = install(tmp_path / "data", environ=_environ(tools), system=nowhere)

    manifest = json.loads((found.tree / "stepmill-packages.json").read_text())
    assert manifest == dict.fromkeys(
        ("harbour", "harbour-data", "harbour-extra", "libneeded"), "1:2.0"
    )
