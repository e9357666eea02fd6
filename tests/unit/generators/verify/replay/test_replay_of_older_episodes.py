"""A replay compares what was in sight, and of an older episode all that its version recorded."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.browsers.scripted_site import ScriptedSite
from support.episodes.damaged_episodes import (
    SIGHT,
    Damage,
    in_episode,
    in_step,
    on_target,
    recorded,
    replayed,
)

from generators.browser.protocol import Session
from generators.sites.protocol import Problem, Visit
from schemas.base import JsonObject
from schemas.episodes.action import Click, Key
from schemas.episodes.episode import Episode
from schemas.episodes.observation import Target
from schemas.tasks.task import Task

SIGHT_LIES: dict[str, Damage] = {
    "sights[1].text: 'No' → 'OK'": in_step(
        1, sights=(SIGHT, SIGHT.model_copy(update={"text": "No"}))
    ),
    "sights[0].bbox: (0.0, 0.0, 1.0, 1.0) → ": in_step(
        1, sights=(SIGHT.model_copy(update={"bbox": (0.0, 0.0, 1.0, 1.0)}), SIGHT)
    ),
    "number of sights: 1 → 2": in_step(1, sights=(SIGHT,)),
    "number of sights: 0 → 2": in_step(1, sights=()),
}


@pytest.mark.parametrize(("said", "damage"), SIGHT_LIES.items(), ids=SIGHT_LIES)
async def test_what_was_in_sight_is_compared(said: str, damage: Damage) -> None:
    found = await replayed(damage(await recorded()))

    assert found.because.startswith(f"diverged at step 1 because {said}"), found.because


async def test_where_no_sight_was_recorded_none_is_compared() -> None:
    episode = await recorded()
    for number in range(len(episode.steps)):
        episode = in_step(number, sights=None)(episode)

    assert (await replayed(episode)).because == "all 3 states agree"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "hidden", "text": "hidden too"}, None),
        ({"tag": "b"}, "target.tag: 'b' → 'body'"),
        ({"role": "link"}, "target.role: 'link' → None"),
    ],
)
async def test_a_target_that_an_earlier_version_named_is_compared_but_for_its_words(
    changes: dict[str, str], said: str | None
) -> None:
    damaged = on_target(0, **changes)(await recorded())

    now, older = await replayed(damaged), await replayed(in_step(0, sights=None)(damaged))

    assert not now.reproduced
    assert older.because == (
        "all 3 states agree" if said is None else f"diverged at step 0 because {said}"
    )


async def test_a_target_that_an_earlier_version_did_not_see_is_a_difference() -> None:
    older = in_step(0, sights=None)(await recorded())

    assert "target: None → Target(" in (await replayed(in_step(0, target=None)(older))).because
    answered = in_step(1, target=Target(tag="body", bbox=BODY))(older)
    assert (await replayed(answered)).reproduced


BODY = (0.0, 0.0, 100.0, 80.0)
ADDED = {"visit": ["allowed_paths", "bare"], "session": ["allowed_paths"]}
"""What capsules of earlier versions lack, by part."""


def without(episode: Episode, part: str, key: str) -> Episode:
    inner = episode.capsule[part]
    assert isinstance(inner, dict)
    rest: JsonObject = {name: value for name, value in inner.items() if name != key}
    return in_episode(capsule=episode.capsule | {part: rest})(episode)


@pytest.mark.parametrize(("part", "key"), [(p, key) for p, keys in ADDED.items() for key in keys])
async def test_a_capsule_of_an_earlier_version_is_replayed(part: str, key: str) -> None:
    assert (await replayed(without(await recorded(), part, key))).because == "all 3 states agree"


class Panelled(ScriptedSite):
    """A site whose pages are bare now, and tells how each was begun."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[bool] = []

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with super().open(task) as visit:
            yield visit.model_copy(update={"bare": True})

    async def begin(self, visit: Visit, session: Session) -> Problem:
        self.begun.append(visit.bare)
        return await super().begin(visit, session)


@pytest.mark.parametrize("stated", [True, False, None])
async def test_a_page_is_as_bare_as_when_the_episode_was_recorded(*, stated: bool | None) -> None:
    episode = await recorded()
    visit = episode.capsule["visit"]
    assert isinstance(visit, dict)
    told = in_episode(capsule=episode.capsule | {"visit": visit | {"bare": stated}})(episode)
    site = Panelled()

    found = await replayed(without(episode, "visit", "bare") if stated is None else told, site=site)

    assert site.begun == [stated is not None]
    assert found.reproduced is (stated is not False)


async def test_an_action_that_is_refused_again_is_reproduced() -> None:
    episode = await recorded(Click(x=100, y=1))
    assert episode.steps[0].action_error == "that is outside the viewport"

    assert (await replayed(episode)).reproduced


async def test_a_target_that_is_not_there_again_is_said_with_what_was() -> None:
    def targetless(episode: Episode) -> Episode:
        return in_step(1, action=Key(key="a"), x_norm=None, y_norm=None)(episode)

    found = await replayed(targetless(await recorded()))

    assert "target: Target(tag='body'" in found.because
    assert " → None" in found.because
