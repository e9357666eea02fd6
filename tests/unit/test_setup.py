"""What `setup.sh` installs with and where its browser comes from, on machines that have little.

A machine is a folder of programs: the shell's own tools, and what a test puts there besides.
"""

import io
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from aiohttp import web
from source_tree import ROOT
from support.servers.http_servers import Loopback

TOOLS = (
    "sh",
    "cat",
    "chmod",
    "dirname",
    "env",
    "find",
    "id",
    "python3",
    "rm",
    "sed",
    "sleep",
    "sort",
    "tail",
)
SHELL = "#!/bin/sh\necho 'A Chromium 1.2.3'\n"
PROGRAMS = (
    "chrome-headless-shell-linux64/chrome-headless-shell",
    "chrome-linux/headless_shell",
    "ffmpeg-linux",
)
"""What the archives of a headless shell hold on one processor and on the other, and FFmpeg's."""

PINNED = next(
    line.split()[0].removeprefix("uv==")
    for line in (ROOT / "requirements" / "uv.txt").read_text().splitlines()
    if line.startswith("uv==")
)


class Downloads(Loopback):
    """Where Playwright downloads from; `status` other than 200 says no."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status
        self.asked: list[str] = []

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        if self.status != 200:
            return web.Response(status=self.status)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name in PROGRAMS:
                program = zipfile.ZipInfo(name)
                program.external_attr = 0o755 << 16
                archive.writestr(program, SHELL)
        return web.Response(body=packed.getvalue())


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """The folder of programs of a machine that has no browser, no apt-get and no uv."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (programs / tool).symlink_to(found)
    base = Path(sys.base_prefix) / "bin" / "python3"
    _program(programs / "python3", f'#!/bin/sh\nexec {base} "$@"\n')
    return programs


def _with_packages(machine: Path) -> None:
    """Give the machine a distribution that has a headless Chromium."""
    target = machine / "chromium-headless-shell"
    install = f"case \"$*\" in *install*) printf '{SHELL}' >{target}; chmod +x {target};; esac\n"
    _program(machine / "apt-get", "#!/bin/sh\n" + install.replace("'A Chromium 1.2.3'", "1"))
    _program(machine / "sudo", '#!/bin/sh\nexec "$@"\n')


