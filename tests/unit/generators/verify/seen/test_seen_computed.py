"""The `seen` verifier on answers that are computed from what was in sight."""

import pytest
from support.episodes.factories import make_episode
from support.episodes.seen_episodes import TASK, look, press

from generators.verify.seen import Seen
from schemas.episodes.action import (
    Answer,
)
from schemas.tasks.expectation import Expectation, Matches, Number
from schemas.verdicts.verdict import Finding, Status

ABSENT = Expectation(answer="impossible", looked=("Ada Lind", "Bo Ek"))
"""What is asked for is in a list with other rows."""

COUNTED = Expectation(answer=Number(number=2), facts=("Ada Lind", "Bo Ek"))


async def _answered(text: str, *seen: str, expectation: Expectation | None = COUNTED) -> Finding:
    task = TASK.model_copy(update={"expect": expectation})
    steps = [press(one) for one in seen] + [look(do=Answer(text=text))]
    rows = [step.model_copy(update={"step": number}) for number, step in enumerate(steps)]
    episode = make_episode(TASK).model_copy(
        update={"steps": tuple(rows), "n_steps": len(rows), "instruction": "How many are there?"}
    )
    return await Seen().examine(task, episode)


async def test_a_computed_answer_has_a_basis_where_all_that_it_follows_from_was_in_sight() -> None:
    found = await _answered("2", "Ada Lind", "Bo Ek")

    assert found.status is Status.PASSED, found.reason


@pytest.mark.parametrize(
    ("text", "seen", "missing"),
    [
        ("2", ("Ada Lind", "Bo"), "'Bo Ek', which its answer follows from"),
        ("2", ("2 rows", "Ada Lind"), "'Bo Ek', which its answer follows from"),
        ("3", ("Ada Lind", "Bo Ek"), "the text '3'"),
    ],
)
async def test_a_computed_answer_without_all_of_it_was_guessed(
    text: str, seen: tuple[str, ...], missing: str
) -> None:
    found = await _answered(text, *seen)

    assert found.status is Status.FAILED
    assert found.reason == f"step {len(seen)}: {missing}"


@pytest.mark.parametrize("seen", [("Ada Lind",), ("Home", "Bo Ek")])
async def test_what_is_said_not_to_be_there_was_looked_for_where_any_row_was_in_sight(
    seen: tuple[str, ...],
) -> None:
    found = await _answered("impossible", "impossible", *seen, expectation=ABSENT)

    assert found.status is Status.PASSED, found.reason


@pytest.mark.parametrize("seen", [(), ("Home",), ("Ada Lund",)])
async def test_what_is_said_not_to_be_there_without_a_look_at_any_row_was_guessed(
    seen: tuple[str, ...],
) -> None:
    found = await _answered("impossible", "impossible", *seen, expectation=ABSENT)

    assert found.status is Status.FAILED
    assert "a look at where its answer says that nothing is: 'Ada Lind', or what is" in found.reason


IN_ANY_WORDS = ABSENT.model_copy(update={"answer": Matches(matches="(?i).*(impossible|no such).*")})


async def test_words_that_say_that_something_is_not_there_need_no_basis_but_the_look() -> None:
    found = await _answered("There is no such customer, sorry.", "Bo Ek", expectation=IN_ANY_WORDS)

    assert found.status is Status.PASSED, found.reason


@pytest.mark.parametrize(
    ("text", "seen", "missing"),
    [
        ("There is no such customer.", (), "a look at where its answer says that nothing is"),
        ("It is open.", ("Bo Ek",), "the text 'It is open.'"),
    ],
)
async def test_words_without_the_look_and_other_words_have_no_basis(
    text: str, seen: tuple[str, ...], missing: str
) -> None:
    found = await _answered(text, *seen, expectation=IN_ANY_WORDS)

    assert found.status is Status.FAILED
    assert missing in found.reason


async def test_a_row_that_the_goal_names_is_no_row_that_was_looked_at() -> None:
    told = ABSENT.model_copy(update={"looked": ("How many are there?",)})
    found = await _answered("impossible", "impossible", expectation=told)

    assert found.status is Status.FAILED


async def test_an_answer_that_follows_from_no_facts_stands_somewhere() -> None:
    found = await _answered("2", "Ada Lind", "Bo Ek", expectation=Expectation(answer="2"))

    assert found.status is Status.FAILED
