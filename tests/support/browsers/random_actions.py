"""Actions drawn at random from the whole action space, and walks that carry them out beside an oracle.

A walk does what a policy may do, and goes on after the end: into other documents, other tabs and
problems that nobody seeded. What it draws depends on its `Random` and on the page alone.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random

from generators.browser.protocol import Node, Session
from generators.sites.protocol import Outcome, Problem, Site
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Back,
    Button,
    Click,
    Direction,
    Drag,
    Forward,
    Goto,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    Reload,
    Restart,
    Scroll,
    Select,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)
from schemas.errors import RolloutFailure

KEYS = (
    *(
        "Enter",
        "Tab",
        "Space",
        "Escape",
        "Backspace",
        "Delete",
        "ArrowDown",
        "ArrowLeft",
        "End",
        "a",
    ),
    *(
        "Shift+Tab",
        "Control+a",
        "Control+c",
        "Control+v",
        "Control+x",
        "Control+z",
        "Control+Enter",
    ),
    *("Control+r", "F5", "Alt+ArrowLeft", "Control+Minus", "Control+f", "Control+u", "Nothing"),
)
"""Keys and chords; the last one does not exist."""

START = "sync-task-cover"
"""The id of the sheet that MiniWoB++ covers an ended problem with."""


@dataclass(frozen=True)
class View:
    """What the drawing of an action goes by."""

    root: Node
    own: str
    """The address of the task's own page."""
    elsewhere: tuple[str, ...]
    """Addresses of other pages."""

    def nodes(self) -> list[Node]:
        """Return what can be clicked at a point, START last."""
        found = [n for n in self.root.walk() if n.point is not None and not n.children]
        return sorted(found, key=lambda node: node.attrs.get("id") == START)


def draw_point(draw: Random, view: View) -> tuple[float, float]:
    """Return the point of something on the page, of START if it is there, or anywhere."""
    nodes = view.nodes()
    if nodes and draw.random() < 0.85:
        start = nodes[-1].attrs.get("id") == START and draw.random() < 0.5
        chosen = nodes[-1] if start else draw.choice(nodes)
        assert chosen.point is not None
        return chosen.point
    return round(draw.uniform(0, 520), 1), round(draw.uniform(0, 420), 1)


def _words(draw: Random, view: View) -> str:
    words = view.root.text.split() or ["x"]
    return draw.choice(
        (
            draw.choice(words).strip('".,:'),
            str(draw.randint(-5, 99)),
            "<b onclick=core.endEpisode(1)>",
        )
    )


def _click(draw: Random, view: View) -> Action:
    x, y = draw_point(draw, view)
    button = draw.choice((*[Button.LEFT] * 8, Button.MIDDLE, Button.RIGHT))
    return Click(x=x, y=y, button=button, count=draw.choice((1, 1, 1, 1, 2, 3)))


def _drag(draw: Random, view: View) -> Action:
    (x, y), (to_x, to_y) = draw_point(draw, view), draw_point(draw, view)
    return Drag(x=x, y=y, to_x=to_x, to_y=to_y)


def _type(draw: Random, view: View) -> Action:
    x, y = draw_point(draw, view) if draw.random() < 0.7 else (None, None)
    overwrite, enter = draw.random() < 0.4, draw.random() < 0.3
    return TypeText(text=_words(draw, view), x=x, y=y, overwrite=overwrite, enter=enter)


def _select(draw: Random, view: View) -> Action:
    options = [node for node in view.root.walk() if node.tag == "option"]
    x, y = draw_point(draw, view)
    return Select(x=x, y=y, option=draw.choice(options).text if options else "none")


def _hover(draw: Random, view: View) -> Action:
    x, y = draw_point(draw, view)
    return Hover(x=x, y=y)


def _scroll(draw: Random, view: View) -> Action:
    x, y = draw_point(draw, view) if draw.random() < 0.5 else (None, None)
    return Scroll(direction=draw.choice([*Direction]), amount=draw.randint(1, 900), x=x, y=y)


def _goto(draw: Random, view: View) -> Action:
    own = view.own
    ways = (own, f"{own}?again=1", f"{own}#query", "javascript:core.endEpisode(1)", "about:blank")
    return Goto(url=draw.choice((*ways, *view.elsewhere)))


