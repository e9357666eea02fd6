"""A task's goal is in its world's language, and a kind that has no sentence in it has no task there."""

import re

import pytest
from support.worlds import drawn
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.draw import draw_tasks
from generators.tasks.worlds.kinds import KINDS
from generators.worlds.drawing.draw import language_of
from generators.worlds.words.catalogue import catalogue
from schemas.tasks.expectation import Matches
from schemas.worlds.language import Language
from schemas.worlds.world import World

GERMAN = SHOP.model_copy(update={"language": Language.GERMAN})
FIND = KINDS["find"]
SAID = {"en": ("Say {title}.",), "de": ("Nenne {title}.",), "terse": ("{title}?",)}


def _goals(world: World, monkeypatch: pytest.MonkeyPatch, *languages: str) -> list[str]:
    """Return goals of a kind that has a sentence in these languages alone."""
    said = {one: SAID[one] for one in languages}
    monkeypatch.setitem(KINDS, "find", FIND._replace(requests=said, aside=None))
    tasks = draw_tasks(world, shop_rows(), 3, 200)
    return [one.instruction for one in tasks if one.kind == "find"]


def test_a_goal_is_in_the_language_of_its_world(monkeypatch: pytest.MonkeyPatch) -> None:
    goals = _goals(GERMAN, monkeypatch, "en", "de", "terse")

    assert len(goals) >= 3
    assert all("Nenne " in goal for goal in goals)
    assert not any("Nenne " in goal for goal in _goals(SHOP, monkeypatch, "en", "de", "terse"))


def test_a_kind_without_a_sentence_in_the_language_of_a_world_has_no_task_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _goals(GERMAN, monkeypatch, "en", "terse") == []
    assert len(_goals(SHOP, monkeypatch, "en", "terse")) >= 3


def test_what_people_write_and_list_is_in_the_language_of_the_world() -> None:
    seed = next(seed for seed in range(99) if language_of("mail", seed) is Language.GERMAN)
    world, rows = drawn.whole("mail", seed)
    tasks = {one.kind: one for one in drawn.tasks(world, rows, 1, 40)}

    notes = catalogue(Language.GERMAN).among("contents.notes")
    assert any(note in tasks["write-message"].instruction for note in notes)
    answer = tasks["rank-three"].expect.answer
    assert isinstance(answer, Matches)
    titles = tasks["rank-three"].expect.facts
    joined = [f"{', '.join(titles[:2])} {word} {titles[2]}" for word in ("und", "and")]
    assert [re.fullmatch(answer.matches, text) is not None for text in joined] == [True, False]
