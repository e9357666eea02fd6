"""The pointer and the keyboard: actions carried out as input events.

The events go over DevTools, in one burst where possible. Each carries the time of its page's own clock,
because an event that is older than its page crashes the page's process, and no two carry the same: of keys
of one and the same moment an open native list heeds the first alone, where the machine is slow. Nothing
here looks at the page or waits for it to settle.
"""

import contextlib
import itertools
from typing import Any

from generators.browser.clock import VirtualClock
from generators.browser.keyboard import Clipping, Keyboard, key_name, parse_chord
from generators.browser.page_calls import Channel, DocumentGone
from schemas.base import canonical_json
from schemas.episodes.action import Button, Click, Direction, Drag, Scroll, TypeText

MAX_TYPED_CHARACTERS = 400
"""The longest text that is typed key by key; of a longer one each line is pasted as a whole."""

BETWEEN_EVENTS_SECONDS = 1e-5
"""Least time between two events, seconds: those of the longest text take 8 ms."""

DRAG_MOVES = 8
"""Pointer moves between the two ends of a drag."""

_BUTTON_BITS = {Button.LEFT: 1, Button.RIGHT: 2, Button.MIDDLE: 4}
_WHEEL = {
    Direction.UP: (0, -1),
    Direction.DOWN: (0, 1),
    Direction.LEFT: (-1, 0),
    Direction.RIGHT: (1, 0),
}


class Clipboard:
    """The clipboard of one session."""

    def __init__(self) -> None:
        self.text = ""
        """The last copied or cut text."""


