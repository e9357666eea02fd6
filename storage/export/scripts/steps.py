"""The actions of an episode as statements of a script.

Each becomes the call that a person would write: a click on what has a role and a name, a list's option, a text into its
field. What has no name is acted on where it was, after the page is scrolled to where it was scrolled. What the
recording shows afterwards is waited for: another address, another tab. A list of the browser's own, which recordings
show drawn, is not opened: its option is chosen.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from schemas.episodes.action import (
    Action,
    AnswerDialog,
    Click,
    Drag,
    DropFile,
    Goto,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    Restart,
    Scroll,
    Select,
    Tab,
    TabOperation,
    TypeText,
    target_point,
)
from schemas.episodes.episode import Step
from schemas.episodes.keys import usual_name
from schemas.episodes.observation import DialogKind, Element, element_at, holds
from storage.export.scripts.acts import (
    Files,
    Unwritable,
    click,
    click_options,
    drag,
    drop_file,
    file_value,
    fill,
    press,
    scroll,
    turn,
)
from storage.export.scripts.end_state import new_text
from storage.export.scripts.locators import Named, find_again, find_name
from storage.export.scripts.statements import (
    PAGE,
    Address,
    AnswerNext,
    Call,
    Check,
    Do,
    Keep,
    Note,
    Open,
    Show,
    Statement,
    Upload,
)


@dataclass(slots=True)
class StepWriter:
    """Writes the steps of one episode, in order."""

    origin: str
    """The origin that is replaced by the address that a script is told."""
    start: str
    """The address of the start page."""
    files: Files
    """The task's files."""
    counts: Counter[str] = field(default_factory=Counter)
    """The clicks on named controls, and by what the script names them."""
    _list: tuple[Element, Named] | None = None
    _typed: str = ""

    def address(self, url: str) -> Address:
        """Return an address as a script has it."""
        parts = urlsplit(url)
        if f"{parts.scheme}://{parts.netloc}" != self.origin:
            return Address(url)
        query = f"?{parts.query}" if parts.query else ""
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        return Address(f"{parts.path or '/'}{query}{fragment}")

    def write(self, steps: Sequence[Step], number: int) -> Iterator[Statement]:
        """Yield what does the action of step `number`, and waits for what it leads to.

        Raises:
            Unwritable: nothing does.
        """
        step, following = steps[number], steps[number + 1]
        if isinstance(step.action, AnswerDialog):
            return
        acts = list(self._act(step, following))
        answers = list(_answers(steps, number))
        if answers and acts:
            yield AnswerNext(tuple(answers))
        if acts:
            acts[-1] = self._with_files(steps, number, acts[-1])
            name = next((one.name for one in step.downloads or ()), None)
            acts[-1] = acts[-1] if name is None else Keep(acts[-1], name)
        yield from acts
        yield from self._follow(step, following, acts)

    def _with_files(self, steps: Sequence[Step], number: int, act: Statement) -> Statement:
        """Return an act with the files that the page gets, if it asks for some."""
        asked = steps[number + 1].page.dialog
        if asked is None or asked.kind is not DialogKind.FILE or not isinstance(act, Do):
            return act
        answer = steps[number + 1].action
        names = _names(answer)
        if any(name not in self.files for name in names):
            raise Unwritable("files")
        files = tuple(file_value(self.files[name]) for name in names)
        return Upload(act, files)

    def _follow(
        self, step: Step, following: Step, acts: Sequence[Statement]
    ) -> Iterator[Statement]:
        """Yield what waits for the tab and the address that an action leads to."""
        before, after = step.page, following.page
        shows_tab = any(isinstance(one, Open | Show) for one in acts)
        if (after.tab or 0) != (before.tab or 0) and not shows_tab:
            yield Show(after.tab or 0)
        if after.dialog is not None or after.url == "about:blank":
            return
        if after.url != before.url:
            yield Check(PAGE, Call("to_have_url", (self.address(after.url),)))
        elif acts and _may_send(step.action):
            told = new_text(step, following)
            yield from () if told is None else (told,)

    def _act(self, step: Step, following: Step) -> Iterator[Statement]:
        if self._list is not None:
            chosen = self._choose(step, following)
            if chosen is not None:
                yield from chosen
                return
        match step.action:
            case Click() | Hover() | Drag() | Select() | DropFile():
                yield from self._point(step, following)
            case TypeText():
                yield from self._type(step, following)
            case Key() | KeyDown() | KeyUp():
                yield press(step.action)
            case Scroll():
                yield from scroll(step.action, step)
            case _:
                yield from self._browse(step, following)

    def _browse(self, step: Step, following: Step) -> Iterator[Statement]:
        """Yield what a browser's own buttons do."""
        match step.action:
            case Goto(url=url):
                yield Do((*PAGE, Call("goto", (self.address(url),))))
            case Restart():
                yield Do((*PAGE, Call("goto", (self.address(self.start),))))
            case Tab(operation=TabOperation.CLOSE, index=index):
                if index not in (None, step.page.tab):
                    yield Show(index)
                yield Do((*PAGE, Call("close")))
                yield Show(following.page.tab or 0)
            case Tab(operation=TabOperation.SWITCH, index=index):
                yield Show(index or 0)
            case Tab():
                raise Unwritable("tabs")
            case _:
                turned = turn(step.action)
                yield from () if turned is None else (turned,)

    def _point(self, step: Step, following: Step) -> Iterator[Statement]:
        """Yield what the pointer does to an element, or to a place."""
        action, point = step.action, target_point(step.action)
        assert point is not None  # noqa: S101 - these actions have one
        element = _element(step, point)
        named = None if element is None else find_name(element, step.elements)
        if isinstance(action, Click) and element is not None and element.interactive:
            self._count(element, named)
        if isinstance(action, Click) and element is not None and named is not None:
            if element.tag == "select" and _options_in(following):
                self._list, self._typed = (element, named), ""
                return
            yield self._with_tab(step, following, click(action, element, named))
        elif isinstance(action, Hover) and named is not None:
            yield Do((*named.chain, Call("hover")))
        elif isinstance(action, Select) and named is not None:
            yield Do((*named.chain, Call("select_option", (), {"label": action.option})))
        else:
            yield from self._place(step, following, point)

    def _count(self, element: Element, named: Named | None) -> None:
        """Count a click on a named control by how the script names it."""
        if element.name:
            self.counts["clicks"] += 1
            self.counts[f"by_{named.by if named else 'place'}"] += 1

    def _place(
        self, step: Step, following: Step, point: tuple[float, float]
    ) -> Iterator[Statement]:
        """Yield what the pointer does at a place of the page, scrolled as it was."""
        action, (x, y) = step.action, point
        if isinstance(action, Select):
            raise Unwritable("unnamed_lists")
        yield Note(
            "No name that would do was recorded for this element: it is acted on by its place."
        )
        at = f"window.scrollTo({step.page.scroll_x:g}, {step.page.scroll_y:g})"
        yield Do((*PAGE, Call("evaluate", (at,))))
        match action:
            case Click():
                there = Do((*PAGE, "mouse", Call("click", (x, y), click_options(action))))
                yield self._with_tab(step, following, there)
            case Drag():
                yield from drag(action)
            case DropFile():
                yield drop_file(action, self.files)
            case _:
                yield Do((*PAGE, "mouse", Call("move", (x, y))))

    def _with_tab(self, step: Step, following: Step, by: Do) -> Statement:
        """Return a click, as one that opens a tab if the next picture shows a new one."""
        opened = _tabs(following) > _tabs(step)
        return Open(by) if opened else by

    def _type(self, step: Step, following: Step) -> Iterator[Statement]:
        """Yield what types a text, into a field or where the focus is."""
        action, point = step.action, target_point(step.action)
        assert isinstance(action, TypeText)  # noqa: S101 - the caller's match
        element = None if point is None else _element(step, point)
        named = None if element is None else find_name(element, step.elements)
        if element is None or named is None:
            if point is not None:
                there = Click(x=point[0], y=point[1])
                yield from self._place(step.model_copy(update={"action": there}), following, point)
            if action.overwrite:
                yield Do((*PAGE, "keyboard", Call("press", ("ControlOrMeta+a",))))
            yield Do((*PAGE, "keyboard", Call("type", (action.text,))))
            if action.enter:
                yield Do((*PAGE, "keyboard", Call("press", ("Enter",))))
            return
        yield from fill(action, element, named, find_again(element, following.elements))

    def _choose(self, step: Step, following: Step) -> list[Statement] | None:
        """Return the choice of an option of the open list, empty while it is not chosen; None: the list is closed."""
        assert self._list is not None  # noqa: S101 - the caller's condition
        select, named = self._list
        options, action, label = _options_in(step), step.action, None
        match action:
            case Click():
                chosen = _element(step, (action.x, action.y))
                label = chosen.text if chosen in options and chosen is not None else None
            case TypeText(x=None, text=text):
                self._typed += text
            case Key(key=key) if usual_name(key) == "Enter":
                label = _typed_option(self._typed, options)
            case _:
                pass
        after = find_again(select, following.elements)
        if label is None and after is not None and after.value != select.value and after.value:
            label = after.value
        if label is not None or not _options_in(following):
            self._list = None
        if label is not None:
            return [Do((*named.chain, Call("select_option", (label,))))]
        return None if isinstance(action, Click | Scroll) and self._list is None else []


