"""What the fingerprints of an episode depend on, and what not."""

from collections.abc import Callable

import pytest
from factories import make_episode, make_task

from generators.verify.novelty import Novelty
from schemas.action import Click
from schemas.base import JsonObject
from schemas.episode import Episode
from schemas.observation import Target
from schemas.verdict import Status

TASK = make_task()
ALL = {"trajectory", "course", "pictures", "task"}


async def _prints(episode: Episode) -> JsonObject:
    finding = await Novelty().examine(TASK, episode)
    assert finding.status is Status.PASSED
    assert finding.evidence.keys() == ALL
    return finding.evidence


def _step(number: int, **change: object) -> Callable[[Episode], Episode]:
    def change_it(episode: Episode) -> Episode:
        steps = list(episode.steps)
        steps[number] = steps[number].model_copy(update=change)
        return episode.model_copy(update={"steps": tuple(steps)})

    return change_it


@pytest.mark.parametrize(
    ("change", "differing"),
    [
        (_step(1, screenshot_sha256="0" * 64), {"trajectory"}),
        (_step(0, screenshot_sha256="0" * 64), {"trajectory", "task"}),
        (_step(1, screenshot_phash="0" * 64), {"pictures"}),
        (_step(0, action=Click(x=1.0, y=12.0)), {"trajectory"}),
        (_step(0, action=Click(x=10.0, y=12.0, count=2)), {"trajectory", "course"}),
        (_step(0, target=Target(tag="button", role="button", name="Cancel")), {"course"}),
        (_step(0, thought="Another thought."), set()),
        (lambda one: one.model_copy(update={"instruction": "Do."}), {"course", "task"}),
        (lambda one: one.model_copy(update={"instruction": "click  THE button."}), set()),
        (
            lambda one: one.model_copy(update={"steps": one.steps[:2]}),
            {"trajectory", "course", "pictures"},
        ),
    ],
)
async def test_fingerprints_hold_what_was_seen_and_done(
    change: Callable[[Episode], Episode], differing: set[str]
) -> None:
    episode = make_episode(TASK)
    before, after = await _prints(episode), await _prints(change(episode))

    assert {name for name in ALL if before[name] != after[name]} == differing


async def test_an_episode_without_steps_is_not_examined() -> None:
    episode = make_episode(TASK).model_copy(update={"steps": ()})

    assert (await Novelty().examine(TASK, episode)).status is Status.UNSUPPORTED
