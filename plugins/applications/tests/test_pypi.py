"""Installing from PyPI: an environment of its own, with a pip that never leaves the machine."""

import shutil
from pathlib import Path

import pytest

from schemas.errors import Unfinished
from stepmill_applications.sources.pypi import LOCKS, PyPI, environment_of


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    (tmp_path / "harbour.txt").write_text("quay==1.0\nharbour==2.0 ; python_version > '3'\n")
    return tmp_path


def test_an_application_without_its_environment_is_not_found(lock: Path, tmp_path: Path) -> None:
    assert PyPI(package="harbour", locks=lock).find("harbour", tmp_path / "data") is None


def test_what_pip_cannot_install_leaves_nothing_and_says_why(lock: Path, tmp_path: Path) -> None:
    environ = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null"}

    with pytest.raises(Unfinished, match=r"harbour: pip failed: .*quay.*; run it again"):
        PyPI(package="harbour", locks=lock).install(
            "harbour", tmp_path / "data", environ=environ, say=lambda _: None
        )

    assert not list((tmp_path / "data" / "harbour").iterdir())


def test_an_environment_is_made_once_of_what_the_lock_names(tmp_path: Path) -> None:
    (tmp_path / "harbour.txt").write_text("# nothing\n# harbour is\nharbour==2.0\n")
    one = PyPI(package="harbour", locks=tmp_path)
    wheel = _wheel(tmp_path / "wheels")
    environ = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheel.parent),
        "PIP_CONFIG_FILE": "/dev/null",
    }
    said: list[str] = []

    made = one.install("harbour", tmp_path / "data", environ=environ, say=said.append)
    wheel.unlink()
    again = one.install("harbour", tmp_path / "data", environ=environ, say=said.append)

    assert (made, made.version) == (again, "2.0")
    assert any(made.tree.glob("lib/python3*/site-packages/harbour.py"))
    assert said == [f"harbour: installing harbour 2.0 into {made.tree}"]


def test_another_lock_is_another_environment(lock: Path, tmp_path: Path) -> None:
    one = PyPI(package="harbour", locks=lock)
    before = one._tree("harbour", tmp_path)
    one.lock.write_text("harbour==2.1\n")

    assert one._tree("harbour", tmp_path) != before


@pytest.mark.parametrize("lock_file", sorted(LOCKS.glob("*.txt")), ids=lambda file: file.stem)
def test_each_lock_has_exact_versions_and_the_application_itself(lock_file: Path) -> None:
    lines = [line.partition(";")[0].strip() for line in lock_file.read_text().splitlines()]

    assert all("==" in line for line in lines)
    assert PyPI(package=lock_file.stem)._version()


def test_a_program_gets_a_home_of_its_own_and_keeps_a_stopped_clock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAKETIME", "2026-01-15 10:00:00")
    monkeypatch.setenv("VIRTUAL_ENV", "/elsewhere")

    environment = environment_of(tmp_path)

    assert (environment["HOME"], environment["TZ"]) == (str(tmp_path), "UTC")
    assert environment["FAKETIME"] == "2026-01-15 10:00:00"
    assert "VIRTUAL_ENV" not in environment


def _wheel(folder: Path) -> Path:
    """Return a wheel of one module."""
    content = folder / "content"
    about = content / "harbour-2.0.dist-info"
    about.mkdir(parents=True)
    (content / "harbour.py").touch()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: harbour\nVersion: 2.0\n")
    (about / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    (about / "RECORD").write_text("harbour.py,,\n")
    packed = shutil.make_archive(str(folder / "harbour"), "zip", content)
    return Path(packed).rename(folder / "harbour-2.0-py3-none-any.whl")
