"""Runs in a real browser that are interrupted, or cannot write, and what the next command makes of them."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pytest
from effort import THOROUGH
from support.runs.commands import SMALL, UNREPLAYED, called, end, interrupt, start, until
from support.runs.locations import Place, at
from support.servers.seaweedfs import Weed

from flows.job.config_loader import Sources, load
from flows.job.plan import plan_units
from flows.job.validate import validate
from storage.objects.local import LocalStore
from storage.run_file import create_run

pytestmark = pytest.mark.browser

SEEDS = 5 if THOROUGH else 2
"""Of each of the four templates of a run that is interrupted."""

FEW = 2 if THOROUGH else 1
"""Of each of the three templates of a run of which a unit cannot be written."""


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.full)])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place where nobody wrote."""
    if request.param == "folder":
        yield Place(str(tmp_path / "run"))
        return
    server: Weed = request.getfixturevalue("weed")
    with at(server):
        yield Place(server.place())


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
    run: Place,
) -> None:
    command = (
        "generate",
        "--no-prefect",
        "--json",
        f"--run={run.url}",
        "--set=tasks.include=['click-test','click-button','click-dialog','focus-text']",
        f"--set=tasks.seeds=[0,{SEEDS - 1}]",
        f"--set=tasks.unit_size={SEEDS}",
        "--set=browser.sessions=2",
        *UNREPLAYED,
    )
    first = start(*command)
    until(lambda: len(run.keys("spool/")) > 1 or bool(run.keys("tables/episodes/")))
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


@pytest.mark.full
def test_interrupted_twice_it_stops_at_once(run: Place) -> None:
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
    settings = (*SMALL, *UNREPLAYED, f"--set=tasks.seeds=[0,{FEW - 1}]")
    command = ("generate", "--no-prefect", "--json", *settings, f"--run={run}")
    config = load(Sources(settings=tuple(one.removeprefix("--set=") for one in settings)), {})
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
    assert whole.answer["accepted"] == 3 * FEW
    assert whole.answer["rolled_out"] >= len(unit.attempts)  # type: ignore[operator]
