"""Each way in which an answer could be given away is found, in a world that was made to have it."""

from collections.abc import Sequence

import pytest
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.ground.task import WorldTask
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.leaks import (
    Leak,
    Looked,
    find_leaks,
    operand_searches,
    shortcut_that_pays,
)
from generators.worlds.state.database import Rows
from schemas.tasks.expectation import Expectation
from schemas.tasks.reference import Do, ReferenceStep
from schemas.worlds.world import World

CLEAN = {
    "/": '<nav><a href="/products">Products</a></nav><main><h1>Harbour Supplies</h1></main>',
    "/products": """<nav>Products</nav><main><h1>Products</h1><form><fieldset><legend>Sort by</legend>
      </fieldset></form><table><tr><td><a href="/product/1">Lamp, small</a></td><td>$12.95</td></tr>
      <tr><td><a href="/product/2">Kettle, small</a></td><td>$30.26</td></tr></table>
      <a href="/products?page=2">Next</a></main>""",
    "/product/2": """<main><h1>Kettle, small</h1><dl><dt>Category</dt><dd>Kitchen</dd><dt>Price</dt><dd>$30.26</dd>
      <dt>In stock</dt><dd>37</dd><dt>Description</dt><dd>Made to last. Returns within 30 days.</dd></dl></main>""",
}


def _task(instruction: str, answer: str, answer_kind: str = "computed") -> WorldTask:
    return WorldTask(
        kind="made",
        seed=0,
        instruction=instruction,
        expect=Expectation(answer=answer),
        reference=(ReferenceStep(do=Do.ANSWER, text=answer),),
        answer_kind=answer_kind,
    )


FIND = _task('What is the In stock of the Product "Kettle, small"?', "37", "verbatim")
COMPARE = _task(
    'Which Product has the larger Price, "Lamp, small" or "Kettle, small"?', "Kettle, small"
)
COUNT = _task('Please count the Orders with Status "Open" for me, one by one.', "4")
EXTREME = _task(
    "Which of the Products has the largest Price? Answer with its Name.", "Blanket, oak"
)
AMONG = _task('Which Product with Category "Kitchen" has the largest Price?', "Kettle, oak")


def _found(
    task: WorldTask,
    looked: Looked,
    world: World = SHOP,
    rows: Rows | None = None,
) -> set[Leak]:
    return {leak for leak, _ in find_leaks(Setting(world, rows or shop_rows()), task, looked)}


@pytest.mark.parametrize("task", [FIND, COMPARE, COUNT, EXTREME, AMONG])
def test_a_world_without_leaks_has_none(task: WorldTask) -> None:
    empty = "<main><p>Nothing was found.</p></main>"
    assert _found(task, Looked(CLEAN, {"/products?q=x": (empty, empty)})) == set()


@pytest.mark.parametrize(
    ("task", "html"),
    [
        (FIND, "<option>Kettle, small: 37</option>"),
        (COUNT, '<a href="/purchase/1">A-1040</a> 4:00, Orders; 10:04, Orders'),
    ],
)
def test_what_can_be_chosen_and_times_give_no_answer_away(task: WorldTask, html: str) -> None:
    more = "<p>Made to last. Returns within 30 days. Ask at the front desk.</p>"

    assert _found(task, Looked({**CLEAN, "/made": f"<main>{more}{html}</main>"})) == set()


def _links(numbers: Sequence[int]) -> str:
    return "".join(f'<a href="/product/{each}">P</a>' for each in numbers)


