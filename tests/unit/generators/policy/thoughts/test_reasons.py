"""A row that the goal does not name is opened for what its row says, and for nothing else."""

from random import Random

from support.browsers.reference_pages import node, sight_of, step
from support.episodes.said import says

from generators.browser.protocol import Node
from generators.policy.thoughts.reasons import reason
from schemas.tasks.reference import Fact, ReferenceStep

STATE = Fact(of="Lamp", label="State", value="Sold out")
OPENS = step(do="click", on="Lamp", why="I open it.", purpose="row")


def listed(*rows: tuple[str, str], head: str = "State") -> Node:
    """Return a page with a table of names and states."""
    body = [
        node(
            "tr",
            "",
            node("td", "", node("a", name, at=(5.0, 30.0 + 20 * at), top=20.0 + 20 * at)),
            node("td", state, at=(50.0, 30.0 + 20 * at), top=20.0 + 20 * at),
            top=20.0 + 20 * at,
        )
        for at, (name, state) in enumerate(rows)
    ]
    return node("body", "", node("th", head), node("table", "", node("tbody", "", *body)))


def reasons(root: Node, *by: Fact, goal: str = "", noted: tuple[Fact, ...] = ()) -> set[str | None]:
    opens: ReferenceStep = OPENS.model_copy(update={"by": (Fact(of="Lamp"), *by)})
    return {reason(opens, sight_of(root), goal, noted, Random(seed)) for seed in range(30)}


def test_a_row_is_opened_because_it_says_what_the_goal_asks_for() -> None:
    root = listed(("Lamp", "Sold out"), ("Bed", "Sold out"))
    facts = '"Sold out" as its "State"'
    for one in reasons(root, STATE):
        assert says(one, "reasons.fits", on="Lamp", facts=facts)


def test_it_is_said_to_be_the_only_one_where_no_other_row_that_was_seen_says_so() -> None:
    root = listed(("Lamp", "Sold out"), ("Bed", "There"))
    for one in reasons(root, STATE):
        assert says(one, "reasons.fits_alone", on="Lamp", facts='"Sold out" as its "State"')
    alone = listed(("Lamp", "Sold out"))
    assert all(says(one, "reasons.fits") for one in reasons(alone, STATE))


def test_what_a_row_does_not_show_is_not_said_of_it() -> None:
    assert reasons(listed(("Lamp", "There")), STATE) == {None}
    for one in reasons(listed(("Lamp", "Sold out"), head="Other"), STATE):
        assert "State" not in (one or "")


def test_a_row_that_was_noted_is_opened_for_that() -> None:
    root = listed(("Lamp", "There"))
    assert all(
        says(one, "reasons.noted", on="Lamp") for one in reasons(root, noted=(Fact(of="Lamp"),))
    )
    assert reasons(root, noted=(Fact(of="Bed"),)) == {None}


def test_a_row_is_opened_by_the_number_that_the_goal_gives() -> None:
    root = listed(("Lamp 204", ""), ("Lamp 301", ""))
    opens = step(do="click", on="Lamp 204", why="I open it.", purpose="row")
    opens = opens.model_copy(update={"by": (Fact(of="Lamp 204"),)})
    told = {reason(opens, sight_of(root), "open 204", (), Random(at)) for at in range(9)}
    assert all(says(one, "reasons.by_part_alone", on="Lamp 204", part="204") for one in told)
    assert reason(opens, sight_of(root), "open 2045", (), Random(1)) is None


def test_what_is_no_row_is_opened_for_no_such_reason() -> None:
    root = listed(("Lamp", "Sold out"))
    opens = OPENS.model_copy(update={"by": (STATE,), "purpose": None})
    assert reason(opens, sight_of(root), "", (), Random(1)) is None


def test_a_link_on_a_page_is_opened_as_what_the_page_has_it() -> None:
    link = node("dd", "", node("a", "Lamp", at=(5.0, 30.0)))
    root = node("body", "", node("dl", "", node("dt", "Thing"), link))
    assert all(says(one, "reasons.linked", on="Lamp", label="Thing") for one in reasons(root))


def test_a_thought_that_concludes_why_it_is_this_row_is_kept() -> None:
    root = listed(("Lamp", "There"))
    assert reason(OPENS, sight_of(root), "", (Fact(of="Lamp"),), Random(1)) is None


def test_a_person_is_opened_by_the_last_name_that_the_goal_gives() -> None:
    root = listed(("Ann Noble", ""), ("Eve Moor", ""))
    opens = step(do="click", on="Ann Noble", why="I open it.", purpose="row")
    opens = opens.model_copy(update={"by": (Fact(of="Ann Noble"),)})
    told = reason(opens, sight_of(root), "open the page of noble", (), Random(1))
    assert says(told, "reasons.by_part_alone", on="Ann Noble", part="Noble")
    assert reason(opens, sight_of(root), "open the nobles", (), Random(1)) is None
