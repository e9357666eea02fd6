"""Runs that stop at a limit of their own, and go on under a higher one.

In `make test` stand-ins are at the place of browsers where only the limit matters.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from effort import THOROUGH
from support.runs.commands import UNREPLAYED, Said, called, end, start, until
from support.runs.fake_miniwob import SCRIPT, ScriptedWorkshop

from flows.job import open_job
from flows.resources.resources import RunResources

pytestmark = pytest.mark.browser

TASKS = (
    "--set=tasks.include=['click-test','click-button','enter-text','focus-text']",
    "--set=tasks.seeds=[0,1]",
    "--set=tasks.unit_size=2",
    "--set=browser.sessions=2",
    *UNREPLAYED,
)
PLANNED = 8

ASKED = PLANNED if THOROUGH else 4
"""Episodes of a run whose policy asks an engine."""

ASKS = (
    f"--set=tasks.seeds=[0,{ASKED // 4 - 1}]",
    "--set=policy.name=model",
    "--set=engine.kind=simulator",
    "--set=browser.viewport=[512,512]",
)


def generate(run: Path, *flags: str) -> Said:
    """Make the run, or go on with it."""
    return called("generate", "--json", "--no-prefect", f"--run={run}", *TASKS, *flags)


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Return settings of as many episodes without an engine; without browsers, where time is short."""
    if THOROUGH:
        return ()
    monkeypatch.setattr(open_job, RunResources.__name__, ScriptedWorkshop)
    script = tmp_path / "script.json"
    script.write_text(SCRIPT)
    return (
        *("--set=policy.name=scripted", f"--set=policy.script={script}"),
        *("--set=tasks.include=['click-test']", f"--set=tasks.seeds=[0,{PLANNED - 1}]"),
        "--set=browser.viewport=[100,100]",
    )


def works(run: Path) -> list[dict[str, Any]]:
    """Return the run's work log."""
    return [json.loads(path.read_text()) for path in sorted((run / "work").glob("*.json"))]


def shown(run: Path) -> dict[str, Any]:
    """Return what `show` says of the run."""
    return called("show", str(run), "--json").answer


def finished_in(run: Path) -> set[str]:
    """Return the episodes in the run's spool."""
    paths = (run / "spool").glob("*/*")
    return {path.name for path in paths if not path.name.startswith(".")}


def last_line(said: Said) -> str:
    return said.err.splitlines()[-1]


def test_a_run_ends_with_so_many_accepted_episodes_and_goes_on_with_more(tmp_path: Path) -> None:
    run, dataset = tmp_path / "run", tmp_path / "dataset"
    to = f"--set=publish.to=['{dataset}']"

    first = generate(run, "--set=limits.accepted=3", to)
    begun = first.answer["rolled_out"]

    assert first.code == 5, first.err
    assert "limits.accepted = 3 is reached" in last_line(first)
    assert "the same command with a higher value goes on" in last_line(first)
    reached = first.answer["reached"]
    assert isinstance(reached, dict)
    assert (reached["limit"], reached["value"]) == ("accepted", 3.0)
    # What is under way ends, and may be accepted too.
    assert isinstance(reached["total"], float)
    assert reached["total"] >= 3.0
    assert first.answer["interrupted"] is False
    assert isinstance(begun, int)
    assert 3 <= begun < PLANNED
    assert first.answer["episodes"] == begun - first.answer["waiting"]  # type: ignore[operator]
    assert first.answer["published"] == [str(dataset)]

    before = sorted(path.name for path in (run / "work").iterdir())
    again = generate(run, "--set=limits.accepted=3", to)

    assert again.code == 5, again.err
    assert "limits.accepted = 3 is reached" in last_line(again)
    assert again.answer["rolled_out"] == 0
    assert sorted(path.name for path in (run / "work").iterdir()) == before

    whole = generate(run, "--set=limits.accepted=100", to)

    assert whole.code == 0, whole.err
    assert whole.answer["rolled_out"] == PLANNED - begun
    assert whole.answer["accepted"] == PLANNED
    assert whole.answer["reached"] is None
    assert called("audit", str(run), "--deep", "--json").code == 0


def test_a_limit_that_the_last_episode_reaches_has_stopped_nothing(
    tmp_path: Path, plain: tuple[str, ...]
) -> None:
    said = generate(tmp_path / "run", *plain, f"--set=limits.accepted={PLANNED}")
    again = generate(tmp_path / "run", *plain, f"--set=limits.accepted={PLANNED}")

    assert (said.code, again.code) == (0, 0), said.err
    assert said.answer["accepted"] == PLANNED
    assert said.answer["reached"] is None


def test_hours_count_those_of_earlier_commands(tmp_path: Path, plain: tuple[str, ...]) -> None:
    run = tmp_path / "run"
    first = generate(run, *plain, "--set=limits.hours=0.0000001")
    hours = sum(work["seconds"] for work in works(run)) / 3_600
    same = generate(run, *plain, "--set=limits.hours=0.0000001")
    higher = generate(run, *plain, f"--set=limits.hours={hours * 0.999:.9f}")
    whole = generate(run, *plain, f"--set=limits.hours={hours + 1:.9f}")

    assert (first.code, same.code, higher.code, whole.code) == (4, 4, 4, 0), whole.err
    assert "limits.hours = 1e-07 is reached: the run was worked on for " in last_line(first)
    assert same.answer["rolled_out"] == higher.answer["rolled_out"] == 0
    assert whole.answer["accepted"] == PLANNED


