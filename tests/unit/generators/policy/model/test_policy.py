"""A policy that asks an engine: what it asks, how it reads, what is booked, and how it fails."""

import pytest
from support.engines.acting import GARBLED, SECTION, Acting
from support.servers.stub_engine import (
    SIDE,
    Asked,
    WrittenEngine,
    called,
    clicked,
    configured,
    history,
    seen,
    size_of,
)

from generators.engine.protocol import Picture
from generators.policy.dialects.switch_words import NEMOTRON
from generators.policy.model.setup import EngineSet, ModelConfigs
from generators.policy.protocol import PolicyInput
from schemas.configuration.sections import PolicySection
from schemas.episodes.action import Answer, Click
from schemas.episodes.call import StructuredMode
from schemas.errors import BadConfig, FailureKind, RolloutFailure
from schemas.tables.tables import to_row


async def test_a_reply_becomes_an_action_in_css_pixels() -> None:
    engine = WrittenEngine()
    engine.says(clicked(500, 250))

    decision = await Acting(engine).act()

    assert decision.action == Click(x=50, y=25)
    assert (decision.thought, decision.thought_source) == ("I see.", "policy")
    assert decision.raw_reply == clicked(500, 250)
    assert decision.parse_error is None


async def test_the_prompt_holds_the_task_the_picture_and_what_was_understood_before() -> None:
    engine = WrittenEngine()
    engine.says(f"```json\n{clicked(1, 2)}\n```", clicked(3, 4))
    acting = Acting(engine)

    await acting.act()
    await acting.act()

    first, second = (asked.texts for asked in engine.asked)
    assert first[0] == acting.model.prompt.text
    assert first[1].startswith("Task: Click it.")
    assert f"[0: {SIDE}×{SIDE}]" in first[1]
    assert second[: len(first)] == first
    assert second[2] == clicked(1, 2)
    assert '<tool_output tool="click">' in second[3]
    assert f"[1: {SIDE}×{SIDE}]" in second[3]


async def test_an_unreadable_reply_gets_one_repair_turn_that_leaves_no_trace() -> None:
    engine = WrittenEngine()
    engine.says(GARBLED, clicked(10, 20), clicked(30, 40))
    acting = Acting(engine)

    repaired = await acting.act()
    await acting.act()

    asked, repair, after = engine.asked
    assert repaired.action == Click(x=1, y=2)
    assert repaired.parse_error is not None
    assert "no JSON object" in repaired.parse_error
    assert repaired.raw_reply == clicked(10, 20)
    assert repair.texts[: len(asked.texts)] == asked.texts
    assert repair.texts[-2] == GARBLED
    assert repaired.parse_error in repair.texts[-1]
    assert GARBLED not in after.texts
    assert acting.roles == [(0, "policy"), (0, "repair"), (1, "policy")]
    assert [call.call for call in acting.account.calls] == [0, 1, 2]


async def test_replies_that_the_server_took_for_thinking_are_the_engines_failure() -> None:
    engine = WrittenEngine()
    misplaced = engine.reply_of("").model_copy(update={"reasoning": clicked(1, 2)})
    engine.says(misplaced, misplaced)

    with pytest.raises(RolloutFailure, match=r"in the reasoning: .* --reasoning-parser") as no:
        await Acting(engine).act()

    assert no.value.kind is FailureKind.ENGINE


async def test_an_empty_reply_after_mere_thinking_is_the_policys_failure() -> None:
    engine = WrittenEngine()
    thinking = engine.reply_of("").model_copy(update={"reasoning": "Shall I click?"})
    engine.says(thinking, thinking)

    with pytest.raises(RolloutFailure, match="the reply is empty") as no:
        await Acting(engine).act()

    assert no.value.kind is FailureKind.POLICY


async def test_two_unreadable_replies_are_the_policys_failure_and_both_calls_are_kept() -> None:
    engine = WrittenEngine()
    engine.says(GARBLED, called("fly"))
    acting = Acting(engine)

    with pytest.raises(RolloutFailure, match=r"no JSON object.*and again: there is no tool") as no:
        await acting.act()

    assert no.value.kind is FailureKind.POLICY
    assert acting.roles == [(0, "policy"), (0, "repair")]
    assert [call.reply for call in acting.account.calls] == [GARBLED, called("fly")]
    assert acting.account.tokens == 220


