"""Does the steps of a page of the zoo in a session, and says what differs from what was recorded."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, NamedTuple

from PIL import Image, ImageChops
from support.browsers.html_site import HOST, ORIGIN, spec
from support.browsers.one_browser import browser_and_gateway

from generators.browser.page_scripts import to_call
from generators.browser.session import ChromiumSession
from schemas.episodes.action import (
    Action,
    AnswerDialog,
    Back,
    Button,
    Click,
    Direction,
    Drag,
    Hover,
    Key,
    Scroll,
    Select,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)
from schemas.episodes.observation import DialogKind, Observation
from schemas.tasks.task_file import TaskFile
from zoo import servers
from zoo.record import PLACE
from zoo.zoo import ASPECTS, LOOK, Animal, answer

REST_MS = 460
"""What a person waits after a step. With what passes at each action it is `record.PACE_SECONDS`."""

CELL, LEVELS, SHARE = 20, 24, 0.01
"""Two pictures are alike if at most this share of their cells of 20 by 20 pixels differs by more than these levels."""


class Seen(NamedTuple):
    """What a visit saw after a step."""

    look: dict[str, Any]
    """As `record.py` records it."""
    observation: Observation


class Visit(NamedTuple):
    """One visit to a page."""

    actions: list[list[Action]]
    """What was done at each step."""
    seen: list[Seen]
    """When it was opened, and after each step."""


@asynccontextmanager
async def opened(animal: Animal) -> AsyncIterator[ChromiumSession]:
    """Open a session on a page of the zoo."""
    servers.forget()
    given = tuple(TaskFile(name=name, text=body) for name, body in animal.uploads.items())
    async with browser_and_gateway() as (chromium, gateway):
        gateway.mount(HOST, lambda request: answer(animal, request))
        async with chromium.session(spec(files=given)) as session:
            await session.open(ORIGIN + animal.path)
            yield session


async def visit(animal: Animal, actions: list[list[Action]] | None = None) -> Visit:
    """Do the steps of a page, or take these actions again."""
    async with opened(animal) as session:
        await session.act(Wait(ms=REST_MS))
        done, seen = list[list[Action]](), [await _look(session)]
        for number, step in enumerate(animal.steps):
            done.append(await _actions(session, step) if actions is None else actions[number])
            for action in done[-1]:
                await session.act(action)
            await session.act(Wait(ms=REST_MS))
            seen.append(await _look(session))
    return Visit(done, seen)


async def _look(session: ChromiumSession) -> Seen:
    observation = await session.observe()
    if (dialog := observation.page.dialog) is not None:
        # The words of this one are the browser's own, and DevTools does not tell them.
        message = "" if dialog.kind is DialogKind.BEFOREUNLOAD else dialog.message
        return Seen({"dialog": [dialog.kind.value, message]}, observation)
    look: Any = await session._tab.channel.evaluate(LOOK)
    names = [one.name for one in session.downloads]
    return Seen(look | {"tabs": len(session._tabs), "downloads": names}, observation)


async def _point(session: ChromiumSession, place: Any) -> tuple[float, float]:
    if isinstance(place, list):
        return place[0], place[1]
    found: Any = await session._tab.channel.evaluate(to_call(PLACE, place))
    return found[0], found[1]


async def _actions(session: ChromiumSession, step: dict[str, Any]) -> list[Action]:
    """Return what is done at a step."""
    if "upload" in step:
        x, y = await _point(session, step["into"])
        return [Click(x=x, y=y), AnswerDialog(accept=True, text=step["upload"])]
    return [await _action(session, step)]


async def _action(session: ChromiumSession, step: dict[str, Any]) -> Action:
    action: Action
    match step:
        case {"key": key}:
            action = Key(key=key)
        case {"wait": ms}:
            action = Wait(ms=ms)
        case {"answer": "accept" | "dismiss" as said}:
            action = AnswerDialog(accept=said == "accept")
        case {"answer": text}:
            action = AnswerDialog(accept=True, text=text)
        case {"back": _}:
            action = Back()
        case {"type": text} if "into" not in step:
            action = TypeText(text=text, overwrite=step.get("over", False))
        case {"tab": number}:
            way = TabOperation.CLOSE if step.get("close") else TabOperation.SWITCH
            action = Tab(operation=way, index=number)
        case _:
            action = await _at_a_place(session, step)
    return action


async def _at_a_place(session: ChromiumSession, step: dict[str, Any]) -> Action:
    named = [step[key] for key in ("click", "hover", "drag", "into", "of") if key in step]
    x, y = await _point(session, named[0] if named else step.get("over", [250, 200]))
    match step:
        case {"click": _}:
            button = Button(step.get("button", "left"))
            return Click(x=x, y=y, count=step.get("count", 1), button=button)
        case {"hover": _}:
            return Hover(x=x, y=y)
        case {"type": text}:
            return TypeText(x=x, y=y, text=text, overwrite=step.get("over", False))
        case {"drag": _, "to": to}:
            to_x, to_y = await _point(session, to)
            return Drag(x=x, y=y, to_x=to_x, to_y=to_y)
        case {"scroll": ticks}:
            way = Direction.DOWN if ticks > 0 else Direction.UP
            return Scroll(direction=way, amount=abs(ticks), x=x, y=y)
        case _:
            return Select(x=x, y=y, option=step["choose"])


def differences(animal: Animal, seen: list[Seen]) -> list[str]:
    """Return where a visit differs from what was recorded, a line each."""
    found = list[str]()
    for number, (was, now) in enumerate(zip(animal.truth, seen, strict=True)):
        if "dialog" in was or "dialog" in now.look:
            if was != now.look:
                found.append(f"step {number}: {was} in Chromium, {now.look} here")
            continue
        for aspect in ASPECTS:
            if aspect in animal.differs or (aspect not in was and aspect != "picture"):
                continue
            if aspect == "picture":
                share = unlike(
                    animal.picture(number).read_bytes(), now.observation.screenshot.bytes
                )
                if share > SHARE:
                    found.append(f"step {number}: {share:.1%} of the picture differs")
            elif was[aspect] != now.look.get(aspect):
                found.append(
                    f"step {number}: {aspect}: {was[aspect]!r} in Chromium, {now.look.get(aspect)!r} here"
                )
    return found


def unlike(one: bytes, other: bytes) -> float:
    """Return the share of the cells of two pictures that differ."""
    cells = []
    for picture in (one, other):
        image = Image.open(BytesIO(picture)).convert("L")
        width, height = image.size
        cells.append(image.resize((width // CELL, height // CELL), Image.Resampling.BOX))
    if cells[0].size != cells[1].size:
        return 1.0
    histogram = ImageChops.difference(*cells).histogram()
    return sum(histogram[LEVELS + 1 :]) / sum(histogram)