def test_dollars_of_all_calls_stop_a_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    priced = (
        *ASKS,
        "--set=engine.usd_per_million={prompt=1000.0,completion=1000.0}",
        "--set=limits.steps=2",
    )
    first = generate(run, *priced, "--set=limits.dollars=2.0")
    [work] = works(run)
    same = generate(run, *priced, "--set=limits.dollars=2.0")
    higher = generate(run, *priced, "--set=limits.dollars=100000.0")
    engine = shown(run)["engine"]

    assert first.code == 3, first.err
    assert "limits.dollars = 2 is reached: the run has cost " in last_line(first)
    assert work["dollars"] >= 2.0
    assert same.code == 3
    assert same.answer["rolled_out"] == 0
    assert higher.answer["reached"] is None
    assert higher.answer["episodes"] == ASKED
    assert engine["total_usd"] >= engine["cost_usd"] > work["dollars"]


def test_the_hours_of_the_runs_own_server_are_paid_from_its_start_to_its_end(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    said = generate(
        run,
        *ASKS,
        "--set=engine.args=['--puppet']",
        "--set=engine.usd_per_hour=36.0",
        "--set=engine.gpus=2",
    )
    found = shown(run)
    engine, [work] = found["engine"], works(run)
    lines = called("show", str(run), "--all").out

    assert said.code == 0, said.err
    assert work["server_gpus"] == 2
    assert 0 < engine["busy_seconds"] < engine["server_seconds"] < work["seconds"]
    assert engine["server_seconds"] == work["server_seconds"]
    assert engine["server_gpu_seconds"] == pytest.approx(2 * work["server_seconds"])
    assert engine["total_usd"] == pytest.approx(0.02 * work["server_seconds"])
    assert 0 < engine["cost_usd"] < engine["total_usd"]
    assert engine["cost_usd"] < engine["total_usd"]
    assert engine["usd_per_accepted"] == pytest.approx(engine["total_usd"] / ASKED)
    groups = {(one["template"], one["policy"]): one["dollars"] for one in found["groups"]}
    assert {policy for _, policy in groups} == {"model"}
    assert len(groups) == 4
    assert sum(groups.values()) == pytest.approx(engine["cost_usd"])
    assert " dollars " in lines or " dollars\n" in lines
    assert "GPU hours" in lines


def test_a_killed_run_has_spent_what_it_had_spent(tmp_path: Path) -> None:
    run = tmp_path / "run"
    settings = (
        *ASKS,
        "--set=engine.args=['--puppet','--delay-ms','100']",
    )
    priced = (*settings, "--set=engine.usd_per_hour=3600.0", "--set=limits.dollars=100000")
    process = start("generate", "--json", "--no-prefect", f"--run={run}", *TASKS, *priced)
    until(lambda: bool(finished_in(run) and works(run)))
    process.kill()
    end(process)
    spent = sum(work["dollars"] for work in works(run))
    finished = finished_in(run)

    again = generate(
        run, *settings, "--set=engine.usd_per_hour=3600.0", "--set=limits.dollars=0.01"
    )
    whole = generate(run, *priced)
    table = DeltaTable(run / "tables" / "episodes").to_pyarrow_table(columns=["episode_id"])

    assert spent > 0.01
    assert again.code == 3, again.err
    assert again.answer["rolled_out"] == 0
    assert whole.code == 0, whole.err
    assert finished <= {row["episode_id"] for row in table.to_pylist()}
    assert shown(run)["engine"]["total_usd"] > spent


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (("limits.dollars=0",), "limits.dollars = 0: Input should be greater than 0"),
        (("limits.dollars=-1.0",), "limits.dollars = -1.0: Input should be greater than 0"),
        (("limits.dollars=nan",), "limits.dollars = nan: Input should be a finite number"),
        (("limits.dollars=inf",), "limits.dollars = inf: Input should be a finite number"),
        (("limits.hours=0",), "limits.hours = 0: Input should be greater than 0"),
        (("limits.hours=nan",), "limits.hours = nan: Input should be a finite number"),
        (("limits.accepted=0",), "limits.accepted = 0: Input should be greater than or equal to 1"),
        (("limits.accepted=1.5",), "limits.accepted = 1.5: Input should be a valid integer"),
        (("limits.dollars=5",), "limits.dollars = 5: no policy of this run asks an engine"),
        (
            ("limits.dollars=5", "policy.name=model", "engine.kind=simulator"),
            "limits.dollars = 5: no price is known; set engine.usd_per_hour or",
        ),
    ],
)
def test_a_limit_that_cannot_be_kept_is_refused_before_anything_is_written(
    tmp_path: Path, settings: tuple[str, ...], words: str
) -> None:
    said = generate(tmp_path / "run", *(f"--set={one}" for one in settings))

    assert said.code == 2
    assert words in said.err
    assert not (tmp_path / "run").exists()


def test_a_dry_run_shows_the_limits(tmp_path: Path) -> None:
    said = called(
        "generate",
        "--dry-run",
        f"--run={tmp_path / 'run'}",
        *TASKS,
        "--set=limits.hours=1.5",
        "--set=limits.accepted=7",
    )

    assert said.code == 0, said.err
    assert "hours = 1.5\naccepted = 7" in said.out
    assert "# dollars is not set" in said.out
