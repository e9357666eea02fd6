"""A website's appearance and labels; neither changes its data or its actions."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Record
from schemas.worlds.language import Language
from schemas.worlds.patterns import Label, Name

_COLOUR = r"^#[0-9a-f]{6}$"


class Amounts(StrEnum):
    """The format of an amount of money; `¤` is the currency."""

    POINT = "¤1,234.50"
    COMMA = "1.234,50 ¤"
    COMMA_LAST = "¤ 1.234,50"
    SPACE = "1 234,50 ¤"
    WHOLE = "¤1,234"
    """Without hundredths, for currencies that have none."""


class Days(StrEnum):
    """The format of a day, here 9 March 2026."""

    ISO = "2026-03-09"
    SLASHES = "09/03/2026"
    MONTH_FIRST = "03/09/2026"
    DOTS = "09.03.2026"
    ENGLISH = "9 March 2026"
    AMERICAN = "Mar 9, 2026"
    GERMAN = "9. März 2026"
    FRENCH = "9 mars 2026"
    SPANISH = "9 de marzo de 2026"
    PORTUGUESE = "9 de março de 2026"
    ARABIC = "9 مارس 2026"
    JAPANESE = "2026年3月9日"


class Words(Record):
    """The labels of elements that every website has."""

    home: Label = "Home"
    """The link to the home page."""
    add: Label = "New {one}"
    """The link to a form for a new row; `{one}` is the entity's singular."""
    edit: Label = "Edit"
    """The link to the form of a row."""
    save: Label = "Save"
    """The button of a form."""
    delete: Label = "Delete"
    """The link to the page that asks whether to delete a row."""
    confirm: Label = "Yes, delete"
    """The button that confirms a deletion."""
    cancel: Label = "Cancel"
    """The link that leaves a form or the confirmation of a deletion."""
    search: Label = "Search"
    """The search field of a view."""
    apply: Label = "Apply"
    """The button that applies search, filters and sorting."""
    sort: Label = "Sort by"
    """The heading of the sort options."""
    increase: Label = "Increase {field}"
    """The button that increments a number."""
    decrease: Label = "Decrease {field}"
    """The button that decrements a number."""
    untag: Label = "Remove {tag}"
    """The button that removes a selected tag."""
    drop: Label = "Drop here: {field}"
    """The text in the box that a choice is dragged into."""
    ascending: Label = "{field}, ascending"
    """The option that sorts by a field in ascending order."""
    descending: Label = "{field}, descending"
    """The option that sorts by a field in descending order."""
    all: Label = "All"
    """The option of a filter that shows all rows."""
    next: Label = "Next"
    """The link to a list's next page."""
    previous: Label = "Previous"
    """The link to a list's previous page."""
    yes: Label = "Yes"
    """The value of a flag that is set."""
    no: Label = "No"
    """The value of a flag that is not set."""
    none: Label = "None"
    """The text of an empty link."""
    tick: Label = "Select {title}"
    """The checkbox of a row of a list; `{title}` is the row's title."""
    ticked: Label = "With selected"
    """The list of actions for all ticked rows."""
    run: Label = "Do it"
    """The button that runs the chosen action."""
    front: Label = "Front"
    """The heading above the first row of a map."""
    taken: Label = "Taken"
    """The word for an occupied place in a map's legend."""
    summary: Label = "Summary"
    """The last page of a form of several pages."""

    def add_one(self, one: str, language: Language) -> str:
        """Return the label of what adds a row that is called `one`: a noun after a word is written as in a sentence."""
        follows = self.add.partition("{one}")[0][:1].isalpha()
        is_small = follows and language.has_small_nouns
        return self.add.format(one=one[0].lower() + one[1:] if is_small else one)


class Layout(StrEnum):
    """The arrangement of a page's parts."""

    TOP = "top"
    """The navigation runs along the top."""
    SIDE = "side"
    """The navigation stands at the left."""
    SPLIT = "split"
    """A narrow head, the navigation at the right."""
    STACKED = "stacked"
    """A line with the user, the website's name, and below it the navigation in the accent colour."""
    NARROW = "narrow"
    """A narrow column in the middle."""
    FULL = "full"
    """As wide as the window, the navigation in the head."""
    PANES = "panes"
    """Navigation and page are sheets beside each other."""
    RAIL = "rail"
    """A dark strip at the left with the navigation, the user above the page."""


class Ground(StrEnum):
    """The background of a page's content."""

    PAGE = "page"
    """On the page itself."""
    SHEET = "sheet"
    """On one sheet with a border."""
    RULED = "ruled"
    """Under a bar in the accent colour, indented from the left."""
    ASIDE = "aside"
    """Beside a column of hints, which narrow windows hide."""


