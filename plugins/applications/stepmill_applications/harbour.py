"""The harbour that applications with one content are about: its berths, its ships, and their calls.

It is drawn once from a fixed seed, so it is the same on every machine and in every application. No
two ships have one name, and no ship calls twice on a day.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from random import Random

_FIRST = [
    "Amber",
    "Bold",
    "Calm",
    "Dusk",
    "Early",
    "Fair",
    "Grey",
    "Hale",
    "Iron",
    "Jade",
    "Keen",
    "Lone",
    "Mild",
    "North",
    "Old",
    "Proud",
]
_SECOND = ["Heron", "Tern", "Otter", "Lark", "Seal", "Fox", "Gull", "Pike", "Swan", "Crane"]
_QUAYS = ("North Quay", "South Quay", "Timber Quay")
_CARGO = ("grain", "timber", "coal", "fish", "machines", "salt", "oranges")
_FLAGS = ("Norway", "Portugal", "Ghana", "Chile", "Japan")
_KINDS = ("bulk carrier", "coaster", "tanker", "trawler")
_YEAR = date(2025, 1, 1)


@dataclass(frozen=True)
class Berth:
    """A place where a ship lies."""

    number: int
    """Its number, from 1."""
    quay: str
    """The quay that it belongs to."""
    depth: float
    """Depth of the water, metres."""


@dataclass(frozen=True)
class Ship:
    """A ship that calls."""

    number: int
    """Its number, from 1."""
    name: str
    """Its name."""
    kind: str
    """What sort of ship it is."""
    flag: str
    """Where it is registered."""
    length: int
    """Metres."""
    built: int
    """The year."""


@dataclass(frozen=True)
class Call:
    """A ship's visit to a berth."""

    number: int
    """Its number, from 1, in the order of arrivals."""
    ship: Ship
    """Who called."""
    berth: Berth
    """Where."""
    day: str
    """When, as `2025-03-01`."""
    cargo: str
    """What it brought."""
    tonnes: int
    """How much of that."""


@dataclass(frozen=True)
class Harbour:
    """All of it."""

    berths: tuple[Berth, ...]
    """By number."""
    ships: tuple[Ship, ...]
    """By number."""
    calls: tuple[Call, ...]
    """By number."""


@cache
def draw_harbour(*, ships: int = 30, calls: int = 120) -> Harbour:
    """Return the harbour, with as many ships and calls as are asked for."""
    draw = Random("harbour")
    names = [f"{first} {second}" for first in _FIRST for second in _SECOND]
    berths = tuple(
        Berth(number, draw.choice(_QUAYS), draw.randint(60, 160) / 10) for number in range(1, 9)
    )
    fleet = tuple(
        Ship(
            number=number,
            name=name,
            kind=draw.choice(_KINDS),
            flag=draw.choice(_FLAGS),
            length=draw.randint(40, 240),
            built=draw.randint(1971, 2024),
        )
        for number, name in enumerate(draw.sample(names, ships), start=1)
    )
    days = sorted(draw.sample([(day, ship) for day in range(350) for ship in range(ships)], calls))
    made = tuple(
        Call(
            number=number,
            ship=fleet[ship],
            berth=draw.choice(berths),
            day=(_YEAR + timedelta(days=day)).isoformat(),
            cargo=draw.choice(_CARGO),
            tonnes=draw.randint(20, 900) * 10,
        )
        for number, (day, ship) in enumerate(days, start=1)
    )
    return Harbour(berths=berths, ships=fleet, calls=made)