def _tab(draw: Random, view: View) -> Action:
    index = draw.choice((None, 0, 0, 1, 2))
    url = draw.choice((None, view.own, *view.elsewhere))
    return draw.choice(
        (
            Tab(operation=TabOperation.OPEN, url=url),
            Tab(operation=TabOperation.SWITCH, index=index),
            Tab(operation=TabOperation.CLOSE, index=index),
        )
    )


Drawn = Callable[[Random, View], Action]

ON_THE_PAGE: tuple[tuple[int, Drawn], ...] = (
    (40, _click),
    (6, _drag),
    (8, _type),
    (3, _select),
    (3, _hover),
    (4, _scroll),
    (6, lambda draw, _: Key(key=draw.choice(KEYS))),
    (1, lambda draw, _: KeyDown(key=draw.choice(("Shift", "Control", "Enter", "a")))),
    (1, lambda draw, _: KeyUp(key=draw.choice(("Shift", "Control", "Enter", "a")))),
    (1, lambda draw, _: AnswerDialog(accept=draw.random() < 0.5)),
    (2, lambda draw, _: Wait(ms=draw.choice((1, 500, 5_000, 60_000)))),
)
"""What is done to a page, each with how often."""

OFF_THE_PAGE: tuple[tuple[int, Drawn], ...] = (
    (2, _goto),
    (3, _tab),
    (1, lambda _draw, _view: Back()),
    (1, lambda _draw, _view: Forward()),
    (3, lambda _draw, _view: Reload()),
    (2, lambda _draw, _view: Restart()),
    (1, lambda _draw, _view: Answer(text="done")),
)
"""What leads away from it, or to no page at all."""


def draw_action(draw: Random, view: View, among: tuple[tuple[int, Drawn], ...]) -> Action:
    """Return an action of one of these kinds."""
    weights = [weight for weight, _ in among]
    return draw.choices([drawn for _, drawn in among], weights)[0](draw, view)


Truth = Callable[[Action], Awaitable[float | None]]
"""The reward of the first end of a problem, by an oracle that knows the last action; None: it has not ended,
or was left."""


@dataclass
class Walk:
    """What was done to a problem, and what came of it."""

    actions: list[Action] = field(default_factory=list)
    ended: Outcome | None = None
    """The first outcome that was an end."""
    false: str = ""
    """What was paid that is not true."""
    broken: str = ""
    """What the session failed with."""

    def __str__(self) -> str:
        done = " ".join(action.model_dump_json(exclude_defaults=True) for action in self.actions)
        return f"{self.false}{self.broken} after {done}"


async def walk(
    draw: Random,
    site: Site,
    session: Session,
    problem: Problem,
    *,
    truth: Truth,
    own: str,
    elsewhere: tuple[str, ...] = (),
    steps: int,
) -> Walk:
    """Carry out so many random actions, and hold each outcome against the oracle's."""
    out = Walk()
    try:
        while len(out.actions) < steps and not out.false:
            view = View(await session.reader.read(), own, elsewhere)
            action = draw_action(draw, view, ON_THE_PAGE + OFF_THE_PAGE)
            out.actions.append(action)
            await session.act(action)
            answer = action.text if isinstance(action, Answer) else None
            outcome = await site.outcome(problem, session, answer=answer)
            out.false = falsehood(outcome, out.ended, await truth(action))
            if outcome.done and out.ended is None:
                out.ended = outcome
    except RolloutFailure as failure:
        out.broken = str(failure)
    return out


def falsehood(outcome: Outcome, ended: Outcome | None, true: float | None) -> str:
    """Return what is false in an outcome after the first end, if any; empty if nothing is."""
    pays = outcome.done and (outcome.reward or 0) > 0
    if pays and outcome.reward != true:
        return f"paid {outcome.reward}, true is {true}"
    if ended is not None and not outcome.done:
        return "not done any more"
    if ended is not None and (outcome.reward or 0) > max(ended.reward or 0, 0):
        return f"paid {outcome.reward} after an end with {ended.reward}"
    return ""