@pytest.mark.parametrize(
    ("leak", "task", "html"),
    [
        (Leak.PRECOMPUTED_DIFFERENCE, COMPARE, "<p>$17.31 more than the first</p>"),
        (Leak.COUNT_SHOWN, COUNT, '<p>4 Orders</p><a href="/purchase/1">A-1040</a>'),
        (Leak.WORDING_ECHOED, FIND, "<p>What is the In stock of the Product you like?</p>"),
        (Leak.BUNDLED_SENTENCE, FIND, "<p>There are 37 of Kettle, small left in the house.</p>"),
        (Leak.LIST_ENDS_WITH_COUNT, COUNT, '<a href="/purchase/1">A-1040</a><p>4 results</p>'),
        (Leak.ONE_PARAGRAPH_PAGE, FIND, "<nav>Products and more</nav><p>37 pieces</p>"),
        (Leak.ANCHOR_FLOOD, FIND, _links(range(1, 62))),
        (Leak.SORTED_BY_TEXT, EXTREME, "<p>Our range, sorted by price</p>"),
        (Leak.PINNED_ANSWER, EXTREME, _links((12, 1, 2, 3, 4, 5))),
        (Leak.SORT_PUTS_ANSWER_FIRST, EXTREME, _links((12, 11, 10, 9, 8, 7))),
        (
            Leak.LOOKUP_TABLE,
            COUNT,
            "<td>Please count Orders whose Status was Open</td><td>4</td>",
        ),
    ],
)
def test_a_page_that_gives_an_answer_away_is_found(leak: Leak, task: WorldTask, html: str) -> None:
    assert leak in _found(task, Looked({**CLEAN, "/made": f"<main>{html}</main>"}))


@pytest.mark.parametrize(
    "address", ["/products?page=2", "/products?sort=-price", "/products?month=2026-02"]
)
def test_a_list_that_somebody_sorted_or_turned_over_gives_no_answer_away(address: str) -> None:
    html = f"<main>{_links((12, 11, 10, 9, 8, 7))}</main>"

    assert _found(EXTREME, Looked({**CLEAN, address: html})) == set()


def test_a_search_that_finds_the_answer_by_the_words_of_a_task_is_found() -> None:
    setting, empty = Setting(SHOP, shop_rows()), "<main><p>Nothing was found.</p></main>"

    asked = operand_searches(setting, COMPARE)
    shown = "<main><a href='/product/2'>Kettle, small</a></main>"

    assert ("products", "Lamp, small Kettle, small") in asked
    assert ("products", COMPARE.instruction) in asked
    assert _found(COMPARE, Looked({}, {"/products?q=x": (shown, empty)})) == {Leak.OPERAND_SEARCH}


def test_names_that_hold_what_a_task_asks_for_are_found() -> None:
    named = _task('Which Product with Category "Kitchen" is the dearest?', "Kitchen kettle, oak")

    assert _found(named, Looked(CLEAN)) == {Leak.CONSTRAINT_IN_NAMES}


def test_every_way_has_a_world_that_has_it() -> None:
    marks: Sequence[pytest.Mark] = test_a_page_that_gives_an_answer_away_is_found.pytestmark  # type: ignore[attr-defined]
    (made,) = (mark.args[1] for mark in marks if mark.name == "parametrize")

    assert {each[0] for each in made} | {Leak.OPERAND_SEARCH, Leak.CONSTRAINT_IN_NAMES} == set(Leak)


@pytest.mark.parametrize(
    ("instruction", "answer", "how"),
    [
        ('What is the Category of the Product "Kettle, oak"?', "Kitchen", ""),
        ('What is the Category of the Product "Lamp, oak"?', "Lighting", "the first row"),
        ("Which Product is the best?", "Lamp, small", "the first row"),
        ('Which City has the Customer "Ada Lund"?', "None", "the most frequent value"),
        ('What stands on the page of "Kettle, oak"?', "Kettle, oak", "the instruction's own words"),
        ('Is it "Kettle, oak" or "Lamp, oak"?', "Lamp, oak", ""),
    ],
)
def test_answers_that_cost_no_look_are_known(instruction: str, answer: str, how: str) -> None:
    rows = shop_rows()
    for row in rows["customer"][1:]:
        row["city"] = None

    found = shortcut_that_pays(Setting(SHOP, rows), _task(instruction, answer))

    assert found.partition(":")[0] == how
