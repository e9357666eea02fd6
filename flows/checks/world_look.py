"""Finds usability defects of a world's page in a browser, and opens its dialogs and panels."""

from generators.browser.page_scripts import read_script, to_call
from generators.browser.protocol import Session


async def find_defects(session: Session) -> list[str]:
    """Return the visible usability defects of the page, a sentence each.

    A defect is an element that is wider than the page, cut off, outside its container, over another text, wrapped
    after each letter, covered by something not fixed in place by design, far from the box that it labels, or of a
    contrast below 3 to 1 (WCAG 2.2, 1.4.11; text over a picture is not judged).
    """
    found = await session.evaluate(to_call(read_script("flows.checks", "world_look.js")))
    return [str(defect) for defect in found] if isinstance(found, list) else []


async def open_in_place(session: Session) -> bool:
    """Open a link's target in a dialog or beside its list; return false if the page has no such link."""
    return bool(await session.evaluate(to_call(read_script("flows.checks", "world_open.js"))))
