"""What a repository of fossil holds before a task begins, drawn from a seed.

Seeded content is a value: no file is read or written here, and the same seed gives the same content everywhere.
`repository.py` makes a repository of it, and `tasks.py` asks about it. Titles are unique and resemble
each other in all words but one or two, so that a task names one record among several near ones.
"""

from datetime import UTC, datetime, timedelta
from random import Random

from schemas.base import Moment, Record

TICKETS = 200
"""Tickets of one content."""

PAGES = 60
"""Pages of its wiki."""

THREADS = 12
"""Threads of its forum."""

STATUSES = ("Open", "Verified", "Review", "Deferred", "Fixed", "Tested", "Closed")
"""What a ticket's status may be, as the form lists them."""

SEVERITIES = ("Critical", "Severe", "Important", "Minor", "Cosmetic")
"""What a ticket's severity may be, as the form lists them."""

PRIORITIES = ("Immediate", "High", "Medium", "Low", "Zero")
"""What a ticket's priority may be, as the form lists them."""

KINDS = ("Code_Defect", "Build_Problem", "Documentation", "Feature_Request", "Incident")
"""What a ticket's type may be, as the form lists them."""

PEOPLE = ("mia", "tom", "ines", "olaf")
"""Who writes; the first is who a task is done as."""

BEFORE = 3
"""The number of the first ticket: the project's first check-in and its first page come before."""

HOME = "/home"
"""The path where tasks begin."""

REMARKS = (
    "Seen again this morning.",
    "The spare part is ordered.",
    "Checked by the night shift.",
    "Waiting for the electrician.",
    "Not before the tide turns.",
)
"""Sentences that tasks ask to be written."""

_THINGS = (
    *("crane", "winch", "pump", "valve", "sensor", "lamp", "gate", "buoy", "radio", "ladder"),
    *("hatch", "bollard", "conveyor", "scale", "siren", "camera"),
)
_FAULTS = (
    *("leaks oil", "stops at night", "shows no light", "makes a loud noise", "is stuck"),
    *("reports wrong values", "needs new paint", "overheats", "is not on the plan", "rusts"),
)
_PLACES = ("Pier", "Berth", "Dock", "Quay")
_KINDS_OF_PAGE = ("Manual", "Checklist", "Notes", "Handover")
_MATTERS = ("tide table", "night shift", "parking", "lunch room", "safety drill", "new gloves")
BEGIN = datetime(2025, 2, 3, 8, tzinfo=UTC)
"""When the first record is made."""


class Ticket(Record):
    """A ticket as it was filed."""

    key: str
    """Forty hex digits, by which fossil knows it."""
    title: str
    """Unique in its content."""
    status: str
    """One of `STATUSES`."""
    kind: str
    """One of `KINDS`."""
    severity: str
    """One of `SEVERITIES`."""
    priority: str
    """One of `PRIORITIES`."""
    remark: str
    """What its reporter wrote."""
    author: str
    """Who filed it: one of `PEOPLE`."""
    at: Moment
    """When."""


class Page(Record):
    """A page of the wiki, in Markdown."""

    name: str
    """Unique in its content."""
    thing: str
    """What it is about."""
    load: int
    """The load limit that it states, tonnes."""
    interval: int
    """The days between two inspections that it states."""
    keeper: str
    """The person that it names as responsible."""
    author: str
    """Who wrote it: one of `PEOPLE`."""
    at: Moment
    """When."""

    @property
    def text(self) -> str:
        """Its source, without a newline at the end."""
        return "\n".join(
            (
                f"# {self.name}",
                "",
                f"This page is about the {self.thing}.",
                "",
                f"* Load limit: {self.load} t",
                f"* Inspection: every {self.interval} days",
                f"* Keeper: {self.keeper}",
            )
        )


class Thread(Record):
    """A thread of the forum, with one post."""

    title: str
    """Unique in its content."""
    text: str
    """Its first post."""
    author: str
    """Who began it: one of `PEOPLE`."""
    at: Moment
    """When."""


class SeededContent(Record):
    """All that a repository holds."""

    seed: int
    """What it was drawn from."""
    tickets: tuple[Ticket, ...]
    """In the order of their filing."""
    pages: tuple[Page, ...]
    """In the order of their writing."""
    threads: tuple[Thread, ...]
    """In the order of their beginning."""

    @property
    def first_new(self) -> int:
        """The number that fossil gives to the first record after these."""
        return BEFORE + len(self.tickets) + len(self.pages) + len(self.threads)

    def number(self, record: Ticket | Thread) -> int:
        """Return the number under which fossil holds a record: its place among all artifacts."""
        if isinstance(record, Ticket):
            return BEFORE + self.tickets.index(record)
        return self.first_new - len(self.threads) + self.threads.index(record)


def draw_content(seed: int) -> SeededContent:
    """Return the content of `seed`."""
    random = Random(f"fossil {seed}")
    return SeededContent(
        seed=seed,
        tickets=_tickets(random),
        pages=_pages(random),
        threads=_threads(random),
    )


def _tickets(random: Random) -> tuple[Ticket, ...]:
    subjects = [
        f"{thing.title()} {number} {fault}"
        for thing in _THINGS
        for number in range(1, 10)
        for fault in _FAULTS
    ]
    return tuple(
        Ticket(
            key=random.randbytes(20).hex(),
            title=title,
            status=random.choice(STATUSES),
            kind=random.choice(KINDS),
            severity=random.choice(SEVERITIES),
            priority=random.choice(PRIORITIES),
            remark=f"Seen at {random.choice(_PLACES)} {random.randint(1, 20)}.",
            author=random.choice(PEOPLE),
            at=BEGIN + timedelta(hours=30 * number, minutes=random.randrange(60)),
        )
        for number, title in enumerate(random.sample(subjects, TICKETS))
    )


def _pages(random: Random) -> tuple[Page, ...]:
    names = [
        f"{thing.title()} {number} {kind}"
        for thing in _THINGS
        for number in range(1, 10)
        for kind in _KINDS_OF_PAGE
    ]
    return tuple(
        Page(
            name=name,
            thing=" ".join(name.split()[:2]).lower(),
            load=random.randint(3, 97),
            interval=random.randint(8, 99),
            keeper=random.choice(("Ada", "Bo", "Cem", "Dora", "Emil", "Fay", "Gus", "Hana")),
            author=random.choice(PEOPLE),
            at=BEGIN + timedelta(days=100, hours=40 * number, minutes=random.randrange(60)),
        )
        for number, name in enumerate(random.sample(names, PAGES))
    )


def _threads(random: Random) -> tuple[Thread, ...]:
    titles = [f"About the {matter} at {place}" for matter in _MATTERS for place in _PLACES]
    return tuple(
        Thread(
            title=title,
            text=f"Who can tell me more? Ask at {random.choice(_PLACES)} {random.randint(1, 20)}.",
            author=random.choice(PEOPLE[1:]),
            at=BEGIN + timedelta(days=250, hours=50 * number, minutes=random.randrange(60)),
        )
        for number, title in enumerate(random.sample(titles, THREADS))
    )
