"""`--where` and `[select]` on the command line: the worked example, and what is refused."""

import asyncio
import shlex
from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import called
from support.runs.memory_run import contents
from support.stores.two_nights import make_two_nights

PUBLISH = ("publish", "runs/monday", "--to", "to", "--no-prefect")
EXPORT = ("export", "runs/monday", "--to", "to", "--format", "atif")


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two runs."""
    folder = tmp_path_factory.mktemp("nights")
    (folder / "runs").mkdir()
    asyncio.run(make_two_nights(folder / "runs"))
    return folder


@pytest.fixture(autouse=True)
def _there(nights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(nights)


def test_the_example_of_the_page_is_what_the_command_says(nights: Path) -> None:
    page = (ROOT / "docs" / "storing.md").read_text(encoding="utf-8")
    section = page.partition("### Selecting what is published")[2]
    command = section.partition("```sh\n")[2].partition("\n```")[0]
    expected = section.partition("```text\n")[2].partition("```")[0]

    said = called(*shlex.split(command)[1:], "--no-prefect")

    assert (said.code, said.err) == (0, "")
    assert said.out.replace(f"{nights}/", "").startswith(expected)


def test_where_is_over_the_configuration_and_an_export_selects_alike() -> None:
    said = called(
        *EXPORT, "--where=template_id = 'enter-date'", "--set=select.where=n_steps<0", "--json"
    )

    assert said.code == 0, said.err
    assert said.answer["episodes"] == 4
    assert said.answer["left_out"] == {"where": 11}


@pytest.mark.parametrize("command", [PUBLISH, EXPORT])
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--where=site = 'shop'",), "they have site: miniwob (15)"),
        (("--where=lenght < 3",), "there is no column 'lenght'; there are episode_id, "),
        (
            ("--set=select.shares={miniwob=0.5, worlds=0.4}",),
            "shares add up to 1, and these to 0.9",
        ),
        (
            ("--set=select.shares={miniwob=0.5, worlds=0.5}",),
            "no episode in train is of worlds; there are miniwob (15)",
        ),
        (("--set=select.max_per_template=0",), "greater than or equal to 1"),
        (("--where=",), "at least 1 character"),
    ],
)
def test_a_selection_of_nothing_is_refused_before_anything_is_published(
    command: tuple[str, ...], words: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    to = tmp_path / "to"

    said = called(*(str(to) if word == "to" else word for word in command), *words)

    assert (said.code, said.out) == (2, "")
    assert told in said.err
    assert not to.exists() or contents(to) == {}
