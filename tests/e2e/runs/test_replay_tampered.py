"""A replay on real pages parts where a record was tampered with, and says in which column.

Two episodes are recorded once; each test changes one thing of one of them, as a faulty recorder would.
"""

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image, ImageOps
from support.browsers.one_browser import browser_and_gateway
from support.browsers.remembered_sessions import RememberedSessions, RememberedSite
from support.episodes.factories import make_task

from generators.browser.chromium import Chromium
from generators.policy.teacher.policy import TeacherPolicy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.miniwob import MiniWob, start_url
from generators.sites.protocol import Site
from generators.verify.replay import Replay, ReplayResult, replay
from schemas.episodes.action import Action, Click, Hover, TypeText
from schemas.episodes.episode import Episode, Step
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Status

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]


@dataclass
class Recorded:
    """Episodes of the teacher, and what they are replayed with."""

    sites: dict[str, Site]
    sessions: RememberedSessions
    """What was done on the same page is not done again."""
    tasks: dict[str, Task]
    episodes: dict[str, Episode]

    async def replayed(self, name: str, episode: Episode) -> ReplayResult:
        """Return how a replay of the task `name` compares with `episode`."""
        return await replay(self.tasks[name], episode, sites=self.sites, sessions=self.sessions)


TASKS = {
    "words": ("enter-text", 0),
    "other words": ("enter-text", 1),
    "drawing": ("count-sides", 0),
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def recorded() -> AsyncIterator[Recorded]:
    async with browser_and_gateway() as (browser, gateway):
        site = MiniWob(gateway)
        tasks = {
            name: make_task(seed, template=template, instruction="").model_copy(
                update={"start_url": start_url(template)}
            )
            for name, (template, seed) in TASKS.items()
        }
        async with asyncio.TaskGroup() as group:
            made = {
                name: group.create_task(_record(site, browser, task))
                for name, task in tasks.items()
            }
        episodes = {name: one.result() for name, one in made.items()}
        sites: dict[str, Site] = {"miniwob": RememberedSite(site)}  # type: ignore[dict-item]  # the rest is the site's
        yield Recorded(sites, RememberedSessions(browser), tasks, episodes)


async def _record(site: MiniWob, browser: Chromium, task: Task) -> Episode:
    return await rollout(
        Attempt(
            run_id="run",
            unit_id="unit",
            task=task,
            attempt=0,
            viewport_width=500,
            viewport_height=400,
            device_scale_factor=1.0,
            code_version="test",
        ),
        site=site,
        sessions=browser,
        make_policy=lambda _: TeacherPolicy(),
        limits=Limits(steps=30, seconds=120, stuck_steps=4),
    )


@pytest.mark.parametrize("name", TASKS)
async def test_a_true_record_is_reproduced(recorded: Recorded, name: str) -> None:
    episode = recorded.episodes[name]
    verifier = Replay(recorded.sites, sessions=recorded.sessions.carried_out())

    found = await verifier.examine(recorded.tasks[name], episode)

    assert (found.status, episode.done) == (Status.PASSED, True), found
    assert found.reason.startswith(f"all {len(episode.steps)} states agree")


Damage = Callable[[Episode, Episode], Episode]
"""Returns an episode tampered with; the second is another of the same template."""


def episode_with(**changes: Any) -> Damage:
    return lambda episode, _: episode.model_copy(update=changes)


def step_with(number: int, **changes: Any) -> Damage:
    def damage(episode: Episode, _: Episode) -> Episode:
        steps = list(episode.steps)
        steps[number] = steps[number].model_copy(update=changes)
        return episode.model_copy(update={"steps": tuple(steps)})

    return damage


def page_with(number: int, **changes: Any) -> Damage:
    return lambda episode, other: step_with(
        number, page=episode.steps[number].page.model_copy(update=changes)
    )(episode, other)


def target_with(number: int, **changes: Any) -> Damage:
    def damage(episode: Episode, other: Episode) -> Episode:
        target = episode.steps[number].target
        assert target is not None
        return step_with(number, target=target.model_copy(update=changes))(episode, other)

    return damage


def element_with(number: int, **changes: Any) -> Damage:
    def damage(episode: Episode, other: Episode) -> Episode:
        *others, last = episode.steps[number].elements
        elements = (*others, last.model_copy(update=changes))
        return step_with(number, elements=elements)(episode, other)

    return damage


def visit_with(**changes: Any) -> Damage:
    def damage(episode: Episode, _: Episode) -> Episode:
        visit = episode.capsule["visit"]
        assert isinstance(visit, dict)
        capsule = episode.capsule | {"visit": visit | changes}
        return episode.model_copy(update={"capsule": capsule})

    return damage


def rows(pick: Callable[[tuple[Step, ...]], list[Step]]) -> Damage:
    """Return an episode of other rows, numbered anew."""

    def damage(episode: Episode, _: Episode) -> Episode:
        chosen = pick(episode.steps)
        numbered = [step.model_copy(update={"step": at}) for at, step in enumerate(chosen)]
        return episode.model_copy(update={"steps": tuple(numbered)})

    return damage


def action_with(number: int, change: Callable[[Action], Action]) -> Damage:
    return lambda episode, other: step_with(number, action=change(episode.steps[number].action))(
        episode, other
    )


def moved(action: Action) -> Action:
    assert isinstance(action, Click)
    return action.model_copy(update={"x": 400.0, "y": 300.0})


def misspelt(action: Action) -> Action:
    assert isinstance(action, TypeText)
    return action.model_copy(update={"text": action.text + "x"})


def hovered(action: Action) -> Action:
    assert isinstance(action, Click)
    return Hover(x=action.x, y=action.y)


def picture_of(number: int, find: Callable[[Episode, Episode], Step]) -> Damage:
    return lambda episode, other: step_with(number, screenshot=find(episode, other).screenshot)(
        episode, other
    )


def painted(number: int, paint: Callable[[Image.Image], Image.Image]) -> Damage:
    """Return an episode with a picture painted over, and encoded as the browser does."""

    def damage(episode: Episode, other: Episode) -> Episode:
        shot = episode.steps[number].screenshot
        out = io.BytesIO()
        with Image.open(io.BytesIO(shot.bytes)) as picture:
            paint(picture.convert("RGB")).save(out, "JPEG", quality=80)
        lying = shot.model_copy(update={"bytes": out.getvalue()})
        return step_with(number, screenshot=lying)(episode, other)

    return damage


def blank(picture: Image.Image) -> Image.Image:
    return Image.new("RGB", picture.size, (255, 255, 255))


DAMAGES: dict[str, tuple[int, str, Damage]] = {
    "the start URL": (0, "start_url", episode_with(start_url=start_url("click-test"))),
    "the capsule's start URL": (
        0,
        "capsule.visit.start_url",
        visit_with(start_url=start_url("click-test")),
    ),
    "the seed": (0, "seed", episode_with(seed=7)),
    "the capsule's seed": (0, "capsule.visit.seed", visit_with(seed="7")),
    "the goal": (0, "goal", episode_with(instruction='Enter "Nobody" and press Submit.')),
    "the reward before": (0, "reward_before", episode_with(reward_before=1.0)),
    "the viewport": (0, "capsule.session.viewport_width", episode_with(viewport_width=501)),
    "the URL": (1, "url", page_with(1, url=start_url("click-test"))),
    "the title": (1, "title", page_with(1, title="Another Task")),
    "the form": (1, "form_sha256", page_with(1, form_sha256="0" * 64)),
    "the focus": (1, "focus", page_with(1, focus="button#subbtn")),
    "the scroll to the right": (1, "scroll_x", page_with(1, scroll_x=5.0)),
    "the scroll downwards": (1, "scroll_y", page_with(1, scroll_y=5.0)),
    "the DOM": (1, "dom_sha256", page_with(1, dom_sha256="0" * 64)),
    "an element's name": (1, "elements", element_with(1, name="Cancel")),
    "an element's box": (1, "elements", element_with(1, bbox=(0.0, 0.0, 9.0, 9.0))),
    "no elements": (1, "number of elements", step_with(1, elements=())),
    "the action's error": (0, "action_error", step_with(0, action_error="it did not work")),
    "the target's tag": (0, "target.tag", target_with(0, tag="select")),
    "the target's box": (0, "target.bbox", target_with(0, bbox=(0.0, 0.0, 9.0, 9.0))),
    "no target": (0, "target", step_with(0, target=None)),
    "the dialogs": (0, "result_text", step_with(0, result_text="Are you sure?")),
    "whether the page changed": (0, "state_changed", step_with(0, state_changed=False)),
    "the last step's reward": (-2, "reward", step_with(-2, reward=-1.0)),
    "a reward too early": (0, "reward", step_with(0, reward=1.0)),
    "an end that was none": (-2, "terminated", step_with(-2, terminated=False)),
    "the episode's reward": (-1, "episode.reward", episode_with(reward=-1.0)),
    "the episode's done": (-1, "episode.done", episode_with(done=False)),
    "an answer": (-1, "episode.answer", episode_with(answer="42")),
    "a picture blank": (1, "picture", painted(1, blank)),
    "the last picture blank": (-1, "picture", painted(-1, blank)),
    "a picture of another step": (1, "picture", picture_of(1, lambda own, _: own.steps[-1])),
    "a picture of the step before": (1, "picture", picture_of(1, lambda own, _: own.steps[0])),
    "a picture of another episode": (0, "picture", picture_of(0, lambda _, other: other.steps[0])),
    "an action moved": (0, "target", action_with(0, moved)),
    "another text typed": (2, "form_sha256", action_with(1, misspelt)),
    "an action renamed": (-3, "reward", action_with(-3, hovered)),
    "no final row": (-2, "final row", rows(lambda steps: [*steps[:-1]])),
    "the first step dropped": (0, "focus", rows(lambda steps: [*steps[1:]])),
    "a step doubled": (2, "form_sha256", rows(lambda s: [*s[:2], *s[1:]])),
    "two steps swapped": (1, "form_sha256", rows(lambda s: [s[0], s[2], s[1], *s[3:]])),
}


@pytest.mark.parametrize("name", DAMAGES)
async def test_what_was_tampered_with_is_named(recorded: Recorded, name: str) -> None:
    number, column, damage = DAMAGES[name]
    damaged = damage(recorded.episodes["words"], recorded.episodes["other words"])

    found = await recorded.replayed("words", damaged)

    at = number % len(recorded.episodes["words"].steps)
    assert not found.reproduced
    assert found.because.startswith(f"diverged at step {at} because "), found.because
    assert any(said.startswith(column) for said in found.steps[at].differs), found.because


CANVAS = (0, 50, 160, 160)
"""Where the page draws, px."""


def upside_down(picture: Image.Image) -> Image.Image:
    """Return a page of which only the drawing differs."""
    picture.paste(ImageOps.flip(picture.crop(CANVAS)), CANVAS[:2])
    return picture


def undrawn(picture: Image.Image) -> Image.Image:
    picture.paste((255, 255, 255), (10, 60, 150, 150))
    return picture


@pytest.mark.parametrize("paint", [upside_down, undrawn])
async def test_a_drawing_that_no_state_of_the_page_shows_is_compared_by_its_pixels(
    recorded: Recorded, paint: Callable[[Image.Image], Image.Image]
) -> None:
    episode = recorded.episodes["drawing"]

    found = await recorded.replayed("drawing", painted(0, paint)(episode, episode))

    assert found.because.startswith("diverged at step 0 because picture: ")
    assert [len(step.differs) for step in found.steps] == [1, *(0 for _ in episode.steps[1:])]