class Foot(StrEnum):
    """A page's footer."""

    NOTHING = "nothing"
    LINE = "line"
    """The name of the website and the year."""
    COLUMNS = "columns"
    """Three columns: the name, the opening hours, and a contact."""


class Listing(StrEnum):
    """How a view shows its rows."""

    TABLE = "table"
    CARDS = "cards"
    ITEMS = "items"
    """A list of items, each with a title and a line of facts."""


class Block(StrEnum):
    """A block of the home page; no block shows a row's values or a number of rows."""

    CARDS = "cards"
    """A card for each view."""
    LINKS = "links"
    """A list of the views."""
    TABLE = "table"
    """A table of the views and their contents."""
    SECTIONS = "sections"
    """A section for each view, with a list of its contents."""
    COLUMNS = "columns"
    """The views beside the forms for new rows."""
    TOPICS = "topics"
    """A line of links to the views."""
    TILES = "tiles"
    """A tile with an icon for each view."""
    TEASERS = "teasers"
    """A row for each view, with a drawn picture and its purpose."""
    DIRECTORY = "directory"
    """The views as terms with descriptions."""
    SHORTCUTS = "shortcuts"
    """Links to the forms for new rows."""
    WELCOME = "welcome"
    """A sentence that greets the user."""
    BANNER = "banner"
    """A coloured field with a heading."""
    SEARCH = "search"
    """The search of the first view that has a search."""
    NOTICE = "notice"
    """A sentence for everyone."""
    STEPS = "steps"
    """Numbered steps that say how the website is used."""
    QUESTIONS = "questions"
    """Questions with answers that expand."""
    ACCOUNT = "account"
    """The signed-in user and the website."""
    QUOTE = "quote"
    """A saying."""
    WEEK = "week"
    """The hours of each day of the week."""
    HERO = "hero"
    """A drawn picture beside a heading and links to begin with."""
    CHART = "chart"
    """A drawn chart without numbers."""
    MONTH = "month"
    """The days of the month, without entries."""
    NEWS = "news"
    """News about the website itself, each with a drawn picture."""
    PROGRESS = "progress"
    """The remaining set-up steps, with a progress bar."""
    STATUS = "status"
    """Whether the website's parts are up."""
    PARTNERS = "partners"
    """A row of drawn marks."""
    BAND = "band"
    """A strip of a drawn picture."""


class Stage(StrEnum):
    """The arrangement of the home page's blocks."""

    STACK = "stack"
    """One below another."""
    SIDEBAR = "sidebar"
    """The blocks with links to views, and the others in a column beside them."""
    GRID = "grid"
    """In a grid, as many columns as fit."""
    COLUMNS = "columns"
    """In text columns, each as high as its blocks."""


class Heading(StrEnum):
    """The style of pages' headings."""

    PLAIN = "plain"
    LARGE = "large"
    LIGHT = "light"
    """Large and thin."""
    BARRED = "barred"
    """After a bar in the accent colour."""
    UNDERLINED = "underlined"
    """Over a line in the accent colour."""


class Look(Record):
    """A website's appearance."""

    kit: Name
    """The front-end kit whose files the pages load."""
    layout: Layout
    """The arrangement of a page's parts."""
    listing: Listing
    """How a view shows its rows."""
    ground: Ground = Ground.PAGE
    """The background of a page's content."""
    foot: Foot = Foot.LINE
    """The footer."""
    accent: str = Field(pattern=_COLOUR)
    """The colour of interactive elements, as `#1a2b3c`."""
    surface: str = Field(pattern=_COLOUR)
    """The background colour of the page."""
    dark: bool = False
    """Whether the kit's dark theme is used."""
    dense: bool = False
    """Whether spacing is reduced."""
    home: tuple[Block, ...] = (Block.CARDS,)
    """The blocks of the home page, from the top."""
    stage: Stage = Stage.STACK
    """The arrangement of these blocks."""
    heading: Heading = Heading.PLAIN
    """The style of headings."""
    marked: bool = False
    """Whether a drawn logo stands beside the website's name."""
    portrait: bool = False
    """Whether a drawn face stands beside the signed-in user's name."""
    icons: bool = False
    """Whether an icon stands before each link of the navigation."""
    pictures: bool = False
    """Whether rows that have pictures show them, on cards and on their own pages."""
    font: str
    """The CSS font family of all text."""
    radius: int = Field(ge=0, le=24)
    """The corner radius in CSS px."""
