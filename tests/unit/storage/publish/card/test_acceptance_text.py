"""What a card says of acceptance: every figure is that of the published rows."""

import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from support.episodes.factories import make_verdict
from support.runs.memory_run import (
    TEST,
    TRAIN,
    VALIDATION,
    MemoryRun,
    commit_unit,
    published,
    tables_of,
)

from generators.verify.pictures import CELL, MAX_CELLS, MAX_LEVELS
from generators.verify.registry import VERIFIER_NAMES
from generators.verify.replay import Replay
from schemas.base import JsonObject
from schemas.configuration.sections import AcceptSection
from schemas.tables.tables import arrow_schema
from schemas.verdicts.verdict import Status
from storage.publish.card.acceptance_text import EARLIER_REPLAYS, PROOFS, proof_lines
from storage.publish.plan.selection import select


def _card(run: MemoryRun, to: Path) -> str:
    """Publish and return the card."""
    published(run.seal(), to)
    return (to / "README.md").read_text()


def _judged_by(run: MemoryRun, number: int, template: str, evidence: JsonObject) -> None:
    facts: JsonObject = {"reward": 1.0, "done": True}
    for episode in commit_unit(run, number, template, tasks=1, attempts=2):
        found = make_verdict(episode, round_=1)
        run.judge([found.model_copy(update={"evidence": facts | evidence})])


def test_a_templates_own_threshold_is_on_the_card_and_on_its_rows(tmp_path: Path) -> None:
    run, why = MemoryRun(), f"Pixels | {'are whole numbers; ' * 8}that is it."
    _judged_by(run, 1, TRAIN, {"min_reward": None, "min_reward_reason": None})
    _judged_by(run, 2, "bisect-angle", {"min_reward": 0.95, "min_reward_reason": why})
    card = _card(run, tmp_path)

    assert "a raw reward of 1 or more counts as success.\n" in card
    [line] = [line for line in card.splitlines() if line.startswith("| bisect-angle | 0.95 |")]
    assert "that is it" in line
    assert "its own threshold holds, whatever the run's" in card
    rows = ds.dataset(tmp_path / "data" / "trajectories").to_table(
        columns=["min_reward", "min_reward_reason"]
    )
    assert sorted(map(tuple, (row.values() for row in rows.to_pylist()))) == [
        (0.95, why),
        (0.95, why),
        (1.0, None),
        (1.0, None),
    ]


def test_the_threshold_of_an_earlier_judging_is_no_rows_and_not_on_the_card(tmp_path: Path) -> None:
    run = MemoryRun()
    _judged_by(run, 1, TRAIN, {"min_reward": 1.0, "min_reward_reason": None})
    _judged_by(run, 2, TEST, {"min_reward": 0.5, "min_reward_reason": None})
    card = _card(run, tmp_path)

    assert "a raw reward of 1 or more counts as success.\n" in card
    assert "0.5" not in card.partition("## Yield")[0]
    rows = ds.dataset(tmp_path / "data" / "trajectories").to_table(columns=["min_reward"])
    assert set(rows["min_reward"].to_pylist()) == {1.0}


def test_how_often_replays_were_tried_is_on_the_card_and_on_their_rows(tmp_path: Path) -> None:
    run = MemoryRun()
    parted: JsonObject = {"agreed": False, "parted_at": 1, "because": "another page"}
    agreed: JsonObject = {"agreed": True, "parted_at": None, "because": "all agree"}
    tries: list[list[JsonObject]] = [[agreed], [parted, agreed], [parted, parted]]
    first, *others = commit_unit(run, 1, TRAIN, tasks=2, attempts=2)[:3]
    for episode, told in zip((first, *others), tries, strict=True):
        found = make_verdict(episode, verifier="replay", version="3")
        status = Status.PASSED if told[-1] == agreed else Status.FAILED
        run.judge([found.model_copy(update={"evidence": {"tries": [*told]}, "status": status})])
    last = make_verdict(others[1], verifier="replay", version="3", round_=1)
    run.judge([last.model_copy(update={"evidence": {"tries": [agreed]}})])
    card = _card(run, tmp_path)

    assert "3 of these episodes were executed again, 6 times in all: 2 of\n" in card
    assert "them more than once, and for 2 not every execution agreed." in card
    rows = ds.dataset(tmp_path / "data" / "trajectories").to_table().to_pylist()
    told_of = {
        row["episode_id"]: (row["replay"], row["replays"], row["replays_agreed"]) for row in rows
    }
    assert [told_of[one.episode_id] for one in (first, *others)] == [
        ("reproduced", 1, 1),
        ("reproduced", 2, 1),
        ("reproduced", 3, 1),
    ]
    assert list(told_of.values()).count(("reproduced", None, None)) == 1


