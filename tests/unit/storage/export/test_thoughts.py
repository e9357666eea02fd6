"""Thoughts that a model rewrote stand in an export, and nowhere else."""

from pathlib import Path

import pytest
from support.episodes.factories import make_episode
from support.runs.exports import told_of

from schemas.episodes.episode import Episode, ThoughtSource
from schemas.episodes.rewritten_thought import RewrittenThought
from schemas.errors import BadConfig
from storage.export.thoughts import Thoughts

NEW = "It is the button that I need."


def _episode() -> Episode:
    episode = make_episode()
    first = episode.steps[0].model_copy(
        update={"thought": "I click.", "thought_source": ThoughtSource.TEMPLATE}
    )
    return episode.model_copy(update={"steps": (first, *episode.steps[1:])})


def _line(episode: Episode, *, old: str = "I click.", step: int = 0) -> str:
    told = RewrittenThought(
        episode_id=episode.episode_id, step=step, thought=NEW, by="a model", instead_of=old
    )
    return f"{told.model_dump_json()}\n"


def _file(folder: Path, *lines: str) -> Path:
    path = folder / "thoughts.jsonl"
    path.write_text("".join(lines))
    return path


def test_a_thought_stands_in_place_of_the_stored_one(tmp_path: Path) -> None:
    episode = _episode()
    thoughts = Thoughts(_file(tmp_path, _line(episode)))
    (told,) = thoughts.within([told_of(episode)])
    first, *others = told.episode.steps
    assert (first.thought, first.thought_source) == (NEW, ThoughtSource.REWRITTEN)
    assert others == [*episode.steps[1:]]
    assert episode.steps[0].thought == "I click."


def test_an_episode_without_one_stays_as_it_is(tmp_path: Path) -> None:
    episode = _episode()
    other = episode.model_copy(update={"episode_id": "another"})
    (told,) = Thoughts(_file(tmp_path, _line(other))).within([told_of(episode)])
    assert told.episode == episode


def test_a_thought_of_something_else_is_refused(tmp_path: Path) -> None:
    episode = _episode()
    thoughts = Thoughts(_file(tmp_path, _line(episode, old="I wait.")))
    with pytest.raises(BadConfig, match="does not think what is rewritten"):
        list(thoughts.within([told_of(episode)]))


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("{}\n",), "episode_id"),
        (("no JSON\n",), "Invalid JSON"),
        ((_line(_episode()), _line(_episode())), "a step has two thoughts"),
    ],
)
def test_a_file_of_something_else_is_refused(
    tmp_path: Path, lines: tuple[str, ...], why: str
) -> None:
    with pytest.raises(BadConfig, match=why):
        Thoughts(_file(tmp_path, *lines))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"nothing\.jsonl: No such file"):
        Thoughts(tmp_path / "nothing.jsonl")
