"""Episodes recorded over scripted pages with an element and dialogs, and damage to one of their parts."""

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from support.browsers.scripted_rollouts import (
    RUNNING,
    WON,
    attempt_it,
    clicks,
    pages,
    scripted_task,
)
from support.browsers.scripted_session import ScriptedSession, ScriptedSessions
from support.browsers.scripted_site import ScriptedSite

from generators.browser.protocol import SessionSpec
from generators.verify.replay import ReplayResult, replay
from schemas.episodes.action import Action
from schemas.episodes.episode import Episode
from schemas.episodes.observation import Effect, Element, Observation, Sight
from schemas.tasks.task import Task

BUTTON = Element(
    role="button",
    name="Go",
    tag="button",
    text="Go",
    bbox=(1.0, 2.0, 30.5, 20.0),
    interactive=True,
    visible=1.0,
    covered=False,
)


SIGHT = Sight(text="OK", bbox=(1, 1, 20, 10))


class Furnished(ScriptedSession):
    """A scripted session with an element on its pages and dialogs at its actions."""

    async def observe(self) -> Observation:
        seen = await super().observe()
        return seen.model_copy(update={"elements": (BUTTON, BUTTON), "sights": (SIGHT, SIGHT)})

    async def act(self, action: Action) -> Effect:
        effect = await super().act(action)
        return effect.model_copy(update={"result_text": "Hello"})


class FurnishedSessions(ScriptedSessions):
    """Sessions over the same pages each time, the first of them won by the second click."""

    def __init__(self) -> None:
        super().__init__(pages(RUNNING, RUNNING, WON))

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[ScriptedSession]:
        async with super().session(spec):
            yield Furnished(self._scripts[0], spec)


async def recorded(*actions: Action) -> Episode:
    return await attempt_it(FurnishedSessions(), actions or clicks(2))


async def replayed(
    episode: Episode, *, site: ScriptedSite | None = None, task: Task | None = None
) -> ReplayResult:
    sites = {"scripted": site or ScriptedSite()}
    return await replay(task or scripted_task(), episode, sites=sites, sessions=FurnishedSessions())


Damage = Callable[[Episode], Episode]


def in_step(number: int, **changes: Any) -> Damage:
    def damage(episode: Episode) -> Episode:
        steps = list(episode.steps)
        steps[number] = steps[number].model_copy(update=changes)
        return episode.model_copy(update={"steps": tuple(steps)})

    return damage


def on_page(number: int, **changes: Any) -> Damage:
    return lambda episode: in_step(
        number, page=episode.steps[number].page.model_copy(update=changes)
    )(episode)


def on_target(number: int, **changes: Any) -> Damage:
    def damage(episode: Episode) -> Episode:
        target = episode.steps[number].target
        assert target is not None
        return in_step(number, target=target.model_copy(update=changes))(episode)

    return damage


def on_element(**changes: Any) -> Damage:
    return in_step(1, elements=(BUTTON, BUTTON.model_copy(update=changes)))


def in_episode(**changes: Any) -> Damage:
    return lambda episode: episode.model_copy(update=changes)


def in_capsule(part: str, **changes: Any) -> Damage:
    def damage(episode: Episode) -> Episode:
        inner = episode.capsule[part]
        assert isinstance(inner, dict)
        return in_episode(capsule=episode.capsule | {part: inner | changes})(episode)

    return damage
