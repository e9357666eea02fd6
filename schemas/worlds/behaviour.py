"""How a world's pages behave: how they are delivered, where things open, and what stands in the way.

Nothing here changes what a website holds or what can be done on it. A record of its usual values is a website
whose pages are whole, of which each leads to the next, and on which nothing is in the way.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Record

_Words = Annotated[str, Field(min_length=1, max_length=80)]
_View = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]


class Delivery(StrEnum):
    """How a page gets to the browser."""

    SERVER = "server"
    """Each link and each form loads a whole page."""
    ENHANCED = "enhanced"
    """Links and forms fetch a whole page, of which a script draws what is new."""
    SINGLE_PAGE = "single_page"
    """The first page is a shell, in which a script draws all others from the parts that it fetches."""


class Place(StrEnum):
    """Where the page that a link leads to is shown."""

    PAGE = "page"
    """In place of the page with the link."""
    DIALOG = "dialog"
    """In a window over it, which takes all clicks."""
    DRAWER = "drawer"
    """In such a window at the edge."""
    PANEL = "panel"
    """Beside it; only rows of a list are shown so."""


class Facts(StrEnum):
    """How a row's page shows its fields."""

    TOGETHER = "together"
    """All at once."""
    TABS = "tabs"
    """Some at a time; another tab shows others in their place."""
    ACCORDION = "accordion"
    """In parts of which the first is open, and others can be opened too."""


class Paging(StrEnum):
    """How a list goes on after its first rows."""

    PAGES = "pages"
    """Links lead to the next page and to the one before."""
    MORE = "more"
    """A button brings the next rows under those that are there."""
    SCROLL = "scroll"
    """The next rows come when the end of the list is in sight."""


class Menus(StrEnum):
    """What the navigation does with its links."""

    OPEN = "open"
    """It shows them all."""
    CLICK = "click"
    """They are in menus that a click opens."""
    HOVER = "hover"
    """They are in menus that the pointer opens, or a click."""


class Cells(StrEnum):
    """What opens a cell of a grid, beside two clicks on it."""

    PENCIL = "pencil"
    """A small pencil beside what it holds."""
    VALUE = "value"
    """The key Enter, once a click has selected it."""


class Told(StrEnum):
    """How a page says that a change was made."""

    NOTHING = "nothing"
    """It does not: it shows what has become of the row."""
    MESSAGE = "message"
    """By a sentence over what the page shows."""
    TOAST = "toast"
    """By a sentence in a corner, until it is closed or the next page is shown."""


class Cookies(StrEnum):
    """How a website asks about cookies."""

    NONE = "none"
    """It does not."""
    BAR = "bar"
    """By a bar at the bottom, beside which everything works."""
    COVERING = "covering"
    """By a window over the page, which takes all clicks until it is answered."""


class MenuGroup(Record):
    """A menu of the navigation."""

    label: _Words
    """What opens it."""
    views: tuple[_View, ...] = Field(min_length=1)
    """The views that its links lead to."""


class Behaviour(Record):
    """How pages behave when something is done on them."""

    delivery: Delivery = Delivery.SERVER
    """How pages get to the browser."""
    forms: Place = Place.PAGE
    """Where forms are shown, and the question whether to delete a row."""
    rows: Place = Place.PAGE
    """Where the page of a row is shown that is clicked in a list."""
    facts: Facts = Facts.TOGETHER
    """How a row's page shows its fields."""
    parts: tuple[_Words, ...] = ("Overview", "Details")
    """What tabs or parts are called; the first has the fields that a list shows."""
    paging: Paging = Paging.PAGES
    """How lists go on."""
    more: _Words = "Show more"
    """The button that brings the next rows."""
    actions: _Words | None = None
    """What opens the menu of what can be done with a row; None: it stands on the page."""
    cells: Cells = Cells.PENCIL
    """What opens a cell of a grid."""
    menus: tuple[MenuGroup, ...] = ()
    """The menus of the navigation; what is in none stands beside them."""
    menus_open: Menus = Menus.OPEN
    """How they open."""
    told: Told = Told.NOTHING
    """How pages say that a change was made."""
    saved: _Words = "Your changes were saved."
    """In these words."""
    sure: _Words | None = None
    """The button that has to be clicked after a form's own, because the page asks again; None: it does not."""
    sticky: bool = False
    """Whether the head stays in sight when the page is scrolled."""
    tips: bool = False
    """Whether fields of forms say what they take when the pointer is over a sign beside them."""
    trail: bool = False
    """Whether a row's page begins with the way to it: the first page, its list, and itself."""


class Noise(Record):
    """What stands in the way on a website, beside what it is for."""

    cookies: Cookies = Cookies.NONE
    """How it asks about cookies, until it is answered."""
    accept: _Words = "Accept all"
    """The button that accepts them."""
    decline: _Words = "Only necessary"
    """The button that declines them."""
    pop_up: _View | None = None
    """The view over which a newsletter is offered when it is opened first; None: none is."""
    refuse: _Words = "No, thanks"
    """The button that declines it."""
    asks_again: _View | None = None
    """The view that asks, when it is opened first, for the name of who is signed in; None: none does."""
    name: _Words = "Your name"
    """The field that asks for it."""
    resume: _Words = "Continue"
    """The button that sends it."""
    announcement: str = ""
    """A line at the top of each page; empty: there is none."""
    survey: _Words | None = None
    """The question of a box in a corner; None: there is none."""
    late: bool = False
    """Whether rows of lists come some moments after their page."""
