"""Skills that count or tell numbers apart."""

from generators.policy.teacher.goals import nth, whole
from generators.policy.teacher.page import Page
from generators.policy.teacher.primitives import Plan, named, press, submit, the, write


def add_blocks(page: Page) -> Plan:
    """Count the blocks on both sides of the plus and type how many there are in all."""
    one, other = (
        len(page.all(cls="addition-block", within=page.by_id(side)))
        for side in ("visual-1", "visual-2")
    )
    why = f"I count {one} and {other} blocks, which is {one + other} in all."
    page = yield from write(page, named("math-answer"), str(one + other), why)
    return (yield from submit(page))


def mark_parity(page: Page) -> Plan:
    """Mark each number as odd or even and submit."""
    values = [whole(node.text) for node in page.all(cls="display-number")]
    for place, value in enumerate(values, 1):
        kind = "odd" if value % 2 else "even"
        why = f"The {nth(place)} number, {value}, is {kind}, so I mark it as that."
        page = yield from press(page, the("button", cls=kind, place=place), why)
    return (yield from submit(page))
