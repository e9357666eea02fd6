"""How a website looks and what it calls things, which changes nothing of what it holds or does."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Record
from schemas.worlds.patterns import Label, Name

_COLOUR = r"^#[0-9a-f]{6}$"


class Amounts(StrEnum):
    """How pages write an amount of money; `¤` is the currency."""

    POINT = "¤1,234.50"
    COMMA = "1.234,50 ¤"
    SPACE = "1 234,50 ¤"
    WHOLE = "¤1,234"
    """Without hundredths, which the currency does not have."""


class Days(StrEnum):
    """How pages write a day, here the ninth of March 2026."""

    ISO = "2026-03-09"
    SLASHES = "09/03/2026"
    MONTH_FIRST = "03/09/2026"
    DOTS = "09.03.2026"
    ENGLISH = "9 March 2026"
    AMERICAN = "Mar 9, 2026"
    GERMAN = "9. März 2026"
    FRENCH = "9 mars 2026"
    SPANISH = "9 de marzo de 2026"
    JAPANESE = "2026年3月9日"


class Words(Record):
    """What the website calls what it offers everywhere."""

    home: Label = "Home"
    """The link to the first page."""
    add: Label = "New {one}"
    """The link to a form for a new row; `{one}` is what one is called."""
    edit: Label = "Edit"
    """The link to the form of a row."""
    save: Label = "Save"
    """The button of a form."""
    delete: Label = "Delete"
    """The link to the page that asks whether to delete a row."""
    confirm: Label = "Yes, delete"
    """The button that deletes, on the page that asks."""
    cancel: Label = "Cancel"
    """The link that leaves a form or that page."""
    search: Label = "Search"
    """The field that a view is searched by."""
    apply: Label = "Apply"
    """The button that searches, filters and sorts."""
    sort: Label = "Sort by"
    """What stands over the ways to sort."""
    increase: Label = "Increase {field}"
    """The button that makes a number one more."""
    decrease: Label = "Decrease {field}"
    """The button that makes a number one less."""
    untag: Label = "Remove {tag}"
    """The button that takes what was chosen away again."""
    drop: Label = "Drop here: {field}"
    """What stands in the box that a choice is dragged into."""
    ascending: Label = "{field}, ascending"
    """The choice that sorts by a field, the smallest first."""
    descending: Label = "{field}, descending"
    """The choice that sorts by a field, the largest first."""
    all: Label = "All"
    """The choice of a filter that filters nothing."""
    next: Label = "Next"
    """The link to a list's next page."""
    previous: Label = "Previous"
    """The link to the page before."""
    yes: Label = "Yes"
    """A flag that is set."""
    no: Label = "No"
    """One that is not."""
    none: Label = "None"
    """What stands where a link leads nowhere."""
    tick: Label = "Select {title}"
    """The box that ticks a row of a list; `{title}` is the row's."""
    ticked: Label = "With selected"
    """The list of what can be done to all ticked rows."""
    run: Label = "Do it"
    """The button that does it."""
    front: Label = "Front"
    """What stands over the first row of a map."""
    taken: Label = "Taken"
    """What a map calls a place that is not free, where it says how these look."""
    summary: Label = "Summary"
    """The last page of a form of several pages."""


class Layout(StrEnum):
    """Where a page's parts are."""

    TOP = "top"
    """The navigation runs along the top."""
    SIDE = "side"
    """The navigation stands at the left."""
    SPLIT = "split"
    """A narrow head, the navigation at the right."""
    STACKED = "stacked"
    """A line with the user, the name of the website, and the navigation below in the accent's colour."""
    NARROW = "narrow"
    """A narrow column in the middle."""
    FULL = "full"
    """As wide as the window, the navigation in the head."""
    PANES = "panes"
    """The navigation and the page stand beside each other as sheets."""
    RAIL = "rail"
    """A dark strip at the left with the navigation, the user above the page."""


class Ground(StrEnum):
    """What a page's content lies on."""

    PAGE = "page"
    """On the page itself."""
    SHEET = "sheet"
    """On one sheet with a border."""
    RULED = "ruled"
    """Under a bar in the accent's colour, set in from the left."""
    ASIDE = "aside"
    """Beside a column with hints, which a narrow window does not show."""


class Foot(StrEnum):
    """What is at the end of a page."""

    NOTHING = "nothing"
    LINE = "line"
    """The name of the website and the year."""
    COLUMNS = "columns"
    """Three columns: the name, the opening hours, and where to ask."""


