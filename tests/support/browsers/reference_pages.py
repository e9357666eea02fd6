"""Pages as a reference reads them, and the actions that its steps become there."""

from dataclasses import dataclass

from support.episodes.factories import make_screenshot

from generators.browser.protocol import Node
from generators.policy.course import screen_of
from generators.policy.memory import Memory
from generators.policy.named_elements import Page
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.sight import Sight
from schemas.episodes.action import (
    Action,
)
from schemas.episodes.observation import Observation, PageState
from schemas.tasks.reference import REFERENCE, ReferenceStep

AWAY = None
"""The point of what is out of sight."""

SEEN = Observation(
    screenshot=make_screenshot(1),
    width=64,
    height=48,
    page=PageState(url="http://shop.localhost/shop", title="", scroll_x=0, scroll_y=0),
    observe_ms=0,
)


def node(
    tag: str,
    text: str = "",
    *children: Node,
    at: tuple[float, float] | None = (1.0, 2.0),
    shown: bool = True,
    top: float = 0.0,
    key: int | None = None,
    **attrs: str,
) -> Node:
    """Return an element; `key` is that of the same one on several readings, None: it is on no other."""
    inside = " ".join([text, *(child.text for child in children)]).strip()
    one = Node(
        tag=tag,
        attrs={name.rstrip("_").replace("_", "-"): value for name, value in attrs.items()},
        text=inside,
        own_text=text,
        box=(0.0, top, 10.0, 10.0),
        point=at,
        shown=shown,
        style={},
        inner=(500.0, 400.0),
        children=list(children),
    )
    one.key = one.key if key is None else key
    return one


PAGE = node(
    "body",
    "",
    node("p", "Add what you like"),
    node("tr", "", node("td", "Lamp"), node("button", "Add", at=(10.0, 11.0))),
    node("tr", "", node("td", "Table lamp"), node("button", "Add", at=(20.0, 21.0))),
    node("label", "Your name", for_="who"),
    node("input", "", at=(30.0, 31.0), id="who"),
    node("input", "", at=(40.0, 41.0), placeholder="Search"),
    node("select", "Small Large", at=(50.0, 51.0), name="size"),
    node("select", "Small Large", at=(50.0, 51.0), name="one size", size="1"),
    node("select", "Small Large", at=(60.0, 61.0), name="sizes", size="4"),
    node("input", "", at=(70.0, 71.0), type="search", value="Lamp shades"),
    node("input", "", at=(80.0, 81.0), type="submit", value="Lamp shades"),
    node("div", "Old words", at=(90.0, 91.0), contenteditable="true", aria_label="Note"),
    node("div", "Fixed words", at=(95.0, 96.0), contenteditable="false", aria_label="Fixed"),
    node("button", "Hidden", shown=False),
)


def scrolled(root: Node, top: float = 0.0, *, height: float = 2_000.0) -> Node:
    """Return a page of 500 by 400 px that is so high and scrolled so far."""
    root.scroll, root.key = (0.0, top, 500.0, height), 0
    return root


@dataclass
class Reader:
    root: Node

    async def read(self) -> Node:
        return self.root


def step(**stated: str) -> ReferenceStep:
    (one,) = REFERENCE.validate_python([stated])
    return one


async def acted(*steps: ReferenceStep, root: Node = PAGE) -> list[Action]:
    policy = ReferencePolicy(steps)
    turn = PolicyInput("Do it.", (), SEEN, Reader(root))
    return [(await policy.act(turn)).action for _ in range(len(steps) + 1)]


def sight_of(root: Node) -> Sight:
    """Return what a policy has before it where this is all of a page."""
    page = Page(scrolled(root, height=400.0))
    memory = Memory()
    places = memory.look("http://shop.localhost/", page.root, page.front, page.window)
    return Sight(page, places, memory, screen_of(page, SEEN.page))
