"""The tasks of MediaWiki: templates of reading and of writing, each drawn in a world.

What a task asks for is unique in its world, and what it expects is a change of the views that
`mediawiki.toml` declares, or an answer that the world knows.
"""

from functools import partial

from generators.sites.installable.application_task import ApplicationTask, draw, world_of
from generators.sites.installable.mediawiki.reading_tasks import READING_TEMPLATES
from generators.sites.installable.mediawiki.world import draw_world
from generators.sites.installable.mediawiki.writing_tasks import WRITING_TEMPLATES


def draw_tasks(seed: int) -> tuple[ApplicationTask, ...]:
    """Return one task of each template, drawn from `seed`."""
    world = draw_world(world_of(seed))
    templates = READING_TEMPLATES | WRITING_TEMPLATES
    return draw({name: partial(template, world) for name, template in templates.items()}, seed)
