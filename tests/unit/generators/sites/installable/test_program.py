"""`python -m generators.sites.installable`, which becomes what the package of an application says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.inputs.offered_application import MISSING, Harbour

from generators.sites.installable import __main__ as program


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harbour:
    return Harbour(tmp_path, monkeypatch)


def test_it_becomes_what_serves_the_application_with_the_words_after_its_name(
    harbour: Harbour, tmp_path: Path
) -> None:
    harbour.install()
    done = subprocess.run(
        [sys.executable, "-m", program.__name__.removesuffix(".__main__"), "serve", "harbour", "7"],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "packages")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "['7']\n"), done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("serve", "harbour", "7"), MISSING),
        (("serve", "harbor"), "there is no application 'harbor'; did you mean 'harbour'?; "),
        (("serve",), program.USAGE),
        (("tasks", "harbour"), program.USAGE),
        ((), program.USAGE),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_line(
    words: tuple[str, ...],
    said: str,
    harbour: Harbour,
    capsys: pytest.CaptureFixture[str],
) -> None:
    del harbour
    assert program.main(words) == 2
    assert capsys.readouterr().err.startswith(said)


def test_what_the_package_refuses_is_said(
    harbour: Harbour, capsys: pytest.CaptureFixture[str]
) -> None:
    harbour.install()
    assert program.main(("serve", "harbour")) == 2
    assert capsys.readouterr().err == "harbour: say where\n"
