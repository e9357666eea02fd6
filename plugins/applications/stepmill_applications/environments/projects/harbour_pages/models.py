"""What the pages are: articles with a lead and a text, and notices that stand on each."""

from django.db import models
from wagtail.admin.panels import FieldPanel
from wagtail.models import Page
from wagtail.snippets.models import register_snippet


class Article(Page):
    """A page with words."""

    lead = models.CharField(max_length=200, blank=True)
    text = models.TextField(blank=True)

    content_panels = (*Page.content_panels, FieldPanel("lead"), FieldPanel("text"))
    template = "harbour_pages/article.html"


@register_snippet
class Notice(models.Model):
    """A short text that is shown until a day."""

    text = models.CharField(max_length=200)
    until = models.CharField(max_length=20, blank=True)

    panels = (FieldPanel("text"), FieldPanel("until"))

    def __str__(self) -> str:
        """Return its text."""
        return str(self.text)
