"""Training rows as exports: read by the real `datasets`, and held to what each trainer demands."""

import base64
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets  # type: ignore[import-untyped] # it has no types
import pyarrow.parquet as pq
import pytest
from support.episodes.factories import HEIGHT, WIDTH, make_screenshot, make_verdict
from support.episodes.trainer_rules import check_row
from support.runs.exports import Parrot, exported, lines
from support.runs.memory_run import MemoryRun, MemorySnapshot, commit_unit, contents, small_run

from schemas.configuration.sections import RowKind
from schemas.episodes.conversation import ChatMessage, MaskReason, MessagePicture, Rendered
from schemas.episodes.episode import Episode
from schemas.tasks.expectation import Expectation
from storage.export import output_folder
from storage.export.dataset_info import DATASET_INFO
from storage.export.output_folder import MANIFEST
from storage.export.registry import Spelling
from storage.export.training_rows import TrainingRows
from storage.publish.training.options import SystemPrompt
from storage.publish.training.rows import RowMaker


def rows_of(
    kind: RowKind = RowKind.SFT, renderer: Parrot | None = None, **more: Any
) -> TrainingRows:
    """Return the format with a renderer that knows no dialect."""
    spelling = more.pop("spelling", Spelling.COLUMNS)
    return TrainingRows(RowMaker(kind, renderer or Parrot(), **more), spelling=spelling)


def one_episode(n_steps: int = 5, labels: Sequence[str | None] | None = None) -> MemorySnapshot:
    """Return a run of one episode, judged by `steps` if there are labels."""
    run = MemoryRun()
    [episode] = commit_unit(run, 1, "click-test", tasks=1, attempts=1, n_steps=n_steps)
    if labels is not None:
        evidence = {"steps": [{"label": one, "visible_change": True} for one in labels]}
        verdict = make_verdict(episode, verifier="steps")
        run.judge([verdict.model_copy(update={"evidence": evidence})])
    return run.seal()


def read(folder: Path, split: str = "train") -> list[dict[str, Any]]:
    """Return the rows of a split as they are in its files."""
    return [
        row
        for path in sorted(folder.glob(f"{split}-*.parquet"))
        for row in pq.read_table(path).to_pylist()
    ]


class Changed(Parrot):
    """Renders as the parrot, with each message changed."""

    def __init__(self, change: Callable[[ChatMessage], ChatMessage]) -> None:
        super().__init__()
        self._change = change

    def render(self, episode: Episode, expectation: Expectation | None = None) -> Rendered:
        """Say an episode, changed."""
        segments = [
            replace(segment, turns=tuple(map(self._change, segment.turns)))
            for segment in super().render(episode, expectation).segments
        ]
        return Rendered(tuple(segments))


def test_every_split_loads_as_a_folder_with_its_pictures_decoded(tmp_path: Path) -> None:
    report = exported(small_run().seal(), rows_of(), tmp_path / "to")
    loaded = datasets.load_dataset(str(tmp_path / "to"), cache_dir=str(tmp_path / "cache"))

    assert {name: part.num_rows for name, part in loaded.items()} == {
        "train": 6,
        "validation": 8,
        "test": 6,
    }
    assert report.counts == {"rows": 20}
    assert report.lines == 20
    assert report.files == 1  # `dataset_info.json`
    for part in loaded.values():
        assert part.features["images"] == datasets.List(datasets.Image())
        for row in part:
            check_row(row)
            assert all(picture.size == (WIDTH, HEIGHT) for picture in row["images"])
    streamed = datasets.load_dataset(str(tmp_path / "to"), split="test", streaming=True)
    assert [row["id"] for row in streamed] == loaded["test"]["id"]


def test_a_row_is_a_reply_under_all_that_came_before(tmp_path: Path) -> None:
    exported(one_episode(3), rows_of(), tmp_path)
    first, second, third = read(tmp_path)

    assert [turn["role"] for turn in second["messages"]] == [
        "system",
        *("user", "assistant"),
        *("user", "assistant"),
    ]
    assert [row["step"] for row in (first, second, third)] == [0, 1, 2]
    assert second["messages"][1]["content"] == "Look: <image>"
    assert second["prompt"][1]["content"] == [
        {"type": "text", "text": "Look: "},
        {"type": "image", "text": None},
    ]
    assert [picture["bytes"] for picture in second["images"]] == [
        make_screenshot(10_000_000 + step).bytes for step in (0, 1)
    ]
    assert second["id"] == f"{second['episode_id']}-1"
    assert (second["label"], second["dialect"], second["tools"]) == (True, "parrot", None)


def test_rejected_attempts_are_labelled_so_and_only_where_asked_for(tmp_path: Path) -> None:
    exported(small_run().seal(), rows_of(), tmp_path / "accepted")
    exported(small_run().seal(), rows_of(), tmp_path / "all", include_rejected=True)

    assert all(row["label"] for row in read(tmp_path / "accepted"))
    assert Counter(row["label"] for row in read(tmp_path / "all")) == {True: 6, False: 2}


