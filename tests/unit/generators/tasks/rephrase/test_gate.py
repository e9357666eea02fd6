"""A goal stands for that of a task only if it has the same reading and gives nothing away."""

import pytest
from support.worlds.made_world import SHOP, shop_rows, shop_task

from generators.tasks.rephrase.gate import MAX_CHARS, GoalGate, with_goal
from schemas.base import JsonObject
from schemas.tasks.expectation import parse_expectation
from schemas.tasks.task import Task

CHANGE = 'Set the Category of the Product "Lamp, small" to "Kitchen".'
SAME_CHANGE = 'I need "Kitchen" as the Category of the Product "Lamp, small".'
ASK = 'What is the Category of the Product "Lamp, small"? Answer with it alone.'
REMOVE = 'Delete the Customer where E-mail is "ada.lind@example.org".'
LACK = 'Delete the Customer "Zoe Zander". If there is no such thing, answer "impossible".'


def _task(goal: str, expect: JsonObject) -> Task:
    told = {"instruction": goal, "expect": parse_expectation(expect, "a test")}
    return shop_task().model_copy(update=told)


def _change() -> Task:
    rule: JsonObject = {"table": "product", "where": {"id": 1}, "set": {"category": "Kitchen"}}
    return _task(CHANGE, {"changed": [rule]})


def _ask() -> Task:
    return _task(ASK, {"answer": "Lighting"})


def _remove() -> Task:
    return _task(REMOVE, {"removed": [{"table": "customer", "where": {"id": 1}}]})


def _lack() -> Task:
    return _task(LACK, {"answer": "impossible"})


@pytest.fixture(name="gate", scope="module")
def _gate() -> GoalGate:
    return GoalGate(SHOP, shop_rows())


@pytest.mark.parametrize(
    ("task", "goal"),
    [
        (_change(), SAME_CHANGE),
        (_change(), f"Hello there. {CHANGE} Thank you."),
        (_ask(), 'The Product "Lamp, small": what is its Category?'),
        (_remove(), 'The Customer whose E-mail is "ada.lind@example.org" can be deleted.'),
        (_lack(), 'Please delete the Customer "Zoe Zander", or answer "impossible".'),
    ],
)
def test_a_goal_that_means_the_same_is_kept(gate: GoalGate, task: Task, goal: str) -> None:
    assert gate.why_not(task, goal) is None


@pytest.mark.parametrize(
    ("task", "goal", "why"),
    [
        (_change(), " \n", "it says nothing"),
        (_change(), f"{CHANGE} {'Thank you. ' * 120}", f"more than {MAX_CHARS}"),
        (_change(), f"  {CHANGE.lower()}", "the same goal"),
        (_change(), "OK.", "not read"),
        (_change(), 'Set the Category of "Lamp, small" to "Textiles".', "read as something else"),
        (_change(), 'Set the Category of "Lamp, large" to "Kitchen".', "read as something else"),
        (_change(), f"{CHANGE} Set its In stock to 7 too.", "read as something else"),
        (_change(), 'Set the Category of "Lamp" to "Kitchen".', "not read"),
        (_ask(), f'{ASK} It is "Lighting".', "gives the answer away"),
        (_ask(), 'Is the Category of the Product "Lamp, small" Lighting?', "the answer away"),
        (_remove(), f'{REMOVE} That is "Ada Lind".', "'Ada Lind', which is to be found"),
        (_remove(), 'Delete the Customer "Ada Lind".', "'Ada Lind', which is to be found"),
        (_lack(), 'Please delete the Customer "Zoe Zander".', "does not say 'impossible'"),
        (
            _lack(),
            'Delete the Customer "Zoe Ziegler", or answer "impossible".',
            "nothing is called",
        ),
    ],
)
def test_another_goal_is_refused(gate: GoalGate, task: Task, goal: str, why: str) -> None:
    told = gate.why_not(task, goal)
    assert told is not None
    assert why in told


def test_a_task_without_an_expectation_has_nothing_to_be_held_to(gate: GoalGate) -> None:
    task = _change().model_copy(update={"expect": None})
    assert gate.why_not(task, SAME_CHANGE) == "the task has no expectation to hold it to"


def test_a_task_whose_own_goal_is_not_read_is_left_alone(gate: GoalGate) -> None:
    task = _change().model_copy(update={"instruction": "Do the usual."})
    told = gate.why_not(task, "Please do the usual.")
    assert told == "the task's own goal is not read as its expectation"


def test_both_goals_are_kept_and_the_writer_is_named() -> None:
    task = _change()
    once = with_goal(task, SAME_CHANGE, by="a model")
    twice = with_goal(once, f"{SAME_CHANGE} Thanks.", by="another")
    assert (once.instruction, once.original_instruction) == (SAME_CHANGE, CHANGE)
    assert (once.rephrased_by, twice.rephrased_by) == ("a model", "another")
    assert twice.original_instruction == CHANGE
    assert len({task.task_id, once.task_id, twice.task_id}) == len((task, once, twice))
    assert once.expect == task.expect
