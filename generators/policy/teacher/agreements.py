"""Skills that read what is offered and then answer to it: an agreement to sign, a shell to use."""

import re

from generators.policy.teacher.goals import parts
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import (
    Plan,
    button,
    click_at,
    do,
    named,
    press,
    spot,
    write,
)
from schemas.action import Direction, Scroll, TypeText


def sign(page: Page) -> Plan:
    """Cancel at once, or read to the end, sign, and press what the goal says."""
    if "Click the cancel button" in page.goal:
        return (yield from press(page, button("Cancel"), "The goal asks to cancel, so I do."))
    name, choice = parts(r'enter the name "(.*?)" then press "(Agree|Cancel)"', page.goal)
    text = named("text-area")(page)
    x, y = spot(text)
    rest = round((text.scroll or (0, 0, 0, 1))[3])
    why = "The goal asks to read to the end, so I scroll all the way down."
    page = yield from do(Scroll(direction=Direction.DOWN, amount=rest, x=x, y=y), why)
    page = yield from write(page, named("name"), name, f"I sign with the name '{name}'.")
    return (yield from press(page, button(choice), f"It is signed, so I press {choice}."))


def delete_file(page: Page) -> Plan:
    """List the files in the terminal and delete one with the extension the goal names."""
    why = "I click into the terminal to type there."
    page = yield from click_at(*spot(page.by_id("terminal-contents")), why)
    page = yield from _enter("ls", "I list the files to see what there is.")
    listed = page.all(cls="output")[-1].text.split()
    name = file_to_delete(listed, page.goal)
    return (yield from _enter(f"rm {name}", f"'{name}' has the extension asked for: I delete it."))


def _enter(command: str, why: str) -> Plan:
    return (yield from do(TypeText(text=command, enter=True), why))


def file_to_delete(names: list[str], goal: str) -> str:
    """Return a file the goal means, the plainest first: its extension nowhere else in its name.

    Raises:
        Lost: no file is meant.
    """
    if "no file extension" in goal:
        fitting = [name for name in names if "." not in name]
    else:
        (extension,) = parts(r"with the extension \.([\w.]+)$", goal)
        fitting = [name for name in names if name.endswith(f".{extension}")]
        fitting.sort(key=lambda name: len(re.findall(re.escape(extension), name)))
    if not fitting:
        raise Lost(f"no file is what the goal asks for: {', '.join(names)}")
    return fitting[0]