@pytest.mark.parametrize("reason", list(MaskReason))
def test_a_reply_that_is_not_learnt_gives_no_row_and_is_counted(
    tmp_path: Path, reason: MaskReason
) -> None:
    def change(turn: ChatMessage) -> ChatMessage:
        if turn.step != 1:
            return turn
        return replace(turn, learnt=False, masked="told", mask_reason=reason)

    report = exported(one_episode(3), rows_of(renderer=Changed(change)), tmp_path)

    assert [row["step"] for row in read(tmp_path)] == [0, 2]
    assert report.counts == {reason.value: 1, "rows": 2}


@pytest.mark.parametrize(
    ("word", "escaped"), [("<image>", "&#60;image>"), ("<|im_end|>", "&#60;|im_end|>")]
)
def test_a_page_that_says_picture_adds_none(tmp_path: Path, word: str, escaped: str) -> None:
    def change(turn: ChatMessage) -> ChatMessage:
        return replace(turn, parts=(word, *turn.parts)) if turn.role == "user" else turn

    exported(one_episode(2), rows_of(renderer=Changed(change)), tmp_path)
    first, _ = read(tmp_path)

    check_row(first)
    assert first["messages"][1]["content"] == f"{escaped}Look: <image>"
    assert first["prompt"][1]["content"][0] == {"type": "text", "text": f"{escaped}Look: "}


def test_a_reply_with_such_a_word_is_not_learnt_in_other_words(tmp_path: Path) -> None:
    def change(turn: ChatMessage) -> ChatMessage:
        return replace(turn, parts=("type <image>",)) if turn.step == 0 else turn

    report = exported(one_episode(2), rows_of(renderer=Changed(change)), tmp_path)

    assert report.counts == {"placeholder_in_reply": 1, "rows": 1}
    [row] = read(tmp_path)
    check_row(row)
    assert row["messages"][2]["content"] == "type &#60;image>"


def test_a_reply_without_its_picture_gives_no_row(tmp_path: Path) -> None:
    def change(turn: ChatMessage) -> ChatMessage:
        kept = [p for p in turn.parts if not (isinstance(p, MessagePicture) and p.step == 1)]
        return replace(turn, parts=tuple(kept))

    report = exported(one_episode(3), rows_of(renderer=Changed(change)), tmp_path)

    assert report.counts == {"without_its_picture": 1, "rows": 2}


def test_roles_that_do_not_alternate_give_no_row(tmp_path: Path) -> None:
    def change(turn: ChatMessage) -> ChatMessage:
        return replace(turn, role="user") if turn.step == 0 else turn

    report = exported(one_episode(2), rows_of(renderer=Changed(change)), tmp_path)

    assert report.counts == {"roles_do_not_alternate": 2}


def test_the_system_prompt_can_be_left_to_the_trainer(tmp_path: Path) -> None:
    exported(one_episode(2), rows_of(), tmp_path / "row")
    exported(one_episode(2), rows_of(system=SystemPrompt.TRAINER), tmp_path / "trainer")
    within, without = read(tmp_path / "row")[1], read(tmp_path / "trainer")[1]

    assert (within["system"], without["system"]) == (None, "You are a parrot.")
    assert within["messages"][0] == {"role": "system", "content": "You are a parrot."}
    assert without["messages"] == within["messages"][1:]
    assert without["prompt"] == within["prompt"][1:]
    check_row(without)


def test_only_good_steps_where_that_is_asked_for(tmp_path: Path) -> None:
    snapshot = one_episode(5, ["on_path", "explores", "redundant", "mistake", None])
    report = exported(snapshot, rows_of(only_good=True), tmp_path)

    assert [row["step"] for row in read(tmp_path)] == [0, 1]
    assert report.counts == {
        "rows": 2,
        "step_mistake": 1,
        "step_redundant": 1,
        "without_label": 1,
    }


def test_what_is_labelled_by_step_says_what_each_did(tmp_path: Path) -> None:
    def change(turn: ChatMessage) -> ChatMessage:
        if turn.step not in (2, 3):
            return turn
        reason = MaskReason.FAILED if turn.step == 2 else MaskReason.PERSON
        return replace(turn, learnt=False, mask_reason=reason)

    snapshot = one_episode(5, ["on_path", "redundant", "mistake", "mistake", None])
    report = exported(snapshot, rows_of(RowKind.STEP_LABELS, Changed(change)), tmp_path)
    rows = read(tmp_path)

    assert [(row["step_label"], row["visible_change"]) for row in rows] == [
        ("on_path", True),
        ("redundant", True),
        ("mistake", True),
    ]
    assert report.counts == {"rows": 3, "by_a_person": 1, "without_label": 1}
    list(map(check_row, rows))


