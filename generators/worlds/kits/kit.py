"""The front-end kits of worlds: each a folder in `generators/worlds/kits`, whose file `kit.toml` is the kit's table.

The table names the stylesheets that pages load, and the tags and classes that the macros of `templates/kit.html` make
the parts of pages of. What it says of a tag is the start tag as it stands on pages; the end tag follows from it.
Classes are one text, as in the attribute `class`; an empty one is left out of pages.
"""

import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated

from markupsafe import Markup, escape
from pydantic import AfterValidator, BeforeValidator, ValidationError

from generators.worlds.packages.lock import read_lock
from schemas.base import Record, first_mistake
from schemas.errors import Refusal

FOLDER = Path(__file__).parent
"""Where the kits are."""

KITS = tuple(sorted(path.parent.name for path in FOLDER.glob("*/kit.toml")))
"""The names of all kits."""

_TAGS = re.compile(r'(<[a-z][a-z0-9]*( [a-z-]+="[^"<>]*")*>\n?)+')
_TAG_NAME = re.compile(r"<([a-z0-9]+)")


def _join_lines(value: object) -> object:
    is_lines = isinstance(value, list) and all(isinstance(line, str) for line in value)
    return "\n".join(value) if is_lines else value  # type: ignore[arg-type]


def _check_tags(tags: str) -> str:
    if not _TAGS.fullmatch(tags):
        raise ValueError(f"""expected start tags, as '<p class="note">', got '{tags}'""")
    return tags


Tags = Annotated[str, BeforeValidator(_join_lines), AfterValidator(_check_tags)]
"""Start tags from the outermost: in a text they stand on one line of a page, in a list each on a line of its own."""


class ButtonKind(StrEnum):
    """What a button or a link in its shape is for."""

    PRIMARY = "primary"
    PLAIN = "plain"
    DANGER = "danger"
    QUIET = "quiet"


class Tone(StrEnum):
    """What a message or a badge says by its colour."""

    PLAIN = "plain"
    """Nothing; of badges alone."""
    DANGER = "danger"
    SUCCESS = "success"
    WARNING = "warning"
    INFO = "info"


class Role(StrEnum):
    """What pages use a native element for."""

    INPUT = "input"
    SELECT = "select"
    TEXTAREA = "textarea"
    RANGE = "range"
    TABLE = "table"
    WIDE = "wide"
    """What a table lies in."""
    LIST = "list"
    """The `ul` of rows."""
    ITEM = "item"
    """A `li` of it."""
    CARDS = "cards"
    """The `ul` of cards."""
    CARD = "card"
    FACTS = "facts"
    """The `dl` of what a row holds."""
    CONTROLS = "controls"
    """The form over a list."""
    CONTROL = "control"
    """One of its fields."""
    SEARCH = "search"
    FORM = "form"
    MUTED = "muted"
    """A line of facts of less weight."""


class Theme(Record):
    """The attribute of `html` by which a kit knows light from dark, or the page as its own."""

    name: str
    """Of the attribute."""
    value: str | None = None
    """None: `light` or `dark`, as the look is."""


class Panel(Record):
    """A box with a heading."""

    around: Tags
    """The box."""
    dark: Tags | None = None
    """The box in dark looks; None: as in others."""
    title: Tags
    """The heading."""
    body: Tags | None = None
    """What holds the content, below the heading; None: nothing of its own."""


class Toned(Record):
    """A text that has a tone."""

    tags: Tags
    """What it stands in; `{tone}` stands for the kit's word for the tone."""
    plain: Tags | None = None
    """What it stands in if it has the plain tone; None: the same with its word."""
    words: Mapping[Tone, str] = {}
    """The kit's words for those tones that it calls otherwise."""

    def of(self, tone: Tone) -> str:
        """Return what a text of a tone stands in."""
        if self.plain is not None and tone == Tone.PLAIN:
            return self.plain
        return self.tags.replace("{tone}", self.words.get(tone, tone))


class FormField(Record):
    """A field of a form with its label."""

    whole: str
    """The classes of the whole."""
    label: str = ""
    """The classes of the label, or of the legend of several fields."""
    body: Tags | None = None
    """What holds the field; None: nothing of its own."""
    message: Tags
    """What is wrong, below the field."""


