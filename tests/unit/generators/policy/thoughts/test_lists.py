"""Why a list is looked through: by a name, by what the goal says of the row, or by what its rows are read for."""

from support.browsers.reference_pages import step

from generators.policy.course import Course
from generators.policy.thoughts.lists import looks, turns
from schemas.tasks.reference import Fact, ReferenceStep

FIND = step(do="find", on="Lamp", text="Next")
FACTS = (Fact(of="Lamp", label="State", value="Sold"), Fact(of="Lamp", label="N", value="7"))
ROW = step(do="click", on="Lamp").model_copy(update={"by": FACTS})
AIM = 'I look for each row with State "Sold".'
READ = step(do="read", text="Next", why=AIM).model_copy(update={"keep": FACTS})


def look(step: ReferenceStep, goal: str, *then: ReferenceStep, way: str = "on", n: int = 1) -> str:
    return looks(step, Course((step, *then)), goal, way=way, scrolls=n)


def turn(step: ReferenceStep, goal: str, *then: ReferenceStep, n: int = 1) -> str:
    return turns(step, Course((step, *then)), goal, scrolls=n)


def test_a_row_whose_name_is_known_is_named() -> None:
    assert "finds_on_named" in look(FIND, "Open lamp", ROW)
    assert "turns_named" in turn(FIND, "Open lamp", ROW)


def test_a_row_that_the_goal_describes_is_told_by_what_the_goal_says_of_it() -> None:
    for told in (look(FIND, "the sold one", ROW), turn(FIND, "the sold one", ROW)):
        assert '\\"Sold\\"' in told
        assert "7" not in told
        assert "Lamp" not in told


def test_a_step_may_say_itself_what_its_row_is_like() -> None:
    assert '\\"Sold\\"' in look(FIND.model_copy(update={"by": FACTS}), "the sold one")


def test_of_a_row_of_which_the_goal_says_nothing_nothing_is_told() -> None:
    assert look(FIND, "the best one", ROW) == "⟪policy.finds_on⟫{}"
    assert look(FIND, "the sold one", ROW, way="up") == "⟪policy.finds_up⟫{}"
    assert "policy.turns⟫" in turn(FIND, "the best one", ROW)


def test_what_rows_are_read_for_is_said_now_and_then() -> None:
    assert "reads_on_for" in look(READ, "")
    assert "State" in look(READ, "")
    assert look(READ, "", n=2) == look(READ, "", n=3) == "⟪policy.reads_on⟫{}"
    assert "reads_on_for" in look(READ, "", n=4)
    assert look(READ, "", way="up") == "⟪policy.reads_up⟫{}"
    assert "reads_turns_for" in turn(READ, "")


def test_a_list_that_is_read_without_a_reason_is_told_as_any() -> None:
    bare = READ.model_copy(update={"why": None})
    assert look(bare, "") == "⟪policy.reads_on⟫{}"


def test_a_list_of_which_nothing_is_kept_may_have_no_rows() -> None:
    vain = step(do="read", text="Next", why="I go through the list.")
    assert look(vain, "") == "⟪policy.looks_for_more⟫{}"
    assert "policy.turns⟫" in turn(vain, "")


def test_what_a_list_is_read_for_in_vain_is_named_where_the_goal_names_it() -> None:
    read = READ.model_copy(update={"why": None, "keep": ()})
    end = step(do="answer", text="No.", purpose="refuse")
    end = end.model_copy(update={"by": (Fact(of="Lamp"),)})
    assert '"on": "Lamp"' in look(read, "Open lamp", end)
    assert "finds_on_named" in look(read, "Open lamp", end)
    assert "turns_named" in turn(read, "Open lamp", end)
    assert look(read, "Open it", end) == "⟪policy.looks_for_more⟫{}"
