"""The tasks of fossil: templates over tickets, wiki pages and the forum, each drawn in a world.

What a task asks for is unique in its world, and what it expects is a change of the views that
`fossil.toml` declares, or an answer that the world knows.
"""

from functools import partial

from generators.sites.installable.application_task import ApplicationTask, draw, world_of
from generators.sites.installable.fossil.page_tasks import PAGE_TEMPLATES
from generators.sites.installable.fossil.ticket_tasks import TICKET_TEMPLATES
from generators.sites.installable.fossil.world import draw_world


def draw_tasks(seed: int) -> tuple[ApplicationTask, ...]:
    """Return one task of each template, drawn from `seed`."""
    world = draw_world(world_of(seed))
    templates = TICKET_TEMPLATES | PAGE_TEMPLATES
    return draw({name: partial(template, world) for name, template in templates.items()}, seed)
