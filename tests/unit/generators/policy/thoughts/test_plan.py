"""A plan tells the phases of steps, names only what is known, and is as short as people tell it."""

import re
from random import Random

import pytest
from support.browsers.reference_pages import step

from generators.policy.thoughts.plan import MOST, Known, plan
from schemas.tasks.reference import Fact, ReferenceStep

OPEN = step(do="click", on="Orders", purpose="view")
SEARCH = step(do="enter", on="Search", text="Lamp", purpose="search_at_once")
FIND = step(do="find", on="Lamp", purpose="look")
ROW = step(do="click", on="Lamp", purpose="row")
EDIT = step(do="click", on="Edit", purpose="edit")
NAME = step(do="type", on="Name", text="Ada", purpose="type")
NOTE = step(do="type", on="Note", text="Bo", purpose="type")
SAVE = step(do="click", on="Save", purpose="save")
DEED = re.compile("(do|see to) what (is asked|the task asks)")
END = step(do="answer", text="", purpose="answer")


def plans(*steps: ReferenceStep, known: str = "", said: str = "", key: str = "plan") -> list[str]:
    """Return what may be told of steps, where names are known that stand in a text, and values that the goal says."""
    knows = Known(lambda name: name in f"{known} {said}", lambda text: text in said)
    told = (plan(steps, knows, Random(seed), key=key) for seed in range(40))
    return [one for one in told if one is not None]


def test_a_plan_names_what_is_known_and_nothing_else() -> None:
    for one in plans(OPEN, FIND, ROW, EDIT, NAME, SAVE, END, known="Orders"):
        assert '"Orders"' in one
        assert "Lamp" not in one
    assert not any('"' in one for one in plans(OPEN, FIND, ROW, EDIT, SAVE))


def test_what_is_entered_is_told_where_the_goal_says_it() -> None:
    steps = (OPEN, FIND, ROW, EDIT, NAME, NOTE, SAVE)
    for one in plans(*steps, known="Name Note Ada Bo Edit"):
        assert '"' not in one
    for one in plans(*steps, said="Put Ada in Name"):
        assert '"Ada" as "Name" and the other values' in one
        assert "Note" not in one
    for one in plans(*steps, said="Ada, Bo"):
        assert '"Ada" and "Bo"' in one


def test_a_choice_that_is_clicked_is_told_with_its_field_and_a_box_is_not() -> None:
    size = step(do="click", on="Large", within="Size", purpose="option")
    box = step(do="click", on="Large", purpose="toggle")
    assert all('"Large" as "Size"' in one for one in plans(OPEN, size, SAVE, said="Size Large"))
    assert not any('"Large"' in one for one in plans(OPEN, box, SAVE, said="Size Large"))


def test_what_depends_on_what_is_read_is_not_told() -> None:
    read = FIND.model_copy(update={"keep": (Fact(of="Lamp", label="Price", value="12"),)})
    because = EDIT.model_copy(update={"why": "Price is 12, so the condition is met."})
    assert all("Ada" not in one for one in plans(OPEN, read, because, NAME, SAVE, said="Ada Bo"))
    assert any('"Ada"' in one for one in plans(OPEN, read, EDIT, NAME, SAVE, said="Ada Bo"))


def test_the_part_that_is_typed_to_see_choices_is_not_told() -> None:
    part = step(do="type", on="Size", text="Lar", purpose="part_of_choice")
    size = step(do="click", on="Large", within="Size", purpose="option")
    for one in plans(OPEN, part, size, SAVE, said="Size Large Lar"):
        assert '"Lar"' not in one
        assert "other values" not in one


def test_a_long_text_is_not_told() -> None:
    text = "A long text that nobody wants to read twice " * 2
    note = NOTE.model_copy(update={"text": text})
    assert not any('"' in one for one in plans(OPEN, EDIT, note, SAVE, said=text))