class Box(Record):
    """A checkbox, radio or switch with its label."""

    around: Tags
    """The whole."""
    switch: Tags | None = None
    """The whole of a switch; None: as of others."""
    input: str = ""
    """The classes of the input."""
    radio: str | None = None
    """The classes of the input of a radio; None: as of others."""
    label: str = ""
    """The classes of the label."""


class Tabs(Record):
    """Parts of a page of which one is in front."""

    whole: str = ""
    """The classes of the whole."""
    strip: Tags | None = None
    """What the row of tabs lies in; None: nothing of its own."""
    row: str
    """The classes of the row of tabs."""
    tab: str = ""
    """The classes of a tab."""
    active: str = "active"
    """One more class of the tab in front."""
    panel: Tags = "<div>"
    """A part."""


class Pager(Record):
    """The links to the pages of a list before and after."""

    around: Tags
    """What they stand in."""
    item: Tags | None = None
    """What each stands in; None: nothing of its own."""
    previous: str = ""
    """The classes of the link to the page before."""
    next: str | None = None
    """The classes of the link to the page after; None: the same."""


class Kit(Record):
    """The table of a kit."""

    css: tuple[tuple[str, str], ...] = ()
    """The stylesheets of its packages in their order: package and path."""
    theme: Theme
    """What chooses light or dark."""
    buttons: Mapping[ButtonKind, str]
    """The classes of buttons; a kind that is not there has none."""
    links: Mapping[ButtonKind, str] = {}
    """The classes of links in the shape of buttons; empty: those of buttons."""
    link_role: str | None = None
    """The role of these links and of those to other pages of a list; None: they have none."""
    icon_button: str
    """The classes of a small button with a sign."""
    notice: Tags
    """A sentence where there is nothing to show."""
    message: Toned
    """A sentence about what happened."""
    badge: Toned
    """A word in a coloured box."""
    panel: Panel
    """A box of a page."""
    card: Panel
    """A `li` among cards."""
    field: FormField
    """A field of a form."""
    box: Box
    """What is ticked."""
    tabs: Tabs
    """Parts of a page behind each other."""
    pages: Pager
    """What turns the pages of a list."""
    roles: Mapping[Role, str]
    """The classes of native elements; a role that is not there has none: the kit goes by tags."""
    dense: str = ""
    """One more class of tables in dense looks; empty: none."""


def kit_folder(kit: str) -> Path:
    """Return the folder of a kit.

    Raises:
        Refusal: there is no such kit.
    """
    if kit not in KITS:
        raise Refusal(f"there is no kit '{kit}'; there are {', '.join(KITS)}")
    return FOLDER / kit


@cache
def read_kit(folder: Path) -> Kit:
    """Return the table of the kit in a folder.

    Raises:
        Refusal: it is none; the message is one line with the file, the place and the reason.
    """
    path = folder / "kit.toml"
    where = f"{folder.name}/{path.name}"
    try:
        return Kit.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"{where}: invalid TOML: {error}") from None
    except ValidationError as error:
        raise Refusal(f"{where}: {first_mistake(error)}") from None


def kit_packages(kit: str) -> tuple[str, ...]:
    """Return the packages of a kit, as `bootstrap@5.3.9`."""
    styles = read_kit(kit_folder(kit)).css
    return tuple(dict.fromkeys(read_lock()[name].pinned for name, _ in styles))


def kit_styles(kit: str) -> list[str]:
    """Return the addresses of the stylesheets of a kit's packages."""
    return [read_lock()[name].address(path) for name, path in read_kit(kit_folder(kit)).css]


def start_tags(tags: str, attributes: str = "") -> Markup:
    """Return start tags of a table as a page has them, the first of them with further attributes."""
    first, end, others = tags.partition(">")
    return Markup(f"{first}{escape(attributes)}{end}{others}")  # noqa: S704 - the table was checked when it was read


@cache
def end_tags(tags: str) -> Markup:
    """Return the end tags of start tags, on as many lines as these."""
    ends = [f"</{name}>" for name in reversed(_TAG_NAME.findall(tags))]
    return Markup(("\n" if "\n" in tags else "").join(ends))  # noqa: S704 - names of tags alone
