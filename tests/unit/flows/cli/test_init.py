"""`stepmill init` writes a configuration that ships, and never over a file."""

from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import called


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("words", "name"), [((), "demo"), (("smoke",), "smoke")])
def test_it_writes_what_ships(here: Path, words: tuple[str, ...], name: str) -> None:
    said = called("init", *words)

    assert (said.code, said.out, said.err) == (0, f"wrote {name}.toml\n", "")
    shipped = ROOT / f"configs/{name}.toml"
    assert (here / f"{name}.toml").read_bytes() == shipped.read_bytes()
    assert called("generate", "--dry-run", f"--config={name}.toml").code == 0


def test_it_says_where_as_json(here: Path) -> None:
    said = called("init", "smoke", "--to", "mine.toml", "--json")

    assert said.answer == {"name": "smoke", "file": "mine.toml"}
    assert (here / "mine.toml").is_file()


def test_a_file_that_is_there_stays(here: Path) -> None:
    (here / "smoke.toml").write_text("mine", encoding="utf-8")

    said = called("init", "smoke")

    assert said.code == 2
    assert said.err.startswith("stepmill: smoke.toml is there already; move it away")
    assert (here / "smoke.toml").read_text(encoding="utf-8") == "mine"


def test_an_unknown_name_is_refused_with_the_known_ones(here: Path) -> None:
    said = called("init", "smke")

    assert said.code == 2
    assert "no configuration ships as 'smke'; did you mean 'smoke'?; there are " in said.err
    assert list(here.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named() -> None:
    said = called("init", "smoke", "--to", "nowhere/smoke.toml")

    assert said.code == 2
    assert "nowhere/smoke.toml: cannot be written: No such file or directory" in said.err
