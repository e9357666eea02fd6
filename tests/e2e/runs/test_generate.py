"""Whole runs in a real browser, from the command line; Prefect has tests of its own.

A run in a bucket is held against the same tests as one in a folder: in `make test`, where `test_s3_runs` makes
runs there, it is a copy that three of them look at, in `make test-full` it is made there, and all of them do.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from effort import THOROUGH
from support.runs.commands import (
    SMALL,
    Said,
    called,
    contents,
    stepmill,
)
from support.runs.library import Kept, RunLibrary
from support.runs.locations import Place, at
from support.runs.small_runs import VERIFIERS
from support.servers.seaweedfs import Weed

pytestmark = pytest.mark.browser

WITHOUT = {
    "STEPMILL_CHROMIUM": "/nonexistent",
    "PREFECT_API_URL": "http://127.0.0.1:9/api",
}
"""Neither a browser nor a Prefect server can be had: whatever needs one is refused."""

TOTALS = {
    "run",
    "version",
    "tasks",
    "episodes",
    "accepted",
    "rejected",
    "unjudged",
    "failed",
    "steps",
    "seconds",
    "episodes_per_hour",
    "steps_per_second",
    "prompt_tokens",
    "completion_tokens",
    "engine_seconds",
    "browser_seconds",
    "published",
}


@dataclass(frozen=True, slots=True)
class Made:
    """A small finished run with its dataset."""

    run: Place
    dataset: Path
    said: Said
    first: Path
    """Where its dataset was published to when it was made."""

    @property
    def command(self) -> tuple[str, ...]:
        """What made it, where it lies now."""
        return _generate(self.run, self.dataset)


def _generate(run: Place, dataset: Path) -> tuple[str, ...]:
    return ("generate", "--json", *SMALL, f"--run={run.url}", f"--set=publish.to=['{dataset}']")


@pytest.fixture(scope="module", params=["folder", pytest.param("bucket", marks=pytest.mark.full)])
def room(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Place]]:
    """Return what gives a place where nobody wrote."""
    if request.param == "folder":
        yield lambda: Place(str(tmp_path_factory.mktemp("room") / "run"))
        return
    server: Weed = request.getfixturevalue("weed")
    with at(server):
        yield lambda: Place(server.place())


in_both = pytest.mark.parametrize("room", ["folder", "bucket"], indirect=True)
"""Marks what is asked of a run in a bucket where there is little time, too."""


@pytest.fixture(scope="module")
def made(
    room: Callable[[], Place],
    run_library: RunLibrary,
    tmp_path_factory: pytest.TempPathFactory,
) -> Made:
    run, base = room(), tmp_path_factory.mktemp("made")
    if THOROUGH:
        said = stepmill(*_generate(run, base / "dataset"), "--no-prefect")
        return Made(run, base / "dataset", said, base / "dataset")
    kept = run_library.copy(Kept.TEACHER, base)
    Place(kept.url).copy(run)
    return Made(run, kept.dataset, kept.said, run_library.read(Kept.TEACHER).dataset)


@pytest.fixture
def copied(made: Made, room: Callable[[], Place], tmp_path: Path) -> Made:
    """The run copied elsewhere: nothing in it depends on where it lies."""
    run, dataset = room(), tmp_path / "dataset"
    made.run.copy(run)
    shutil.copytree(made.dataset, dataset)
    return Made(run, dataset, made.said, made.first)


def test_a_run_goes_all_the_way_to_a_dataset(made: Made) -> None:
    answer = made.said.answer

    assert made.said.code == 0, made.said.err
    assert answer.keys() >= TOTALS
    assert answer["episodes"] == answer["accepted"] == answer["reproduced"] == 6
    assert answer["published"] == [str(made.first)]
    assert (made.dataset / "README.md").is_file()
    steps = ds.dataset(made.dataset / "data" / "steps")
    assert steps.count_rows() == answer["steps"] + 6  # type: ignore[operator]


@in_both
def test_a_run_is_whole_and_leaves_nothing_behind(made: Made) -> None:
    audited = called("audit", made.run.url, "--deep", "--json")

    assert audited.code == 0, audited.out
    assert audited.answer["findings"] == []
    assert audited.answer["leftovers"] == []


def test_a_task_has_the_goal_that_its_page_states(made: Made) -> None:
    goals = {row["instruction"] for row in made.run.rows("tasks", "instruction")}

    assert "Click the button." in goals
    assert "" not in goals


def test_every_episode_has_a_verdict_of_every_verifier(made: Made) -> None:
    verdicts = made.run.rows("verdicts", "episode_id", "verifier", "status", "round")

    assert len(verdicts) == 6 * len(VERIFIERS)
    assert {(row["status"], row["round"]) for row in verdicts} == {("passed", 0)}


@in_both
def test_a_finished_run_starts_nothing_and_changes_no_byte(made: Made) -> None:
    before = made.run.objects(), contents(made.dataset)

    again = called(*made.command, env=WITHOUT)

    assert again.code == 0, again.err
    assert again.answer["rolled_out"] == 0
    assert again.answer["episodes"] == 6
    assert (made.run.objects(), contents(made.dataset)) == before


def test_a_run_of_another_configuration_is_refused_by_the_keys_that_differ(made: Made) -> None:
    before = made.run.objects()

    other = called(*made.command, "--set=run.seed=1", "--set=limits.steps=7", env=WITHOUT)

    assert other.code == 2
    assert "run.seed: there 0, asked for 1" in other.err
    assert "limits.steps: there 30, asked for 7" in other.err
    assert "tasks" not in other.err
    assert made.run.objects() == before


def test_what_does_not_decide_the_data_may_differ(copied: Made) -> None:
    again = called(*copied.command, "--set=run.name=other", "--set=browser.sessions=1", env=WITHOUT)

    assert again.code == 0, again.err


def test_a_destination_of_another_run_is_refused(made: Made, room: Callable[[], Place]) -> None:
    run = room()

    said = called(*_generate(run, made.dataset), env=WITHOUT)

    assert said.code == 2
    assert "holds the dataset of another run" in said.err
    assert run.keys() == []


def test_a_dry_run_says_that_the_run_was_begun(made: Made) -> None:
    said = called(*made.command, "--dry-run", env=WITHOUT)

    assert said.code == 0
    plan = said.answer["plan"]
    assert isinstance(plan, dict)
    assert plan["begun"] is True


def test_a_run_shows_its_yield_by_family_and_policy(made: Made) -> None:
    shown = called("show", made.run.url, "--all", env=WITHOUT)

    assert shown.code == 0, shown.err
    assert "6 accepted" in shown.out
    assert ["click-test", "teacher", "2", "2", "100", "%", "4"] in [
        line.split() for line in shown.out.splitlines()
    ]


def test_an_episode_is_replayed_step_by_step(made: Made) -> None:
    [row, *_] = made.run.rows("episodes", "episode_id", "n_steps")

    replayed = called("replay", made.run.url, str(row["episode_id"]))

    assert replayed.code == 0, replayed.err
    assert replayed.out.count("agrees, same picture") == int(str(row["n_steps"])) + 1
    assert "reproduced: all" in replayed.out


def test_an_episode_that_does_not_exist_is_not_replayed(made: Made) -> None:
    wrong = called("replay", made.run.url, "0" * 32, env=WITHOUT)

    assert wrong.code == 2
    assert f"has no episode {'0' * 32}" in wrong.err


@in_both
def test_judging_again_adds_rows_and_changes_no_episode(copied: Made) -> None:
    before = copied.run.objects("tables/episodes/")

    judged = called(
        "verify",
        copied.run.url,
        "--verifiers=structure,outcome",
        "--no-prefect",
        "--json",
        env={"STEPMILL_CHROMIUM": "/nonexistent"},
    )

    assert judged.code == 0, judged.err
    assert judged.answer["version"] == 2
    rounds = copied.run.rows("verdicts", "verifier", "round")
    assert sorted({(str(row["verifier"]), row["round"]) for row in rounds}) == [
        ("novelty", 0),
        ("outcome", 0),
        ("outcome", 1),
        ("replay", 0),
        ("seen", 0),
        ("steps", 0),
        ("structure", 0),
        ("structure", 1),
    ]
    assert copied.run.objects("tables/episodes/") == before


def test_a_version_is_published_once(copied: Made, tmp_path: Path) -> None:
    command = ("publish", copied.run.url, f"--to={tmp_path / 'other'}", "--no-prefect", "--json")

    first = called(*command, env=WITHOUT)
    before = contents(tmp_path / "other")
    second = called(*command, env=WITHOUT)

    assert (first.code, second.code) == (0, 0)
    assert second.answer["put"] == 0
    assert contents(tmp_path / "other") == before


def test_a_version_that_does_not_exist_is_not_published(made: Made, tmp_path: Path) -> None:
    said = called("publish", made.run.url, f"--to={tmp_path / 'x'}", "--version=9", "--no-prefect")

    assert said.code == 2
    assert "has no version 9; there are: 1" in said.err
    assert list(tmp_path.iterdir()) == []


def test_commits_that_lack_verdicts_are_judged_and_nothing_is_rolled_out(copied: Made) -> None:
    """As if the run had been killed between the commit of its episodes and their verdicts."""
    copied.run.remove("tables/verdicts/")
    copied.run.remove("versions/")
    before = copied.run.objects("tables/episodes/")

    again = called(*copied.command, "--no-prefect")

    assert again.code == 0, again.err
    assert (again.answer["rolled_out"], again.answer["accepted"]) == (0, 6)
    assert len(copied.run.rows("verdicts", "episode_id")) == 6 * len(VERIFIERS)
    assert copied.run.objects("tables/episodes/") == before


def test_spool_objects_of_committed_units_go_with_the_next_command(copied: Made) -> None:
    [unit, *_] = copied.run.rows("episodes", "unit_id", "episode_id")
    copied.run.put(f"spool/{unit['unit_id']}/{unit['episode_id']}", b"{}")

    again = called(*copied.command, env=WITHOUT)

    assert again.code == 0, again.err
    assert copied.run.keys("spool/") == []
