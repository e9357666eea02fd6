"""A whole run over hostile pages ends by itself, with a row for each, and loses nothing of its innocent ones."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from effort import THOROUGH
from sites.hostile.pages import FAULTS, INNOCENTS
from sites.hostile.site import PAGES, WAYS_OUT, write_run
from sites.hostile.ways_out import WAYS
from support.browsers.hostile_attempts import OF_ONE_STEP
from support.inputs.offered_parts import installed, offer
from support.runs.commands import Said, called
from support.runs.locations import Place
from support.runs.run_comparison import OF_ONE_RUN

from schemas.tables.tables import Row

pytestmark = [pytest.mark.browser, pytest.mark.full, pytest.mark.timeout(0 if THOROUGH else 300)]

QUICK = (
    *("script-spin", "history-storm", "prototype", "outcome-nan", "outcome-bigint"),
    *("invalid-text", "window-close", "surrogates", "type-emoji", "zoom"),
    *("way-fetch", "way-location", "way-worker-websocket", "way-abroad-tls"),
)
"""What a run meets where there is little time: none takes long, and one takes a deadline."""

MET = (*FAULTS, *WAYS_OUT) if THOROUGH else QUICK

OF_ONE_EPISODE = OF_ONE_RUN | OF_ONE_STEP | {"episode_id", "browser_seconds"}
"""Columns in which two rows of equal attempts differ."""


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path) -> Iterator[None]:
    """Have the site installed as a user's own."""
    home = tmp_path / "home"
    home.mkdir()
    offer(home, "hostile-pages", {"stepmill.sites:hostile": "sites.hostile.site:Hostile"})
    with installed(home):
        yield


def attempt(folder: Path, names: Collection[str]) -> tuple[Said, Place]:
    """Make a run with a task for each page, in three sessions."""
    folder.mkdir()
    tasks, script = write_run(folder, *names)
    said = called(
        *("generate", "--no-prefect", "--json", f"--run={folder / 'run'}"),
        f"--set=tasks.source={tasks}",
        "--set=tasks.unit_size=3",
        *("--set=policy.name=scripted", f"--set=policy.script={script}"),
        *("--set=browser.sessions=3", "--set=browser.viewport=[500,400]"),
        *("--set=verify.verifiers=['structure']", "--set=accept.passed=['structure']"),
        *("--set=limits.seconds=120", "--set=publish.to=[]"),
    )
    return said, Place(str(folder / "run"))


def mixed() -> list[str]:
    """Return the hostile pages with the innocent ones spread among them."""
    names = list(MET)
    for number, name in enumerate(INNOCENTS, start=1):
        names.insert(len(names) * number // (len(INNOCENTS) + 1), name)
    return names


def rows_of(run: Place, table: str) -> list[tuple[str, Row]]:
    """Return a table's rows, each with the page that its episode is about, but for what no two share."""
    pages = {
        row["episode_id"]: row["start_url"].rpartition("/")[2]
        for row in run.rows("episodes", "episode_id", "start_url")
    }
    dataset = run.table(table)
    assert dataset is not None
    return [
        (
            pages[row["episode_id"]],
            {name: value for name, value in row.items() if name not in OF_ONE_EPISODE},
        )
        for row in dataset.to_table().to_pylist()
    ]


def innocent(run: Place, table: str) -> list[tuple[str, Row]]:
    """Return the rows of innocent pages, in an order of their own."""
    return sorted((row for row in rows_of(run, table) if row[0] in INNOCENTS), key=repr)


def test_a_run_over_hostile_pages_names_each_and_spares_the_innocent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said, run = attempt(tmp_path / "mixed", mixed())

    assert said.code == 0, said.err
    assert "Traceback" not in said.err + caplog.text
    rows = dict(rows_of(run, "episodes"))
    assert len(rows_of(run, "episodes")) == len(MET) + len(INNOCENTS)
    ended = {
        name: f"{row['failure_kind']}: {row['failure_message']}"
        if row["failure_kind"]
        else f"{row['stop_reason']} {row['reward']}"
        for name, row in rows.items()
    }
    wrong = [
        f"{name}: {ended[name]}"
        for name in MET
        if not re.match(PAGES[name].ends, ended[name], re.DOTALL)
    ]
    assert wrong == [], "\n".join(wrong)
    assert {ended[name] for name in INNOCENTS} == {"finished 1.0"}
    uncounted = {name for name in WAYS_OUT if name in rows and not rows[name]["blocked"]}
    # This site's judge looks at the page after each action, so that nobody is there to answer a question.
    assert uncounted <= {
        f"way-{name}" for name, way in WAYS.items() if way.acts or not way.is_counted
    }

    said, alone = attempt(tmp_path / "alone", list(INNOCENTS))

    assert said.code == 0, said.err
    for table in ("episodes", "steps", "observations"):
        assert innocent(alone, table)
        assert innocent(run, table) == innocent(alone, table)
