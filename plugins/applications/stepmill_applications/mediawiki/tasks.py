"""The tasks of MediaWiki: templates of reading and of writing, each drawn in seeded content.

What a task asks for is unique in its content, and what it expects is a change of the views that
`mediawiki.toml` declares, or an answer that the content gives.
"""

from functools import partial

from stepmill_applications.application_task import ApplicationTask, content_of, draw
from stepmill_applications.mediawiki.contents import draw_content
from stepmill_applications.mediawiki.reading_tasks import READING_TEMPLATES
from stepmill_applications.mediawiki.writing_tasks import WRITING_TEMPLATES


def draw_tasks(seed: int) -> tuple[ApplicationTask, ...]:
    """Return one task of each template, drawn from `seed`."""
    content = draw_content(content_of(seed))
    templates = READING_TEMPLATES | WRITING_TEMPLATES
    return draw({name: partial(template, content) for name, template in templates.items()}, seed)
