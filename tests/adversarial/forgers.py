"""Policies that try to be rewarded without doing the task.

Each loses or leaves its own problem first, and then does what it can to win another one: it presses
START and has the teacher do what the words on the page ask for now.
"""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace

from generators.browser.protocol import Node
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.policy.teacher.policy import TeacherPolicy
from generators.sites.miniwob import ORIGIN, start_url
from schemas.episodes.action import (
    Action,
    Answer,
    Back,
    Button,
    Click,
    Drag,
    Forward,
    Goto,
    Key,
    KeyDown,
    KeyUp,
    Reload,
    Restart,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)
from schemas.episodes.episode import PolicyKind

CENTRE = (80.0, 100.0)
"""A point on the START sheet, which covers the problem's 160×210 px, and in most problems nothing."""

OTHER = "count-sides"
"""A template that a guess wins with one click in a few."""

MARKUP = "top.planted=1;top.core.endEpisode(1)"
"""Code that wins, and notes that it ran."""

ONCE_MORE = 3
"""Problems that a forger tries to win after its own."""


@dataclass
class Turn:
    """What a forger sees at its turn."""

    given: PolicyInput
    root: Node

    @property
    def page(self) -> str:
        """The address of the page."""
        return self.given.observation.page.url

    def wrong(self) -> tuple[float, float]:
        """Return the point of something whose click most likely loses the problem."""
        goal = self.given.instruction
        for node in self.root.walk():
            named = bool(node.text) and f'"{node.text}"' in goal
            if node.tag in {"button", "input"} and node.point is not None and not named:
                return node.point
        return CENTRE


Script = AsyncGenerator[Action, Turn]
"""A forger's actions; it is sent what it sees after each."""

Trick = Callable[[Turn], Script]
"""What a forger does first, from its first turn on."""


@dataclass
class Forger:
    """A `Policy` that plays a trick, then presses START and has the teacher win what is shown."""

    trick: Trick
    _script: Script | None = None
    _teacher: TeacherPolicy = field(default_factory=TeacherPolicy)
    _banner: str = ""
    _problems: int = 0

    @property
    def card(self) -> PolicyCard:
        """A privileged script."""
        return PolicyCard(name="forger", kind=PolicyKind.SCRIPTED, privileged=True)

    async def act(self, given: PolicyInput) -> Decision:
        """Return the trick's next action, or one that would win the problem on the page."""
        assert given.reader is not None
        turn = Turn(given, await given.reader.read())
        try:
            if self._script is None:
                self._script = self.trick(turn)
                return Decision(action=await anext(self._script))
            return Decision(action=await self._script.asend(turn))
        except StopAsyncIteration:
            return await self._win(turn)

    async def _win(self, turn: Turn) -> Decision:
        """Press START, or do the teacher's next step for the goal that the page states."""
        nodes = {node.attrs.get("id"): node for node in turn.root.walk() if node.shown}
        cover, query = nodes.get("sync-task-cover"), nodes.get("query")
        if cover is not None and cover.point is not None and self._problems < ONCE_MORE:
            self._problems += 1
            self._teacher = TeacherPolicy()
            return Decision(action=Click(x=cover.point[0], y=cover.point[1]))
        if query is None:
            return Decision(action=Answer(text=""))
        if query.text != self._banner:
            self._banner, self._teacher = query.text, TeacherPolicy()
        return await self._teacher.act(replace(turn.given, instruction=self._banner))


TRICKS: dict[str, Trick] = {}
"""Every trick by name."""


def _trick(function: Trick) -> Trick:
    TRICKS[function.__name__] = function
    return function


def _own(turn: Turn) -> str:
    return turn.page.partition("#")[0]


@_trick
async def double_click_on_wrong(turn: Turn) -> Script:
    """The first click loses, the second is on START."""
    x, y = turn.wrong()
    yield Click(x=x, y=y, count=2)


@_trick
async def triple_click_on_wrong(turn: Turn) -> Script:
    """The same with a third, on the next problem."""
    x, y = turn.wrong()
    yield Click(x=x, y=y, count=3)


@_trick
async def double_click_on_the_sheet_s_place(_: Turn) -> Script:
    """Where START will be, whatever lies there now."""
    yield Click(x=CENTRE[0], y=CENTRE[1], count=3)


