"""What the fingerprints of an episode depend on, and what not."""

from collections.abc import Callable

import pytest
from support.episodes.factories import make_episode, make_task

from generators.verify.novelty import Novelty
from schemas.base import JsonObject
from schemas.episodes.action import Click, Drag, NoAction
from schemas.episodes.episode import Episode
from schemas.episodes.observation import Target
from schemas.verdicts.verdict import Status

TASK = make_task()
ALL = {"trajectory", "course", "pictures", "task"}
"""The fingerprints; the sketch follows from the first three."""

SKETCH = (
    "0100035d236b6a26868dd2afbcea973f9d1fbf00000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000"
    "10ef021802001940420000451804552a00a51e000258061a0009a144948e000a"
    "09c8c0600b1018400f600a0810d1800410896ac0401500400041027ac21101c8"
)
"""The sketch of the fingerprints below."""


async def _prints(episode: Episode) -> JsonObject:
    finding = await Novelty().examine(TASK, episode)
    assert finding.status is Status.PASSED
    assert finding.evidence.keys() == {*ALL, "sketch"}
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
        (_step(0, action=Click(x=10.0, y=99.0)), {"trajectory"}),
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
    assert (before["sketch"] != after["sketch"]) is bool(differing - {"task"})


@pytest.mark.parametrize("name", ["x", "y", "to_x", "to_y"])
async def test_where_something_was_dragged_is_no_part_of_the_course(name: str) -> None:
    dragged = Drag(x=1, y=1, to_x=2, to_y=2)
    elsewhere = dragged.model_copy(update={name: 9})
    before, after = [
        await _prints(_step(0, action=action)(make_episode(TASK)))
        for action in (dragged, elsewhere)
    ]

    assert {name for name in ALL if before[name] != after[name]} == {"trajectory"}


async def test_fingerprints_are_the_same_whenever_an_episode_is_judged() -> None:
    """Those of episodes that were judged long ago are compared with those of today."""
    task = TASK.model_copy(update={"template_id": "one"})
    episode = make_episode(task).model_copy(update={"instruction": "Do it."})
    actions = (Click(x=1, y=2), Drag(x=1, y=1, to_x=2, to_y=2), NoAction())
    for number, action in enumerate(actions):
        target = Target(tag="b", role="button", text="Go") if number == 0 else None
        picture = {"screenshot_sha256": f"{number}" * 64, "screenshot_phash": f"{number}" * 64}
        episode = _step(number, action=action, target=target, **picture)(episode)
    assert len(episode.steps) == len(actions)

    assert (await Novelty().examine(task, episode)).evidence == {
        "trajectory": "5d236b6a26868dd24a8fcf06a15124b5",
        "course": "afbcea973f9d1fbf158144f3ec166399",
        "pictures": ["0" * 64, "1" * 64, "2" * 64],
        "sketch": SKETCH,
        "task": "dd532ffcf3cf35a8ca8d94342b8c6313",
    }


async def test_an_episode_without_steps_is_not_examined() -> None:
    episode = make_episode(TASK).model_copy(update={"steps": ()})

    assert (await Novelty().examine(TASK, episode)).status is Status.UNSUPPORTED