async def test_a_reply_that_was_cut_off_is_not_read_even_where_it_could_be() -> None:
    engine = WrittenEngine()
    engine.says(engine.reply_of(clicked(10, 20), finish_reason="length"), clicked(30, 40))
    acting = Acting(engine)

    decision = await acting.act()

    assert decision.action == Click(x=3, y=4)
    assert decision.parse_error == "the reply ended early (length); be brief and finish it"
    assert acting.account.calls[0].finish_reason == "length"


async def test_a_long_unreadable_reply_is_repeated_in_part_only() -> None:
    engine = WrittenEngine()
    engine.says("x" * 100_000, called("answer", content=""))

    assert (await Acting(engine).act()).action == Answer()
    assert len(engine.asked[1].texts[-2]) == 4_000


async def test_what_was_booked_before_the_engine_failed_stays_booked() -> None:
    engine = WrittenEngine()
    engine.says(GARBLED, RolloutFailure(FailureKind.ENGINE, "it is gone"))
    acting = Acting(engine)

    with pytest.raises(RolloutFailure, match="it is gone") as no:
        await acting.act()

    assert no.value.kind is FailureKind.ENGINE
    assert acting.roles == [(0, "policy")]


async def test_a_call_says_what_was_sent_and_how_points_were_meant() -> None:
    engine = WrittenEngine()
    engine.says(clicked(1, 2))
    acting = Acting(engine)

    await acting.act()

    (call,) = acting.account.calls
    prompt = acting.model.prompt
    assert (call.sent_width, call.sent_height, call.coordinates) == (SIDE, SIDE, "0-1000")
    assert call.prompt_sha256 == prompt.prompt_sha256
    assert call.image_steps == (0,)
    assert isinstance(call.messages, list)
    assert call.messages[0] == {"role": "system", "prompt_sha256": prompt.prompt_sha256}
    assert {"type": "image", "step": 0} in call.messages[1]["content"]  # type: ignore[index,call-overload,operator]
    assert (call.engine, call.model) == ("written-0", "written")
    assert acting.policy.card.prompts == (prompt,)


async def test_a_picture_is_sent_as_it_is_or_in_the_size_that_the_family_was_trained_with() -> None:
    engine = WrittenEngine()
    engine.says(clicked(1, 2))
    acting = Acting(engine)
    await acting.act()
    plain = engine.asked[0].pictures[0]

    engine.says('{"note":"","thought":"","action":{"action":"go_back"}}', session="resized")
    resized = Acting(engine, SECTION.model_copy(update={"dialect": "holo1_5"}), session="resized")
    await resized.act()

    assert plain.jpeg == seen(0).screenshot.bytes
    sent = engine.asked[1].pictures[0]
    assert (sent.width, sent.height) == size_of(sent) == (112, 112)
    (call,) = resized.account.calls
    assert (call.sent_width, call.sent_height, call.coordinates) == (112, 112, "resized")


async def test_every_request_names_the_episodes_own_conversation() -> None:
    engine = WrittenEngine()
    engine.says(GARBLED, clicked(1, 2), session="another")

    await Acting(engine, session="another").act()

    assert {asked.session for asked in engine.asked} == {"another"}


async def _draws(section: PolicySection, session: str) -> list[int | None]:
    engine = WrittenEngine()
    engine.says(clicked(1, 2), clicked(3, 4), session=session)
    acting = Acting(engine, section, session=session)
    await acting.act()
    await acting.act()
    return [asked.sampling.seed for asked in engine.asked]


async def test_equal_episodes_draw_alike_and_each_step_for_itself() -> None:
    warm = SECTION.model_copy(update={"temperature": 0.7})

    one, again = await _draws(warm, "one"), await _draws(warm, "one")
    other = await _draws(warm, "other")

    assert one == again
    assert one[0] != one[1]
    assert set(one).isdisjoint(other)
    assert None not in one


async def test_nothing_is_seeded_where_nothing_is_drawn() -> None:
    assert await _draws(SECTION, "one") == [None, None]


