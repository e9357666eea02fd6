"""Goals that have more than one reading are refused, each for its reason; mended, each is about its row."""

import json
import tomllib
from functools import cache
from pathlib import Path

import pytest

from generators.tasks.resolver.reading import Reading, Refusal
from generators.tasks.resolver.resolve import Resolver
from schemas.worlds.world import World

FOLDER = Path(__file__).with_name("planted")
GOALS = tomllib.loads((FOLDER / "goals.toml").read_text(encoding="utf-8"))["goals"]
LEAST = 50


@cache
def resolver(world: str) -> Resolver:
    kept = json.loads((FOLDER / f"{world}.json").read_text(encoding="utf-8"))
    return Resolver(World.model_validate_json(json.dumps(kept["world"])), kept["rows"])


def test_fifty_are_planted() -> None:
    assert len(GOALS) >= LEAST
    assert len({one["ambiguous"] for one in GOALS}) == len(GOALS)


@pytest.mark.parametrize("goal", GOALS, ids=lambda one: one["about"])
def test_an_ambiguous_goal_is_refused_for_its_reason(goal: dict[str, str]) -> None:
    read = resolver(goal["world"]).read(goal["ambiguous"])
    assert isinstance(read, Refusal), read
    assert read.reason == goal["reason"], read


@pytest.mark.parametrize("goal", GOALS, ids=lambda one: one["about"])
def test_its_mended_twin_has_one_reading(goal: dict[str, object]) -> None:
    read = resolver(str(goal["world"])).read(str(goal["mended"]))
    assert isinstance(read, Reading), read
    assert (read.entity, list(read.rows)) == (goal["entity"], goal["rows"])
