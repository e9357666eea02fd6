"""The tasks of fossil: templates over tickets, wiki pages and the forum, each drawn in seeded content.

What a task asks for is unique in its content, and what it expects is a change of the views that
`fossil.toml` declares, or an answer that the content gives.
"""

from functools import partial

from stepmill_applications.application_task import ApplicationTask, content_of, draw
from stepmill_applications.fossil.contents import draw_content
from stepmill_applications.fossil.page_tasks import PAGE_TEMPLATES
from stepmill_applications.fossil.ticket_tasks import TICKET_TEMPLATES


def draw_tasks(seed: int) -> tuple[ApplicationTask, ...]:
    """Return one task of each template, drawn from `seed`."""
    content = draw_content(content_of(seed))
    templates = TICKET_TEMPLATES | PAGE_TEMPLATES
    return draw({name: partial(template, content) for name, template in templates.items()}, seed)
