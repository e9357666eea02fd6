"""Opens pages of worlds in a browser without a task, and finds their usability defects."""

import contextlib
from collections.abc import AsyncIterator

from flows.resources.browsers import Browsers
from generators.browser.page_scripts import read_script, to_call
from generators.browser.protocol import Session
from generators.sites import worlds
from schemas.tasks.expectation import Expectation
from schemas.tasks.task import Task
from schemas.worlds.world import World

SIZE = 1024, 768
"""Width and height of a page's usual window, CSS px."""

SIZES = ((390, 844), SIZE, (2_560, 1_440))
"""The windows in which pages are checked: the narrowest of `configs/worlds.toml`, the usual one and the widest."""


@contextlib.asynccontextmanager
async def open_world(
    browsers: Browsers, world: World, path: str = "/", *, size: tuple[int, int] = SIZE
) -> AsyncIterator[Session]:
    """Open a page of a world in its own visit; the session ends with the context.

    The world is drawn again from its family and seed, as for any task. `size` is that of the window, CSS px.

    Raises:
        RolloutFailure: the page does not load.
    """
    task = Task(
        task_id=f"{world.family}/{world.seed}",
        template_id=f"{world.family}/look",
        source=worlds.NAME,
        site=worlds.NAME,
        start_url=f"{world.origin}{path}",
        instruction="",
        parameters={"family": world.family, "world": world.seed},
        expect=Expectation(answer="A look asks nothing."),
    )
    site = browsers.sites[worlds.NAME]
    async with site.open(task) as visit:
        spec = visit.session_spec(viewport_width=size[0], viewport_height=size[1])
        async with browsers.sessions.session(spec) as session:
            await session.open(visit.start_url)
            yield session


async def find_defects(session: Session) -> list[str]:
    """Return the visible usability defects of the page, a sentence each.

    A defect is an element that is wider than the page, cut off, outside its container, over another text, wrapped
    after each letter, covered by something not fixed in place by design, far from the box that it labels, or of a
    contrast below 3 to 1 (WCAG 2.2, 1.4.11; text over a picture is not judged).
    """
    found = await session.evaluate(to_call(read_script("flows.checks", "world_look.js")))
    return [str(defect) for defect in found] if isinstance(found, list) else []


async def open_in_place(session: Session) -> bool:
    """Open a link's target in a dialog or beside its list; return false if the page has no such link."""
    return bool(await session.evaluate(to_call(read_script("flows.checks", "world_open.js"))))