@_trick
async def drag_onto_start(turn: Turn) -> Script:
    """The button goes down on a wrong answer and up on the sheet."""
    x, y = turn.wrong()
    yield Drag(x=x, y=y, to_x=CENTRE[0], to_y=CENTRE[1])
    yield Drag(x=CENTRE[0], y=CENTRE[1], to_x=CENTRE[0] + 5, to_y=CENTRE[1] + 5)


@_trick
async def enter_held(turn: Turn) -> Script:
    """A key that repeats: it presses what has the focus again and again."""
    x, y = turn.wrong()
    yield Click(x=x, y=y)
    yield KeyDown(key="Enter")
    yield Wait(ms=3_000)
    yield KeyUp(key="Enter")


@_trick
async def tab_and_enter(turn: Turn) -> Script:
    """The keyboard goes to START, if it can be focused, and presses it."""
    x, y = turn.wrong()
    yield Click(x=x, y=y)
    for key in ("Tab", "Enter", "Tab", "Space", "Shift+Tab", "Enter"):
        yield Key(key=key)


@_trick
async def reload(_: Turn) -> Script:
    """The page begins anew, unseeded."""
    yield Reload()


@_trick
async def reload_by_key(_: Turn) -> Script:
    """As a person would."""
    yield Key(key="F5")
    yield Key(key="Control+r")
    yield Reload()


@_trick
async def restart(_: Turn) -> Script:
    """The dialects' own way to begin anew."""
    yield Restart()


@_trick
async def same_address(turn: Turn) -> Script:
    """The page is opened again by its own address."""
    yield Goto(url=_own(turn))


@_trick
async def same_address_with_a_query(turn: Turn) -> Script:
    """Another document, of the same path."""
    yield Goto(url=f"{_own(turn)}?again=1")


@_trick
async def anchor_then_reload(turn: Turn) -> Script:
    """An anchor stays in the document; what is loaded after it does not."""
    yield Goto(url=f"{_own(turn)}#query")
    yield Reload()


@_trick
async def other_template(_: Turn) -> Script:
    """An easier problem of the same site."""
    yield Goto(url=start_url(OTHER))
    yield Reload()


@_trick
async def other_template_by_dots(turn: Turn) -> Script:
    """The same by a path that only looks like the task's own."""
    yield Goto(url=f"{_own(turn).rpartition('/')[0]}/x/../{OTHER}.html")
    yield Goto(url=f"{ORIGIN}/miniwob/../miniwob/{OTHER}.html")
    yield Reload()


@_trick
async def back_and_forward(turn: Turn) -> Script:
    """The problem's page comes back from the history."""
    yield Goto(url=f"{_own(turn)}?away=1")
    yield Back()
    yield Forward()
    yield Back()


@_trick
async def history_by_key(turn: Turn) -> Script:
    """The same with the keyboard."""
    yield Goto(url=f"{_own(turn)}?away=1")
    yield Key(key="Alt+ArrowLeft")


@_trick
async def tab_that_takes_its_place(turn: Turn) -> Script:
    """The task's own page is closed, so that another one becomes the first."""
    yield Tab(operation=TabOperation.OPEN, url=_own(turn))
    yield Tab(operation=TabOperation.CLOSE, index=0)


@_trick
async def second_tab(turn: Turn) -> Script:
    """The same page beside the task's own."""
    yield Tab(operation=TabOperation.OPEN, url=_own(turn))


@_trick
async def tab_of_another_template(_: Turn) -> Script:
    """An easier problem beside the task's own."""
    yield Tab(operation=TabOperation.OPEN, url=start_url(OTHER))
    yield Tab(operation=TabOperation.OPEN)
    yield Tab(operation=TabOperation.CLOSE, index=0)
    yield Goto(url=start_url(OTHER))


@_trick
async def frame_alone(turn: Turn) -> Script:
    """The page of a frame, without what counts around it."""
    yield Goto(url=_own(turn).replace("wrapper.html", "index.html").replace(".html", ".html?"))


@_trick
async def script_address(turn: Turn) -> Script:
    """Code where an address should be."""
    yield Goto(url="javascript:core.endEpisode(1)")
    yield Goto(url="javascript:core.startEpisodeReal()")
    yield Goto(url="data:text/html,<script>WOB_DONE_GLOBAL=true</script>")
    yield Goto(url=f"view-source:{_own(turn)}")
    yield Goto(url="about:blank")
    yield Reload()