def test_a_row_that_has_no_name_yet_is_told_by_what_the_goal_says_of_it() -> None:
    facts = (Fact(of="Lamp", label="State", value="Sold"), Fact(of="Lamp", label="N", value="7"))
    meant = ROW.model_copy(update={"by": facts})
    for one in plans(OPEN, FIND, meant, EDIT, SAVE, said="the Sold one"):
        assert '"Sold"' in one
        assert not any(word in one for word in ("Lamp", '"7"'))


def test_a_list_is_told_to_be_read_for_what_the_goal_says_of_its_rows() -> None:
    facts = (Fact(of="Lamp", label="State", value="Sold"), Fact(of="Lamp", label="N", value="7"))
    read = step(do="read", purpose="look").model_copy(
        update={"keep": (Fact(of="Lamp"),), "by": facts}
    )
    given = step(do="answer", text="1", purpose="answer")
    for one in plans(OPEN, read, given, said="How many are Sold?"):
        assert 'with "Sold"' in one
        assert '"7"' not in one


def test_an_order_that_was_chosen_before_is_not_planned_again() -> None:
    order = step(do="click", on="Price up", purpose="sort")
    assert any("order" in one or "sort" in one for one in plans(order, FIND, EDIT, SAVE))
    for one in plans(order, FIND, EDIT, SAVE, key="again"):
        assert "order" not in one
        assert "sort" not in one


def test_a_search_and_a_filter_are_told_by_what_the_goal_says() -> None:
    kind = step(do="select", on="Kind", text="Wood", purpose="filter")
    other = step(do="enter", on="Search", text="La", purpose="search_at_once")
    assert any('"Wood"' in one for one in plans(OPEN, kind, FIND, said="Wood"))
    facts = (Fact(of="Lamp", label="Kind", value="Wood"),)
    meant = ROW.model_copy(update={"by": facts})
    for one in plans(OPEN, kind, FIND, meant, said="Wood"):
        assert one.count('"Wood"') == 1
    assert any('"La"' in one for one in plans(OPEN, other, FIND, said="La"))
    for one in plans(OPEN, SEARCH, FIND, said="Lamp"):
        assert one.count('"Lamp"') == 1


def test_one_phase_is_no_plan_but_is_left_after_a_setback() -> None:
    assert plans(NAME, NOTE) == plans(END, END) == plans() == []
    assert plans(SAVE, END, key="again")
    assert plans(END, key="again") == []


def test_repeated_phases_are_told_once() -> None:
    alone = plans(NAME, SAVE)
    assert plans(NAME, NOTE, SAVE) == alone


def test_two_rows_that_are_looked_for_are_both_told() -> None:
    other = step(do="find", on="Chair", purpose="look")
    for one in plans(OPEN, FIND, other, step(do="answer", text="Lamp"), known="Lamp Chair Orders"):
        assert '"Lamp"' in one
        assert '"Chair"' in one


def test_a_long_plan_leaves_out_what_follows_by_itself() -> None:
    whole = (OPEN, SEARCH, FIND, ROW, EDIT, NAME, SAVE, END)
    assert plans(*whole, known="Orders Lamp") == plans(
        OPEN, FIND, EDIT, NAME, SAVE, known="Orders Lamp"
    )
    assert len(plans(OPEN, SEARCH, FIND, ROW, EDIT)) == 40
    assert len(whole) - 1 > MOST


def test_work_that_is_done_again_on_others_is_told_once() -> None:
    again = (step(do="find", on="Chair", purpose="look"), EDIT, NAME, SAVE)
    for one in plans(OPEN, FIND, EDIT, NAME, SAVE, *again, END, known="Lamp Chair"):
        assert "Chair" not in one
        assert any(word in one for word in ("others", "what is left"))


def test_whether_a_row_has_to_be_changed_is_not_told_before_it_is_read() -> None:
    look = step(do="look", on="Price", purpose="look")
    chair = step(do="find", on="Chair", purpose="look")
    read_first = (OPEN, FIND, look, chair, look, OPEN, chair, EDIT, NAME, SAVE)
    for one in plans(*read_first, known="Orders Lamp Chair"):
        assert "Chair" not in one
        assert "if it does not fit" in one
    for one in plans(OPEN, FIND, look, chair, look, EDIT, NAME, SAVE, FIND, EDIT, NAME, SAVE):
        assert "does not fit" not in one


