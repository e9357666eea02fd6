"""A site's visit where a test needs no more of it than what it says."""

from generators.sites.protocol import Site, Visit
from schemas.tasks.task import Task


async def visit_to(site: Site, task: Task) -> Visit:
    """Return a visit of `task` that has ended already."""
    async with site.open(task) as visit:
        return visit
