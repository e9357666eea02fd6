"""What a wiki holds before a task begins, drawn from a seed.

Seeded content is a value: no file is read or written here, and the same seed gives the same content everywhere.
`wiki.py` makes a wiki of it, and `tasks.py` asks about it. It is a register of ships, ports and
companies; names resemble each other, and every fact stands in a line of its own.
"""

from datetime import UTC, datetime, timedelta
from random import Random

from schemas.base import Moment, Record

SHIPS = 100
"""Ships of one content."""

PORTS = 30
"""Ports of one content."""

COMPANIES = 20
"""Companies of one content."""

PEOPLE = ("Mia", "Tom", "Ines", "Olaf")
"""Who writes; the first is who a task is done as."""

MAIN_PAGE = "Main Page"
"""The title of the first page."""

START = "/index.php/Main_Page"
"""The path where tasks begin."""

TYPES = ("Ferry", "Tanker", "Trawler", "Tug", "Freighter", "Icebreaker")
"""What a ship may be; each is a category."""

_FIRST = (
    "Amber",
    "Baltic",
    "Coral",
    "Distant",
    "Eastern",
    "Golden",
    "Hidden",
    "Northern",
    "Silver",
)
_SECOND = (
    "Dawn",
    "Falcon",
    "Harbour",
    "Lantern",
    "Meadow",
    "Pearl",
    "Spirit",
    "Swan",
    "Tide",
    "Wave",
)
_ROOTS = ("Alder", "Birken", "Crow", "Dunn", "Elm", "Fox", "Gull", "Hazel", "Iron", "Kess", "Lark")
_ENDINGS = ("haven", "mouth", "wick", "holm", "ness", "ford")
_NAMES = ("Brandt", "Castell", "Dahl", "Eriksen", "Fournier", "Grant", "Holm", "Ivers", "Jansen")
_FIRMS = ("Lines", "Shipping", "Towage", "Fisheries")
_REASONS = ("checked", "spelling", "from the yearbook", "tidied", "new source")
_BEGIN = datetime(2025, 2, 3, 8, tzinfo=UTC)


class Version(Record):
    """One revision of an article."""

    text: str
    """Its source, without a newline at the end."""
    author: str
    """Who saved it: one of `PEOPLE`."""
    summary: str
    """What its author said about it."""
    at: Moment
    """When."""


class Article(Record):
    """A page with its history."""

    title: str
    """Unique in its content."""
    category: str
    """The one category that it is in."""
    facts: dict[str, str]
    """What its latest good revision states, by the name of the fact."""
    versions: tuple[Version, ...]
    """Its revisions, the oldest first."""

    @property
    def text(self) -> str:
        """The source of its latest revision."""
        return self.versions[-1].text


class SeededContent(Record):
    """All that a wiki holds."""

    seed: int
    """What it was drawn from."""
    ships: tuple[Article, ...]
    """Facts: Type, Length, Built, Port, Owner."""
    ports: tuple[Article, ...]
    """Facts: Berths, Depth, Harbour master."""
    companies: tuple[Article, ...]
    """Facts: Founded, Seat."""
    spoilt: tuple[str, ...]
    """Titles of ships whose latest revision says nonsense about their length."""
    locked: tuple[str, ...]
    """Titles of companies that only administrators may edit."""
    watched: tuple[str, ...]
    """Titles of ships that the first person watches."""

    @property
    def articles(self) -> tuple[Article, ...]:
        """All pages but the first one."""
        return (*self.ships, *self.ports, *self.companies)


def draw_content(seed: int) -> SeededContent:
    """Return the content of `seed`."""
    random = Random(f"mediawiki {seed}")
    ports = _ports(random)
    companies = _companies(random, ports)
    names = random.sample(
        [f"MV {a} {b} {n}" for a in _FIRST for b in _SECOND for n in (1, 2, 3)], SHIPS
    )
    spoilt = tuple(sorted(random.sample(names, 12)))
    locked = tuple(sorted(random.sample([one.title for one in companies], 4)))
    return SeededContent(
        seed=seed,
        ships=tuple(_ship(random, name, ports, companies, spoilt=name in spoilt) for name in names),
        ports=ports,
        companies=companies,
        spoilt=spoilt,
        locked=locked,
        watched=tuple(sorted(random.sample(sorted(set(names) - set(spoilt)), 12))),
    )


def category_of(sort: str) -> str:
    """Return the category of ships of one type."""
    return f"{sort.removesuffix('y')}ies" if sort.endswith("y") else f"{sort}s"


def article_text(title: str, category: str, facts: dict[str, str], sort: str) -> str:
    """Return the source of an article that states `facts`."""
    lines = (f"* {name}: {value}" for name, value in facts.items())
    return "\n".join(
        (f"'''{title}''' is a {sort}.", "", "== Facts ==", *lines, "", f"[[Category:{category}]]")
    )


def _ship(
    random: Random,
    name: str,
    ports: tuple[Article, ...],
    companies: tuple[Article, ...],
    *,
    spoilt: bool,
) -> Article:
    sort = random.choice(TYPES)
    facts = {
        "Type": sort,
        "Length": f"{random.randint(20, 299)} m",
        "Built": str(random.randint(1951, 2019)),
        "Port": f"[[{random.choice(ports).title}]]",
        "Owner": f"[[{random.choice(companies).title}]]",
    }
    texts = [article_text(name, category_of(sort), facts, "ship")]
    if spoilt or random.choice((True, False)):
        before = facts | {"Length": f"{random.randint(20, 299)} m"}
        texts.insert(0, article_text(name, category_of(sort), before, "ship"))
    if spoilt:
        texts.append(
            article_text(name, category_of(sort), facts | {"Length": "seven bananas"}, "ship")
        )
    return Article(
        title=name, category=category_of(sort), facts=facts, versions=_history(random, texts)
    )


def _ports(random: Random) -> tuple[Article, ...]:
    names = random.sample([f"{root}{ending}" for root in _ROOTS for ending in _ENDINGS], PORTS)
    return tuple(_plain(random, name, "Ports", _port_facts(random), "port") for name in names)


def _port_facts(random: Random) -> dict[str, str]:
    master = f"{random.choice('ABCDEFGH')}. {random.choice(_NAMES)}"
    return {
        "Berths": str(random.randint(4, 98)),
        "Depth": f"{random.randint(5, 29)} m",
        "Harbour master": master,
    }


def _companies(random: Random, ports: tuple[Article, ...]) -> tuple[Article, ...]:
    names = random.sample([f"{name} {firm}" for name in _NAMES for firm in _FIRMS], COMPANIES)
    return tuple(
        _plain(
            random,
            name,
            "Companies",
            {
                "Founded": str(random.randint(1850, 1990)),
                "Seat": f"[[{random.choice(ports).title}]]",
            },
            "company",
        )
        for name in names
    )


def _plain(random: Random, title: str, category: str, facts: dict[str, str], sort: str) -> Article:
    texts = [article_text(title, category, facts, sort)]
    return Article(title=title, category=category, facts=facts, versions=_history(random, texts))


def _history(random: Random, texts: list[str]) -> tuple[Version, ...]:
    """Return revisions of these texts, each by another author than the one before."""
    authors = random.sample(PEOPLE[1:], len(texts))
    start = _BEGIN + timedelta(minutes=random.randrange(300 * 24 * 60))
    return tuple(
        Version(
            text=text,
            author=author,
            summary="new page" if not number else random.choice(_REASONS),
            at=start + timedelta(days=number, minutes=random.randrange(600)),
        )
        for number, (text, author) in enumerate(zip(texts, authors, strict=True))
    )
