"""The film strip: a trajectory that a rule chose, as it was recorded, in a picture of bounded size."""

import hashlib
import io
import json
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from PIL import Image
from support.episodes.factories import HEIGHT, WIDTH, make_screenshot
from support.runs.memory_run import (
    TRAIN,
    MemoryRun,
    commit_unit,
    findings,
    make_run_file,
    published,
)

from schemas.episodes.action import (
    Action,
    Answer,
    Back,
    Click,
    Drag,
    Key,
    NoAction,
    Scroll,
    Select,
    TypeText,
    Wait,
)
from storage.publish.card.filmstrip import MAX_FRAMES, Film, Frame, action_words, filmstrip
from storage.publish.card.survey import Viewport
from storage.publish.plan.manifest import FILMSTRIP

_RED = (217, 48, 37)


def _published(run: MemoryRun, to: Path, *, include_rejected: bool = False) -> str:
    published(run.seal(), to, run_file=make_run_file(), include_rejected=include_rejected)
    return (to / "README.md").read_text()


def _shown(card: str) -> str:
    """Return the id of the episode that the card shows."""
    return card.partition("It is `")[2].partition("`")[0]


@pytest.mark.parametrize(
    ("lengths", "shown"),
    [
        ((1, 3, 3, 2), 1),
        ((MAX_FRAMES, MAX_FRAMES - 1, 1), 1),
        ((MAX_FRAMES + 4, MAX_FRAMES + 2), 1),
    ],
    ids=["the first of the longest", "that fits", "else the shortest"],
)
def test_a_rule_chooses_the_trajectory(
    tmp_path: Path, lengths: tuple[int, ...], shown: int
) -> None:
    run = MemoryRun()
    made = [
        commit_unit(run, number, TRAIN, tasks=1, attempts=1, n_steps=n_steps)[0]
        for number, n_steps in enumerate(lengths)
    ]
    card = _published(run, tmp_path)

    assert _shown(card) == made[shown].episode_id
    some = f"the first {MAX_FRAMES} of " if lengths[shown] >= MAX_FRAMES else "all "
    assert f"One trajectory, {some}{lengths[shown] + 1} pictures: " in card


def test_a_rejected_trajectory_is_never_shown(tmp_path: Path) -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, tasks=1, attempts=1, n_steps=5, rejects=[0])
    [accepted] = commit_unit(run, 2, TRAIN, tasks=1, attempts=1, n_steps=1)
    card = _published(run, tmp_path, include_rejected=True)

    assert _shown(card) == accepted.episode_id


def test_where_nothing_is_accepted_there_is_no_strip_and_an_old_one_is_removed(
    tmp_path: Path,
) -> None:
    accepted, rejected = MemoryRun(), MemoryRun()
    commit_unit(accepted, 1, TRAIN, tasks=1, attempts=1)
    commit_unit(rejected, 1, TRAIN, tasks=1, attempts=1, rejects=[0])
    _published(accepted, tmp_path)
    assert (tmp_path / FILMSTRIP).exists()

    card = _published(rejected, tmp_path)

    assert not (tmp_path / FILMSTRIP).exists()
    assert FILMSTRIP not in card
    assert "There is no accepted trajectory to show." in card
    assert findings(tmp_path) == []


def test_the_steps_in_words_are_those_of_the_published_rows(tmp_path: Path) -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, tasks=2, attempts=2, n_steps=3)
    card = _published(run, tmp_path)

    steps = ds.dataset(tmp_path / "data" / "steps").to_table().to_pylist()
    rows = [row for row in steps if row["episode_id"] == _shown(card)]
    said = [line for line in card.partition("\n## ")[0].splitlines() if line.startswith("* ")]
    assert len(said) == len(rows) == 4
    for line, row in zip(said, rows, strict=True):
        action = json.loads(row["action"])
        if action["type"] == "none":
            assert line == f"* {row['step']}: the final state"
        else:
            where = f"{action['type']} at {action['x']:.0f}, {action['y']:.0f}"
            assert line.startswith(f"* {row['step']}: {where} (thought: Step {row['step']}")
    [trajectory] = [
        row
        for path in tmp_path.glob("data/trajectories/*.parquet")
        for row in pq.read_table(path).to_pylist()
        if row["episode_id"] == _shown(card)
    ]
    assert trajectory["accepted"]
    assert trajectory["instruction"].split()[0] in card.partition("\n## ")[0]


