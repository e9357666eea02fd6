"""What a page of a world shows around its content: what was just done, and what stands in the way.

A visit remembers which views it has opened and what it has answered. What covers a page comes again with each page
until it is answered; that a change was made is told once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request

from schemas.worlds.behaviour import Behaviour, Cookies, Delivery, Noise, Told
from schemas.worlds.world import World

ANSWERS = "/_/answers/"
"""The path below which a page's forms answer what stands in the way."""

COOKIES, POP_UP, NAME, SURVEY, ANNOUNCEMENT = "cookies", "pop-up", "name", "survey", "announcement"

PART = "Part"
"""The header by which the own script says what it fetches a page for: `page` to show it, `inside` for a part of one."""


@dataclass(slots=True)
class Memory:
    """What a visit remembers beside its rows."""

    opened: set[str] = field(default_factory=set)
    """The views that were shown."""
    answered: set[str] = field(default_factory=set)
    """What stood in the way and was answered."""
    refused: bool = False
    """Whether the name that was given last was another one."""
    changed: bool = False
    """Whether a change was made that no page has told of."""


class Frame(NamedTuple):
    """What a page shows around its content."""

    bare: bool = False
    """Whether the page is to be drawn by the own script: it has no content yet."""
    told: bool = False
    """Whether it tells that a change was made."""
    covers: tuple[str, ...] = ()
    """What it shows over its content, by the names above."""
    refused: bool = False
    """Whether the name that was given is another one."""
    late: bool = False
    """Whether rows of a list come later."""
    in_cart: int = 0
    """How many things lie in the cart."""
    back: str = ""
    """What is added to the address of an answer, so that it leads back to the page."""


def is_part(request: Request) -> bool:
    """Return whether the own script asks, for a part of a page."""
    return request.headers.get(PART) == "inside"


def frame_of(world: World, memory: Memory, request: Request) -> Frame:
    """Return the frame of the page that a request asks for, and remember that it was shown."""
    behaviour, path = world.behaviour, request.url.path
    part = request.headers.get(PART)
    wants_document = "text/html" in request.headers.get("Accept", "")
    if behaviour.delivery is Delivery.SINGLE_PAGE and part is None and wants_document:
        return Frame(bare=True)
    if is_part(request) or path.startswith("/_/"):
        return Frame()
    memory.opened.add(path.removeprefix("/"))
    told, memory.changed = memory.changed and behaviour.told is not Told.NOTHING, False
    query = f"?{request.url.query}" if request.url.query else ""
    return Frame(
        told=told,
        covers=tuple(_covers(world.noise, memory)),
        refused=memory.refused,
        late=world.noise.late,
        back="?" + urlencode({"back": path + query}),
    )


def _covers(noise: Noise, memory: Memory) -> list[str]:
    asked = {
        COOKIES: noise.cookies is not Cookies.NONE,
        POP_UP: noise.pop_up in memory.opened,
        NAME: noise.asks_again in memory.opened,
        SURVEY: noise.survey is not None,
        ANNOUNCEMENT: bool(noise.announcement),
    }
    return [name for name, is_asked in asked.items() if is_asked and name not in memory.answered]


def remember(memory: Memory, behaviour: Behaviour, request: Request, status: int) -> None:
    """Remember that a change was made, if a request made one."""
    made = request.method == "POST" and status == HTTPStatus.SEE_OTHER
    if made and not request.url.path.startswith("/_/") and behaviour.told is not Told.NOTHING:
        memory.changed = True


def take_answer(world: World, memory: Memory, name: str, given: Mapping[str, str]) -> None:
    """Remember that what stands in the way was answered; a name counts if it is that of who is signed in."""
    if name == NAME:
        memory.refused = " ".join(given.get("name", "").split()).casefold() != world.user.casefold()
        if memory.refused:
            return
    memory.answered.add(name)


def way_back(request: Request) -> str:
    """Return the path of the page where something was answered."""
    back = request.query_params.get("back", "/")
    return back if back.startswith("/") and not back.startswith("//") else "/"
