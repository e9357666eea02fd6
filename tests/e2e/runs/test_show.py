"""`stepmill show` of runs that have not ended: under way, cancelled, killed, or not yet begun."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from conftest import CopyRun
from effort import THOROUGH
from pydantic import JsonValue
from support.episodes.factories import (
    MadeRun,
    commit_whole_unit,
    make_episode,
    make_task,
)
from support.runs.commands import (
    LOOK,
    SMALL,
    UNREPLAYED,
    Said,
    called,
    contents,
    end,
    interrupt,
    start,
    until,
)

from schemas.configuration.config import RunConfig
from schemas.configuration.sections import StorageSection, TasksSection
from schemas.episodes.episode import StopReason
from storage.objects.urls import open_store
from storage.run_file import create_run
from storage.spool import Spool, spool_key

SCREEN_LINES = 40
"""Lines of a run with many templates that its summary may take."""

PLANNED = 8


@pytest.fixture
def made(tmp_path: Path) -> MadeRun:
    """Return a run of eight planned episodes in which nothing has ended yet."""
    return asyncio.run(_begun(tmp_path / "run"))


@pytest.fixture
def in_bucket(bucket_url: str) -> MadeRun:
    """Return the same in a bucket."""
    return asyncio.run(_begun(bucket_url))


async def _begun(place: Path | str) -> MadeRun:
    tasks = TasksSection(include=("click-test",), seeds=(0, 3), attempts=2)
    store = open_store(str(place), StorageSection())
    run = await create_run(store, RunConfig(tasks=tasks), provenance={})
    return MadeRun(place=place, store=store, run=run)


async def _commit(made: MadeRun, first_seed: int, *, seal: bool) -> None:
    unit, lake = made.unit(first_seed), made.lake()
    await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=unit.episodes)
    if seal:
        await lake.seal()
    await lake.close()


async def _spool(made: MadeRun, seed: int, stop_reason: StopReason) -> str:
    episode = make_episode(make_task(seed), run_id=made.run_id, stop_reason=stop_reason)
    await Spool(made.store).put(episode)
    return spool_key(episode.unit_id, episode.episode_id)


def _shown(made: MadeRun) -> tuple[dict[str, JsonValue], dict[str, JsonValue], str]:
    """Return what `show` says in JSON, the part that is about what is missing, and its text."""
    answer, text = called("show", made.url, "--json"), called("show", made.url)
    assert (answer.code, text.code) == (0, 0), (answer.err, text.err)
    part = answer.answer["made"]
    assert isinstance(part, dict)
    return answer.answer, part, text.out


def test_a_run_in_which_nothing_has_ended_is_shown(made: MadeRun) -> None:
    before = contents(made.folder)

    answer, part, text = _shown(made)

    assert (answer["version"], answer["episodes"]) == (0, 0)
    assert part == {
        "complete": False,
        "planned": PLANNED,
        "committed": 0,
        "spooled": 0,
        "spooled_failed": 0,
        "spooled_unreadable": 0,
        "sealed": True,
        "last_ended_at": None,
        "waiting": {},
    }
    assert "(no version yet)" in text
    assert "0 of 8 planned episodes committed, 0 spooled\n" in text
    assert "not complete: under way, or the same `stepmill generate` goes on" in text
    assert contents(made.folder) == before


@pytest.mark.parametrize("place", ["made", "in_bucket"])
def test_what_is_committed_spooled_and_failed_is_told_before_any_version(
    place: str, request: pytest.FixtureRequest
) -> None:
    made: MadeRun = request.getfixturevalue(place)
    asyncio.run(_commit(made, 0, seal=False))
    for seed, reason in ((10, StopReason.FAILED), (11, StopReason.STEP_LIMIT)):
        asyncio.run(_spool(made, seed, reason))

    answer, part, text = _shown(made)

    assert (answer["version"], answer["episodes"], answer["unjudged"]) == (0, 4, 4)
    assert (part["planned"], part["committed"]) == (PLANNED, 4)
    assert (part["spooled"], part["spooled_failed"]) == (2, 1)
    assert (part["complete"], part["sealed"]) == (False, False)
    assert part["last_ended_at"] is not None
    assert "made     4 of 8 planned episodes committed, 2 spooled (1 of them failed)" in text
    assert "4 unjudged" in text


def test_what_came_after_the_last_version_is_shown_too(made: MadeRun) -> None:
    asyncio.run(_commit(made, 0, seal=True))
    sealed, part, _ = _shown(made)
    assert (sealed["version"], sealed["episodes"]) == (1, 4)
    assert (part["complete"], part["sealed"]) == (False, True)

    asyncio.run(_commit(made, 10, seal=False))
    answer, part, text = _shown(made)

    assert (answer["version"], answer["episodes"]) == (1, 8)
    assert (part["complete"], part["sealed"], part["committed"]) == (False, False, 8)
    assert "(version 1, and what was committed since)" in text
    old = called("show", made.url, "--json", "--version=1").answer
    assert (old["version"], old["episodes"], old["made"]) == (1, 4, None)


def test_a_complete_run_is_shown_without_a_word_of_what_is_missing(made: MadeRun) -> None:
    for seed in (0, 10):
        asyncio.run(_commit(made, seed, seal=True))

    _, part, text = _shown(made)

    assert (part["complete"], part["planned"], part["committed"]) == (True, PLANNED, PLANNED)
    assert "made  " not in text
    assert "(version 2)" in text


def test_a_spooled_object_of_a_committed_episode_is_counted_once(made: MadeRun) -> None:
    unit = made.unit(0)
    for episode in unit.episodes:
        asyncio.run(Spool(made.store).put(episode))
    asyncio.run(_commit(made, 0, seal=False))

    _, part, _ = _shown(made)

    assert (part["committed"], part["spooled"]) == (4, 0)


def test_a_torn_object_in_the_spool_is_counted_and_stops_nothing(made: MadeRun) -> None:
    key = asyncio.run(_spool(made, 0, StopReason.FINISHED))
    (made.folder / key).write_bytes(b"{")

    _, part, text = _shown(made)

    assert (part["spooled"], part["spooled_unreadable"]) == (1, 1)
    assert "1 spooled objects hold no episode" in text


def test_a_run_whose_tasks_cannot_be_listed_here_is_shown(made: MadeRun) -> None:
    told = json.loads((made.folder / "run.json").read_bytes())
    told["config"]["tasks"]["source"] = "elsewhere.jsonl"
    (made.folder / "run.json").write_text(json.dumps(told), encoding="utf-8")
    asyncio.run(_commit(made, 0, seal=True))

    _, part, text = _shown(made)

    assert (part["planned"], part["complete"], part["committed"]) == (None, None, 4)
    assert "made     4 episodes committed, 0 spooled\n" in text
    assert "not complete" not in text


SEEDS = 2 if THOROUGH else 1
"""Of each of the three templates of a run that is looked at while it is under way."""


@pytest.mark.browser
@pytest.mark.parametrize("stop", [pytest.param("cancelled", marks=pytest.mark.full), "killed"])
def test_a_run_is_shown_while_it_is_under_way_and_after_it_was(stop: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    argv = (
        "generate",
        "--json",
        "--no-prefect",
        f"--run={run}",
        *SMALL,
        f"--set=tasks.seeds=[0,{SEEDS - 1}]",
        "--set=browser.sessions=1",
        *UNREPLAYED,
    )
    working = start(*argv)
    until(lambda: _ended(called("show", str(run), "--json")) > 0, every=LOOK)
    under_way = called("show", str(run), "--json")
    if stop == "killed":
        os.killpg(working.pid, signal.SIGKILL)
    else:
        interrupt(working)
    end(working)

    stopped = called("show", str(run), "--json")
    again = called(*argv)
    complete = called("show", str(run), "--json")

    for said in (under_way, stopped, complete):
        assert said.code == 0, said.err
    ended = [_ended(said) for said in (under_way, stopped, complete)]
    assert 1 <= ended[0] <= ended[1] <= ended[2] == 3 * SEEDS
    assert again.answer["rolled_out"] == 3 * SEEDS - ended[1]
    assert complete.answer["episodes"] == 3 * SEEDS


def _ended(said: Said) -> int:
    """Return how many episodes `show` found that have ended; 0 where there is no run yet."""
    if said.code:
        assert "there is no run here" in said.err
        return 0
    made = said.answer["made"]
    assert isinstance(made, dict)
    counts = [made[name] for name in ("committed", "spooled")]
    return sum(count for count in counts if isinstance(count, int))


def test_success_is_shown_by_template_with_its_interval(copy_run: CopyRun, tmp_path: Path) -> None:
    made = copy_run(tmp_path / "run")
    said = called("show", made.url, "--json")
    total, *_ = _items(said.answer["pass_rates"])
    assert (total["template"], total["policy"], total["tasks"]) == (None, "model", 4)
    assert (total["attempts"], total["k"]) == (8, 2)
    assert total["pass_1"] == {"value": 1.0, "low": pytest.approx(0.510, abs=1e-3), "high": 1.0}
    brief = called("show", made.url).out
    text = called("show", made.url, "--all").out
    assert "success by template, worst first" not in brief
    assert len(brief.splitlines()) <= SCREEN_LINES
    assert "success by template, worst first" in text
    assert "@2 100.0 %" in text
    assert "pass@k" not in called("show", made.url, "--k=1").out


def test_two_runs_are_compared_template_by_template(copy_run: CopyRun, tmp_path: Path) -> None:
    one, two = copy_run(tmp_path / "one", units=2), copy_run(tmp_path / "two", units=1)
    before = contents(one.folder), contents(two.folder)
    said = called("show", one.url, two.url, "--json")
    assert (said.code, said.answer["run"], said.answer["other"]) == (0, one.url, two.url)
    total, of_template = _items(said.answer["templates"])
    assert (total["template"], of_template["template"]) == (None, "click-test")
    assert [len(ids) for ids in _lists(of_template, "shared", "only_first", "only_second")] == [
        2,
        2,
        0,
    ]
    text = called("show", one.url, two.url).out
    assert f"A        {one.url}" in text
    assert "only A   click-test: task " in text
    assert (contents(one.folder), contents(two.folder)) == before


@pytest.mark.parametrize("flag", ["--version=1", "--k=2"])
def test_what_is_for_one_run_is_refused_beside_two(flag: str, tmp_path: Path) -> None:
    said = called("show", str(tmp_path), str(tmp_path), flag)
    assert (said.code, said.out) == (2, "")
    assert f"{flag.partition('=')[0]}: is for one run" in said.err


def _items(value: JsonValue) -> list[dict[str, JsonValue]]:
    assert isinstance(value, list)
    return [item for item in value if isinstance(item, dict)]


def _lists(item: dict[str, JsonValue], *names: str) -> list[list[JsonValue]]:
    found = [item[name] for name in names]
    return [one for one in found if isinstance(one, list)]
