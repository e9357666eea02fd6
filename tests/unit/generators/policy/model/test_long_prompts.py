"""A prompt that an engine refuses as too long is sent once more, a block shorter; so is one with a repair turn."""

import pytest
from support.engines.acting import GARBLED, SECTION, Acting
from support.servers.stub_engine import WrittenEngine, clicked

from generators.engine.protocol import PromptTooLong
from schemas.errors import FailureKind, RolloutFailure

TOO_LONG = PromptTooLong(FailureKind.ENGINE, "HTTP 400: maximum context length")


async def test_a_prompt_that_is_too_long_after_all_is_sent_again_a_block_shorter_once() -> None:
    engine = WrittenEngine()
    engine.says(*[clicked(1, 2)] * 3, TOO_LONG, clicked(3, 4), TOO_LONG, TOO_LONG)
    acting = Acting(engine, SECTION.model_copy(update={"keep_images": 1, "slack_images": 5}))

    for _ in range(4):
        await acting.act()
    with pytest.raises(PromptTooLong):
        await acting.act()

    pictures = [[picture.step for picture in asked.pictures] for asked in engine.asked]
    assert pictures == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [3], [3, 4], [4]]
    assert [call.segment for call in acting.account.calls] == [0, 0, 0, 1]


async def test_two_evictions_without_a_reply_in_between_begin_one_segment() -> None:
    engine = WrittenEngine()
    engine.says(clicked(1, 2), TOO_LONG, clicked(3, 4))
    acting = Acting(engine, SECTION.model_copy(update={"keep_images": 1, "slack_images": 0}))

    await acting.act()
    await acting.act()

    assert [call.segment for call in acting.account.calls] == [0, 1]
    assert [len(asked.prompt.messages) for asked in engine.asked] == [2, 4, 2]


async def test_one_observation_that_is_too_long_is_not_sent_again() -> None:
    engine = WrittenEngine()
    engine.says(TOO_LONG)

    with pytest.raises(PromptTooLong):
        await Acting(engine).act()
    assert len(engine.asked) == 1


async def test_a_repair_turn_that_does_not_fit_is_a_failure_of_the_engine() -> None:
    engine = WrittenEngine()
    engine.says(GARBLED, TOO_LONG)

    with pytest.raises(RolloutFailure, match="no room to repair a reply") as failed:
        await Acting(engine).act()
    assert not isinstance(failed.value, PromptTooLong)
    assert failed.value.kind is FailureKind.ENGINE
    assert len(engine.asked) == 2


async def test_a_repair_turn_that_is_too_long_is_sent_again_a_block_shorter_once() -> None:
    engine = WrittenEngine()
    engine.says(clicked(1, 2), clicked(3, 4), GARBLED, TOO_LONG, clicked(5, 6), clicked(7, 8))
    acting = Acting(engine, SECTION.model_copy(update={"keep_images": 1, "slack_images": 5}))

    decisions = [await acting.act() for _ in range(4)]

    pictures = [[picture.step for picture in asked.pictures] for asked in engine.asked]
    assert pictures == [[0], [0, 1], [0, 1, 2], [0, 1, 2], [2], [2, 3]]
    assert engine.asked[4].texts[-2:] == engine.asked[3].texts[-2:], "it is the same repair turn"
    assert [call.segment for call in acting.account.calls] == [0, 0, 0, 1, 1]
    assert acting.roles[-2:] == [(2, "repair"), (3, "policy")]
    assert decisions[2].raw_reply == clicked(5, 6)


async def test_a_repair_turn_that_is_too_long_twice_is_a_failure_of_the_engine() -> None:
    engine = WrittenEngine()
    engine.says(clicked(1, 2), TOO_LONG, GARBLED, TOO_LONG, TOO_LONG)
    acting = Acting(engine, SECTION.model_copy(update={"keep_images": 1, "slack_images": 5}))

    await acting.act()
    with pytest.raises(RolloutFailure, match="no room to repair a reply"):
        await acting.act()

    messages = [len(asked.prompt.messages) for asked in engine.asked]
    assert messages == [2, 4, 4, 6, 4], "pictures left for the question, and a step for its repair"
