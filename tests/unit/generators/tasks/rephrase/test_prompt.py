"""What a model is asked for another goal, and what counts as its reply."""

import pytest
from support.worlds.made_world import SHOP, shop_rows

from generators.engine.protocol import EnginePrompt
from generators.engine.simulator.rewriter import text_to_rewrite
from generators.tasks.rephrase.prompt import goal_prompt, read_reply
from generators.tasks.resolver.resolve import Resolver


def _asked(goal: str) -> EnginePrompt:
    return goal_prompt(SHOP, goal, Resolver(SHOP, shop_rows()).read(goal))


def _texts(prompt: EnginePrompt) -> list[str]:
    return [part for one in prompt.messages for part in one.parts if isinstance(part, str)]


def test_a_prompt_says_what_is_to_be_done_and_not_with_what() -> None:
    goal = 'Set the Category of the Product "Lamp, small" to "Kitchen".'
    system, user = _texts(_asked(goal))
    assert "A Product is changed: Category." in user
    assert text_to_rewrite(system, user) == goal


def test_a_prompt_does_not_hold_what_is_to_be_found() -> None:
    told = _texts(_asked('Delete the Customer where E-mail is "ada.lind@example.org".'))
    assert "Ada Lind" not in " ".join(told)
    assert "A Customer is removed." in told[1]


def test_a_prompt_of_an_impossible_goal_says_that_it_is() -> None:
    assert "It cannot be done" in _texts(_asked('Delete the Customer "Zoe Zander".'))[1]


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("Delete it.", "Delete it."),
        ('  "Delete\n it." ', "Delete it."),
        ("Goal: Delete it.", "Delete it."),
        ('Rewritten: "Delete it."', "Delete it."),
        ('{"goal": "Delete it."}', "Delete it."),
        ('{"goal": "Delete it.", "why": "So."}', '{"goal": "Delete it.", "why": "So."}'),
        ('{"goal": Delete', '{"goal": Delete'),
        ('"Lamp" or "Kettle"', '"Lamp" or "Kettle"'),
        ('"', '"'),
        ("", ""),
    ],
)
def test_a_reply_is_a_goal(text: str, goal: str) -> None:
    assert read_reply(text) == goal


def test_another_question_is_nothing_to_rewrite() -> None:
    assert text_to_rewrite("You operate a browser.", "Goal: Delete it.") is None
    assert text_to_rewrite("You rewrite goals of tasks.", "Delete it.") is None