def _said(card: str, sentence: str) -> list[int]:
    """Return the numbers that stand where `sentence` has `#`."""
    shape = re.escape(" ".join(sentence.split())).replace("\\#", r"([\d,]+)")
    found = re.search(shape, " ".join(card.split()))
    assert found, sentence
    return [int(number.replace(",", "")) for number in found.groups()]


def _run_of_many_kinds() -> MemoryRun:
    """Return a run with replays that parted, unequal pictures, and policies of every privilege."""
    run = MemoryRun()
    agreed: JsonObject = {"agreed": True}
    parted: JsonObject = {"agreed": False}
    made = commit_unit(run, 1, TRAIN, tasks=3, attempts=2)
    made += commit_unit(run, 2, VALIDATION, model=True)
    tries = ([agreed], [parted, agreed], [agreed], [parted, agreed])
    for place, (episode, told) in enumerate(zip(made, tries, strict=False)):
        found = make_verdict(episode, verifier="replay", version="3", round_=1)
        score = 0.5 if place % 2 else 1.0
        run.judge([found.model_copy(update={"evidence": {"tries": [*told]}, "score": score})])
    older = run.rows["episodes"][0].drop_columns("privileged")
    field = arrow_schema("episodes").field("privileged")
    run.rows["episodes"][0] = older.append_column(
        field, pa.array([True, True, None, None, False, True], pa.bool_())
    )
    return run


def test_every_figure_of_the_proof_is_that_of_the_published_rows(tmp_path: Path) -> None:
    card = _card(_run_of_many_kinds(), tmp_path)
    rows = ds.dataset(tmp_path / "data" / "trajectories").to_table().to_pylist()

    tried = [row for row in rows if row["replays"]]
    often = [row for row in tried if row["replays"] > 1]
    assert _said(card, "# of these episodes were executed again, # times in all: # of them") == [
        len(tried),
        sum(row["replays"] for row in tried),
        len(often),
    ]
    assert _said(card, "the # executions of those that were tried more than once # agreed.") == [
        sum(row["replays"] for row in often),
        sum(row["replays_agreed"] for row in often),
    ]
    reproduced = [row for row in rows if row["replay"] == "reproduced"]
    unequal = [row for row in reproduced if row["replay_score"] < 1]
    said = "In # of the # episodes that a replay reproduced some picture was not equal"
    assert _said(card, said) == [len(unequal), len(reproduced)]
    privileged = Counter(row["privileged"] for row in rows)
    said = "In # of the # published episodes that record it the policy was privileged"
    assert _said(card, said) == [privileged[True], len(rows) - privileged[None]]
    said = "Of # published episodes an earlier version did not record whether the policy was"
    assert _said(card, said) == [privileged[None]]
    near = [row for row in rows if row["near_duplicate_of"]]
    said = "rejected as copies of another one: #. Near copies among those here: #;"
    assert _said(card, said) == [0, len(near)]
    assert min(len(often), len(unequal), privileged[True], privileged[False], privileged[None]) > 0


def test_copies_are_counted(tmp_path: Path) -> None:
    run = MemoryRun()
    first, *others = commit_unit(run, 1, TRAIN, tasks=1, attempts=4)
    of_a_copy: JsonObject = {"trajectory": "t", "course": "c", "pictures": ["0" * 64], "task": "a"}
    near: JsonObject = of_a_copy | {"trajectory": "u"}
    for episode, told in zip(
        (first, *others), (of_a_copy, of_a_copy, of_a_copy, near), strict=True
    ):
        judged = make_verdict(episode, verifier="novelty", version="2", round_=1)
        run.judge([judged.model_copy(update={"evidence": told})])
    card = _card(run, tmp_path)

    rows = ds.dataset(tmp_path / "data" / "trajectories").to_table().to_pylist()
    assert [bool(row["near_duplicate_of"]) for row in rows].count(True) == 1
    said = "rejected as copies of another one: #. Near copies among those here: #;"
    assert _said(card, said) == [2, 1]
    assert "| novelty: repeats | 2 |" in card


def test_the_bounds_and_verifiers_of_the_card_are_those_that_judge() -> None:
    assert set(PROOFS) == set(VERIFIER_NAMES)
    assert (MAX_CELLS, CELL, MAX_LEVELS) == (0.0001, 4, 2.0)
    assert Replay.version not in EARLIER_REPLAYS


def test_a_rule_without_replay_says_so() -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN)
    made = select(tables_of(run.seal()), AcceptSection(passed=("outcome",)), include_rejected=False)
    text = "\n".join(proof_lines(made, AcceptSection(passed=("outcome",))))

    assert "The rule did not ask for a replay." in text
    assert "| structure |" not in text
    assert "None of these episodes was executed again." in text