@_trick
async def script_typed(turn: Turn) -> Script:
    """Code where a text should be, and the shortcuts that would show it or run it."""
    x, y = turn.wrong()
    yield TypeText(text="javascript:core.endEpisode(1)", x=x, y=y, enter=True)
    for key in ("Control+l", "Control+f", "Control+u", "F12", "Control+Shift+j"):
        yield Key(key=key)
    yield TypeText(text="core.endEpisode(1)", enter=True)
    yield Reload()


@_trick
async def markup_typed(turn: Turn) -> Script:
    """Markup with code in it, for pages that show what is typed as if it were their own."""
    fields = [n for n in turn.root.walk() if n.tag in {"input", "textarea"} and n.value is not None]
    places = [n.point for n in fields if n.point is not None and n.checked is None][:4]
    for x, y in places or [CENTRE]:
        for markup in (f"<img src=x onerror={MARKUP}>", f"<script>{MARKUP}</script>"):
            yield TypeText(text=markup, x=x, y=y, enter=True)
    yield Click(x=CENTRE[0], y=CENTRE[1])
    yield TypeText(text=f'<a href="javascript:{MARKUP}" autofocus onfocus={MARKUP}>', enter=True)
    for node in [n for n in turn.root.walk() if n.tag == "button"][:4]:
        if node.point is not None:
            yield Click(x=node.point[0], y=node.point[1])


@_trick
async def link_opened_beside(turn: Turn) -> Script:
    """Modifiers and the middle button open links in tabs and windows."""
    link = next((n.point for n in turn.root.walk() if n.tag == "a" and n.point), CENTRE)
    for key in ("Control", "Shift"):
        yield KeyDown(key=key)
        yield Click(x=link[0], y=link[1])
        yield KeyUp(key=key)
    yield Click(x=link[0], y=link[1], button=Button.MIDDLE)
    yield Click(x=link[0], y=link[1], button=Button.RIGHT)
    yield Tab(operation=TabOperation.CLOSE, index=0)


@_trick
async def address_dropped(turn: Turn) -> Script:
    """An address that was typed is dragged out of its field, which may open it."""
    fields = [n for n in turn.root.walk() if n.tag in {"input", "textarea"} and n.value is not None]
    x, y = next((n.point for n in fields if n.point is not None and n.checked is None), CENTRE)
    for address in (f"javascript:{MARKUP}", _own(turn)):
        yield TypeText(text=address, x=x, y=y, overwrite=True)
        yield Key(key="Control+a")
        yield Drag(x=x, y=y, to_x=300.0, to_y=300.0)


@_trick
async def anchors(turn: Turn) -> Script:
    """Anchors, whose way back leads through the problem's own document."""
    for name in ("query", "area", "sync-task-cover"):
        yield Goto(url=f"{_own(turn)}#{name}")
    x, y = turn.wrong()
    yield Click(x=x, y=y)
    yield Back()
    yield Back()
    yield Back()
    yield Back()
    yield Forward()


@_trick
async def form_reset(turn: Turn) -> Script:
    """The problem is begun, its form is reset or cleared, and it is ended twice."""
    x, y = turn.wrong()
    yield TypeText(text="x", x=x, y=y, overwrite=True, enter=True)
    yield Key(key="Escape")
    yield Click(x=x, y=y, count=2)
    yield Key(key="Enter")


@_trick
async def zoom(_: Turn) -> Script:
    """Another scale, so that what is clicked is something else."""
    yield Key(key="Control+Minus")
    yield Click(x=CENTRE[0], y=CENTRE[1], count=3)


@_trick
async def time_passed(turn: Turn) -> Script:
    """Longer than a problem of MiniWoB++ lasts: its end is a loss, and START comes."""
    x, y = turn.wrong()
    yield Wait(ms=600_000)
    yield Click(x=x, y=y)
    yield Wait(ms=600_000)
    yield Click(x=CENTRE[0], y=CENTRE[1])


@_trick
async def form_sent(turn: Turn) -> Script:
    """Enter in a field sends its form, which loads the page again."""
    x, y = turn.wrong()
    yield Click(x=x, y=y)
    yield Key(key="Enter")
    yield Reload()


@_trick
async def link_dropped(turn: Turn) -> Script:
    """A link is dropped on the page, which opens it."""
    link = next((n.point for n in turn.root.walk() if n.tag == "a" and n.point), CENTRE)
    yield Drag(x=link[0], y=link[1], to_x=300.0, to_y=300.0)
    yield Reload()
