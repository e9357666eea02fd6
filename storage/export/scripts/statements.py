"""What a script says, whatever language it is written in.

Playwright's clients in Python and in TypeScript have the same calls under names that differ in their spelling alone, so
a script is made once, of calls with values, and written twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Address:
    """An address of the site, whose origin the script is told when it is run."""

    path: str
    """Path, query and fragment, from the first `/`; another origin's address as a whole."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The bytes of a file."""

    base64: str
    """The bytes in base64."""


Atom = str | int | float | bool | None
"""An argument that is one value; a text is written with every character escaped that is not printed as itself."""

Value = Atom | Address | Contents | Sequence["Value"] | Mapping[str, "Value"]
"""An argument of a call."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a method, as Python's client spells it."""

    name: str
    """The method's name, its words joined by `_`."""
    arguments: tuple[Value, ...] = ()
    """Its arguments by place."""
    options: Mapping[str, Value] = field(default_factory=dict)
    """Its arguments by name, spelt as `name`."""


Chain = tuple[Call | str, ...]
"""Calls one after the other, each on what the one before it returned; a text is an attribute."""

PAGE: Chain = ("page",)
"""The page in sight."""


@dataclass(frozen=True, slots=True)
class Do:
    """Calls that are carried out."""

    chain: Chain


@dataclass(frozen=True, slots=True)
class Check:
    """An assertion, which waits until it holds."""

    of: Chain
    """The page, or a locator."""
    is_so: Call
    """The assertion."""


@dataclass(frozen=True, slots=True)
class Open:
    """Calls that open another tab, which is in sight from then on."""

    by: Do


@dataclass(frozen=True, slots=True)
class Upload:
    """Calls by which the page asks for files, and the files that it gets."""

    by: Do
    files: tuple[Mapping[str, Value], ...]
    """Name, media type and contents of each; empty: none is given."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Calls by which the page gives a file to keep, and the name that it has to have."""

    by: "Statement"
    name: str


@dataclass(frozen=True, slots=True)
class Show:
    """Bring the tab of a number in sight, in the order in which they were opened."""

    tab: int


@dataclass(frozen=True, slots=True)
class AnswerNext:
    """How the dialogs that the next calls open are answered, in order."""

    answers: tuple[tuple[bool, str | None], ...]
    """Whether each is accepted, and the text that it gets; None: what stands in its field."""


@dataclass(frozen=True, slots=True)
class Note:
    """A comment, of this program's own words alone."""

    text: str


Statement = Do | Check | Open | Upload | Keep | Show | AnswerNext | Note
"""A line of a script, or a few that belong together."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a browser's context is made with, so that pages look as they were recorded."""

    width: int
    """Of the viewport, CSS px."""
    height: int
    """Of the viewport, CSS px."""
    locale: str
    """As `de-DE`."""
    time_zone: str
    """As `Europe/Berlin`."""
    is_dark: bool
    """Whether pages are asked to be dark."""
    moves_little: bool
    """Whether pages are asked to move little."""
    clock_ms: int
    """Where the pages' clock begins, Unix ms; 0: at the real time."""


@dataclass(frozen=True, slots=True)
class Script:
    """A test: what is said of it, and what it does."""

    name: str
    """A name of letters, digits and `_`."""
    goal: str
    """The goal in words, as the task states it."""
    answer: str | None
    """What the episode answered; None: it gave no answer, or an empty one."""
    served_by: str | None
    """The command that serves its site; None: no command of this program does."""
    origin: str
    """The origin that it was recorded at."""
    context: Context
    """The browser's context."""
    statements: tuple[Statement, ...]
    """What it does, from the start page to the last assertion."""
