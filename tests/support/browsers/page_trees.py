"""Documents made by hand, and plans played on them, for tests of the teacher without a browser."""

from collections.abc import Callable, Iterator

from generators.browser.protocol import Node
from generators.policy.protocol import Decision
from generators.policy.teacher.page import Page
from generators.policy.teacher.scrolling import (
    Plan,
)
from schemas.episodes.observation import Box

URL = "http://miniwob.localhost/miniwob/click-test.html"
VIEW: Box = (0, 0, 500, 400)


def node(
    tag: str,
    *children: Node,
    text: str = "",
    box: Box = (10, 10, 20, 10),
    reachable: bool = True,
    shown: bool = True,
    value: str | None = None,
    checked: bool | None = None,
    scroll: tuple[float, float, float, float] | None = None,
    focused: bool = False,
    **attrs: str,
) -> Node:
    """An element; `cls` is its class. Its text is its own and its children's."""
    if "cls" in attrs:
        attrs["class"] = attrs.pop("cls")
    return Node(
        tag=tag,
        attrs=attrs,
        text=" ".join(filter(None, [text, *(child.text for child in children)])),
        own_text=text,
        box=box,
        point=(box[0] + box[2] / 2, box[1] + box[3] / 2) if reachable and shown else None,
        shown=shown,
        style={"overflow-y": "auto" if scroll else "visible", "display": "block"},
        value=value,
        checked=checked,
        scroll=scroll,
        focused=focused,
        inner=box[2:],
        children=list(children),
    )


def page(*children: Node, goal: str = "") -> Page:
    """A page whose body holds `children`."""
    return Page(goal=goal, url=URL, root=node("html", node("body", *children), box=VIEW))


def play(plan: Plan, answer: Callable[[Decision], Page]) -> Iterator[Decision]:
    """Yield a plan's decisions, showing it the page that `answer` gives after each."""
    try:
        decision = next(plan)
        while True:
            yield decision
            decision = plan.send(answer(decision))
    except StopIteration:
        return
