"""The scripted writer writes what is asked for, in other words or badly, and the same for the same seed."""

from collections import Counter
from random import Random

from support.servers.engine_http import ask, chat, engine, text_of, user

from generators.engine.simulator.rewriter import rewrite, text_to_rewrite
from schemas.base import JsonObject

GOAL = "Open the order. Set its state to Paid and save it."


def test_most_replies_hold_every_sentence_and_some_are_bad() -> None:
    drawn = [rewrite(GOAL, Random(seed)) for seed in range(400)]
    whole = [one for one in drawn if all(part in one for part in GOAL.split(". "))]
    count = Counter(drawn)
    assert len(whole) > len(drawn) * 3 // 4
    assert len(set(whole)) > len(GOAL) // 4
    assert {"", "OK.", GOAL} <= set(count)
    assert any('The answer is "42"' in one for one in drawn)


def test_the_same_seed_writes_the_same() -> None:
    assert rewrite(GOAL, Random(3)) == rewrite(GOAL, Random(3))


def test_only_a_question_for_another_text_is_answered_so() -> None:
    system = "You rewrite thoughts of somebody."
    assert text_to_rewrite(system, f"The task: x\n\nThought: {GOAL}") == GOAL
    assert text_to_rewrite("You operate.", f"Thought: {GOAL}") is None
    assert text_to_rewrite(system, GOAL) is None


async def test_a_chat_is_answered_with_the_goal_in_other_words() -> None:
    asked: list[JsonObject] = [
        {"role": "system", "content": "You rewrite goals of tasks."},
        user(f"Goal: {GOAL}"),
    ]
    async with engine() as (_, client):
        told = [text_of(await ask(client, chat(*asked, seed=seed))) for seed in range(8)]
    assert any("Set its state to Paid" in one for one in told)
