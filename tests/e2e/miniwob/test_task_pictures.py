"""What the pictures of MiniWoB++ show: the task and nothing beside it, up to the outcome and after."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
import pytest_asyncio
from effort import THOROUGH
from support.browsers.one_browser import browser_and_gateway
from support.browsers.task_pictures import IN_SIGHT, WIDE, is_beside, is_covered, pixels
from support.browsers.visits import visit_to
from support.episodes.factories import make_task

from generators.browser.chromium import Chromium
from generators.browser.protocol import Session
from generators.policy.protocol import PolicyInput
from generators.policy.teacher.policy import TeacherPolicy
from generators.policy.teacher.skill_table import SKILLS
from generators.sites.miniwob import MiniWob, start_url, template_paths
from generators.sites.protocol import Problem
from schemas.configuration.config import RunConfig
from schemas.episodes.action import Action, Answer, Click, Wait
from schemas.episodes.observation import Observation
from schemas.episodes.viewport import Viewport, draw_viewport, on_pixels

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

TEMPLATES = (
    sorted(template_paths())
    if THOROUGH
    else ["click-collapsible", "click-pie-nodelay", "click-test-2", "stock-market", "unicode-test"]
)

MAX_STEPS = 30


@dataclass
class Served:
    """The site and a browser in front of it."""

    site: MiniWob
    browser: Chromium
    done: dict[str, list[Observation]] = field(default_factory=dict)
    """What was seen of each template that the teacher has done."""

    async def watch_teacher(self, template: str) -> list[Observation]:
        """Return what is seen of a task that the teacher does, once."""
        if template not in self.done:
            self.done[template] = await self.play(template)
        return self.done[template]

    async def play(
        self, template: str, actions: Sequence[Action] | None = None
    ) -> list[Observation]:
        """Return what is seen of a task that the teacher does, or that is done by `actions`.

        No panel may be in sight, before and after each action.
        """
        task = make_task(1, template=template, instruction="")
        visit = await visit_to(
            self.site, task.model_copy(update={"start_url": start_url(template)})
        )
        area = self.site.area(template)
        viewport = draw_viewport(RunConfig(), area, seed=template)
        assert viewport.width >= area[0]
        assert viewport.height >= area[1]
        spec = visit.session_spec(
            viewport_width=viewport.width,
            viewport_height=viewport.height,
            device_scale_factor=viewport.scale,
        )
        async with self.browser.session(spec) as session:
            await session.open(visit.start_url)
            problem = await self.site.begin(visit, session)
            return await self._watch(problem, session, viewport, actions)

    async def _watch(
        self,
        problem: Problem,
        session: Session,
        viewport: Viewport,
        actions: Sequence[Action] | None,
    ) -> list[Observation]:
        policy, seen = TeacherPolicy(), [await session.observe()]
        for number in range(MAX_STEPS if actions is None else len(actions)):
            assert await session.evaluate(IN_SIGHT) == []
            if actions is None:
                turn = PolicyInput(problem.goal, [], seen[-1], session.reader)
                action = (await policy.act(turn)).action
            else:
                action = actions[number]
            action = on_pixels(action, viewport)
            assert (await session.act(action)).error is None
            seen.append(await session.observe())
            done = (await self.site.outcome(problem, session)).done
            if actions is None and (done or isinstance(action, Answer)):
                break
        assert await session.evaluate(IN_SIGHT) == []
        return seen


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def served() -> AsyncIterator[Served]:
    async with browser_and_gateway() as (browser, gateway):
        yield Served(MiniWob(gateway), browser)


@pytest.mark.parametrize("template", TEMPLATES)
async def test_no_panel_and_no_cover_is_in_a_picture(served: Served, template: str) -> None:
    for seen in await served.watch_teacher(template):
        picture = pixels(seen.screenshot.bytes)
        assert picture.shape[:2] == (seen.height, seen.width)
        assert not is_covered(picture)
        assert not {"Last reward:", "START"} & {element.text for element in seen.elements}
        assert not [element for element in seen.elements if element.bbox[:2] == (165, 0)]


@pytest.mark.parametrize("bare", [True, False])
async def test_the_checks_find_what_a_page_shows_beside_its_task(
    served: Served, *, bare: bool
) -> None:
    """A page that is left as it is fails each of them, and only that page does."""
    task = make_task(1, template="click-test-2", instruction="")
    task = task.model_copy(update={"start_url": start_url(task.template_id)})
    visit = (await visit_to(served.site, task)).model_copy(update={"bare": bare})
    width, height = WIDE
    spec = visit.session_spec(viewport_width=width, viewport_height=height)
    async with served.browser.session(spec) as session:
        await session.open(visit.start_url)
        problem = await served.site.begin(visit, session)
        first, shown = await session.observe(), await session.evaluate(IN_SIGHT)
        choice = next(element for element in first.elements if element.text == "TWO")
        x, y, across, down = choice.bbox
        await session.act(Click(x=x + across / 2, y=y + down / 2))
        assert (await served.site.outcome(problem, session)).done
        last, covered = await session.observe(), await session.evaluate(IN_SIGHT)

    area, seen = served.site.area(task.template_id), [first.screenshot.bytes, last.screenshot.bytes]
    assert is_covered(pixels(last.screenshot.bytes)[: area[1], : area[0]]) is not bare
    assert [is_beside(pixels(picture), area) for picture in seen] == [not bare] * 2
    assert shown == ([] if bare else ["click-canvas"])
    assert covered == ([] if bare else ["click-canvas", "sync-task-cover"])


@pytest.mark.parametrize("template", [name for name in TEMPLATES if name in SKILLS])
async def test_the_last_picture_shows_the_task_as_it_was_left(
    served: Served, template: str
) -> None:
    *_, last = await served.watch_teacher(template)

    goal = pixels(last.screenshot.bytes)[: last.height // 5, : last.width * 9 // 10]
    assert (np.abs(goal - (0xFF, 0xFF, 0)).max(axis=2) < 8).mean() > 0.5
    assert any(element.bbox[1] >= 50 for element in last.elements)


async def test_a_wrong_outcome_is_in_sight_too(served: Served) -> None:
    first, *_ = await served.play("click-test-2", [])
    wrong = next(element for element in first.elements if element.text == "TWO")
    x, y, width, height = wrong.bbox

    _, last = await served.play("click-test-2", [Click(x=x + width / 2, y=y + height / 2)])

    assert wrong.text in {element.text for element in last.elements}


async def test_a_page_stands_still_from_its_end_on(served: Served) -> None:
    later = [Wait(ms=3_000), Wait(ms=3_000)]
    running = await served.play("stock-market", later)
    first = next(element for element in running[0].elements if element.text == "Buy")
    x, y, width, height = first.bbox
    buy = Click(x=x + width / 2, y=y + height / 2)

    _, *after = await served.play("stock-market", [buy, *later])

    assert running[-1].elements != running[-2].elements
    assert len({seen.page.dom_sha256 for seen in after}) == 1
    assert len({seen.screenshot.path for seen in after}) == 1
