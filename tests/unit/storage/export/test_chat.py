"""The `chat` format: shapes, masks and pictures."""

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.json
import pytest
from support.episodes.factories import make_screenshot, make_verdict
from support.runs.exports import Parrot, exported, lines
from support.runs.memory_run import MemoryRun, commit_unit, small_run

from schemas.episodes.conversation import Rendered
from schemas.episodes.episode import Episode
from schemas.tasks.expectation import Expectation
from storage.export.chat import Chat
from storage.export.registry import MessageShape, Pictures, StepChoice


def chat(shape: MessageShape = MessageShape.OPENAI, pictures: Pictures = Pictures.FILES) -> Chat:
    """Return the format with a renderer that knows no dialect."""
    return Chat(Parrot(), shape=shape, pictures=pictures)


def long_run() -> MemoryRun:
    """Return a run of one episode of five steps, which is more than a segment."""
    run = MemoryRun()
    commit_unit(run, 1, "click-test", tasks=1, attempts=1, n_steps=5)
    return run


def test_every_reply_is_learnt_once_whatever_is_repeated(tmp_path: Path) -> None:
    exported(long_run().seal(), chat(), tmp_path)
    found = list(lines(tmp_path))

    assert [line["segment"] for line in found] == [0, 1, 2]
    assert [line["loss_mask"] for line in found] == [
        [0, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ]
    for line in found:
        weights = [message.get("weight", 0) for message in line["messages"]]
        assert weights == line["loss_mask"]


def test_a_reply_that_is_not_learnt_is_listed_with_the_reason(tmp_path: Path) -> None:
    class Forgetful(Parrot):
        def render(self, episode: Episode, expectation: Expectation | None = None) -> Rendered:
            segments = super().render(episode, expectation).segments
            [*turns, last] = segments[0].turns
            lost = replace(last, learnt=False, masked="its prompt no longer shows it")
            return Rendered((replace(segments[0], turns=(*turns, lost)), *segments[1:]))

    told = Chat(Forgetful(), shape=MessageShape.OPENAI, pictures=Pictures.FILES)
    report = exported(long_run().seal(), told, tmp_path)
    first, *rest = lines(tmp_path)

    assert first["loss_mask"] == [0, 0, 1, 0, 0]
    assert first["masked"] == ["", "", "", "", "its prompt no longer shows it"]
    assert not any(any(line["masked"]) for line in rest)
    assert report.counts["masked"] == 1


def test_only_good_steps_are_learnt_where_that_is_asked_for(tmp_path: Path) -> None:
    run = MemoryRun()
    [episode] = commit_unit(run, 1, "click-test", tasks=1, attempts=1, n_steps=5)
    before = run.seal()
    labels = ["on_path", "explores", "redundant", "mistake", None]
    rows = [{"label": label, "visible_change": True} for label in labels]
    verdict = make_verdict(episode, verifier="steps")
    run.judge([verdict.model_copy(update={"evidence": {"steps": rows}})])
    after = run.seal()

    good = Chat(Parrot(), shape=MessageShape.OPENAI, pictures=Pictures.FILES, steps=StepChoice.GOOD)
    report = exported(after, good, tmp_path / "good")
    [line] = lines(tmp_path / "good")
    assert line["loss_mask"] == [0, 0, 1, 0, 1]
    assert report.counts["masked"] == 3
    assert report.counts["replies"] == 2

    nothing = exported(before, good, tmp_path / "unseen")
    assert nothing.counts == {"masked": 5}
    exported(after, chat(), tmp_path / "all")
    assert sum(sum(line["loss_mask"]) for line in lines(tmp_path / "all")) == 5
    assert "steps" not in chat().options


@pytest.mark.parametrize(
    ("label", "because"),
    [
        ("redundant", "`steps` calls it redundant"),
        ("mistake", "`steps` calls it mistake"),
        (None, "`steps` has no label of it"),
    ],
)
def test_a_reply_of_another_step_says_why_it_is_not_learnt(
    tmp_path: Path, label: str | None, because: str
) -> None:
    run = MemoryRun()
    [episode] = commit_unit(run, 1, "click-test", tasks=1, attempts=1, n_steps=2)
    rows = [{"label": "on_path"}, {"label": label}]
    verdict = make_verdict(episode, verifier="steps")
    run.judge([verdict.model_copy(update={"evidence": {"steps": rows}})])
    good = Chat(Parrot(), shape=MessageShape.OPENAI, pictures=Pictures.FILES, steps=StepChoice.GOOD)
    exported(run.seal(), good, tmp_path)
    [line] = lines(tmp_path)

    assert line["masked"] == ["", "", "", "", because]
    assert [m.get("weight") for m in line["messages"] if m["role"] == "assistant"] == [1, 0]


def test_in_openai_s_shape_a_single_text_stands_alone_and_pictures_are_urls(tmp_path: Path) -> None:
    exported(long_run().seal(), chat(), tmp_path)
    line = next(lines(tmp_path))
    place = f"images/{line['episode_id']}/0.jpg"

    assert line["messages"][:3] == [
        {"role": "system", "content": "You are a parrot."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look: "},
                {"type": "image_url", "image_url": {"url": place}},
            ],
        },
        {"role": "assistant", "content": "click", "weight": 1},
    ]
    assert line["images"][0] == place
    assert (tmp_path / place).read_bytes() == make_screenshot(10_000_000).bytes


def test_in_qwen_s_shape_every_message_is_a_list_that_arrow_reads(tmp_path: Path) -> None:
    exported(long_run().seal(), chat(MessageShape.QWEN), tmp_path)
    read = pyarrow.json.read_json(tmp_path / "train.jsonl").to_pylist()
    [system, user, *_] = read[0]["messages"]

    assert [part["text"] for part in system["content"]] == ["You are a parrot."]
    assert [part["type"] for part in user["content"]] == ["text", "image"]
    assert user["content"][1]["image"] == read[0]["images"][0]


@pytest.mark.parametrize("shape", list(MessageShape))
def test_pictures_can_be_in_the_lines(tmp_path: Path, shape: MessageShape) -> None:
    report = exported(long_run().seal(), chat(shape, Pictures.DATA), tmp_path)
    line = next(lines(tmp_path))
    part: dict[str, Any] = line["messages"][1]["content"][1]
    url = part["image"] if shape is MessageShape.QWEN else part["image_url"]["url"]

    assert report.files == 1  # the card
    assert "images" not in line
    head, _, data = url.partition(",")
    assert head == "data:image/jpeg;base64"
    assert base64.b64decode(data) == make_screenshot(10_000_000).bytes


def test_what_cannot_be_said_is_counted(tmp_path: Path) -> None:
    class Speechless(Parrot):
        def render(self, episode: Any, expectation: Any = None) -> Rendered:
            whole = super().render(episode, expectation)
            kept = whole.segments if episode.attempt else ()
            return Rendered(kept, ended="unsaid_select")

    format_ = Chat(Speechless(), shape=MessageShape.OPENAI, pictures=Pictures.FILES)
    report = exported(small_run().seal(), format_, tmp_path)

    assert report.counts == {
        "cut": 5,
        "skipped": 5,
        "unsaid_select": 10,
        "lines": 5,
        "replies": 10,
    }


def test_a_picture_is_written_once_for_all_the_lines_that_show_it(tmp_path: Path) -> None:
    report = exported(long_run().seal(), chat(), tmp_path)

    assert report.files == 1 + len(list(tmp_path.rglob("*.jpg"))) == 6
    assert sum(len(line["images"]) for line in lines(tmp_path)) == 2 + 4 + 5