def _set_up(
    what: str, machine: Path, *, folder: Path = ROOT, **more: str
) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    kept.pop("STEPMILL_CHROMIUM", None)
    places = {
        "PATH": str(machine),
        "PLAYWRIGHT_BROWSERS_PATH": str(machine.parent / "browsers"),
    }
    return subprocess.run(
        [folder / "setup.sh", what],
        env={**kept, **places, **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _checkout(folder: Path) -> Path:
    """Return a checkout that has what setup.sh looks at and no environment."""
    (folder / "requirements").mkdir(parents=True)
    for name in ("setup.sh", "requirements/uv.txt"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def test_a_browser_that_cannot_be_downloaded_is_one_calm_line_before_the_package(
    machine: Path,
) -> None:
    _with_packages(machine)

    said = _set_up("browser", machine, PLAYWRIGHT_DOWNLOAD_HOST="http://127.0.0.1:9")

    assert said.returncode == 0, said.stderr
    first, second = said.stderr.splitlines()
    assert first.startswith(
        "setup: no headless Chromium found, and Playwright's cannot be downloaded"
    )
    assert first.endswith(": Connection refused)")
    assert second == "setup: installing the distribution's Chromium"


def _without_faketime(machine: Path) -> Path:
    """Return a checkout whose environment finds no libfaketime before the machine has the package."""
    folder = _checkout(machine.parent / "checkout")
    (folder / ".venv" / "bin").mkdir(parents=True)
    _program(folder / ".venv/bin/python", f"#!/bin/sh\ntest -e {machine}/libfaketime\n")
    return folder


def test_libfaketime_comes_from_the_distribution(machine: Path) -> None:
    folder = _without_faketime(machine)
    install = f'case "$*" in *"install "*libfaketime) : >{machine}/libfaketime;; esac'
    _program(machine / "apt-get", f"#!/bin/sh\n{install}\n")
    _program(machine / "sudo", '#!/bin/sh\nexec "$@"\n')

    said, again = (_set_up("libfaketime", machine, folder=folder) for _ in range(2))

    assert said.returncode == again.returncode == 0, said.stderr
    assert said.stderr.splitlines() == ["setup: installing the distribution's libfaketime"]
    assert again.stderr == ""


@pytest.mark.parametrize("apt", ["", "#!/bin/sh\nexit 100\n"])
def test_a_machine_that_gets_no_libfaketime_is_told_what_to_do(machine: Path, apt: str) -> None:
    if apt:
        _program(machine / "apt-get", apt)
        _program(machine / "sudo", '#!/bin/sh\nexec "$@"\n')

    said = _set_up("libfaketime", machine, folder=_without_faketime(machine))

    assert said.returncode == 2
    assert "no libfaketime; install your system's package of that name" in said.stderr


@pytest.mark.parametrize("status", [403, 404])
def test_a_server_that_does_not_give_the_browser_is_asked_once(machine: Path, status: int) -> None:
    _with_packages(machine)

    with Downloads(status) as downloads:
        said = _set_up("browser", machine, PLAYWRIGHT_DOWNLOAD_HOST=downloads.endpoint)

    assert said.returncode == 0, said.stderr
    assert len(downloads.asked) == 1
    assert f"answers {status})" in said.stderr.splitlines()[0]
    assert len(said.stderr.splitlines()) == 2


def test_a_browser_that_can_be_downloaded_is_and_goes_before_the_package(machine: Path) -> None:
    _with_packages(machine)

    with Downloads(200) as downloads:
        said = _set_up("browser", machine, PLAYWRIGHT_DOWNLOAD_HOST=downloads.endpoint)

    assert said.returncode == 0, said.stderr
    assert "downloading Playwright's" in said.stderr
    assert "distribution" not in said.stderr
    assert any(machine.parent.glob("browsers/chromium_headless_shell-*/*/*"))
    assert any("headless-shell" in path for path in downloads.asked)


def test_a_browser_that_is_there_is_taken_without_asking_anybody(machine: Path) -> None:
    _program(machine / "chromium-headless-shell", SHELL)

    with Downloads(200) as downloads:
        said = _set_up("browser", machine, PLAYWRIGHT_DOWNLOAD_HOST=downloads.endpoint)

    assert (said.returncode, said.stderr, downloads.asked) == (0, "", [])


def test_without_any_browser_all_four_ways_to_one_are_named(machine: Path) -> None:
    said = _set_up("browser", machine, PLAYWRIGHT_DOWNLOAD_HOST="http://127.0.0.1:9")

    assert said.returncode == 2
    assert "installing" not in said.stderr, "there is no apt-get to install anything with"
    ways = ("STEPMILL_CHROMIUM", "on PATH", "playwright install", "apt-get install")
    assert all(way in said.stderr for way in ways)
    assert "Error" not in said.stderr


def test_a_uv_of_the_locked_version_is_taken_as_it_is(machine: Path, tmp_path: Path) -> None:
    _program(machine / "uv", f"#!/bin/sh\necho 'uv {PINNED} (somebody built it)'\n")

    said = _set_up("uv", machine, folder=_checkout(tmp_path / "checkout"))

    assert (said.returncode, said.stdout, said.stderr) == (0, "uv\n", "")


@pytest.mark.full
def test_a_uv_of_another_version_decides_nothing(machine: Path, tmp_path: Path) -> None:
    _program(machine / "uv", f"#!/bin/sh\necho 'uv {PINNED}1 (it only begins like it)'\n")
    checkout = _checkout(tmp_path / "checkout")

    said = _set_up("uv", machine, folder=checkout)
    again = _set_up("uv", machine, folder=checkout)

    assert (said.returncode, said.stdout) == (0, ".uv/bin/uv\n"), said.stderr
    assert said.stderr.splitlines()[0] == f"setup: installing uv {PINNED} into .uv"
    shown = subprocess.run(
        [checkout / ".uv/bin/uv", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split()[1] == PINNED
    assert (again.stdout, again.stderr) == (".uv/bin/uv\n", "")


@pytest.mark.full
def test_a_uv_that_is_not_the_locked_one_is_not_installed(machine: Path, tmp_path: Path) -> None:
    checkout = _checkout(tmp_path / "checkout")
    lock = checkout / "requirements" / "uv.txt"
    head, *_ = lock.read_text().partition(" \\\n")
    lock.write_text(f"{head} --hash=sha256:{'0' * 64}\n")

    said = _set_up("uv", machine, folder=checkout)

    assert said.returncode == 2
    assert "HASHES" in said.stderr
    assert not (checkout / ".uv/bin/uv").exists()


def test_what_takes_long_is_said_to_go_on_and_packages_bring_no_recommended_ones(
    machine: Path,
) -> None:
    _with_packages(machine)
    (machine / "sleep").unlink()
    _program(machine / "sleep", "#!/bin/sh\nexit 0\n")  # seconds go by at once
    asked = machine.parent / "asked"
    slow = (machine / "apt-get").read_text().replace("#!/bin/sh\n", "", 1)
    _program(
        machine / "apt-get",
        f'#!/bin/sh\necho "$@" >>{asked}\n{sys.executable} -c "import time; time.sleep(1)"\n{slow}',
    )

    done = _set_up("browser", machine, PLAYWRIGHT_DOWNLOAD_HOST="http://127.0.0.1:1")

    assert done.returncode == 0, done.stderr
    assert "setup: still at it after 10 s" in done.stderr
    [install] = [line for line in asked.read_text().splitlines() if "install" in line]
    assert "--no-install-recommends" in install
