"""Opens pages of worlds in a browser without a task, for pictures and checks of their look."""

import contextlib
from collections.abc import AsyncIterator

from flows.resources.browsers import Browsers
from generators.browser.protocol import Session
from generators.sites import worlds
from schemas.tasks.expectation import Expectation
from schemas.tasks.task import Task
from schemas.worlds.world import World

SIZE = 1024, 768
"""Width and height of a page in CSS px, as in runs of `configs/worlds.toml`."""


@contextlib.asynccontextmanager
async def open_world(browsers: Browsers, world: World, path: str = "/") -> AsyncIterator[Session]:
    """Open a page of a world in its own visit; the session ends with the context.

    The world is drawn again from its family and seed, as for any task.

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
        spec = visit.session_spec(viewport_width=SIZE[0], viewport_height=SIZE[1])
        async with browsers.sessions.session(spec) as session:
            await session.open(visit.start_url)
            yield session
