"""How a world's pages behave: how pages are delivered, where links open, and which distractions appear.

None of this changes the website's data or the possible actions. With the defaults, pages are server-rendered, links
load whole pages, and nothing covers the page.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Record

_Words = Annotated[str, Field(min_length=1, max_length=80)]
_View = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]


class Delivery(StrEnum):
    """How a page reaches the browser."""

    SERVER = "server"
    """Each link and each form loads a whole page."""
    ENHANCED = "enhanced"
    """Links and forms fetch a whole page, and a script replaces the parts that changed."""
    SINGLE_PAGE = "single_page"
    """The first page is a shell; a script renders all others from fragments that it fetches."""


class Place(StrEnum):
    """Where the target of a link is shown."""

    PAGE = "page"
    """It replaces the page with the link."""
    DIALOG = "dialog"
    """In a modal dialog over the page."""
    DRAWER = "drawer"
    """In a modal drawer at the edge of the window."""
    PANEL = "panel"
    """Beside the list; only rows of a list open this way."""


class Facts(StrEnum):
    """How a row's page shows its fields."""

    TOGETHER = "together"
    """All at once."""
    TABS = "tabs"
    """Some at a time, in tabs."""
    ACCORDION = "accordion"
    """In collapsible sections, the first of them open."""
    SHEET = "sheet"
    """Those of the list on the page, and the others on a sheet: a page without navigation."""


class Paging(StrEnum):
    """How a list is paginated."""

    PAGES = "pages"
    """Links lead to the next and the previous page."""
    MORE = "more"
    """A button appends the next rows."""
    SCROLL = "scroll"
    """The next rows load when the end of the list scrolls into view."""


class Menus(StrEnum):
    """How the navigation shows its links."""

    OPEN = "open"
    """All links are visible."""
    CLICK = "click"
    """Links are in menus that open on click."""
    HOVER = "hover"
    """Links are in menus that open on hover or click."""


class Cells(StrEnum):
    """How a cell of a grid is opened for editing, beside a double click."""

    PENCIL = "pencil"
    """By a small pencil beside the value."""
    VALUE = "value"
    """By the key Enter, once a click has selected the cell."""
    TWICE = "twice"
    """By nothing else."""


class Acts(StrEnum):
    """Where the actions of a row's page are."""

    SHOWN = "shown"
    """On the page, or in a menu that a click opens."""
    HOVER = "hover"
    """In a menu that opens while the pointer is over it."""
    CONTEXT = "context"
    """In a menu that a click on the row's name with the right button opens."""


class Told(StrEnum):
    """How a page confirms a change."""

    NOTHING = "nothing"
    """Without a message: the page shows the changed row. Only what was deleted or sent is named, because no page need show it."""
    MESSAGE = "message"
    """By a message above the page's content."""
    TOAST = "toast"
    """By a message in a corner, until it is closed or the next page is shown."""


class Cookies(StrEnum):
    """How a website asks for consent to cookies."""

    NONE = "none"
    """There is no banner."""
    BAR = "bar"
    """By a bar at the bottom, which blocks nothing."""
    COVERING = "covering"
    """By a modal dialog, which blocks the page until it is answered."""


class MenuGroup(Record):
    """A menu of the navigation."""

    label: _Words
    """The text of the button that opens the menu."""
    views: tuple[_View, ...] = Field(min_length=1)
    """The views that its links lead to."""


class Behaviour(Record):
    """How pages react to actions."""

    delivery: Delivery = Delivery.SERVER
    """How pages get to the browser."""
    forms: Place = Place.PAGE
    """Where forms and the confirmation of a deletion are shown."""
    rows: Place = Place.PAGE
    """Where a row's page is shown after a click in a list."""
    facts: Facts = Facts.TOGETHER
    """How a row's page shows its fields."""
    parts: tuple[_Words, ...] = ("Overview", "Details")
    """The labels of the tabs or sections; the first holds the fields that a list shows."""
    paging: Paging = Paging.PAGES
    """How lists are paginated."""
    more: _Words = "Show more"
    """The button that loads the next rows."""
    actions: _Words | None = None
    """The button that opens the menu of a row's actions; None: the actions are on the page."""
    cells: Cells = Cells.PENCIL
    """How a cell of a grid is opened for editing."""
    menus: tuple[MenuGroup, ...] = ()
    """The menus of the navigation; views in no menu stand beside the menus."""
    menus_open: Menus = Menus.OPEN
    """How the menus open."""
    told: Told = Told.NOTHING
    """How pages confirm a change."""
    saved: _Words = "Your changes were saved."
    """The text of that message."""
    sure: _Words | None = None
    """The button of a second confirmation after a form's own button; None: there is no second confirmation."""
    acts: Acts = Acts.SHOWN
    """How a row's actions are reached; `hover` needs the menu `actions`, `context` that there is none."""
    twice: bool = False
    """Whether a row's page is opened from a list by a double click on its title; one click only marks the row."""
    rows_alone: bool = False
    """Whether a row's page has no navigation; only where it replaces the list or opens in a new tab."""
    in_tab: bool = False
    """Whether pages without navigation open in a new tab: sheets of facts, and rows' pages from a list."""
    cards_dragged: bool = False
    """Whether cards of boards are moved by dragging alone."""
    enter: bool = False
    """Whether a search stands alone and has no button, so that Enter sends it."""
    slow_ms: int = Field(default=0, ge=0, le=20_000)
    """How long a list takes to show what a search or filter found, in ms of the page's time; 0: it shows it at once."""
    searching: _Words = "Searching…"
    """What the list says meanwhile."""
    sticky: bool = False
    """Whether the header stays visible while the page scrolls."""
    tips: bool = False
    """Whether form fields have tooltips that explain the accepted values."""
    trail: bool = False
    """Whether a row's page begins with breadcrumbs: home page, list, row."""


class Noise(Record):
    """Distractions on a website that have nothing to do with its purpose."""

    cookies: Cookies = Cookies.NONE
    """How the website asks for consent to cookies, until it is answered."""
    accept: _Words = "Accept all"
    """The button that accepts them."""
    decline: _Words = "Only necessary"
    """The button that declines them."""
    pop_up: _View | None = None
    """The view that offers a newsletter when first opened; None: no view does."""
    refuse: _Words = "No, thanks"
    """The button that declines the newsletter."""
    asks_again: _View | None = None
    """The view that asks for the signed-in user's name when first opened; None: no view does."""
    name: _Words = "Your name"
    """The field for the name."""
    resume: _Words = "Continue"
    """The button that submits the name."""
    announcement: str = ""
    """A line at the top of each page; empty: no line."""
    survey: _Words | None = None
    """The question of a survey box in a corner; None: no survey."""
    late: bool = False
    """Whether rows of lists load a moment after their page."""
