"""Rows that are committed to the letter and still wrong: a deep audit names them.

Each test commits a unit through the lake itself with one thing wrong in its records.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from effort import THOROUGH
from support.episodes.factories import (
    MadeRun,
    Unit,
    make_run,
    make_screenshot,
    make_task,
    make_verdict,
)
from support.runs.unit_rows import unit_rows
from support.stores.faulty_lake import commit

from schemas import ids
from schemas.base import sha256_hex
from schemas.episodes.episode import Episode, Step, StopReason, steps_sha256
from schemas.episodes.observation import Screenshot
from schemas.tables.tables import Row
from storage.audit import audit
from storage.lake.delta_table import CommitEntry

COMMITS = 230 if THOROUGH else 105
"""Of a long log: two checkpoints, or one."""

Change = Callable[[Unit], Unit]


@pytest.fixture
async def run(tmp_path: Path) -> MadeRun:
    return await make_run(tmp_path / "run")


def first(unit: Unit, **changes: object) -> Unit:
    """Return `unit` with something changed in its first episode."""
    changed = unit.episodes[0].model_copy(update=changes)
    return unit._replace(episodes=[changed, *unit.episodes[1:]])


def stepped(unit: Unit, steps: tuple[Step, ...], **changes: object) -> Unit:
    """Return `unit` with other steps, rightly hashed, in its first episode."""
    return first(unit, steps=steps, content_sha256=steps_sha256(steps), **changes)


def picture(unit: Unit, screenshot: Screenshot, *, rehash: bool) -> Unit:
    """Return `unit` with another picture in the first step."""
    head, *rest = unit.episodes[0].steps
    changes: dict[str, object] = {"screenshot": screenshot}
    if rehash:
        changes["screenshot_sha256"] = sha256_hex(screenshot.bytes)
    return stepped(unit, (head.model_copy(update=changes), *rest))


async def findings(run: MadeRun, unit: Unit) -> list[str]:
    lake = run.lake()
    assert await commit(lake, unit)
    await lake.close()
    assert (await audit(run.store, deep=False)).findings == ()
    return list((await audit(run.store, deep=True)).findings)


WRONG: dict[str, tuple[Change, str]] = {
    "hash of the steps": (
        lambda unit: first(unit, content_sha256="0" * 64),
        "its steps do not have the hash",
    ),
    "a step missing at the end": (
        lambda unit: stepped(unit, unit.episodes[0].steps[:-1]),
        "2 rows of steps for 2 actions",
    ),
    "a step missing in the middle": (
        lambda unit: stepped(unit, unit.episodes[0].steps[::2], n_steps=1),
        "its steps are not numbered 0, 1, 2",
    ),
    "no step": (lambda unit: stepped(unit, ()), "0 rows of steps for 2 actions"),
    "a step too many": (lambda unit: first(unit, n_steps=1), "3 rows of steps for 1 actions"),
    "a step twice": (
        lambda unit: stepped(unit, (unit.episodes[0].steps[0], *unit.episodes[0].steps), n_steps=3),
        "its steps are not numbered 0, 1, 2",
    ),
    "another picture": (
        lambda unit: picture(unit, make_screenshot(9_999), rehash=False),
        "step 0: the picture's hash is not the one in its row",
    ),
    "a picture of another size": (
        lambda unit: picture(unit, make_screenshot(9_999, width=50), rehash=True),
        "step 0: the picture is 50×48",
    ),
    "no picture": (
        lambda unit: picture(unit, Screenshot(bytes=b"no picture", path=""), rehash=True),
        "step 0: the picture does not decode",
    ),
    "a torn picture": (
        lambda unit: picture(
            unit, Screenshot(bytes=make_screenshot(1).bytes[:-200], path=""), rehash=True
        ),
        "step 0: the picture does not decode",
    ),
    "the group": (lambda unit: first(unit, group_id="0" * 32), "its group is not that of"),
    "the run": (lambda unit: first(unit, run_id="0" * 32), "is of another run, 000"),
    "an attempt": (
        lambda unit: first(unit, attempt=5),
        "has the attempts [1, 5]",
    ),
    "the id of the episode": (
        lambda unit: first(unit, episode_id="0" * 32),
        "its id is not that of its run, task and attempt",
    ),
    "an attempt missing": (
        lambda unit: unit._replace(episodes=unit.episodes[1:]),
        "has the attempts [1]",
    ),
    "the order of the tasks": (
        lambda unit: unit._replace(tasks=unit.tasks[::-1]),
        "its id is not that of its tasks",
    ),
    "a prompt": (
        lambda unit: unit._replace(
            episodes=[e.model_copy(update={"prompts": ()}) for e in unit.episodes]
        ),
        "refers to the prompt",
    ),
    "a call missing": (
        lambda unit: first(unit, calls=unit.episodes[0].calls[1:]),
        "calls are missing",
    ),
    "a call twice": (
        lambda unit: first(unit, calls=unit.episodes[0].calls[:1] * 2),
        "call 0: has a second row",
    ),
    "the step of a call": (
        lambda unit: first(
            unit,
            calls=tuple(c.model_copy(update={"step": 40}) for c in unit.episodes[0].calls),
        ),
        "is of step 40, which does not exist",
    ),
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_row_is_named(run: MadeRun, name: str) -> None:
    change, expected = WRONG[name]

    found = await findings(run, change(run.unit(0)))

    assert any(expected in finding for finding in found), found
    assert all(finding.startswith("tables/") for finding in found)


async def test_a_broken_rollout_may_lack_its_last_picture(run: MadeRun) -> None:
    unit = run.unit(0)
    steps = unit.episodes[0].steps[:-1]
    failed = {"stop_reason": StopReason.FAILED, "done": False, "reward": None}

    assert await findings(run, stepped(unit, steps, **failed)) == []


async def test_a_rollout_that_broke_before_its_first_picture_has_no_steps(run: MadeRun) -> None:
    failed = {"stop_reason": StopReason.FAILED, "done": False, "n_steps": 0, "calls": ()}

    assert await findings(run, stepped(run.unit(0), (), **failed)) == []


async def put(run: MadeRun, table: str, unit_id: str, rows: list[Row]) -> None:
    """Commit rows to one table alone, as no run does."""
    lake = run.lake()
    files = await lake.put_shards(table, unit_id, rows=rows)
    token = (
        1 if table == "verdicts" else await lake._tables["episodes"].transaction_token(unit_id) or 1
    )
    transaction = unit_id if table != "verdicts" else "f" * 32
    await lake.commit(table, CommitEntry(transaction, token, files))
    await lake.close()


async def commit_but(run: MadeRun, unit: Unit, table: str, rows: list[Row]) -> None:
    """Commit a unit with other rows in one of its tables."""
    everything = unit_rows(unit.tasks, unit.episodes)
    for name in ("episodes", "tasks", "prompts", "observations", "calls", "steps"):
        await put(run, name, unit.unit_id, rows if name == table else everything[name])


@pytest.mark.parametrize(
    ("table", "change", "expected"),
    [
        ("tasks", lambda rows: rows[1:], "has no row"),
        ("tasks", lambda rows: [*rows, rows[0]], "has a second row"),
        ("observations", lambda rows: rows[1:], "2 observations for 3 steps"),
        ("observations", lambda rows: [*rows, rows[0]], "has a second observation"),
        ("observations", lambda rows: [{**rows[0], "elements": "["}, *rows[1:]], "are not JSON"),
        (
            "steps",
            lambda rows: [{**rows[0], "episode_id": "e" * 32}, *rows],
            "eee, which does not exist",
        ),
        ("steps", lambda rows: [{**rows[0], "unit_id": "e" * 32}, *rows[1:]], "of another unit"),
        ("steps", lambda rows: [{**rows[0], "action": "{}"}, *rows[1:]], "is not a step"),
        ("episodes", lambda rows: [*rows, rows[0]], "has a second row"),
        (
            "episodes",
            lambda rows: [{**rows[0], "stop_reason": "bored"}, *rows[1:]],
            "is not one of",
        ),
    ],
    ids=[
        "task missing",
        "task twice",
        "observation missing",
        "observation twice",
        "elements",
        "foreign step",
        "step of another unit",
        "no action",
        "episode twice",
        "stop reason",
    ],
)
async def test_tables_that_do_not_fit_together_are_named(
    run: MadeRun, table: str, change: Callable[[list[Row]], list[Row]], expected: str
) -> None:
    unit = run.unit(0)
    rows = unit_rows(unit.tasks, unit.episodes)[table]
    await commit_but(run, unit, table, change(rows))

    report = await audit(run.store, deep=True)

    assert any(expected in finding for finding in report.findings), report.findings


async def test_an_attempt_made_by_two_units_is_named(run: MadeRun) -> None:
    unit = run.unit(0)
    other = ids.unit_id(run.run_id, ["another"], 2)
    again = [episode.model_copy(update={"unit_id": other}) for episode in unit.episodes]
    lake = run.lake()
    await commit(lake, unit)
    await commit(lake, Unit(other, unit.tasks, again))
    await lake.close()

    report = await audit(run.store, deep=True)

    assert any("has a second row" in finding for finding in report.findings)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"episode_id": "e" * 32}, "there is no such episode"),
        ({"unit_id": "e" * 32}, "is of another unit than"),
    ],
)
async def test_a_verdict_on_nothing_is_named(
    run: MadeRun, changes: dict[str, str], expected: str
) -> None:
    unit = run.unit(0)
    lake = run.lake()
    await commit(lake, unit)
    verdict = make_verdict(unit.episodes[0]).model_copy(update=changes)
    await lake.commit_verdicts(
        verdict.unit_id, verifier="outcome", version="1", round_=0, verdicts=[verdict]
    )
    await lake.close()

    [finding] = (await audit(run.store, deep=True)).findings

    assert expected in finding


async def test_a_verdict_given_twice_in_a_round_is_named(run: MadeRun) -> None:
    unit = run.unit(0)
    lake = run.lake()
    await commit(lake, unit)
    verdict = make_verdict(unit.episodes[0])
    await lake.commit_verdicts(
        unit.unit_id, verifier="outcome", version="1", round_=0, verdicts=[verdict, verdict]
    )
    await lake.close()

    [finding] = (await audit(run.store, deep=True)).findings

    assert "has a second row in round 0" in finding


async def test_a_unit_in_several_shards_is_whole(run: MadeRun) -> None:
    lake = run.lake()
    lake._shard_bytes = 20_000
    unit = run.unit(0, tasks=8)
    await commit(lake, unit)
    await lake.close()

    report = await audit(run.store, deep=True)

    assert report.findings == ()
    assert report.counts["shards"] > 6


async def test_an_episode_without_elements_is_whole(run: MadeRun) -> None:
    unit = run.unit(0)
    bare: list[Episode] = [
        episode.model_copy(
            update={"steps": tuple(s.model_copy(update={"elements": ()}) for s in episode.steps)}
        )
        for episode in unit.episodes
    ]

    assert await findings(run, unit._replace(episodes=bare)) == []


async def test_a_long_log_with_its_checkpoints_is_whole(run: MadeRun) -> None:
    """Delta writes a checkpoint every hundred commits; the entries before it stay."""
    lake = run.lake()
    unit, late = run.unit(0), make_task(500)
    await commit(lake, unit)
    handle = lake._tables["verdicts"]._handle
    for number in range(COMMITS):
        handle.commit_once(CommitEntry(f"{number:032x}", 1, []))
    await lake.seal()
    await lake.close()
    checkpoints = list((run.folder / "tables" / "verdicts").glob("_delta_log/*.checkpoint.*"))
    assert len(checkpoints) == COMMITS // 100
    assert (await audit(run.store, deep=True)).findings == ()

    again = run.lake()
    assert await again._tables["verdicts"].transaction_token(f"{5:032x}") == 1
    assert await again._tables["verdicts"].transaction_token(late.task_id) is None
    await again.close()
    for number in (0, 57, COMMITS):
        entry = run.folder / f"tables/verdicts/_delta_log/{number:020d}.json"
        kept = entry.read_bytes()
        entry.unlink()
        found = (await audit(run.store, deep=False)).findings
        assert any(entry.name in finding for finding in found)
        entry.write_bytes(kept)