async def test_the_servers_switch_for_thinking_goes_along_where_it_is_set() -> None:
    section = SECTION.model_copy(update={"dialect_options": {"thinking": False}})
    engine = WrittenEngine()
    engine.says(clicked(1, 2), session="quiet")
    engine.says(clicked(1, 2))

    await Acting(engine, section, session="quiet").act()
    await Acting(engine).act()

    quiet, plain = engine.asked
    assert _switch(quiet) == {"chat_template_kwargs": {"enable_thinking": False}}
    assert _switch(plain) == {}


def _switch(asked: Asked) -> object:
    return asked.sampling.extra


async def test_a_model_that_was_served_from_a_folder_goes_by_the_folders_name() -> None:
    engine = WrittenEngine("/somewhere/on/a/machine/holotron")
    engine.says(clicked(1, 2))
    acting = Acting(engine)

    await acting.act()

    assert acting.policy.card.model == "holotron"
    assert acting.account.calls[0].model == "holotron"


async def test_what_a_model_thought_and_how_it_was_bound_is_on_record() -> None:
    engine = WrittenEngine()
    thought = {"reasoning": "The button is red.", "structured_mode": StructuredMode.JSON_OBJECT}
    said = {"queue_ms": 3.5, "ttft_ms": 9.0, "cached_tokens": 16, "image_tokens": 64}
    engine.says(engine.reply_of(clicked(1, 2)).model_copy(update=thought | said), clicked(3, 4))
    acting = Acting(engine)

    await acting.act()
    await acting.act()

    first, second = [to_row(call) for call in acting.account.calls]
    expected = {**thought, "structured_mode": "json_object", **said}
    assert {name: first[name] for name in expected} == expected
    assert {name: second[name] for name in expected} == dict.fromkeys(expected)


async def test_a_page_full_of_switch_words_reaches_the_engine_without_one() -> None:
    words = " ".join((*NEMOTRON, "<SPECIAL_12>", "http://shop.localhost/thinkpads/x0"))
    engine = WrittenEngine()
    engine.says(
        *(f"I go to {words}.", called("goto", url=f"http://a/thinkpads {words}", thought=words)),
        *(called("no_such_tool/think", thought=words), clicked(1, 2, element=words)),
    )
    acting = Acting(engine)
    page = seen(0).page.model_copy(update={"url": f"http://a/think/{words}", "title": words})

    for steps in ([], [history([Click(x=1, y=1)])[0].model_copy(update={"result_text": words})]):
        look = seen(len(steps)).model_copy(update={"page": page})
        await acting.policy.act(PolicyInput(words, steps, look))

    assert [role for _, role in acting.roles] == ["policy", "repair", "policy", "repair"]
    for asked in engine.asked:
        for text in asked.texts[1:]:
            assert [word for word in NEMOTRON if word in text] == [], text
    assert "a&#47;think/" in engine.asked[0].texts[1]
    assert "http://a\\u002fthinkpads" in engine.asked[2].texts[2]
    assert "no tool 'no_such_tool&#47;think'" in engine.asked[3].texts[-1]


async def test_a_picture_that_left_the_prompt_keeps_its_jpeg_alone() -> None:
    engine = WrittenEngine()
    engine.says(*[clicked(1, 2)] * 4)
    acting = Acting(engine, SECTION.model_copy(update={"keep_images": 1, "slack_images": 2}))

    for _ in range(4):
        await acting.act()
        for picture in engine.asked[-1].pictures:
            assert picture.url.startswith("data:image/jpeg;base64,")

    first, *_, last = [picture for asked in engine.asked for picture in asked.pictures]
    assert "url" not in vars(first)
    assert "url" in vars(last)
    assert first.url == Picture(first.jpeg, 0, 1, 1).url


def test_a_context_that_the_reply_may_fill_is_refused() -> None:
    with pytest.raises(BadConfig, match=r"policy\.max_tokens = 1024: the engine holds 1024 tokens"):
        Acting(WrittenEngine(context_tokens=1_024))


def test_a_prompt_may_have_what_the_reply_leaves_of_the_context() -> None:
    models = ModelConfigs(configured(SECTION), EngineSet(WrittenEngine(context_tokens=32_768)))

    assert models.of(SECTION).budget.tokens == 32_768 - SECTION.max_tokens
