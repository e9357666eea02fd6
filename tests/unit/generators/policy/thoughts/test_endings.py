"""An end is proven by what the last picture shows: a value that was saved, a row that is gone, what was noted."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from support.browsers.reference_pages import node, sight_of, step

from generators.browser.protocol import Node
from generators.policy.course import Course, Screen, Taken
from generators.policy.notes import Notes
from generators.policy.thoughts.endings import Past, proofs
from generators.policy.thoughts.remarks import Remark
from schemas.episodes.action import Action, Answer, Back
from schemas.tasks.reference import Fact, ReferenceStep

FORM, LIST = Screen("/1/edit", "Change"), Screen("/", "Lamps")
PRICE = step(do="type", on="Price", text="12", purpose="type")
KIND = step(do="click", on="Wood", within="Kind", purpose="option")
SAVE = step(do="click", on="Save", purpose="save")
ROW = step(do="click", on="Lamp", purpose="row")
CONFIRM = step(do="click", on="Yes", purpose="confirm")


def page(*facts: tuple[str, str]) -> Node:
    pairs = [one for label, value in facts for one in (node("dt", label), node("dd", value))]
    return node("body", "", node("h1", "Lamp"), node("dl", "", *pairs))


def listed(*names: str) -> Node:
    rows = [
        node("tr", "", node("td", "", node("a", name, at=(5.0, 9.0 + at)), top=20.0 * at))
        for at, name in enumerate(names)
    ]
    return node("body", "", node("table", "", node("tbody", "", *rows)))


def notes(written: tuple[Fact, ...] = (), seen: tuple[Fact, ...] = ()) -> Notes:
    found = Notes(Course(()), "")
    found.written += written
    found.seen_last += seen
    return found


def proven(
    root: Node,
    *done: ReferenceStep,
    action: Action | None = None,
    noted: tuple[Fact, ...] = (),
    seen: tuple[Fact, ...] = (),
    before: Mapping[str, str] = MappingProxyType({}),
    goal: str = "",
) -> list[Remark]:
    taken = [Taken(one, is_planned=True, screen=FORM) for one in done]
    past = Past(goal, taken, notes(noted, seen), before)
    return list(proofs(action or Answer(), sight_of(root), past))


def test_a_saved_value_is_told_where_the_page_shows_it() -> None:
    root = page(("Price", "12"), ("Kind", "Wood"), ("Weight", "7"))
    assert proven(root, PRICE, KIND, SAVE) == [
        Remark("proof", "Price", "12"),
        Remark("proof", "Kind", "Wood"),
    ]


def test_another_value_or_one_that_was_not_saved_proves_nothing() -> None:
    assert proven(page(("Price", "13")), PRICE, SAVE) == []
    assert proven(page(("Price", "12")), PRICE) == []
    assert proven(page(("Price", "12")), PRICE, SAVE, action=Back()) == []


def test_what_the_page_has_shown_otherwise_before_is_told_as_a_change() -> None:
    root, before = page(("Price", "12"), ("State", "Sold")), {"Price": "12", "State": "Free"}
    assert proven(root, before=before) == [Remark("changed", "State", "Sold", "Free")]
    assert proven(root, action=Back(), before=before) == []


def test_a_state_that_the_goal_wants_is_told_after_a_step_to_it() -> None:
    root, goal = page(("Name", "Lamp"), ("State", "Sold"), ("New", "No")), "no, lamp to sold"
    sell = step(do="click", on="Sell", purpose="step")
    assert proven(root, sell, goal=goal) == [Remark("fact", "State", "Sold")]
    assert proven(root, SAVE, goal=goal) == []
    assert proven(root, sell, goal="sell it") == []
    owner = (node("dt", "Owner"), node("dd", "", node("a", "Sold")))
    assert proven(node("body", "", node("dl", "", *owner)), sell, goal=goal) == []


def test_a_cell_is_told_where_its_row_says_what_was_put_in() -> None:
    find = step(do="find", on="Lamp", purpose="look")
    fill = step(do="type", on="Price", text="12", purpose="fill_cell")
    cells = [node("td", one, at=(5.0, 9.0)) for one in ("Lamp", "12")]
    root = node("body", "", node("table", "", node("tbody", "", node("tr", "", *cells))))
    assert proven(root, find, fill) == [Remark("cell", "Lamp", "12")]
    assert proven(root, find, fill.model_copy(update={"text": "13"})) == []


def test_a_form_that_stays_is_told_by_what_its_fields_hold() -> None:
    field = node("input", "", at=(30.0, 31.0), placeholder="Price")
    held = replace(field, value="12", box=(30.0, 31.0, 60.0, 10.0))
    assert proven(node("body", "", held), PRICE, SAVE) == [Remark("entered", "Price", "12")]
    assert proven(node("body", "", replace(held, value="13")), PRICE, SAVE) == []


def test_what_an_earlier_form_saved_proves_nothing() -> None:
    earlier = Taken(PRICE, is_planned=True, screen=LIST)
    saved = Taken(SAVE, is_planned=True, screen=FORM)
    sight = sight_of(page(("Price", "12")))
    assert list(proofs(Answer(), sight, Past("", [earlier, saved], notes(), {}))) == []


def test_a_row_that_was_deleted_is_told_to_be_gone() -> None:
    assert proven(listed("Chair", "Bed"), ROW, CONFIRM) == [Remark("gone", "Lamp")]
    assert proven(listed("Chair", "Lamp"), ROW, CONFIRM) == []
    assert proven(node("body", ""), ROW, CONFIRM) == []
    assert proven(listed("Chair", "Bed"), ROW, SAVE) == []


def test_an_answer_is_told_with_its_label() -> None:
    root = page(("Price", "12"), ("Weight", "7"))
    assert proven(root, action=Answer(text="7")) == [Remark("fact", "Weight", "7")]
    assert proven(root, action=Answer(text="8")) == []


def test_the_rows_that_were_noted_are_told_where_their_number_is_the_answer() -> None:
    noted = (Fact(of="Lamp"), Fact(of="Bed"), Fact(of="Bed", label="Price", value="3"))
    root = node("body", "")
    assert proven(root, action=Answer(text="2"), noted=noted) == [
        Remark("all_noted", "Lamp", "Bed", "2")
    ]
    assert proven(root, action=Answer(text="3"), noted=noted) == []


def test_rows_that_the_last_picture_shows_are_counted_with_those_that_were_noted() -> None:
    root, bed, rug = node("body", ""), Fact(of="Bed"), Fact(of="Rug")
    assert proven(root, action=Answer(text="3"), noted=(Fact(of="Lamp"),), seen=(bed, rug)) == [
        Remark("noted_and_seen", "1", "Bed", "2")
    ]
    assert proven(root, action=Answer(text="2"), seen=(bed, rug)) == [
        Remark("all_seen", "Bed", "Rug", "2")
    ]
    assert proven(root, action=Answer(text="1"), seen=(bed,)) == []
