"""MiniWoB++ without a browser: its tasks over pages that only count clicks, for whole commands.

In place of the workshop's browsers and site stand scripted sessions and the scripted site.
Everything else, from the command line to the tables, is the program itself.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from support.browsers.scripted_rollouts import RUNNING, WON, pages
from support.browsers.scripted_session import ScriptedSessions
from support.browsers.scripted_site import ScriptedSite

from flows.job import open_job as open_module
from flows.resources.browsers import SlottedSites
from flows.resources.engines import PolicyRuntime
from flows.resources.resources import RunResources
from flows.serving import opening as serving_module
from generators.policy.factory import PolicyFactory
from generators.sites.protocol import Site, Visit
from generators.verify.panel import Panel
from generators.verify.registry import make_verifiers
from schemas.configuration.config import RunConfig
from schemas.tasks.task import Task

SCRIPT = '{"click-test": [{"type": "click", "x": 5, "y": 5}, {"type": "click", "x": 6, "y": 5}]}'
"""What wins: two clicks, as the pages want them."""


class Pretender(ScriptedSite):
    """The scripted site where MiniWoB++ would be."""

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with super().open(task) as visit:
            yield visit.model_copy(update={"allowed_origins": ("http://miniwob.localhost",)})


class ScriptedWorkshop(RunResources):
    """A workshop whose browsers are lists of pages."""

    site: Site = Pretender()
    """What stands where MiniWoB++ would be."""

    def __init__(self, config: RunConfig, *, policies: bool = True) -> None:
        super().__init__(config, policies=policies)
        sites: dict[str, Site] = {"miniwob": self.site}
        self.sites = sites
        self.panel = Panel(
            make_verifiers(
                config.verify.verifiers,
                sites=SlottedSites(sites, self.slots),
                sessions=self._replays,
            ),
            config.accept,
        )

    async def start(self, sites: Collection[str], *, rollouts: bool) -> PolicyRuntime | None:
        del sites
        for fleet in (self.rollouts, self._replays):
            fleet.add(ScriptedSessions(pages(RUNNING, RUNNING, WON)))
        return PolicyRuntime(PolicyFactory(self._config)) if rollouts else None


def install() -> None:
    """Let commands work with such a workshop."""
    for module in (open_module, serving_module):
        setattr(module, RunResources.__name__, ScriptedWorkshop)
