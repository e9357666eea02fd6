"""Files of reviews: a round trip, and what is wrong named by its line and column."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.episodes.reviewed import make_review

from flows.reviewing.label_studio import read_label_studio
from flows.reviewing.review_file import read_review_file, review_lines
from schemas.errors import BadReview
from schemas.verdicts.review import identify, review_id

HOSTILE = "\x1b[31m\x00\u202e\u2028 <b>&\"'"
EPISODE = "e" * 32
LINE = next(review_lines([make_review(EPISODE)]))


def _file(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "reviews.jsonl"
    path.write_bytes(b"\n".join(one.encode() if isinstance(one, str) else one for one in lines))
    return path


def _without_id(**changes: Any) -> str:
    row = make_review(EPISODE).model_dump(mode="json", exclude={"review_id"})
    return json.dumps(row | changes)


def test_a_file_reads_back_whatever_the_words_are(tmp_path: Path) -> None:
    longest = "\U0001f600" * 4_000
    reviews = [
        make_review(EPISODE, "reject", reviewer=HOSTILE, reason=HOSTILE, step=2),
        make_review(EPISODE, "mark", instruction=longest, reason=longest, after=1),
        make_review(EPISODE, "mark", undoes=review_id(make_review(EPISODE)), after=2),
    ]

    path = _file(tmp_path, *review_lines(reviews), "", "  ")

    assert read_review_file(path) == [identify(one) for one in reviews]
    escaped = _file(tmp_path, *(json.dumps(json.loads(one)) for one in review_lines(reviews)))
    assert read_review_file(escaped) == [identify(one) for one in reviews]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([LINE, LINE[:30]], r"line 2, column \d+: is not JSON, or torn"),
        ([LINE, b"\xff\xfe"], "line 2, column 1: is not UTF-8"),
        (["PK\x03\x04"], "line 1, column 1: is not JSON"),
        (["[" * 100_000], "line 1, column 1: is no review"),
        (["[1]"], "line 1: expected a review, an object, got list"),
        (['{"text": "hello"}'], r"line 1: episode_id: Field required"),
        ([_without_id(stars=5)], "line 1: has 'stars', which this version does not know; a later"),
        ([_without_id(decision="postpone")], "line 1: decision: Input should be 'accept'"),
        ([_without_id(reviewer="")], "line 1: reviewer: expected words, got none"),
        ([_without_id(reason="a" * 100_000)], "line 1: reason: .* at most 4000 characters"),
        (
            [_without_id(reason="a" * 1_000_000)],
            "line 1: expected a review of at most 200000 bytes",
        ),
        ([LINE.replace('"accept"', '"unsure"')], "line 1: review_id: is not the hash"),
        ([_without_id(reason="\ud800")], "line 1: reason: "),
        ([_without_id(at="yesterday")], "line 1: at: "),
    ],
)
def test_what_is_no_file_of_reviews_is_named_by_its_line(
    tmp_path: Path, lines: list[str | bytes], told: str
) -> None:
    path = _file(tmp_path, *lines)

    with pytest.raises(BadReview) as refused:
        read_review_file(path)

    assert re.search(f"^{re.escape(str(path))}: {told}", str(refused.value)), str(refused.value)


@pytest.mark.parametrize("read", [read_review_file, read_label_studio])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, read: Any) -> None:
    with pytest.raises(BadReview, match=r"none\.json: cannot be read: No such file"):
        read(tmp_path / "none.json")
    with pytest.raises(BadReview, match="cannot be read: Is a directory"):
        read(tmp_path)


def _annotation(*results: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"completed_by": 7, "created_at": "2026-03-04T05:06:07Z", "result": [*results], **more}


def _result(name: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "pictures", "type": "any", "value": value}


ACCEPT = _result("decision", {"choices": ["accept"]})
REJECT = _result("decision", {"choices": ["reject"]})


def _tasks(folder: Path, *annotations: dict[str, Any], **data: Any) -> Path:
    path = folder / "tasks.json"
    task = {"id": 1, "data": data or {"episode_id": EPISODE}, "annotations": [*annotations]}
    path.write_text(json.dumps([task]), encoding="utf-8")
    return path


def test_annotations_are_reviews(tmp_path: Path) -> None:
    words = _result("reason", {"text": ["the wrong", "row"]})
    step = _result("step", {"number": 3.0})
    goal = _result("instruction", {"text": "Sort by name"})
    named = {"completed_by": {"id": 7, "email": "ana@example.com"}}
    changed = {"updated_at": "2026-03-05T00:00:00Z"}
    path = _tasks(
        tmp_path,
        _annotation(REJECT, words, step, **named),
        _annotation(ACCEPT, **changed, created_username=" ben"),
        _annotation(goal),
        _annotation(ACCEPT, was_cancelled=True),
        _annotation(),
    )

    first, second, third = read_label_studio(path)

    assert (first.decision, first.reason, first.step) == ("reject", "the wrong\nrow", 3)
    assert [one.reviewer for one in (first, second, third)] == [
        "ana@example.com",
        "ben",
        "label-studio 7",
    ]
    assert second.at.day == 5
    assert (third.decision, third.instruction) == ("mark", "Sort by name")


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (_annotation(REJECT), "task 1, annotation 1: reason: expected why it is rejected"),
        (_annotation(_result("bbox", {"x": 1})), "a result of another labelling configuration"),
        (_annotation(_result("decision", {"choices": ["maybe"]})), "decision: Input should be"),
        (_annotation(ACCEPT, created_at=None), "annotation 1: at: "),
        (_annotation(_result("step", {"number": 1.5})), "annotation 1: step: "),
    ],
)
def test_an_annotation_that_is_no_review_is_named(
    tmp_path: Path, annotation: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadReview, match=re.escape(told)):
        read_label_studio(_tasks(tmp_path, annotation))


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadReview, match=r"task 1: has no data\.episode_id"):
        read_label_studio(_tasks(tmp_path, image="a.png"))
    path = tmp_path / "torn.json"
    path.write_text('[\n {"data": ', encoding="utf-8")
    with pytest.raises(BadReview, match="line 2, column 11: is not JSON, or torn"):
        read_label_studio(path)
    path.write_text('{"data": 1}', encoding="utf-8")
    with pytest.raises(BadReview, match="expected Label Studio's JSON, an array of tasks"):
        read_label_studio(path)
