"""Films of attempts: all frames of one size, long ones bounded, broken pictures told, a missing package named."""

import io
import sys

import pytest
from PIL import Image
from support.episodes.factories import make_episode

from flows.looking.films import MAX_FRAMES, frames, gif, mp4, step_words, strip
from schemas.episodes.episode import Episode
from schemas.errors import BadConfig, Damaged


def _episode(n_steps: int = 3) -> Episode:
    return make_episode(n_steps=n_steps)


def test_all_frames_have_one_size_that_a_film_can_have() -> None:
    sizes = [frame.size for frame in frames(_episode())]

    assert len(sizes) == 4
    [(width, height)] = set(sizes)
    assert width % 2 == height % 2 == 0


def test_of_a_long_attempt_the_first_and_the_last_steps_are_shown() -> None:
    [*made] = frames(_episode(MAX_FRAMES + 20), side=40)

    assert len(made) == MAX_FRAMES


def test_a_broken_picture_is_a_frame_that_says_so() -> None:
    episode = _episode(1)
    first = episode.steps[0]
    broken = first.screenshot.model_copy(update={"bytes": b"none"})
    steps = (first.model_copy(update={"screenshot": broken}), *episode.steps[1:])

    [one, other] = frames(episode.model_copy(update={"steps": steps}))

    assert one.size == other.size
    assert one.getpixel((5, 5)) == (218, 220, 224)


def test_an_attempt_without_a_picture_has_no_film() -> None:
    for make in (strip, gif, mp4):
        with pytest.raises(Damaged, match="has no pictures"):
            make(_episode().model_copy(update={"steps": ()}))


def test_a_strip_is_one_picture() -> None:
    with Image.open(io.BytesIO(strip(_episode(6)))) as shown:
        assert shown.format == "PNG"
        assert shown.width > 4 * 300


def test_where_the_package_is_missing_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)

    with pytest.raises(BadConfig, match=r"pip install 'stepmill\[video\]'"):
        mp4(_episode())


def test_a_step_is_told_with_what_was_under_the_pointer() -> None:
    episode = _episode()

    assert step_words(episode, episode.steps[0]) == "step 0 of 3: click at 10, 12 on “Click Me!”"
    assert step_words(episode, episode.steps[-1]) == "step 3 of 3: the end"
