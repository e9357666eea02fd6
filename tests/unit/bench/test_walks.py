"""The rules of a walk, on a house of three rooms."""

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from bench.measuring.walks import Walk, trace

DOOR = """
from contextlib import contextmanager

def straight(kitchen, record):
    _knock()
    return kitchen.cook(record)

def back_and_forth(kitchen, record):
    kitchen.cook(record)
    _knock()
    kitchen.wash()

def again_and_again(kitchen, record):
    for _ in range(9):
        kitchen.cook(record)
        kitchen.cook(record)

def by_nameless(kitchen, record):
    return [(lambda: kitchen.cook(one))() for one in [record]]

def by_a_library(kitchen, record):
    with kitchen.lit():
        return sorted([record, record], key=kitchen.cook)

def fails(kitchen, record):
    try:
        kitchen.burn()
    except ValueError:
        _knock()

def _knock():
    pass
"""

KITCHEN = """
from contextlib import contextmanager

@contextmanager
def lit():
    yield

def cook(record):
    return record.ask()

def wash():
    pass

def burn():
    raise ValueError
"""

RECORD = "def ask():\n    return _think()\n\ndef _think():\n    return 1\n"


class House(NamedTuple):
    """Three modules of a planted checkout."""

    root: Path
    door: ModuleType
    kitchen: ModuleType
    record: ModuleType

    def walk(self, name: str) -> Walk:
        """Walk through a function of the door."""
        call: Callable[[ModuleType, ModuleType], object] = getattr(self.door, name)
        return trace(lambda: call(self.kitchen, self.record), self.root)


@pytest.fixture
def house(tmp_path: Path) -> House:
    def module(name: str, text: str) -> ModuleType:
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        spec = spec_from_file_location(f"planted.{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        made = module_from_spec(spec)
        spec.loader.exec_module(made)
        return made

    return House(
        tmp_path,
        module("flows/hall/door", DOOR),
        module("generators/kitchen/kitchen", KITCHEN),
        module("schemas/record", RECORD),
    )


DOOR_ROOM, KITCHEN_ROOM = "flows.hall.door", "generators.kitchen.kitchen"


def test_a_straight_walk_returns_nowhere(house: House) -> None:
    walk = house.walk("straight")

    assert walk == Walk((DOOR_ROOM, KITCHEN_ROOM), names=3)
    assert (walk.rooms, walk.returns) == (2, 0)


def test_a_room_that_was_left_is_a_return(house: House) -> None:
    walk = house.walk("back_and_forth")

    assert walk == Walk((DOOR_ROOM, KITCHEN_ROOM, DOOR_ROOM, KITCHEN_ROOM), names=4)
    assert (walk.rooms, walk.returns) == (2, 2)


def test_a_call_is_taken_once(house: House) -> None:
    assert house.walk("again_and_again") == Walk((DOOR_ROOM, KITCHEN_ROOM), names=2)


def test_nameless_functions_belong_to_the_named_one_around_them(house: House) -> None:
    assert house.walk("by_nameless") == Walk((DOOR_ROOM, KITCHEN_ROOM), names=2)


def test_a_library_between_two_functions_is_left_out(house: House) -> None:
    assert house.walk("by_a_library") == Walk((DOOR_ROOM, KITCHEN_ROOM), names=3)


def test_a_failure_ends_a_stay(house: House) -> None:
    assert house.walk("fails").stays == (DOOR_ROOM, KITCHEN_ROOM, DOOR_ROOM)


def test_a_record_and_code_elsewhere_are_no_rooms(house: House) -> None:
    assert trace(house.record.ask, house.root) == Walk((), names=0)
    assert trace(house.door._knock, house.root / "schemas") == Walk((), names=0)


def test_between_folders_modules_of_one_folder_are_one_room() -> None:
    walk = Walk(("a.x", "a.y", "b.z", "a.y"), names=4)

    assert walk.by_folder() == Walk(("a", "b", "a"), names=4)
    assert (walk.returns, walk.by_folder().returns) == (1, 1)
