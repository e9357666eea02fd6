"""Pairs: where an accepted and a rejected attempt part, and every reason for which there is none."""

from pathlib import Path
from typing import Any

import datasets  # type: ignore[import-untyped] # it has no types
import pyarrow.parquet as pq
import pytest
from support.episodes.compared_attempts import Pointing, attempt, run_of
from support.episodes.factories import make_verdict
from support.episodes.trainer_rules import llama_factory, trl
from support.runs.exports import exported
from support.runs.memory_run import MemoryRun

from schemas.episodes.episode import Actor, Episode, StopReason
from schemas.episodes.mistake import InjectedMistake
from schemas.errors import BadConfig
from schemas.verdicts.verdict import Status
from storage.export.export import ExportReport
from storage.export.format_factory import FormatParts, check_rejected, make_format
from storage.export.registry import FormatName
from storage.export.training_rows import Preference
from storage.publish.training.options import SystemPrompt
from storage.publish.training.preference import PairMaker


def paired(
    run: MemoryRun, to: Path, system: SystemPrompt = SystemPrompt.ROW
) -> tuple[list[dict[str, Any]], ExportReport]:
    """Return the rows and the report of an export."""
    format_ = Preference(PairMaker(Pointing(), system))
    report = exported(run.seal(), format_, to, include_rejected=True)
    files = sorted(to.glob("*.parquet"))
    return [row for path in files for row in pq.read_table(path).to_pylist()], report


def test_the_first_step_at_which_two_attempts_part_is_the_pair(tmp_path: Path) -> None:
    run = run_of([attempt(0, [1, 2, 3])], [attempt(1, [1, 5, 6])])
    [row], report = paired(run, tmp_path / "to")

    assert report.counts == {"rows": 1}
    assert row["step"] == 1
    assert row["chosen"][0]["content"] == [{"type": "text", "text": "I click. 2"}]
    assert row["rejected"][0]["content"] == [{"type": "text", "text": "I click. 5"}]
    assert row["rejected_response"] == row["rejected_message"]["content"] == "I click. 5"
    assert row["messages"] == [*row["conversation"], row["chosen_message"]]
    assert [turn["content"] for turn in row["conversation"]] == [
        "You are a parrot.",
        "Look: <image>",
        "I click. 1",
        "Look: <image>",
    ]
    for reply in ("chosen", "rejected"):
        learnt = trl(row["prompt"], row[reply], row["images"])
        spelt = [*row["conversation"], row[f"{reply}_message"]]
        assert llama_factory(spelt, row["images"]) == learnt
    [loaded] = datasets.load_dataset(str(tmp_path / "to"), split="train", streaming=True)
    assert len(loaded["images"]) == 2
    assert loaded["chosen_message"] == row["chosen_message"]


def test_each_rejected_attempt_gives_one_pair_with_the_nearest_accepted(tmp_path: Path) -> None:
    run = run_of(
        [attempt(0, [9, 2]), attempt(1, [1, 2, 3])],
        [attempt(2, [1, 2, 4]), attempt(3, [9, 8]), attempt(4, [9, 8])],
    )
    rows, report = paired(run, tmp_path)

    assert [(row["step"], row["rejected_response"]) for row in rows] == [
        (2, "I click. 4"),
        (1, "I click. 8"),
    ]
    assert report.counts == {"repeated": 1, "rows": 2}


GOOD, BAD = attempt(0, [1, 2]), attempt(1, [1, 5])
ERROR = {"action_error": "covered"}
PERSON = {"actor": Actor.USER}
SLIP = {"injected_mistake": InjectedMistake.WRONG_VIEW}