class PageInput:
    """Input to one page; it tracks which keys are down and where the pointer is."""

    def __init__(self, channel: Channel, clock: VirtualClock | None, clipboard: Clipboard) -> None:
        """`clock` is the page's clock; None: real time. `clipboard` is that of the session."""
        self._channel = channel
        self._clipboard = clipboard
        self._clock = clock
        self._keyboard = Keyboard()
        self._drag_data: dict[str, Any] | None = None
        self._at: tuple[float, float] | None = None
        self._last = 0.0
        channel.on("Input.dragIntercepted", self._on_drag_intercepted)

    async def move(self, x: float, y: float) -> None:
        """Move the pointer."""
        await self._mouse([self._event("mouseMoved", x, y)])

    async def point_again(self) -> None:
        """Move the pointer to its own position, because a new page may not know it."""
        if self._at is not None:
            await self.move(*self._at)

    async def click(self, action: Click) -> None:
        """Move, press and release, `count` times."""
        x, y, button = action.x, action.y, action.button
        await self._mouse(
            [
                self._event("mouseMoved", x, y),
                *(
                    self._event(kind, x, y, button=button, count=n)
                    for n in range(1, action.count + 1)
                    for kind in ("mousePressed", "mouseReleased")
                ),
            ]
        )

    async def drag(self, action: Drag) -> None:
        """Press at one point, move in a straight line, release at the other.

        If the page or the browser starts a native drag (of selected text or a draggable element), the
        rest is sent as drag events: enter, over, drop.
        """
        self._drag_data = None
        await self._channel.send("Input.setInterceptDrags", {"enabled": True})
        await self._mouse(
            [
                self._event("mouseMoved", action.x, action.y),
                self._event("mousePressed", action.x, action.y, button=action.button, count=1),
            ]
        )
        for n in range(1, DRAG_MOVES + 1):
            part = n / DRAG_MOVES
            x, y = (
                action.x + (action.to_x - action.x) * part,
                action.y + (action.to_y - action.y) * part,
            )
            await self._mouse([self._event("mouseMoved", x, y, button=action.button)])
            if self._drag_data is not None:
                for kind in ("dragEnter", "dragOver", "drop"):
                    event = {"type": kind, "x": action.to_x, "y": action.to_y}
                    event |= {"data": self._drag_data}
                    await self._channel.send("Input.dispatchDragEvent", event)
                break
        await self._channel.send("Input.setInterceptDrags", {"enabled": False})
        if self._drag_data is not None:  # what is dropped is not released
            await self.move(action.to_x, action.to_y)
            return
        released = self._event(
            "mouseReleased", action.to_x, action.to_y, button=action.button, count=1
        )
        await self._mouse([released])

    async def drop_file(self, x: float, y: float, path: str) -> None:
        """Drag a file of the machine to a point and drop it there."""
        data = {"items": [], "files": [path], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            event = {"type": kind, "x": x, "y": y, "data": data}
            await self._channel.send("Input.dispatchDragEvent", event)
        await self.move(x, y)

    def _on_drag_intercepted(self, event: dict[str, Any]) -> None:
        self._drag_data = event["data"]

    async def scroll(self, action: Scroll, *, x: float, y: float) -> None:
        """Turn the wheel over a point."""
        across, down = _WHEEL[action.direction]
        event = self._event("mouseWheel", x, y)
        event |= {"deltaX": across * action.amount, "deltaY": down * action.amount}
        await self._mouse([event])

    async def type(self, action: TypeText) -> None:
        """Type a text into the focused element, then press Enter if the action says so."""
        if len(action.text) > MAX_TYPED_CHARACTERS:
            await self._paste_lines(action.text)
        elif action.text:
            await self._type(action.text)
        elif action.overwrite:
            await self._keys(self._keyboard.press("Delete"))
        if action.enter:
            await self._keys(self._keyboard.press("Enter"))

    async def _type(self, text: str) -> None:
        """Press a key for each character; paste those that have no key."""
        for on_keys, characters in itertools.groupby(text, self._keyboard.has):
            if on_keys:
                await self._keys([e for each in characters for e in self._keyboard.press(each)])
            else:
                for each in characters:
                    await self._paste(each)

    async def _paste_lines(self, text: str) -> None:
        """Paste each line of a long text, and press Enter between them, as a short text has its line breaks."""
        for number, line in enumerate(text.split("\n")):
            if number:
                await self._keys(self._keyboard.press("Enter"))
            if line:
                await self._paste(line)

    async def _paste(self, text: str) -> None:
        await self._channel.send("Input.insertText", {"text": text})

    async def press(self, chord: str) -> None:
        """Press the keys of a chord in order and release them in reverse.

        Raises:
            UnknownKey: the chord has an unknown key.
        """
        keys = parse_chord(chord)
        for key in keys:
            await self.key_down(key)
        for key in reversed(keys):
            await self.key_up(key)

    async def key_down(self, name: str) -> None:
        """Press a key and keep it down.

        Raises:
            UnknownKey: `name` is not a key.
        """
        key = key_name(name)
        clipping = self._keyboard.clipping(key)
        await self._keys([self._keyboard.down(key)])
        if clipping is not None:
            await self._clip(clipping)

    async def _clip(self, clipping: Clipping) -> None:
        """Copy, cut or paste by the session's own clipboard."""
        text = canonical_json(self._clipboard.text)
        with contextlib.suppress(DocumentGone):
            taken = await self._channel.call(f"stepmill.clip({clipping.value!r},{text})")
            if isinstance(taken, str):
                self._clipboard.text = taken

    async def key_up(self, name: str) -> None:
        """Release a key.

        Raises:
            UnknownKey: `name` is not a key.
        """
        await self._keys([self._keyboard.up(key_name(name))])

    def _event(
        self, kind: str, x: float, y: float, *, button: Button | None = None, count: int = 0
    ) -> dict[str, Any]:
        return {
            "type": kind,
            "x": x,
            "y": y,
            "button": button.value if button else "none",
            "clickCount": count,
            "buttons": 0 if button is None or kind == "mouseReleased" else _BUTTON_BITS[button],
            "modifiers": self._keyboard.modifiers,
        }

    async def _mouse(self, events: list[dict[str, Any]]) -> None:
        self._at = events[-1]["x"], events[-1]["y"]
        await self._send("Input.dispatchMouseEvent", events)

    async def _keys(self, events: list[dict[str, Any]]) -> None:
        await self._send("Input.dispatchKeyEvent", events)

    async def _send(self, method: str, events: list[dict[str, Any]]) -> None:
        """Send events in order without waiting between them."""
        await self._channel.burst(method, [{**event, **self._moment()} for event in events])

    def _moment(self) -> dict[str, float]:
        """Return the time of the next event; nothing in real time, which the browser reads itself."""
        if self._clock is None:
            return {}
        self._last = max(self._clock.event_seconds, self._last + BETWEEN_EVENTS_SECONDS)
        return {"timestamp": self._last}
