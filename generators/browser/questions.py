"""What a page may ask: a dialog of its script, or a file.

A dialog stands its page still until it is answered; the file chooser of a field does not. Both are shown and
answered alike (`dialogs.py`).
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from playwright.async_api import Dialog, Error

from generators.browser import untrusted_text
from generators.browser.page_calls import Channel, DocumentGone
from schemas.base import canonical_json
from schemas.episodes.observation import DialogKind, OpenDialog
from schemas.errors import RolloutFailure

ANSWER_SECONDS = 20.0
"""Time limit of the browser for taking an answer, seconds."""

_LEAVE = "Changes you made may not be saved."
_CANCEL = "function () { this.dispatchEvent(new Event('cancel', { bubbles: true })) }"
"""What a field is told when its chooser is dismissed."""


PERMISSIONS: Mapping[str, tuple[str, list[str]]] = {
    "geolocation": ("Know your location", ["geolocation"]),
    "notifications": ("Show notifications", ["notifications"]),
    "camera": ("Use your camera and microphone", ["camera", "microphone"]),
    "clipboard": ("See what you have copied", ["clipboard-read"]),
}
"""What a page may ask for: the words of the question, and the names of the permission for Playwright."""


class BadAnswer(Exception):
    """What an answer names is not there; the policy is shown the text."""


class Question(Protocol):
    """One question of one page."""

    @property
    def blocks(self) -> bool:
        """Whether its page stands still until it is answered."""
        ...

    @property
    def by_default(self) -> bool:
        """Whether it is accepted when nobody answers it."""
        ...

    @property
    def is_gone(self) -> bool:
        """Whether its page is."""
        ...

    @property
    def url(self) -> str:
        """The address of its page; empty if it is unknown."""
        ...

    def look(self, typed: str | None) -> OpenDialog:
        """Return it as it is shown; `typed` is what its field was given, None: nothing yet."""
        ...

    def check(self, typed: str | None) -> None:
        """Check what it is to be accepted with.

        Raises:
            BadAnswer: it cannot be.
        """
        ...

    async def answer(self, *, accept: bool, typed: str | None) -> None:
        """Answer it; a page that is gone meanwhile needs no answer."""
        ...


class ScriptDialog:
    """`alert`, `confirm`, `prompt`, or the question before a page is left."""

    blocks = True

    def __init__(self, dialog: Dialog) -> None:
        self._dialog = dialog
        self._kind = DialogKind(dialog.type)

    @property
    def by_default(self) -> bool:
        """Whether it is accepted when nobody answers it: what only tells something, and leaving."""
        return self._kind in (DialogKind.ALERT, DialogKind.BEFOREUNLOAD)

    @property
    def is_gone(self) -> bool:
        """Whether its page is."""
        return self._dialog.page is not None and self._dialog.page.is_closed()

    @property
    def url(self) -> str:
        """The address of its page; empty if it is unknown."""
        return "" if self._dialog.page is None else self._dialog.page.url

    def look(self, typed: str | None) -> OpenDialog:
        """Return it as it is shown."""
        leaving = self._kind is DialogKind.BEFOREUNLOAD
        text = None
        if self._kind is DialogKind.PROMPT:
            text = self._dialog.default_value if typed is None else typed
        return untrusted_text.dialog(
            self._kind,
            title="Leave site?" if leaving else f"{urlsplit(self.url).netloc or 'This page'} says",
            message=_LEAVE if leaving else self._dialog.message,
            text=text,
        )

    def check(self, typed: str | None) -> None:
        """Accept any text."""

    async def answer(self, *, accept: bool, typed: str | None) -> None:
        """Answer it; a page that is gone meanwhile needs no answer."""
        if typed is None and self._kind is DialogKind.PROMPT:
            typed = self._dialog.default_value
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                if not accept:
                    await self._dialog.dismiss()
                elif typed is None:
                    await self._dialog.accept()
                else:
                    await self._dialog.accept(typed)


class FileChooser:
    """The file that a field wants, of those of the task."""

    blocks = False
    by_default = False

    def __init__(
        self,
        channel: Channel,
        event: dict[str, Any],
        names: tuple[str, ...],
        place: Callable[[str], str],
    ) -> None:
        """`event` is DevTools' `Page.fileChooserOpened`; `place` returns the path of a file of the task."""
        self._channel = channel
        self._node = {"backendNodeId": event["backendNodeId"]}
        self._several = event["mode"] == "selectMultiple"
        self._names, self._place = names, place
        self._frame = event["frameId"]
        self._left = False
        channel.on("Page.frameNavigated", self._on_navigated)
        channel.on("Page.frameDetached", self._on_detached)

    @property
    def is_gone(self) -> bool:
        """Whether its page or the document of its field is."""
        return self._left or self._channel.is_closed

    def _on_navigated(self, event: dict[str, Any]) -> None:
        self._left = self._left or event["frame"]["id"] == self._frame

    def _on_detached(self, event: dict[str, Any]) -> None:
        self._left = self._left or event["frameId"] == self._frame

    @property
    def url(self) -> str:
        """The address of its page."""
        return self._channel.page.url

    def look(self, typed: str | None) -> OpenDialog:
        """Return it as it is shown."""
        there = "\n".join(self._names) or "There is no file here."
        return untrusted_text.dialog(
            DialogKind.FILE,
            title="Choose files, a line each" if self._several else "Choose a file",
            message=there,
            text=typed or "",
        )

    def check(self, typed: str | None) -> None:
        """Check that each name is one of the task's files.

        Raises:
            BadAnswer: one is not, or there are too many.
        """
        wanted = _lines(typed)
        there = ", ".join(self._names) or "none"
        for name in wanted:
            if name not in self._names:
                raise BadAnswer(f"there is no file '{name}'; there are: {there}")
        if len(wanted) != 1 and not (wanted and self._several):
            raise BadAnswer(f"give the name of one file; there are: {there}")

    async def answer(self, *, accept: bool, typed: str | None) -> None:
        """Give the field the files, or tell it that there is none."""
        with contextlib.suppress(RolloutFailure):
            if accept:
                paths = [self._place(name) for name in _lines(typed)]
                await self._channel.send("DOM.setFileInputFiles", {"files": paths, **self._node})
                return
            found = await self._channel.send("DOM.resolveNode", self._node)
            await self._channel.send(
                "Runtime.callFunctionOn",
                {"objectId": found["object"]["objectId"], "functionDeclaration": _CANCEL},
            )