def test_the_same_version_makes_the_same_strip(tmp_path: Path) -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN)
    digests = set()
    for place in ("one", "two"):
        _published(run, tmp_path / place)
        digests.add(hashlib.sha256((tmp_path / place / FILMSTRIP).read_bytes()).hexdigest())

    assert len(digests) == 1


def _film(*frames: tuple[bytes, Action]) -> Film:
    return Film(
        episode_id="e",
        template_id="t",
        n_steps=len(frames),
        goal="a goal",
        viewport=Viewport(WIDTH, HEIGHT, 1.0),
        frames=tuple(Frame(*frame, None) for frame in frames),
    )


def _drawn(strip: bytes) -> set[tuple[int, int]]:
    """Return where the strip is red."""
    with Image.open(io.BytesIO(strip)) as picture:
        red = picture.convert("RGB")
    pixels = red.load()
    assert pixels is not None
    return {(x, y) for x in range(red.width) for y in range(red.height) if pixels[x, y] == _RED}


def test_the_point_is_drawn_where_the_action_was() -> None:
    left = _drawn(filmstrip(_film((make_screenshot(1).bytes, Click(x=16, y=24)))))
    right = _drawn(filmstrip(_film((make_screenshot(1).bytes, Click(x=48, y=24)))))
    none = _drawn(filmstrip(_film((make_screenshot(1).bytes, NoAction()))))

    assert not none
    for red, share in ((left, 0.25), (right, 0.75)):
        middle = sum(x for x, _ in red) / len(red)
        assert abs(middle - (12 + 220 * share)) < 1


@pytest.mark.parametrize("size", [(1, 1), (4_000, 30), (30, 4_000), (2_000, 2_000)])
def test_the_strip_is_bounded_whatever_the_pictures_are(size: tuple[int, int]) -> None:
    picture = make_screenshot(1, width=size[0], height=size[1]).bytes
    strip = filmstrip(_film(*[(picture, Click(x=1, y=1))] * MAX_FRAMES))

    with Image.open(io.BytesIO(strip)) as drawn:
        assert drawn.width <= 1_000
        assert drawn.height <= 750
    assert len(strip) < 1 << 21


@pytest.mark.parametrize("picture", [b"", b"no picture", make_screenshot(1).bytes[:300]])
def test_what_is_no_picture_is_said_to_be_none(picture: bytes) -> None:
    with Image.open(io.BytesIO(filmstrip(_film((picture, NoAction()))))) as drawn:
        assert drawn.convert("RGB").getpixel((20, 250)) == (218, 220, 224)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (Click(x=1.4, y=2.6), "click at 1, 3"),
        (Click(x=1, y=2, count=2), "click twice at 1, 2"),
        (
            Click.model_validate({"x": 1, "y": 2, "button": "right"}),
            "click with the right button at 1, 2",
        ),
        (TypeText(text="a b", x=3, y=4), "type “a b” at 3, 4"),
        (Select(option="red", x=3, y=4), "select “red” at 3, 4"),
        (Drag(x=1, y=2, to_x=3, to_y=4), "drag at 1, 2 to 3, 4"),
        (Key(key="Control+a"), "key Control+a"),
        (Scroll.model_validate({"direction": "down", "amount": 120}), "scroll down 120 px"),
        (Wait(ms=500), "wait 500 ms"),
        (Answer(text="42"), "answer “42”"),
        (Back(), "back"),
        (NoAction(), "the final state"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_an_action_is_said_in_words(action: Action, words: str) -> None:
    assert action_words(action) == words