@pytest.mark.parametrize(
    ("accepted", "rejected", "counts"),
    [
        ([GOOD], [], {"groups_of_one_attempt": 1}),
        ([GOOD, attempt(1, [1, 3])], [], {"groups_without_failed_attempt": 1}),
        ([], [attempt(0, [1]), BAD], {"groups_without_accepted_attempt": 1}),
        ([GOOD], [attempt(1, [1, 5], pictures={1: 7})], {"shown_another_page": 1}),
        ([GOOD], [attempt(1, [1, 5], pictures={0: 7})], {"shown_another_page": 1}),
        ([GOOD], [attempt(1, [1, 5], device_scale_factor=2.0)], {"shown_in_another_size": 1}),
        ([GOOD], [attempt(1, [1, 5], viewport_height=9)], {"shown_in_another_size": 1}),
        ([GOOD], [attempt(1, [1])], {"replies_never_part": 1}),
        ([GOOD], [attempt(1, [1, 2], changes={1: {"thought": "Hm."}})], {"same_action": 1}),
        ([attempt(0, [1, 2], changes={1: ERROR})], [BAD], {"chosen_not_learnt": 1}),
        ([GOOD], [attempt(1, [1, 5], changes={1: PERSON})], {"chosen_not_learnt": 1}),
        ([attempt(0, [1, 2], changes={1: SLIP})], [BAD], {"chosen_not_learnt": 1}),
        ([GOOD], [attempt(1, [1, 5], changes={1: ERROR})], {"rows": 1}),
        ([GOOD], [attempt(1, [1, 5], changes={1: SLIP})], {"rows": 1}),
        (
            [GOOD],
            [attempt(1, [1, 5], stop_reason=StopReason.FAILED, failure_kind="browser")],
            {"groups_without_failed_attempt": 1},
        ),
    ],
)
def test_what_gives_no_pair_is_counted_by_the_reason(
    tmp_path: Path, accepted: list[Episode], rejected: list[Episode], counts: dict[str, int]
) -> None:
    _, report = paired(run_of(accepted, rejected), tmp_path)

    assert report.counts == counts


@pytest.mark.parametrize(
    ("verifier", "status", "pairs"),
    [
        ("outcome", Status.FAILED, 1),
        ("outcome", Status.ABSTAINED, 0),
        ("outcome", Status.ERROR, 0),
        ("structure", Status.FAILED, 0),
        ("replay", Status.FAILED, 0),
    ],
)
def test_only_an_attempt_that_did_not_do_its_task_is_a_bad_example(
    tmp_path: Path, verifier: str, status: Status, pairs: int
) -> None:
    run = run_of(
        [GOOD], [BAD], because=lambda one: make_verdict(one, verifier=verifier, status=status)
    )
    rows, report = paired(run, tmp_path)

    assert len(rows) == pairs
    assert report.counts == ({"rows": 1} if pairs else {"groups_without_failed_attempt": 1})


@pytest.mark.parametrize(
    ("chosen", "rejected", "counts"),
    [
        ("on_path", "on_path", {"rejected_step_good": 1}),
        ("on_path", "explores", {"rejected_step_good": 1}),
        ("on_path", "redundant", {"rows": 1}),
        ("explores", "mistake", {"rows": 1}),
        ("mistake", "on_path", {"chosen_step_not_good": 1}),
        ("redundant", "mistake", {"chosen_step_not_good": 1}),
    ],
)
def test_a_step_is_neither_chosen_nor_rejected_for_its_attempt_alone(
    tmp_path: Path, chosen: str, rejected: str, counts: dict[str, int]
) -> None:
    labels = {0: ["on_path", chosen], 1: ["on_path", rejected]}
    rows, report = paired(run_of([GOOD], [BAD], labels=labels), tmp_path)

    assert report.counts == counts
    assert [(row["chosen_label"], row["rejected_label"]) for row in rows] == [
        (chosen, rejected)
    ] * len(rows)


def test_the_system_prompt_can_be_left_to_the_trainer(tmp_path: Path) -> None:
    [row], _ = paired(run_of([GOOD], [BAD]), tmp_path, SystemPrompt.TRAINER)

    assert row["system"] == "You are a parrot."
    assert [turn["role"] for turn in row["conversation"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize("name", [FormatName.PREFERENCE, FormatName.KTO])
def test_without_rejected_attempts_it_is_refused_with_what_to_do(name: FormatName) -> None:
    with pytest.raises(BadConfig, match=rf"--format {name}.*--include-rejected"):
        check_rejected(name, include_rejected=False)
    check_rejected(name, include_rejected=True)
    check_rejected(FormatName.SFT, include_rejected=False)


def test_a_format_of_a_dialect_asks_for_a_renderer() -> None:
    with pytest.raises(ValueError, match="this format needs a renderer"):
        make_format(FormatName.PREFERENCE, FormatParts())
