"""`python -m generators.sites.installable`, where nothing is installed."""

from pathlib import Path

import pytest

from generators.sites.installable import __main__ as program


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the environment of a user who has no application, on a system that has none."""
    monkeypatch.setattr(program, "find_installed", lambda *_: None)
    return {"XDG_DATA_HOME": str(tmp_path), "PATH": str(tmp_path)}


def test_an_application_that_is_not_installed_is_refused_with_what_to_do(
    nowhere: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(("serve", "fossil"), nowhere) == 2
    said = capsys.readouterr().err
    assert said == "fossil is not installed: stepmill sites install fossil\n"


def test_an_unknown_application_is_refused(
    nowhere: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(("tasks", "gitea"), nowhere) == 2
    assert capsys.readouterr().err == "no application 'gitea'; there are: fossil, mediawiki\n"
