"""The handbook that DokuWiki shows: a page for each ship and each berth, with their history, as DokuWiki keeps them.

A page is a text file, whose modification time is that of its last change; each change has a line in
the page's changelog, in that of the wiki, and a copy in the attic.
"""

import gzip
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from stepmill_applications.harbour import Berth, Ship, draw_harbour

_BEGIN = datetime(2025, 11, 3, 8, tzinfo=UTC)
_PEOPLE = ("olga", "tariq", "mia")
_SHIPS = 12

_START = """====== Harbour handbook ======

The handbook is about the berths of the harbour and the ships that call here.

  * [[berths]]
  * [[ships]]
  * [[rules]]
"""

_RULES = """====== Rules ======

===== Speed =====

No ship goes faster than 6 knots.

===== Noise =====

Engines are off between 22:00 and 6:00.

===== Visitors =====

Visitors report at the gate.
"""


def write_pages(data: Path) -> None:
    """Write the handbook into DokuWiki's empty data folder."""
    harbour = draw_harbour()
    ships, berths = harbour.ships[:_SHIPS], harbour.berths
    texts: dict[str, tuple[str, ...]] = {
        "start": (_START,),
        "rules": (_RULES.replace("6 knots", "8 knots"), _RULES),
        "ships": (_list("Ships", [f"ships:{name_of(ship.name)}" for ship in ships]),),
        "berths": (_list("Berths", [f"berths:{berth.number}" for berth in berths]),),
    }
    texts |= {f"ships:{name_of(ship.name)}": _ship(ship) for ship in ships}
    texts |= {f"berths:{berth.number}": (_berth(berth),) for berth in berths}
    at, lines = _BEGIN, list[str]()
    for place, (name, versions) in enumerate(texts.items()):
        lines += _write(data, name, versions, at=at, user=_PEOPLE[place % len(_PEOPLE)])
        at += timedelta(hours=31)
    _put(data / "meta" / "_dokuwiki.changes", "".join(sorted(lines)), _BEGIN)
    # What DokuWiki signs cookies with, which it would draw at random.
    _put(data / "meta" / "_htcookiesalt2", "harbour" * 6, _BEGIN)


def name_of(words: str) -> str:
    """Return the last part of a page's name."""
    return words.lower().replace(" ", "_")


def _write(
    data: Path, name: str, versions: tuple[str, ...], *, at: datetime, user: str
) -> list[str]:
    """Write a page with its versions, a day apart; return the lines of its changelog."""
    place, lines, size = name.replace(":", "/"), list[str](), 0
    for number, text in enumerate(versions):
        date = at + timedelta(days=number)
        kind, said = ("E", "checked on board") if number else ("C", "created")
        line = (int(date.timestamp()), "127.0.0.1", kind, name, user, said, "", len(text) - size)
        lines.append("\t".join(map(str, line)) + "\n")
        old = data / "attic" / f"{place}.{int(date.timestamp())}.txt.gz"
        old.parent.mkdir(parents=True, exist_ok=True)
        old.write_bytes(gzip.compress(text.encode(), mtime=0))
        _put(data / "pages" / f"{place}.txt", text, date)
        _put(data / "meta" / f"{place}.changes", "".join(lines), date)
        size = len(text)
    return lines


def _put(file: Path, text: str, at: datetime) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    os.utime(file, (at.timestamp(), at.timestamp()))


def _list(title: str, names: list[str]) -> str:
    return f"====== {title} ======\n\n" + "".join(f"  * [[{name}]]\n" for name in names)


def _ship(ship: Ship) -> tuple[str, ...]:
    now = (
        f"====== {ship.name} ======\n\n"
        f"The {ship.name} is a {ship.kind} registered in {ship.flag}.\n\n"
        "^ Fact ^ Value ^\n"
        f"| Length | {ship.length} m |\n"
        f"| Built | {ship.built} |\n\n"
        "===== Remarks =====\n\n"
        "None so far.\n"
    )
    before = now.replace(f"{ship.length} m", f"{ship.length - 3} m")
    return (before, now) if ship.number % 2 else (now,)


def _berth(berth: Berth) -> str:
    return (
        f"====== Berth {berth.number} ======\n\n"
        f"Berth {berth.number} lies at the {berth.quay}. Its water is {berth.depth} m deep.\n"
    )