def test_permission_is_asked_for_if_it_is_needed() -> None:
    asks = step(do="click", on="Ask", purpose="ask")
    for one in plans(OPEN, FIND, EDIT, asks, END):
        assert " if " in one


def test_steps_without_a_purpose_are_no_plan() -> None:
    bare = [step(do="click", on=name) for name in ("Orders", "Lamp", "Edit")]
    assert plans(*bare) == []


def test_what_a_guide_asks_for_is_not_planned_before_it_is_read() -> None:
    said = Fact(of="Guide", label="Steps", value="Open the order. Put 3 in Count.")
    look = step(do="look", on="Steps", purpose="look")
    guide = look.model_copy(update={"keep": (said,)})
    short = look.model_copy(update={"keep": (Fact(of="Guide", label="Steps", value="3"),)})

    followed = plans(OPEN, guide, EDIT, SAVE)
    assert all("save" not in one and "form" not in one for one in followed)
    assert all("read" in one for one in followed)
    assert any("says" in one or "written" in one for one in followed)
    assert any("save" in one for one in plans(OPEN, short, EDIT, SAVE))


def test_that_something_is_missing_is_not_known_beforehand() -> None:
    read = step(do="read", purpose="look")
    counted = read.model_copy(update={"keep": (Fact(of="Lamp"),)})
    end = step(do="answer", text="impossible", purpose="answer")

    assert not any("answer" in one or "reply" in one for one in plans(OPEN, SEARCH, read, end))
    given = step(do="answer", text="3", purpose="answer")
    assert any("answer" in one for one in plans(OPEN, SEARCH, counted, given))


@pytest.mark.parametrize("told", [("impossible", "answer"), ("I may not do that.", "refuse")])
def test_what_is_read_to_see_that_something_may_not_be_done_is_not_planned(
    told: tuple[str, str],
) -> None:
    look = step(do="look", on="State", purpose="look")
    end = step(do="answer", text=told[0], purpose=told[1])

    for one in plans(OPEN, FIND, look, end):
        assert not any(word in one for word in ("answer", "reply", "says", "read", "value"))


def test_what_turns_out_to_be_impossible_is_planned_as_the_goal_asks_for_it() -> None:
    read = step(do="read", purpose="look")
    end = step(do="answer", text="I may not.", purpose="refuse")
    row, price = Fact(of="Lamp"), Fact(of="Lamp", label="Price", value="£12")
    change = end.model_copy(update={"by": (row, price)})
    for one in plans(OPEN, read, change, said="Lamp: Price £12"):
        assert '"Lamp"' in one
        assert '"£12" as "Price"' in one
        assert any(word in one for word in ("save", "keep"))
    other = end.model_copy(update={"by": (row,)})
    for one in plans(OPEN, read, other, said="What is Lamp?"):
        assert '"Lamp"' in one
        assert DEED.search(one)
    assert not any('"' in one for one in plans(OPEN, read, change, said="the other"))


def test_leave_is_asked_for_after_the_deed_that_needs_it() -> None:
    ask = step(do="click", on="Ask", purpose="ask")
    delete = step(do="click", on="Delete", purpose="delete")
    assert all(DEED.search(one) for one in plans(OPEN, FIND, ROW, ask, END))
    for one in plans(OPEN, FIND, ROW, delete, ask, END):
        assert not DEED.search(one)
        assert "delete" in one or "remove" in one


def test_a_search_on_a_page_that_is_not_open_yet_is_not_told_without_words_of_its_own() -> None:
    for one in plans(OPEN, SEARCH, FIND, ROW, EDIT, SAVE, said="Lamp"):
        assert "search" not in one
    assert any("search" in one for one in plans(SEARCH, FIND, ROW, EDIT, SAVE, said="Lamp"))