def test_a_reply_is_wanted_by_its_own_step_and_not_by_its_attempt_alone(tmp_path: Path) -> None:
    run = MemoryRun()
    labels = ["on_path", "explores", "mistake", "redundant", None]
    episodes = commit_unit(run, 1, "click-test", tasks=1, attempts=2, n_steps=5, rejects=[1])
    for episode in episodes:
        evidence = {"steps": [{"label": one} for one in labels]}
        verdict = make_verdict(episode, verifier="steps")
        run.judge([verdict.model_copy(update={"evidence": evidence})])
    report = exported(run.seal(), rows_of(RowKind.KTO), tmp_path, include_rejected=True)
    accepted, rejected = (episode.episode_id for episode in episodes)

    assert [(row["episode_id"], row["step"], row["label"]) for row in read(tmp_path)] == [
        (accepted, 0, True),
        (accepted, 1, True),
        (accepted, 2, False),
        (accepted, 3, False),
        (rejected, 2, False),
        (rejected, 3, False),
    ]
    assert report.counts == {"good_step_of_rejected": 2, "rows": 6, "without_label": 2}


def test_a_mistake_on_purpose_is_unwanted_though_it_has_a_good_label(tmp_path: Path) -> None:
    def change(turn: ChatMessage) -> ChatMessage:
        is_slip = turn.step == 1
        return replace(turn, learnt=False, mask_reason=MaskReason.MISTAKE) if is_slip else turn

    snapshot = one_episode(3, ["on_path", "on_path", "recovery"])
    exported(snapshot, rows_of(RowKind.KTO, Changed(change)), tmp_path, include_rejected=True)

    assert [row["label"] for row in read(tmp_path)] == [True, False, True]


def test_pictures_stand_in_the_lines_as_each_trainer_reads_them(tmp_path: Path) -> None:
    for spelling in (Spelling.IMAGE_URL, Spelling.IMAGE, Spelling.BASE64):
        exported(one_episode(2), rows_of(spelling=spelling), tmp_path / spelling)
    [_, url] = lines(tmp_path / "image_url")
    [_, image] = lines(tmp_path / "image")
    [_, plain] = lines(tmp_path / "base64")
    data = base64.b64encode(make_screenshot(10_000_001).bytes).decode()

    assert url["prompt"][-1]["content"][-1] == {
        "type": "image_url",
        "image_url": {"url": f"data:image/jpeg;base64,{data}"},
    }
    assert [turn["role"] for turn in url["completion"]] == ["assistant"]
    assert "messages" not in url
    assert image["messages"][-2]["content"][-1] == {
        "type": "image",
        "image": f"data:image/jpeg;base64,{data}",
    }
    assert plain["messages"][-2]["content"][-1] == {"type": "image", "base64": data}
    assert [turn["training"] for turn in plain["messages"]] == [False] * 4 + [True]
    assert image["messages"][-1]["content"] == [{"type": "text", "text": "click"}]


def test_files_are_cut_and_together_hold_every_row_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported(one_episode(5), rows_of(), tmp_path / "whole")
    monkeypatch.setattr(output_folder, "SHARD_BYTES", 12_000)
    report = exported(one_episode(5), rows_of(), tmp_path / "cut")
    files = sorted((tmp_path / "cut").glob("*.parquet"))

    assert len(files) > 1
    assert read(tmp_path / "cut") == read(tmp_path / "whole")
    listed = json.loads((tmp_path / "cut" / MANIFEST).read_text())["lines"]
    assert [(file["path"], file["bytes"]) for file in listed] == [
        (path.name, path.stat().st_size) for path in files
    ]
    assert report.lines == 5
    assert not exported(one_episode(5), rows_of(), tmp_path / "cut").written
    files[-1].unlink()
    assert exported(one_episode(5), rows_of(), tmp_path / "cut").written
    assert contents(tmp_path / "cut").keys() == {
        *(path.name for path in files),
        DATASET_INFO,
        MANIFEST,
    }


def test_an_export_that_broke_off_goes_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Breaking(Parrot):
        left = 5

        def render(self, episode: Episode, expectation: Expectation | None = None) -> Rendered:
            self.left -= 1
            if not self.left:
                raise ArithmeticError
            return super().render(episode, expectation)

    monkeypatch.setattr(output_folder, "SHARD_BYTES", 8_000)
    with pytest.raises(ArithmeticError):
        exported(small_run().seal(), rows_of(renderer=Breaking()), tmp_path / "broken")
    left = contents(tmp_path / "broken")
    assert MANIFEST not in left
    assert any(name.endswith(".parquet") for name in left)
    assert not any(Path(name).name.startswith(".tmp") for name in left)

    exported(small_run().seal(), rows_of(), tmp_path / "broken")
    exported(small_run().seal(), rows_of(), tmp_path / "whole")
    assert contents(tmp_path / "broken") == contents(tmp_path / "whole")
