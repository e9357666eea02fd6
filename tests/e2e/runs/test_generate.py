"""Whole runs in a real browser, from the command line; Prefect has tests of its own.

A run in a bucket is held against the same tests as one in a folder.
"""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from effort import THOROUGH
from support.runs.commands import (
    SMALL,
    UNREPLAYED,
    Said,
    called,
    contents,
    end,
    interrupt,
    start,
    stepmill,
    until,
)
from support.runs.locations import Place, at
from support.runs.small_runs import VERIFIERS
from support.servers.seaweedfs import Weed

from flows.job.config_loader import Sources, load
from flows.job.plan import plan_units
from flows.job.validate import validate
from storage.objects.local import LocalStore
from storage.run_file import create_run

pytestmark = pytest.mark.browser

WITHOUT = {
    "STEPMILL_CHROMIUM": "/nonexistent",
    "PREFECT_API_URL": "http://127.0.0.1:9/api",
}
"""Neither a browser nor a Prefect server can be had: whatever needs one is refused."""

SEEDS = 5 if THOROUGH else 3
"""Of each of the four templates of a run that is interrupted."""

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

    @property
    def command(self) -> tuple[str, ...]:
        """What made it."""
        return _generate(self.run, self.dataset)


def _generate(run: Place, dataset: Path) -> tuple[str, ...]:
    return ("generate", "--json", *SMALL, f"--run={run.url}", f"--set=publish.to=['{dataset}']")


@pytest.fixture(scope="module", params=["folder", "bucket"])
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


@pytest.fixture(scope="module")
def made(room: Callable[[], Place], tmp_path_factory: pytest.TempPathFactory) -> Made:
    run, dataset = room(), tmp_path_factory.mktemp("made") / "dataset"
    return Made(run, dataset, stepmill(*_generate(run, dataset), "--no-prefect"))


@pytest.fixture
def copied(made: Made, room: Callable[[], Place], tmp_path: Path) -> Made:
    """The run copied elsewhere: nothing in it depends on where it lies."""
    run, dataset = room(), tmp_path / "dataset"
    made.run.copy(run)
    shutil.copytree(made.dataset, dataset)
    return Made(run, dataset, made.said)


def test_a_run_goes_all_the_way_to_a_dataset(made: Made) -> None:
    answer = made.said.answer

    assert made.said.code == 0, made.said.err
    assert answer.keys() >= TOTALS
    assert answer["episodes"] == answer["accepted"] == answer["reproduced"] == 6
    assert answer["published"] == [str(made.dataset)]
    assert (made.dataset / "README.md").is_file()
    steps = ds.dataset(made.dataset / "data" / "steps")
    assert steps.count_rows() == answer["steps"] + 6  # type: ignore[operator]


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
    shown = called("show", made.run.url, env=WITHOUT)

    assert shown.code == 0, shown.err
    assert "6 accepted" in shown.out
    assert ["click-test", "teacher", "2", "2", "100", "%", "2"] in [
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


def _spooled(run: Place) -> dict[str, datetime]:
    """Return when each spooled episode was begun."""
    episodes = [json.loads(data) for data in run.objects("spool/").values()]
    return {one["episode_id"]: datetime.fromisoformat(one["started_at"]) for one in episodes}


def _committed(run: Place) -> dict[str, datetime]:
    """Return when each committed episode was begun; none may be there twice."""
    rows = run.rows("episodes", "episode_id", "started_at")
    found = {row["episode_id"]: row["started_at"] for row in rows}
    assert len(found) == len(rows)
    return found


def _finished(run: Place) -> dict[str, datetime]:
    return _spooled(run) | _committed(run)


def test_an_interrupted_run_ends_what_is_in_flight_and_goes_on_later(
    room: Callable[[], Place],
) -> None:
    run = room()
    command = (
        "generate",
        "--no-prefect",
        "--json",
        f"--run={run.url}",
        "--set=tasks.include=['click-test','click-button','click-dialog','focus-text']",
        f"--set=tasks.seeds=[0,{SEEDS - 1}]",
        f"--set=tasks.unit_size={SEEDS}",
        "--set=browser.sessions=3",
        *UNREPLAYED,
    )
    first = start(*command)
    until(lambda: len(run.keys("spool/")) > 3 or bool(run.keys("tables/episodes/")))
    interrupt(first)
    said = end(first)
    before = _finished(run)

    assert said.code == 130, said.err
    assert said.answer["interrupted"] is True
    assert "finishing what is in flight" in said.err
    assert "Traceback" not in said.err
    assert 0 < len(before) < 4 * SEEDS
    assert said.answer["rolled_out"] == len(before)
    assert said.answer["failed"] == 0

    again = called(*command)

    after = _committed(run)
    assert again.code == 0, again.err
    assert again.answer["rolled_out"] == 4 * SEEDS - len(before)
    assert len(after) == 4 * SEEDS
    assert {episode: after[episode] for episode in before} == before
    assert called("audit", run.url, "--deep").code == 0


def test_interrupted_twice_it_stops_at_once(room: Callable[[], Place]) -> None:
    run = room()
    command = ("generate", "--no-prefect", "--json", *SMALL, *UNREPLAYED, f"--run={run.url}")
    first = start(*command)
    until(lambda: bool(run.keys("tables/")))
    interrupt(first)
    with suppress(subprocess.TimeoutExpired):
        first.wait(0.3)  # two signals at the same moment are one
    interrupt(first)
    said = end(first)

    assert said.code == 130, said.err
    assert "Traceback" not in said.err

    again = called(*command)

    assert again.code == 0, again.err
    assert again.answer["accepted"] == 6


def test_a_unit_that_cannot_be_written_fails_by_name_and_is_made_later(tmp_path: Path) -> None:
    """A file lies where one unit's spool objects should be."""
    run = tmp_path / "run"
    command = ("generate", "--no-prefect", "--json", *SMALL, f"--run={run}")
    config = load(Sources(settings=tuple(one.removeprefix("--set=") for one in SMALL)), {})
    made = asyncio.run(create_run(LocalStore(run), config, provenance={}))
    unit, *_ = plan_units(config, validate(config).tasks, run_id=made.run_id)
    in_the_way = run / "spool" / unit.unit_id
    in_the_way.parent.mkdir()
    in_the_way.write_text("mine", encoding="utf-8")

    short = called(*command)

    assert short.code == 1
    assert short.answer["units_failed"] == 1
    assert unit.unit_id in short.err

    in_the_way.unlink()
    whole = called(*command)

    assert whole.code == 0, whole.err
    assert whole.answer["accepted"] == 6
    assert whole.answer["rolled_out"] >= len(unit.attempts)  # type: ignore[operator]
