"""The resolver reads a goal by the world alone, and agrees with a task's expectation only if it comes to the same."""

from itertools import pairwise

import pytest
from support.worlds import drawn
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.resolver.agreement import agrees
from generators.tasks.resolver.reading import Reading, Reason, Refusal
from generators.tasks.resolver.resolve import Resolver
from generators.tasks.worlds.draw import draw_task, kinds_of
from generators.worlds.drawing.draw import language_of
from schemas.errors import BadTasks
from schemas.tasks.expectation import Expectation, RowRule
from schemas.worlds.language import Language

KINDS = ("find", "count", "edit", "move", "delete", "delete-several", "swap", "create", "join")
FAMILIES = ("banking", "clinic", "library")

SEVERAL = 20
"""More kinds of tasks than these are read in each family."""

LEAST_READ = 0.7
"""The least share of them that is read."""


@pytest.fixture(name="resolver")
def _resolver() -> Resolver:
    return Resolver(SHOP, shop_rows())


_ENGLISH = next(seed for seed in range(3, 99) if language_of("banking", seed) is Language.ENGLISH)
"""A seed of a bank whose pages and goals are in English."""


def _first_title() -> tuple[str, int]:
    entity = SHOP.entities[0]
    row = shop_rows()[entity.name][0]
    return str(row[entity.title.name]), int(row["id"] or 0)


def test_a_named_row_is_read(resolver: Resolver) -> None:
    title, number = _first_title()
    read = resolver.read(f'Delete the {SHOP.entities[0].one} "{title}".')
    assert isinstance(read, Reading)
    assert (read.entity, read.rows) == (SHOP.entities[0].name, (number,))
    assert [one.row for one in read.removed] == [number]


def test_another_world_does_not_know_the_row(resolver: Resolver) -> None:
    world, rows = drawn.whole("banking", _ENGLISH)
    entity = world.entities[0]
    goal = f'Delete the {entity.one} "{rows[entity.name][0][entity.title.name]}".'
    assert isinstance(Resolver(world, rows).read(goal), Reading)
    assert _reason(resolver.read(goal)) in {Reason.NO_ROW, Reason.NOT_READ}


def test_an_empty_world_has_no_such_row() -> None:
    title, _ = _first_title()
    empty = Resolver(SHOP, {entity.name: [] for entity in SHOP.entities})
    assert _reason(empty.read(f'Delete the {SHOP.entities[0].one} "{title}".')) is Reason.NO_ROW


def test_a_goal_in_another_language_than_the_world_is_refused() -> None:
    seed = next(seed for seed in range(99) if language_of("banking", seed) is Language.JAPANESE)
    world, rows = drawn.whole("banking", seed)
    entity = world.entities[0]
    goal = f'Delete the {entity.one} "{rows[entity.name][0][entity.title.name]}".'

    assert _reason(Resolver(world, rows).read(goal)) is Reason.NOT_READ


def test_a_choice_before_a_noun_describes_though_a_verb_stands_before(resolver: Resolver) -> None:
    read = resolver.read("Take the open order with the largest quantity. 'Quantity' should be 21.")
    assert isinstance(read, Reading), read
    assert [(one.row, one.values) for one in read.changed] == [(5, (("quantity", 21),))]


def test_two_equal_rows_are_not_one() -> None:
    entity, rows = SHOP.entities[0], shop_rows()
    twin = {**rows[entity.name][0], "id": 10_000}
    two = {**rows, entity.name: [*rows[entity.name], twin]}
    title, _ = _first_title()
    read = Resolver(SHOP, two).read(f'Delete the {entity.one} "{title}".')
    assert _reason(read) is Reason.TWO_ROWS
    assert isinstance(read, Refusal)
    assert len(read.candidates) == len([twin]) + 1


@pytest.mark.parametrize("goal", ["", "   ", '"', "?", "Hello.", "\x00", "the the the", '""'])
def test_words_that_ask_for_nothing_are_refused(resolver: Resolver, goal: str) -> None:
    assert isinstance(resolver.read(goal), Refusal)


@pytest.mark.parametrize("family", FAMILIES)
def test_goals_as_they_are_worded_first_are_read_as_their_tasks_or_refused(family: str) -> None:
    seed, read, told, otherwise = drawn.english(family), 0, 0, list[str]()
    for kind in kinds_of(family):
        try:
            task = draw_task(f"{family}/{kind}", seed, as_worded=True)
        except BadTasks:
            continue
        assert task.expect is not None
        world, rows = drawn.whole(family, int(str(task.parameters["world"])))
        reading, told = Resolver(world, rows).read(task.instruction), told + 1
        is_read = agrees(reading, task.expect, world)
        read += is_read
        if not is_read and not isinstance(reading, Refusal):
            otherwise.append(task.instruction)

    assert len(otherwise) <= 1, "no task is drawn with such a goal, but a person's would be misread"
    assert told > SEVERAL
    assert read >= told * LEAST_READ


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_drawn_english_goal_has_one_reading(family: str, kind: str) -> None:
    task = drawn.task(family, kind, drawn.english(family))
    if task is None or task.expect is None:
        pytest.skip("the world has no such task")
    world, rows = drawn.whole(family, int(str(task.parameters["world"])))
    assert agrees(Resolver(world, rows).read(task.instruction), task.expect, world)


def test_a_task_agrees_with_its_own_goal_only() -> None:
    told = [drawn.task("banking", kind, _ENGLISH) for kind in KINDS]
    tasks = [one for one in told if one is not None and one.expect is not None]
    read = 0
    for one, other in pairwise(tasks):
        world, rows = drawn.whole("banking", int(str(one.parameters["world"])))
        reading = Resolver(world, rows).read(one.instruction)
        assert one.expect is not None
        assert other.expect is not None
        read += agrees(reading, one.expect, world)
        assert not agrees(reading, other.expect, world)
    assert read


def test_a_reading_without_one_of_the_values_does_not_agree() -> None:
    world, entity = SHOP, SHOP.entities[0]
    read = Resolver(world, shop_rows()).read(f'Delete the {entity.one} "{_first_title()[0]}".')
    rules = tuple(RowRule(table=entity.name, where={"id": one}) for one in (1, 2))
    assert agrees(read, Expectation(removed=rules[:1]), world)
    assert not agrees(read, Expectation(removed=rules), world)
    assert not agrees(read, Expectation(answer="1"), world)


def test_a_refusal_agrees_with_nothing_but_what_is_impossible(resolver: Resolver) -> None:
    read = resolver.read(f'Delete the {SHOP.entities[0].one} "No such thing at all".')
    assert agrees(read, Expectation(answer="impossible"), SHOP)
    assert not agrees(read, Expectation(answer="possible"), SHOP)
    vague = resolver.read("Hello.")
    assert not agrees(vague, Expectation(answer="impossible"), SHOP)


def _reason(read: Reading | Refusal) -> Reason:
    assert isinstance(read, Refusal), read
    return read.reason