class Listing(StrEnum):
    """How a view shows its rows."""

    TABLE = "table"
    CARDS = "cards"
    ITEMS = "items"
    """A list, each item with its title and a line of facts."""


class Block(StrEnum):
    """A part of the first page; none says what a row holds, or how many there are."""

    CARDS = "cards"
    """A card for each view."""
    LINKS = "links"
    """A list of the views."""
    TABLE = "table"
    """A table of the views and what they show."""
    SECTIONS = "sections"
    """A section for each view, with a list of what it shows."""
    COLUMNS = "columns"
    """The views beside the forms for new rows."""
    TOPICS = "topics"
    """A line of links to the views."""
    TILES = "tiles"
    """A tile with an icon for each view."""
    TEASERS = "teasers"
    """A row for each view, with a drawn picture beside what it is for."""
    DIRECTORY = "directory"
    """The views as terms, each with what it is for."""
    SHORTCUTS = "shortcuts"
    """Links to the forms for new rows."""
    WELCOME = "welcome"
    """A sentence that greets the user."""
    BANNER = "banner"
    """A coloured field with a heading."""
    SEARCH = "search"
    """The search of the first view that has one."""
    NOTICE = "notice"
    """A sentence for everyone."""
    STEPS = "steps"
    """Numbered steps that say how the website is used."""
    QUESTIONS = "questions"
    """Questions with answers that open."""
    ACCOUNT = "account"
    """Who is signed in, and where."""
    QUOTE = "quote"
    """A saying."""
    WEEK = "week"
    """The hours of each day of the week."""
    HERO = "hero"
    """A drawn picture beside a heading and what can be begun."""
    CHART = "chart"
    """A drawn chart without numbers."""
    MONTH = "month"
    """The days of the month, without anything on them."""
    NEWS = "news"
    """What is new of the website itself, each with a drawn picture."""
    PROGRESS = "progress"
    """What is left to be set up, with a bar."""
    STATUS = "status"
    """Whether the website's parts are up."""
    PARTNERS = "partners"
    """A row of drawn marks."""
    BAND = "band"
    """A strip of a drawn picture."""


class Stage(StrEnum):
    """How the blocks of the first page lie."""

    STACK = "stack"
    """One below another."""
    SIDEBAR = "sidebar"
    """The ways to the views, and the others in a column beside them."""
    GRID = "grid"
    """Beside each other, as many as there is room for."""
    COLUMNS = "columns"
    """In columns of text, each as high as its blocks."""


class Heading(StrEnum):
    """How pages' headings look."""

    PLAIN = "plain"
    LARGE = "large"
    LIGHT = "light"
    """Large and thin."""
    BARRED = "barred"
    """After a bar in the accent's colour."""
    UNDERLINED = "underlined"
    """Over a line in the accent's colour."""


class Look(Record):
    """How a website looks."""

    kit: Name
    """The front-end kit whose files pages use."""
    layout: Layout
    """Where a page's parts are."""
    listing: Listing
    """How a view shows its rows."""
    ground: Ground = Ground.PAGE
    """What a page's content lies on."""
    foot: Foot = Foot.LINE
    """What is at the end of a page."""
    accent: str = Field(pattern=_COLOUR)
    """The colour of what can be acted on, as `#1a2b3c`."""
    surface: str = Field(pattern=_COLOUR)
    """The colour of the page's ground."""
    dark: bool = False
    """Whether the kit's dark colours are used."""
    dense: bool = False
    """Whether there is less room between things."""
    home: tuple[Block, ...] = (Block.CARDS,)
    """The blocks of the first page, from the top."""
    stage: Stage = Stage.STACK
    """How the blocks of the first page lie."""
    heading: Heading = Heading.PLAIN
    """How pages' headings look."""
    marked: bool = False
    """Whether a drawn mark stands beside the website's name."""
    portrait: bool = False
    """Whether a drawn face stands beside the name of who is signed in."""
    icons: bool = False
    """Whether an icon stands before each link of the navigation."""
    pictures: bool = False
    """Whether rows that have pictures show them, on cards and on their own pages."""
    right_to_left: bool = False
    """Whether pages run from right to left, as languages do that are written so."""
    font: str
    """The CSS font family of all text."""
    radius: int = Field(ge=0, le=24)
    """Of corners, CSS px."""
