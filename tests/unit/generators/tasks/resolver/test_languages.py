"""The resolver reads goals in each language that it has words for, and refuses there what has more than one reading."""

import json
import tomllib
from functools import cache
from pathlib import Path

import pytest
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.resolver.reading import Change, Reading, Reason, Refusal
from generators.tasks.resolver.resolve import Resolver
from generators.tasks.resolver.words import ENGLISH, languages
from generators.worlds.state.database import Rows
from schemas.worlds.world import World

FOLDER = Path(__file__).with_name("languages")
TOLD = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.toml")}
LEAST = 8

ORDERS_CANCELLED = (4, 8, 12)
"""The ids of the shop's orders that were cancelled."""


def _orders(*told: tuple[int, str, str | int]) -> dict[str, object]:
    changed = [Change(entity="purchase", row=row, values=((name, to),)) for row, name, to in told]
    return {"changed": tuple(changed)}


def _removed(*rows: int) -> dict[str, object]:
    return {"removed": tuple(Change(entity="purchase", row=row) for row in rows)}


_NEW = (("email", "ida@example.org"), ("joined", "2026-02-03"), ("name", "Ida Moen"))

WANTED: dict[str, dict[str, object]] = {
    "find": {"answer": "7"},
    "join": {"answer": "Oslo"},
    "count": {"answer": "4"},
    "extreme": {"answer": "A-1068"},
    "compare": {"answer": "A-1047"},
    "edit": _orders((3, "quantity", 9)),
    "edit-day": _orders((2, "placed", "2026-03-03")),
    "edit-amount": {
        "changed": (Change(entity="product", row=1, values=(("price", 123450),)),),
    },
    "move": _orders((1, "status", "Packed")),
    "edit-many": _orders(*((row, "channel", "Web") for row in (4, 8, 12))),
    "choose-edit": _orders((5, "quantity", 20)),
    "conditional": _orders((3, "quantity", 2)),
    "delete": _removed(4),
    "delete-several": _removed(*ORDERS_CANCELLED),
    "swap": _orders((1, "quantity", 4), (2, "quantity", 1)),
    "transfer": _orders((1, "quantity", 7), (2, "quantity", 7)),
    "create": {"added": (Change(entity="customer", row=0, values=_NEW),)},
}
"""What each sort of goal comes to."""

READ = [
    pytest.param(language, kind, goal, id=f"{language}-{kind}-{number}")
    for language, told in sorted(TOLD.items())
    for kind, goals in told["read"].items()
    for number, goal in enumerate(goals)
]
REFUSED = [
    pytest.param(language, Reason(reason), goal, id=f"{language}-{reason}-{number}")
    for language, told in sorted(TOLD.items())
    for reason, goals in told["refused"].items()
    for number, goal in enumerate(goals)
]


def _said(language: str, value: object) -> object:
    """Return a value with the words of the shop in a language."""
    words: dict[str, str] = TOLD[language]["words"]
    if isinstance(value, dict):
        return {key: _said(language, each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_said(language, each) for each in value]
    return words.get(value, value) if isinstance(value, str) else value


@cache
def _resolver(language: str) -> Resolver:
    told = _said(language, json.loads(SHOP.model_dump_json()))
    rows = _said(language, shop_rows())
    assert isinstance(told, dict)
    assert isinstance(rows, dict)
    known: Rows = rows
    world = {**told, "language": language, **TOLD[language]["world"]}
    return Resolver(World.model_validate_json(json.dumps(world)), known)


def _wanted(language: str, kind: str) -> Reading:
    plain = Reading.model_validate({"entity": "", **WANTED[kind]}).model_dump(mode="json")
    return Reading.model_validate_json(json.dumps(_said(language, plain)))


def test_each_language_has_goals_of_each_sort_and_enough_that_are_refused() -> None:
    assert set(TOLD) == {*languages()} - {ENGLISH}
    for told in TOLD.values():
        assert set(told["read"]) == set(WANTED)
        assert sum(map(len, told["refused"].values())) >= LEAST


@pytest.mark.parametrize(("language", "kind", "goal"), READ)
def test_a_goal_is_read(language: str, kind: str, goal: str) -> None:
    read = _resolver(language).read(goal)
    assert isinstance(read, Reading), read
    assert read.effect == _wanted(language, kind)


@pytest.mark.parametrize(("language", "reason", "goal"), REFUSED)
def test_a_goal_with_no_single_reading_is_refused(language: str, reason: Reason, goal: str) -> None:
    read = _resolver(language).read(goal)
    assert isinstance(read, Refusal), read
    assert read.reason is reason, read
