"""The frame around a page's content: the confirmation of a change, and distractions.

A visit remembers opened views and dismissed distractions. A distraction appears on every page until it is answered;
the confirmation of a change appears once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request

from generators.worlds.words.catalogue import catalogue
from schemas.worlds.behaviour import Behaviour, Cookies, Delivery, Noise, Told
from schemas.worlds.world import World

ANSWERS = "/_/answers/"
"""The path prefix to which distractions send their forms."""

COOKIES, POP_UP, NAME, SURVEY, ANNOUNCEMENT = "cookies", "pop-up", "name", "survey", "announcement"
HINT = "hint"

LATE_MS = 150
"""The page's time after which late rows of a list come, ms."""

PART = "Part"
"""The request header of our script: `page` to fetch a page for display, `inside` for a part of one."""


@dataclass(slots=True)
class Memory:
    """A visit's memory beside its rows."""

    opened: set[str] = field(default_factory=set)
    """The views that were opened."""
    answered: set[str] = field(default_factory=set)
    """The distractions that were answered."""
    refused: bool = False
    """Whether the last name entered was wrong."""
    told: str = ""
    """The sentence that confirms a change and that no page has shown yet; empty: there is none."""
    is_signed_out: bool = False
    """Whether the session has ended, until the user's name is entered."""
    hint_after: int | None = None
    """The number of pages after which a window about something else opens; None: none does."""


class Frame(NamedTuple):
    """The frame of a page."""

    bare: bool = False
    """Whether the page is an empty shell that our script fills."""
    told: str = ""
    """The sentence that confirms a change; empty: it confirms none."""
    covers: tuple[str, ...] = ()
    """Its distractions, by the names above."""
    refused: bool = False
    """Whether the last name entered was wrong."""
    late_ms: int = 0
    """The page's time after which rows of a list come, ms; 0: with the page."""
    in_cart: int = 0
    """The number of things in the cart."""
    back: str = ""
    """The query string that makes an answer return to this page."""


def is_part(request: Request) -> bool:
    """Return whether our script requests a part of a page."""
    return request.headers.get(PART) == "inside"


def frame_of(world: World, memory: Memory, request: Request) -> Frame:
    """Return the frame of the requested page, and record the page as opened."""
    behaviour, path = world.behaviour, request.url.path
    part = request.headers.get(PART)
    wants_document = "text/html" in request.headers.get("Accept", "")
    if behaviour.delivery is Delivery.SINGLE_PAGE and part is None and wants_document:
        return Frame(bare=True)
    if is_part(request) or path.startswith("/_/"):
        return Frame()
    memory.opened.add(path.removeprefix("/"))
    told, memory.told = memory.told, ""
    query = f"?{request.url.query}" if request.url.query else ""
    return Frame(
        told=told,
        covers=tuple(_covers(world.noise, memory)),
        refused=memory.refused,
        late_ms=LATE_MS if world.noise.late else 0,
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
    covers = [name for name, is_asked in asked.items() if is_asked and name not in memory.answered]
    if memory.is_signed_out:
        covers = [NAME, *(name for name in covers if name != NAME)]
    after = memory.hint_after
    is_hinted = after is not None and len(memory.opened) >= after and HINT not in memory.answered
    return [*covers, HINT] if is_hinted and not {*covers} & {NAME, POP_UP, COOKIES} else covers


def remember(memory: Memory, behaviour: Behaviour, request: Request, status: int) -> None:
    """Record a change, if the request made one."""
    made = request.method == "POST" and status == HTTPStatus.SEE_OTHER
    if made and not request.url.path.startswith("/_/") and behaviour.told is not Told.NOTHING:
        memory.told = memory.told or behaviour.saved


def tell(
    world: World, memory: Memory, key: str, titles: Sequence[str], *, count: int | None = None
) -> None:
    """Let the next page say what was done to rows that it may not show: the text of a key, and their titles."""
    words = catalogue(world.language)
    more = {} if count is None else {"count": count}
    memory.told = words.say(key, titles=words.quote(titles), **more)


def take_answer(world: World, memory: Memory, name: str, given: Mapping[str, str]) -> None:
    """Record a distraction as answered; a name counts only if it is the signed-in user's."""
    if name == NAME:
        memory.refused = " ".join(given.get("name", "").split()).casefold() != world.user.casefold()
        if memory.refused:
            return
        memory.is_signed_out = False
    memory.answered.add(name)


def way_back(request: Request) -> str:
    """Return the path of the page on which a distraction was answered."""
    back = request.query_params.get("back", "/")
    return back if back.startswith("/") and not back.startswith("//") else "/"
