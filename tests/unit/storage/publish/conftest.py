"""Publications here show the same few pages again and again: their sheet is drawn once."""

from functools import cache

import pytest

from storage.publish import publish
from storage.publish.card.contact_sheet import contact_sheet

_drawn = cache(contact_sheet)
"""The same pages make the same bytes; drawing them takes more than all else of a publication."""


@pytest.fixture(autouse=True)
def _sheets_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, contact_sheet.__name__, _drawn)
