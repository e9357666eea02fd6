"""Operates a component: by the actions that its kit's file lists, in three visits, and by the generic skills.

It is operated if its state was not as wanted when its page was opened, is as wanted after the actions, and the three
visits show the same at every step: picture, document and state.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue
from support.browsers.html_site import HOST, ORIGIN, spec
from support.browsers.one_browser import browser_and_gateway, shared_browser
from zoo.zoo import LOOK

from generators.browser.page_scripts import to_call
from generators.browser.session import ChromiumSession
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.verify.differences import compare, compare_records
from schemas.configuration.masks import Masks
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Button,
    Click,
    Direction,
    Drag,
    Hover,
    Key,
    Scroll,
    TypeText,
    Wait,
)
from schemas.episodes.observation import Observation
from schemas.errors import RolloutFailure
from schemas.tasks.task_file import TaskFile
from widgets.generic import steps_of
from widgets.kits import Component, Kit
from widgets.site import answer

PLACE = (Path(__file__).parent / "place.js").read_text("utf-8")
VISITS = 3
SIZE: dict[str, object] = {"viewport_width": 800, "viewport_height": 600}
MIDDLE = (400.0, 300.0)
UPLOADS = (TaskFile(name="report.txt", text="Nothing new."),)
MAX_ACTIONS = 40
"""Actions that the generic skills may take."""


class Seen(NamedTuple):
    """What a visit saw after a step."""

    state: JsonValue
    look: JsonValue
    observation: Observation


class Outcome(NamedTuple):
    """What became of a component."""

    operated: bool
    generic: bool
    why: str
    """Why the actions did not operate it; empty where they did."""
    why_generic: str
    """Why the generic skills did not; empty where they did."""


@asynccontextmanager
async def served() -> AsyncIterator[None]:
    """Serve the pages of all kits, and give every visit the same browser."""
    async with shared_browser(), browser_and_gateway() as (_, gateway):
        gateway.mount(HOST, answer)
        yield


@asynccontextmanager
async def opened(kit: Kit, component: Component) -> AsyncIterator[ChromiumSession]:
    """Open a session on the page of a component."""
    async with browser_and_gateway() as (chromium, _):
        masks = {"masks": Masks(patterns=kit.masks)}
        async with chromium.session(spec(files=UPLOADS).model_copy(update=SIZE | masks)) as session:
            await session.open(f"{ORIGIN}/{kit.name}/{component.name}")
            await session.act(Wait(ms=500))
            yield session


async def operate(kit: Kit, component: Component) -> Outcome:
    """Operate a component in both ways."""
    try:
        why = await _why_not_operated(kit, component)
    except (RolloutFailure, ValueError) as error:
        why = str(error)
    try:
        why_generic = await _why_not_generic(kit, component)
    except (RolloutFailure, ValueError) as error:
        why_generic = str(error)
    return Outcome(not why, not why_generic, why, why_generic)


async def _why_not_operated(kit: Kit, component: Component) -> str:
    first = await visit(kit, component)
    if first[0].state == component.want:
        return f"the state is {first[0].state!r} from the beginning"
    if first[-1].state != component.want:
        return f"the state is {first[-1].state!r}, not {component.want!r}"
    for _ in range(VISITS - 1):
        if parting := _parting(first, await visit(kit, component), Masks(patterns=kit.masks)):
            return parting
    return ""


async def visit(kit: Kit, component: Component) -> list[Seen]:
    """Take the actions of a component; return what was seen when its page was opened, and after each step."""
    async with opened(kit, component) as session:
        seen = [await _look(session, component)]
        for step in component.act:
            for action in await _actions(session, step):
                effect = await session.act(action)
                if effect.error:
                    raise ValueError(f"{step}: {effect.error}")
            seen.append(await _look(session, component))
    return seen


async def _look(session: ChromiumSession, component: Component) -> Seen:
    observation = await session.observe()
    return Seen(await session.evaluate(component.state), await session.evaluate(LOOK), observation)


def _parting(one: list[Seen], other: list[Seen], masks: Masks) -> str:
    """Return where two visits part; empty: they are equal but for what is masked."""
    for number, (was, now) in enumerate(zip(one, other, strict=True)):
        if was.state != now.state:
            return f"step {number}: the states {was.state!r} and {now.state!r} of two visits"
        pages = was.observation.page, now.observation.page
        if parts := [*compare_records("page", *pages, masks), *compare("look", was.look, now.look)]:
            return f"step {number}: two visits differ: {', '.join(parts)}"
        if was.observation.screenshot.bytes != now.observation.screenshot.bytes:
            return f"step {number}: the pictures of two visits differ"
    return ""


async def _point(session: ChromiumSession, place: str) -> tuple[float, float]:
    found: Any = await session.evaluate(to_call(PLACE, place))
    return found[0], found[1]


async def _actions(session: ChromiumSession, step: dict[str, Any]) -> list[Action]:
    match step:
        case {"key": key}:
            return [Key(key=key)]
        case {"wait": ms}:
            return [Wait(ms=ms)]
        case {"type": text} if "into" not in step:
            return [TypeText(text=text, overwrite=step.get("over", False))]
        case {"upload": name, "into": place}:
            x, y = await _point(session, place)
            return [Click(x=x, y=y), AnswerDialog(accept=True, text=name)]
        case _:
            return [await _at_a_place(session, step)]


async def _at_a_place(session: ChromiumSession, step: dict[str, Any]) -> Action:
    named = [step.get(key) for key in ("click", "hover", "drag", "into", "over")]
    place = next((one for one in named if isinstance(one, str)), "body")
    x, y = MIDDLE if place == "body" else await _point(session, place)
    match step:
        case {"click": _}:
            button = Button(step.get("button", "left"))
            return Click(x=x, y=y, count=step.get("count", 1), button=button)
        case {"hover": _}:
            return Hover(x=x, y=y)
        case {"type": text}:
            return TypeText(x=x, y=y, text=text, overwrite="over" in step)
        case {"drag": _, "to": to}:
            to_x, to_y = await _point(session, to)
            return Drag(x=x, y=y, to_x=to_x, to_y=to_y)
        case {"drag": _, "by": [across, down]}:
            return Drag(x=x, y=y, to_x=x + across, to_y=y + down)
        case _:
            way = Direction.DOWN if step["scroll"] > 0 else Direction.UP
            return Scroll(direction=way, amount=abs(step["scroll"]), x=x, y=y)


async def _why_not_generic(kit: Kit, component: Component) -> str:
    if not component.goal:
        return "no generic skill is for it"
    policy = ReferencePolicy(steps_of(component.goal))
    async with opened(kit, component) as session:
        for _ in range(MAX_ACTIONS):
            turn = PolicyInput("", (), await session.observe(), session.reader)
            action = (await policy.act(turn)).action
            if isinstance(action, Answer):
                break
            effect = await session.act(action)
            if effect.error:
                return f"{action.type}: {effect.error}"
        state = await session.evaluate(component.state)
    return "" if state == component.want else f"the state is {state!r}, not {component.want!r}"
