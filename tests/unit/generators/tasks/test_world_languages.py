"""A task's goal is in its world's language, and a world whose language has no goals has no task."""

import re

import pytest
from support.worlds import drawn
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.draw import draw_tasks
from generators.worlds.drawing.draw import language_of
from generators.worlds.words.catalogue import catalogue
from schemas.tasks.expectation import Matches
from schemas.worlds.language import Language
from schemas.worlds.world import World

GERMAN = SHOP.model_copy(update={"language": Language.GERMAN})
SMALL = re.compile(
    r"\b(der|die|das|dem|den|bei|beim|und|mit|bitte|von|ist|auf|zu)\b", re.IGNORECASE
)
"""Words without which few German goals are said."""


def _goals(world: World) -> list[str]:
    return [one.instruction for one in draw_tasks(world, shop_rows(), 3, 60)]


def test_a_goal_is_in_the_language_of_its_world() -> None:
    german, english = _goals(GERMAN), _goals(SHOP)

    assert len(german) > 20
    assert sum(SMALL.search(goal) is not None for goal in german) > 0.8 * len(german)
    assert sum(SMALL.search(goal) is not None for goal in english) < 0.1 * len(english)


def test_a_world_in_a_language_without_goals_has_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generators.tasks.worlds.draw.languages", lambda: ["en"])

    assert _goals(GERMAN) == []
    assert len(_goals(SHOP)) > 20


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


def test_words_before_a_day_go_together_with_it() -> None:
    goals = _goals(SHOP.model_copy(update={"language": Language.FRENCH}))

    assert any(re.search(r"\b(le|au|du) \d+ février", goal) for goal in goals)
    assert not [goal for goal in goals if re.search(r"\b(avant|après|à|de) \d+ février", goal)]
