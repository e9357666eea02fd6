"""`python -m harbour_pages.seed`: fill the empty tables with the harbour's pages, and let Mia in."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402 - after the setup
from wagtail.models import Page, PageLogEntry, Revision, Site  # noqa: E402

from harbour_pages.models import Article, Notice  # noqa: E402

SHIPS = 15

NOTICES = ("The lock is closed on Sunday.", "Fog: ships wait outside.", "The canteen opens at 6.")


def seed(file: Path) -> None:
    """Write what a file says."""
    told = json.loads(file.read_text(encoding="utf-8"))
    Page.objects.filter(depth=2).delete()
    root = Page.objects.get(depth=1)
    home = root.add_child(instance=Article(title="Harbour", slug="home", lead="Welcome."))
    Site.objects.all().delete()
    Site.objects.create(hostname="wagtail.localhost", root_page=home, is_default_site=True)
    ships = home.add_child(
        instance=Article(title="Ships", slug="ships", lead="Those that call here.")
    )
    news = home.add_child(instance=Article(title="News", slug="news", lead="What happens."))
    for one in told["ships"][:SHIPS]:
        text = f"The {one['name']} is {one['length']} metres long and was built in {one['built']}."
        ships.add_child(instance=Article(title=one["name"], lead=f"A {one['kind']}.", text=text))
    for place, title in enumerate(("New crane", "Old pier", "Winter hours", "Open day")):
        lead = f"Number {place + 1} of the news."
        news.add_child(instance=Article(title=title, lead=lead, live=title != "Winter hours"))
    User.objects.create_superuser("mia", "mia@harbour.test", "harbour", first_name="Mia")
    for page in Article.objects.order_by("path"):
        page.save_revision(user=User.objects.get(username="mia"), clean=False)
        if page.live:
            page.get_latest_revision().publish()
    at = datetime(2025, 11, 3, 8, tzinfo=UTC)  # not when the content is made
    Page.objects.update(first_published_at=at, last_published_at=at, latest_revision_created_at=at)
    Page.objects.filter(live=False).update(first_published_at=None, last_published_at=None)
    Revision.objects.update(created_at=at)
    PageLogEntry.objects.update(timestamp=at)
    User.objects.update(date_joined=at)
    Notice.objects.bulk_create(Notice(text=text) for text in NOTICES)


if __name__ == "__main__":
    seed(Path(os.environ["HARBOUR_FOLDER"], "harbour.json"))