class PermissionPrompt:
    """What a page wants to do that its browser asks for first."""

    blocks = False
    by_default = False

    def __init__(self, channel: Channel, name: str, answered: dict[tuple[str, str], bool]) -> None:
        """`name` is one of `PERMISSIONS`; `answered` are the answers of the session so far, by origin and name."""
        self._channel, self.name = channel, name
        self._answered = answered

    @property
    def is_gone(self) -> bool:
        """Whether its page is."""
        return self._channel.is_closed

    @property
    def url(self) -> str:
        """The address of its page."""
        return self._channel.page.url

    @property
    def is_answered(self) -> bool:
        """Whether the session has answered it before, and nobody is asked again."""
        return self._key in self._answered

    @property
    def _key(self) -> tuple[str, str]:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}", self.name

    def look(self, typed: str | None) -> OpenDialog:
        """Return it as it is shown."""
        del typed
        return untrusted_text.dialog(
            DialogKind.PERMISSION,
            title=f"{urlsplit(self.url).netloc or 'This page'} wants to",
            message=PERMISSIONS[self.name][0],
            text=None,
        )

    def check(self, typed: str | None) -> None:
        """Accept: there is nothing to check."""

    async def answer(self, *, accept: bool, typed: str | None) -> None:
        """Answer it, and let the page go on."""
        del typed
        accept = self._answered.setdefault(self._key, accept)
        with contextlib.suppress(DocumentGone, RolloutFailure, Error, TimeoutError):
            if accept:
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self._channel.page.context.grant_permissions(
                        PERMISSIONS[self.name][1], origin=self._key[0]
                    )
            said = f"{canonical_json(self.name)}, {canonical_json(accept)}"
            await self._channel.call(f"stepmill.answered({said})")


def _lines(typed: str | None) -> list[str]:
    return [line for line in (typed or "").splitlines() if line]
