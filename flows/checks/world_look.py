"""Looks at a page of a world in a browser: what makes it hard or impossible to use, and what it opens over itself."""

from generators.browser.page_scripts import read_script, to_call
from generators.browser.protocol import Session


async def find_defects(session: Session) -> list[str]:
    """Return what makes the page hard or impossible to use as it is shown, in a sentence each.

    That is what is wider than the page, cut off, out of what it is in, over another text, broken after each letter,
    covered by something that does not stay in place by design, far from the box that it is the label of, or of less
    than 3 to 1 in contrast (WCAG 2.2, 1.4.11; a picture behind a text is not judged).
    """
    found = await session.evaluate(to_call(read_script("flows.checks", "world_look.js")))
    return [str(defect) for defect in found] if isinstance(found, list) else []


async def open_in_place(session: Session) -> bool:
    """Open what the page shows in a window over it, or beside its list; false: it has nothing of the kind."""
    return bool(await session.evaluate(to_call(read_script("flows.checks", "world_open.js"))))
