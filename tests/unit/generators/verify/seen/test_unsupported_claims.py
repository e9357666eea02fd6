"""What a policy writes of its own accord: the sentence after a change, and addresses that are typed."""

import pytest
from pydantic import JsonValue
from support.episodes.factories import make_step

from generators.verify.seen import needs
from generators.verify.shown import Shown, Words
from generators.verify.unsupported_claims import needs_of_address, untrue_statement
from schemas.episodes.action import Action, Answer, Click, Goto, Tab, TabOperation
from schemas.episodes.episode import ThoughtSource
from schemas.tasks.expectation import Expectation, parse_expectation

GOAL = "Ship the sale of Mara Diaz that was ordered on 3 May."
RULE: JsonValue = {"table": "sales", "where": {"id": 12}, "set": {"status": "Shipped"}}


def _expects(expect: JsonValue) -> Expectation:
    return parse_expectation(expect, "a task")


CHANGE = _expects({"changed": [RULE]})
SHOWN = Shown((Words(None, [(GOAL, None)]), Words(0, [("C-3178 open", None)])), ())


def _missing(text: str, *, expectation: Expectation = CHANGE, reward: float = 1.0) -> list[str]:
    step = make_step(1, picture=1, action=Answer(text=text)).model_copy(update={"reward": reward})
    found = needs(step, SHOWN, expectation=expectation)
    return [need.what for need in found if need.basis is None]


@pytest.mark.parametrize(
    "report",
    [
        "The sale C-3178 has been shipped.",
        "Done.",
        "I have shipped the sale of Mara Diaz, and it is Shipped now.",
        "Successfully completed the task as requested.",
        "Sale 12 is now marked 'Shipped'.",
        "",
    ],
)
def test_a_true_report_of_a_finished_change_is_founded(report: str) -> None:
    assert _missing(report) == []


@pytest.mark.parametrize(
    ("report", "missing"),
    [
        ("The sale C-9999 has been shipped.", "'C-9999', which its answer names"),
        ("I shipped the sale of Omar Haddad.", "'Omar Haddad', which its answer names"),
        ("The sale is now 'Cancelled'.", "'Cancelled', which its answer names"),
        ("It failed; the sale was not shipped.", "that it failed, as its answer says"),
        ("I could not find the sale.", "that it failed, as its answer says"),
        ("This can't be done.", "that it failed, as its answer says"),
    ],
)
def test_what_a_report_makes_up_or_denies_is_unfounded(report: str, missing: str) -> None:
    [what] = _missing(report)

    assert what.startswith(missing)


def test_of_a_change_that_failed_a_report_may_say_so() -> None:
    assert _missing("It failed.", reward=0.0) == []


def test_where_an_answer_is_asked_for_its_text_itself_needs_a_basis() -> None:
    asked = _expects({"answer": "Mara Diaz"})

    assert _missing("Mara Diaz", expectation=asked) == []
    assert _missing("Done, as requested.", expectation=asked) == ["the text 'Done, as requested.'"]


def _untrue(note: str, source: ThoughtSource) -> str | None:
    step = make_step(1, picture=1, action=Click(x=1, y=1))
    step = step.model_copy(update={"note": note, "thought_source": source})
    return untrue_statement(step, SHOWN)


@pytest.mark.parametrize("source", [ThoughtSource.TEMPLATE, ThoughtSource.POLICY])
@pytest.mark.parametrize(
    ("note", "untrue"),
    [
        ('The sale is "C-3178", "open".', None),
        ('The sale is "C-3179".', "'C-3179', which its note states"),
        ('"Mara Diaz" ordered on "4 May".', "'4 May', which its note states"),
        ("", None),
    ],
)
def test_what_a_note_quotes_must_have_been_shown(
    note: str, untrue: str | None, source: ThoughtSource
) -> None:
    assert _untrue(note, source) == untrue


def test_of_a_model_s_note_unquoted_names_and_numbers_count_too_and_of_ours_they_only_count() -> (
    None
):
    model = [_untrue(note, ThoughtSource.POLICY) for note in ("It was Omar Haddad.", "7 so far.")]

    assert model == ["'Omar Haddad', which its note states", "'7', which its note states"]
    assert _untrue("7 so far.", ThoughtSource.TEMPLATE) is None


START = "http://shop.localhost/sales?page=2"


@pytest.mark.parametrize(
    ("action", "missing"),
    [
        (Goto(url="http://shop.localhost/sales/new"), []),
        (Goto(url="http://shop.localhost/sales?page=2"), []),
        (Goto(url="http://shop.localhost/sales?q=Mara+Diaz"), []),
        (Goto(url="http://shop.localhost/sales?q=C-3178"), []),
        (Goto(url="http://shop.localhost/sales/60/delete"), ["'60'"]),
        (Goto(url="http://shop.localhost/new?name=Alpha&budget=900"), ["'Alpha'", "'900'"]),
        (Tab(operation=TabOperation.OPEN, url="http://shop.localhost/sales/60"), ["'60'"]),
        (Tab(operation=TabOperation.OPEN), []),
        (Click(x=1, y=1), []),
    ],
)
def test_what_a_typed_address_says_was_in_sight_or_in_an_address_before(
    action: Action, missing: list[str]
) -> None:
    step = make_step(1, picture=1, action=action)

    found = [need.what for need in needs_of_address(step, SHOWN, [START]) if need.basis is None]

    assert found == [f"{one} in the address that is typed" for one in missing]
