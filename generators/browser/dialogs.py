"""What the pages of a session ask: a question stands until somebody answers it.

While a dialog of a script is open, the browser's process for the page stands still: nothing is evaluated, no time passes and
no picture is taken. What the session was doing then waits in a task of its own, within an action, a load or a
window's opening; the limits of real time wait with it (`patience.py`). The answer lets it go on where it
stood. So a page behaves as one that a person answers, while it loads too. A field that wants a file asks in
the same way, but its page does not stand still.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from playwright.async_api import Dialog

from generators.browser import dialog_picture, untrusted_text
from generators.browser.devtools.patience import Patience
from generators.browser.page_calls import Channel
from generators.browser.protocol import SessionSpec
from generators.browser.questions import (
    BadAnswer,
    FileChooser,
    PermissionPrompt,
    Question,
    ScriptDialog,
)
from schemas.base import sha256_hex
from schemas.episodes.action import (
    Action,
    AnswerDialog,
    Button,
    Click,
    Key,
    NoAction,
    TypeText,
    Wait,
    target_point,
)
from schemas.episodes.observation import (
    Box,
    Observation,
    OpenDialog,
    Screenshot,
    Sight,
    Target,
    holds,
)

MAX_IGNORED = 3
"""Actions that leave a dialog open; the last of them gives it its default answer."""

MAX_IN_A_ROW = 10
"""Dialogs that a page may open between two looks at it without one; each further one gets its default at once."""


_NOTICES = {
    "print": "The page wants to print; nothing is printed here",
    "fullscreen": "The page wants the whole screen, which it does not get here",
}


class DialogRefusal(Exception):
    """An action that an open dialog does not allow; the policy is shown the text."""


class Dialogs:
    """The dialogs of a session's pages, and the work that waits for their answers."""

    def __init__(
        self, spec: SessionSpec, patience: Patience, settle: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """`settle` lets the page settle after an answer for which nothing has waited."""
        self._spec = spec
        self._patience = patience
        self._settle = settle
        self._waiting: list[Question] = []
        self._asked = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._typed: str | None = None
        self._ignored = 0
        self._in_a_row = 0
        self._closed_at_once = 0
        self._told: list[str] = []
        self._permitted: dict[tuple[str, str], bool] = {}
        self._repeated: list[PermissionPrompt] = []

    def on_dialog(self, dialog: Dialog) -> None:
        """Take a dialog that a page has just opened."""
        question = ScriptDialog(dialog)
        self._in_a_row += 1
        if self._in_a_row <= MAX_IN_A_ROW:
            self._told.append(f"The page said: {question.look(None).message}")
        self._patience.hold()
        self._asked.set()
        self._waiting.insert(sum(one.blocks for one in self._waiting), question)

    def on_chooser(self, chooser: FileChooser) -> None:
        """Take the file chooser that a field has just opened; a page has one at most."""
        if not self._waiting:
            self._told.append("The page wants a file")
            self._waiting.append(chooser)

    def on_told(self, channel: Channel, told: str) -> None:
        """Take what a page asks its browser for: a permission, to print, or the whole screen."""
        if told in _NOTICES:
            if _NOTICES[told] not in self._told:
                self._told.append(_NOTICES[told])
            return
        prompt = PermissionPrompt(channel, told.removeprefix("asks "), self._permitted)
        is_set = prompt.name == "geolocation" and self._spec.page.latitude is not None
        if is_set or prompt.is_answered or len(self._waiting) >= MAX_IN_A_ROW:
            self._repeated.append(prompt)
        else:
            self._told.append(f"The page wants to: {prompt.look(None).message}")
            self._waiting.append(prompt)

    async def repeat_answers(self) -> bool:
        """Answer as before what a page has asked before; return whether there was anything."""
        repeated, self._repeated = self._repeated, []
        for prompt in repeated:
            await prompt.answer(accept=False, typed=None)
        return bool(repeated)

    @property
    def open(self) -> OpenDialog | None:
        """The question that waits for an answer; None: there is none."""
        for one in self._waiting[:]:
            if one.is_gone:
                self._forget(one)
        return self._waiting[0].look(self._typed) if self._waiting else None

    def take_told(self) -> list[str]:
        """Return what pages said since the last call, for the policy."""
        told, self._told = self._told, []
        if self._closed_at_once:
            told.append(f"{self._closed_at_once} more dialogs in a row got their default answers")
            self._closed_at_once = 0
        return told

    async def watch(self, work: Coroutine[Any, Any, None]) -> None:
        """Do work until it is done or a page asks something; then it waits for `go_on`.

        Raises:
            RolloutFailure: the work failed.
        """
        await self.end()
        self._work = asyncio.ensure_future(work)
        self._in_a_row = 0
        await self.go_on()

    async def go_on(self) -> None:
        """Go on with the work that waits for an answer, until it is done or a page asks again.

        Raises:
            RolloutFailure: the work failed.
        """
        while self._work is not None:
            asked = asyncio.ensure_future(self._asked.wait())
            try:
                await asyncio.wait({self._work, asked}, return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                await self.end()
                raise
            finally:
                asked.cancel()
            if self._work.done():
                work, self._work = self._work, None
                await work
                return
            if self.open is None:
                continue
            if self._in_a_row <= MAX_IN_A_ROW:
                return
            self._closed_at_once += 1
            await self._close(accept=self._waiting[0].by_default)

    def aimed_at(self, action: Action) -> Target | None:
        """Return the part of the open dialog at an action's point; None: the action has no point, or misses it."""
        dialog = self.open
        point = target_point(action)
        if dialog is None or point is None:
            return None
        parts = dialog_picture.dialog_elements(dialog, self._laid_out(dialog))
        found = next((one for one in parts if holds(one.bbox, point)), None)
        if found is None:
            return None
        return Target(
            tag=found.tag,
            role=found.role,
            name=found.name,
            text=found.value or found.text or None,
            bbox=found.bbox,
            visible=1.0,
        )

    async def answer(self, action: Action) -> None:
        """Answer the open dialog as `action` says; an action that does not leaves it open, three times at most.

        Raises:
            DialogRefusal: nothing but the dialog can be used while it is open.
            RolloutFailure: what waited for the answer failed.
        """
        dialog = self.open
        assert dialog is not None  # noqa: S101 - whoever answers has looked
        try:
            accept = self._read(action, dialog)
        except DialogRefusal:
            await self._ignore()
            raise
        if accept is not None:
            await self._close(accept=accept)
            await self._resume()
        elif isinstance(action, Wait | NoAction):
            await self._ignore()

    async def _resume(self) -> None:
        if self._work is None:
            await self.watch(self._settle())
        else:
            await self.go_on()

    def _read(self, action: Action, dialog: OpenDialog) -> bool | None:
        """Return whether `action` accepts or dismisses the dialog; None: it leaves it open, with what it typed."""
        accept: bool | None = None
        match action:
            case AnswerDialog():
                if action.text is not None and dialog.text is None:
                    raise DialogRefusal(f"this dialog takes no text: {_quote(dialog)}")
                typed = self._typed if action.text is None else action.text
                if action.accept:
                    self._check(typed)
                self._typed, accept = typed, action.accept
            case Click(button=Button.LEFT):
                accept = self._read_click((action.x, action.y), dialog)
            case Key(key="Escape"):
                accept = False
            case Key(key="Enter" | "NumpadEnter"):
                self._check(self._typed)
                accept = True
            case Key(key=" " | "Space") if dialog.text is None:
                accept = True
            case TypeText():
                accept = self._read_typing(action, dialog)
            case Wait() | NoAction():
                pass
            case _:
                raise _refusal(dialog)
        return accept

    def _read_click(self, point: tuple[float, float], dialog: OpenDialog) -> bool | None:
        parts = self._laid_out(dialog)
        if holds(parts.accept, point):
            self._check(self._typed)
            return True
        if parts.dismiss is not None and holds(parts.dismiss, point):
            return False
        if parts.field is not None and holds(parts.field, point):
            return None
        raise _refusal(dialog)

    def _read_typing(self, action: TypeText, dialog: OpenDialog) -> bool | None:
        line, ends, _ = action.text.partition("\n")
        enters = action.enter or bool(ends)
        if dialog.text is None:
            if line or not enters:
                raise _refusal(dialog)
            return True
        if action.x is not None and action.y is not None:
            field = self._laid_out(dialog).field
            if field is None or not holds(field, (action.x, action.y)):
                raise _refusal(dialog)
        if line or action.overwrite:
            held = "" if action.overwrite or self._typed is None else self._typed
            self._typed = held + line
        if enters:
            self._check(self._typed)
        return True if enters else None

    def _check(self, typed: str | None) -> None:
        try:
            self._waiting[0].check(typed)
        except BadAnswer as error:
            raise DialogRefusal(str(error)) from error

    def _laid_out(self, dialog: OpenDialog) -> dialog_picture.DrawnDialog:
        return dialog_picture.lay_out(dialog, self._spec.viewport_width, self._spec.viewport_height)

    async def _ignore(self) -> None:
        self._ignored += 1
        if self._ignored >= MAX_IGNORED:
            await self._close_by_default(f"left open for {MAX_IGNORED} actions")
            await self._resume()

    async def _close_by_default(self, why: str) -> None:
        dialog = self.open
        assert dialog is not None  # noqa: S101 - whoever closes has looked
        accept = self._waiting[0].by_default
        done = "accepted" if accept else "dismissed"
        self._told.append(f"The dialog {_quote(dialog)} was {done} by default: {why}")
        self._typed = None
        await self._close(accept=accept)

    async def _close(self, *, accept: bool) -> None:
        """Answer the question that has been open for longest."""
        first, typed = self._waiting[0], self._typed
        self._forget(first)
        await first.answer(accept=accept, typed=typed)

    def _forget(self, question: Question) -> None:
        self._waiting.remove(question)
        self._typed, self._ignored = None, 0
        if not any(one.blocks for one in self._waiting):
            self._patience.release()
            self._asked.clear()

    async def answer_by_default(self) -> None:
        """Give every open dialog its default answer, and let what waited for it end.

        Raises:
            RolloutFailure: what waited for the answer failed.
        """
        while self._waiting:
            await self._close_by_default("open at the end")
            await self._resume()

    async def end(self) -> None:
        """Give up the work that waits for an answer."""
        if self._work is not None:
            work, self._work = self._work, None
            work.cancel()
            await asyncio.wait({work})
            if not work.cancelled():
                work.exception()  # nobody waits for it any more

    def show(self, last: Observation | None, *, begun: float) -> Observation:
        """Return an observation of the open dialog over the page as `last` showed it; None: it has shown nothing yet.

        `begun` is when the observation began, by `time.perf_counter`.
        """
        dialog = self.open
        assert dialog is not None  # noqa: S101 - whoever asks has looked
        size = (self._spec.viewport_width, self._spec.viewport_height)
        parts = dialog_picture.lay_out(dialog, *size)
        under = None if last is None else last.screenshot.bytes
        picture = dialog_picture.draw(under, dialog, size, self._spec.device_scale_factor)
        sights = () if last is None else (last.sights or ())
        page = untrusted_text.empty_page(self._waiting[0].url) if last is None else last.page
        return Observation(
            screenshot=Screenshot(bytes=picture, path=f"{sha256_hex(picture)[:16]}.jpg"),
            width=self._spec.viewport.picture[0],
            height=self._spec.viewport.picture[1],
            page=page.model_copy(update={"dialog": dialog}),
            elements=dialog_picture.dialog_elements(dialog, parts),
            sights=(
                *(sight for sight in sights if not _touches(sight, parts.box)),
                *dialog_picture.dialog_sights(dialog, parts),
            ),
            observe_ms=(time.perf_counter() - begun) * 1_000,
        )


def _quote(dialog: OpenDialog) -> str:
    return f'"{dialog.message}"'


def _refusal(dialog: OpenDialog) -> DialogRefusal:
    return DialogRefusal(
        f"a dialog is open, and nothing else can be used before it is answered: {_quote(dialog)}"
    )


def _touches(sight: Sight, box: Box) -> bool:
    left, top, width, height = sight.bbox
    return not (
        left + width <= box[0]
        or left >= box[0] + box[2]
        or top + height <= box[1]
        or top >= box[1] + box[3]
    )