def _element(step: Step, point: tuple[float, float]) -> Element | None:
    """Return the element that a pointer acts on: what it hits or is within, else whatever is there."""
    found = element_at(step.elements, point)
    target = step.target
    if found is not None or target is None:
        return found
    there = [one for one in step.elements if holds(one.bbox, point)]
    hit = [one for one in there if one.bbox == target.bbox and one.tag == target.tag]
    around = [one for one in there if one.interactive and one.tag == target.tag]
    return next(iter((*hit, *around)), None)


def _may_send(action: Action) -> bool:
    """Return whether an action may send something, whose answer the page shows under the same address."""
    if isinstance(action, TypeText):
        return action.enter
    return isinstance(action, Click | Drag | Key | Select)


def _tabs(step: Step) -> int:
    return len(step.page.tabs or ()) or 1


def _options_in(step: Step) -> list[Element]:
    """Return the options of the list that a recording shows drawn over the page, after all that is the page's."""
    return [one for one in step.elements if one.tag == "div" and one.role == "option"]


def _typed_option(typed: str, options: Sequence[Element]) -> str | None:
    """Return the text of the option that is meant by what was typed; None: there is none."""
    wanted = typed.casefold()
    texts = [one.text for one in options if one.text.casefold().startswith(wanted)]
    return min(texts, key=len, default=None) if typed else None


def _answers(steps: Sequence[Step], number: int) -> Iterator[tuple[bool, str | None]]:
    """Yield how the dialogs are answered that the action of a step opens.

    Raises:
        Unwritable: the page asks for a permission, or a dialog is left open.
    """
    for following in steps[number + 1 :]:
        asked = following.page.dialog
        if asked is None or asked.kind is DialogKind.FILE:
            return
        if asked.kind is DialogKind.PERMISSION:
            raise Unwritable("permissions")
        if not isinstance(following.action, AnswerDialog):
            raise Unwritable("open_dialogs")
        yield following.action.accept, following.action.text


def _names(action: Action) -> list[str]:
    """Return the names of the files that an answer gives."""
    if not isinstance(action, AnswerDialog) or not action.accept:
        return []
    return [name for name in (action.text or "").split("\n") if name]
