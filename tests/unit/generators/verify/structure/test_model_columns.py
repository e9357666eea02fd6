"""What follows from the calls of a model is held against them, each by a finding of its own."""

from datetime import timedelta

import pytest
from support.browsers.scripted_rollouts import attempt_it, pages
from support.browsers.scripted_session import ScriptedSessions
from support.episodes.altered_episodes import (
    Lie,
    both,
    call,
    changed,
    defects,
    examined,
    lost,
    message,
    model_policy,
    replied,
    reworded,
    step,
)
from support.servers.stub_engine import clicked

from schemas.episodes.action import Click
from schemas.episodes.call import Call, WeightsSpan, usage
from schemas.episodes.episode import Episode, PolicyKind, StopReason, ThoughtSource
from schemas.episodes.mistake import InjectedMistake
from schemas.verdicts.verdict import Status


def extra_call(episode: Episode) -> Episode:
    """Return the episode with a call of a step that there is not."""
    last = episode.calls[-1]
    counts = [name for name in Call.model_fields if "tokens" in name or "completion" in name]
    uncounted = dict.fromkeys([*counts, "logprobs_mode", "cost_usd"])
    own = {"step": 3, "call": 2, "at": episode.ended_at, "cacheable_tokens": 100}
    later = last.model_copy(update=uncounted | own)
    return episode.model_copy(update={"calls": (*episode.calls, later)})


def reordered(episode: Episode) -> Episode:
    early = episode.steps[0].at - timedelta(microseconds=1)
    return call(0, at=early)(episode)


def written_by(*spans: tuple[str, int | None, int | None]) -> Lie:
    """Return the lie about the versions that wrote the first reply, which has two tokens."""
    told = [WeightsSpan(version=name, start=start, end=end) for name, start, end in spans]
    names = ", ".join(dict.fromkeys(("1", *(span.version for span in told))))
    first = call(0, weights_version="1", weights_spans=tuple(told))
    return both(first, changed(weights_version=names))


def foreign(episode: Episode) -> Episode:
    prompt = episode.prompts[0].model_copy(update={"dialect": "none"})
    return changed(dialect="none", prompts=(prompt,))(episode)


def anew(lie: Lie) -> Lie:
    """Return the lie about the last call, which is told to begin a segment."""
    return both(lie, call(1, segment=1, cacheable_tokens=None))


def decided(**changes: object) -> Lie:
    """Return the lie about what was decided in the first step."""
    return step(0, **changes)


LIES: dict[str, tuple[str, Lie]] = {
    "prompt_tokens": ("prompt_tokens is 1", changed(prompt_tokens=1)),
    "completion_tokens": ("completion_tokens is 1", changed(completion_tokens=1)),
    "cached_tokens": ("cached_tokens is None", changed(cached_tokens=None)),
    "image_tokens": ("image_tokens is 1", changed(image_tokens=1)),
    "engine_seconds": ("engine_seconds is 0.004", changed(engine_seconds=0.004)),
    "cost_usd": ("cost_usd is 0.6", changed(cost_usd=0.6)),
    "dialect": ("dialect is None", changed(dialect=None)),
    "revision": ("model_revision is stated", changed(model_revision="1")),
    "weights": ("weights_version is '1', the calls'", changed(weights_version="1")),
    "call's weights": ("weights_version is None, the calls'", call(0, weights_version="1")),
    "one span of weights": ("weights_spans are 1", written_by(("1", None, None))),
    "other weights first": ("the first span's is '2'", written_by(("2", 0, 1), ("1", 1, 2))),
    "weights with a gap": ("do not follow", written_by(("1", 0, 1), ("2", 2, 2))),
    "weights of half a reply": ("do not follow", written_by(("1", 0, 1), ("2", 1, None))),
    "calls' numbers": ("calls are not numbered", call(1, call=7)),
    "call of no step": ("is of step 3", extra_call),
    "call that looks ahead": ("not taken yet", call(0, messages=None, image_steps=(0, 1))),
    "call's pictures": (
        "not those of its messages",
        call(1, image_steps=(0,)),
    ),
    "call's prompt ids": ("prompt_tokens is 100, and", call(0, prompt_token_ids=(1,))),
    "call's ids": (
        "completion_tokens is 2, and",
        call(0, completion_token_ids=(1, 2, 3), completion_logprobs=(-1.0, -1.0, -1.0)),
    ),
    "call's probabilities": ("2 tokens and 1 prob", call(1, completion_logprobs=(-0.5,))),
    "certainty": ("more than 1", call(0, completion_logprobs=(-0.5, 0.25))),
    "mode of no probabilities": ("there are no prob", call(0, completion_logprobs=None)),
    "mode that is none": ("logprobs_mode is 'cooked'", call(0, logprobs_mode="cooked")),
    "more cached than sent": (
        "cached_tokens is 101",
        both(call(0, cached_tokens=101), changed(cached_tokens=151)),
    ),
    "more pictures than sent": (
        "image_tokens is 101",
        both(call(0, image_tokens=101), changed(image_tokens=121)),
    ),
    "negative": ("negative or not finite", call(0, queue_ms=-1.0)),
    "negative retries": ("negative or not finite", call(0, retries=-1)),
    "waste": ("nothing was asked again", call(0, wasted_tokens=3)),
    "first token": ("do not hold each other", call(0, ttft_ms=7.0)),
    "schema": ("does not fit the schema", call(0, structured_mode=None)),
    "engine": ("the episode's is 'written'", call(0, engine="vllm-0")),
    "engine's form": ("a product and a number", call(0, engine="vllm")),
    "engine's number": ("a product and a number", call(0, engine="written-x")),
    "engine's product": ("a product and a number", call(0, engine="-0")),
    "no engine": ("a product and a number", call(0, engine=None)),
    "model": ("model is 'another'", call(0, model="another")),
    "longer model": ("model is 'written-large'", call(0, model="written-large")),
    "sampling": ("sampling is", call(0, sampling={"logprobs": True})),
    "cacheable": ("cacheable_tokens is 999, of 100 tokens", call(1, cacheable_tokens=999)),
    "segment": ("segment of call 1 is 1", call(1, segment=1, cacheable_tokens=None)),
    "raw_reply": ("raw_reply of step 0", decided(raw_reply=clicked(1, 1))),
    "no raw_reply": ("raw_reply of step 0", decided(raw_reply=None)),
    "action": ("action of step 0", decided(action=Click(x=6, y=8), x_norm=0.06)),
    "thought": ("thought of step 0", decided(thought="No.")),
    "thought's source": (
        "thought_source of step 0",
        decided(thought_source=ThoughtSource.TEMPLATE),
    ),
    "note": ("note of step 0", decided(note="A note.")),
    "parse_error": ("parse_error of step 0", decided(parse_error="no JSON")),
    "task of the prompt": ("messages of call 1", anew(message(1, 1, "Task: ", "Task: Do not "))),
    "reply in the prompt": ("messages of call 1", message(1, 2, "I see", "I do not see")),
    "result in the prompt": ("messages of call 1", message(1, 3, "tool=", "tools=")),
    "system of the prompt": ("messages of call 1", anew(message(1, 0, "system", "user"))),
    "address in the prompt": ("messages of call 1", message(1, 3, "URL: ", "URL: x")),
    "words after the picture": ("messages of call 1", message(1, 3, "</obs", "<!obs")),
    "picture's size": ("sends no pictures of 90×80", call(0, sent_width=90)),
    "no picture's size": ("no picture", call(0, sent_width=None)),
    "picture of no size": ("0×80", call(0, sent_width=0)),
    "convention": ("is foreign", call(0, coordinates="px")),
    "no convention": ("in None", call(0, coordinates=None)),
    "no such convention": ("no convention", call(0, coordinates="inches")),
    "prompt's words": ("its words are none", reworded(text="Do as you like.")),
    "prompt's schema": ("its schema is none", reworded(tools={"type": "object"})),
    "prompt's version": ("of version 7", reworded(dialect_version="7")),
    "prompt's hash": (
        "not the one that its hash names",
        lambda episode: changed(
            prompts=(episode.prompts[0].model_copy(update={"text": episode.prompts[0].text + " "}),)
        )(episode),
    ),
    "no such dialect": ("no dialect 'none'", foreign),
    "finish": ("cannot be read", call(1, finish_reason="length")),
    "call before its picture": ("before its picture", reordered),
    "call's time": (
        "the calls of step 0 took",
        both(call(0, total_ms=60_000.0), changed(engine_seconds=60.0)),
    ),
}
"""Each changes one thing of an episode of a model that won, and what names it."""


@pytest.mark.parametrize(("named", "lie"), LIES.values(), ids=LIES.keys())
async def test_each_lie_about_a_model_is_named_by_one_finding_alone(named: str, lie: Lie) -> None:
    episode = await replied()
    assert (await examined(episode)).status is Status.PASSED, (await examined(episode)).evidence

    finding = await examined(lie(episode))

    assert finding.status is Status.FAILED
    [defect] = defects(finding)
    assert named in defect, finding


async def test_all_tokens_of_a_prompt_may_have_been_in_the_cache_or_a_pictures() -> None:
    part = {"cached_tokens": 100, "image_tokens": 100}
    sums = {"cached_tokens": 150, "image_tokens": 120}

    told = both(call(0, **part), changed(**sums))(await replied())

    assert defects(await examined(told)) == []


async def test_a_token_may_be_certain() -> None:
    told = call(0, completion_logprobs=(0.0, -0.25))(await replied())

    assert defects(await examined(told)) == []


async def test_a_reply_may_be_of_several_versions_of_the_weights() -> None:
    told = written_by(("1", 0, 1), ("2", 1, 2))(await replied())
    unknown = written_by(("1", None, None), ("2", None, None))(await replied())

    assert told.weights_version == "1, 2"
    assert defects(await examined(told)) == []
    assert defects(await examined(unknown)) == []


async def test_a_policy_outside_may_tell_its_calls_replies_and_thoughts() -> None:
    own = ("dialect", "model", "engine", "engine_version", "prompt_sha256")
    episode = changed(
        policy="external",
        policy_kind=PolicyKind.EXTERNAL,
        sampling={},
        prompts=(),
        **dict.fromkeys(own),
    )(await replied())
    calls = [
        one.model_copy(update={"engine": None, "prompt_sha256": None, "sampling": {}})
        for one in episode.calls
    ]

    assert defects(await examined(changed(calls=tuple(calls))(episode))) == []


async def test_a_call_names_a_model_only_where_the_episode_does() -> None:
    found = defects(await examined(changed(model=None)(await replied())))

    assert found == [f"call {n}: model is 'written', the episode's is None" for n in range(2)]


async def test_a_question_that_nobody_asks_is_a_defect_and_was_read() -> None:
    finding = await examined(call(0, role="judge")(await replied()))

    assert any("nobody asks as 'judge'" in one for one in defects(finding))
    assert "not compared" not in finding.reason


async def test_a_step_for_which_nobody_was_asked_is_named() -> None:
    episode = await replied()
    calls = (episode.calls[0],)
    sums = {"prompt_tokens": 100, "completion_tokens": 2, "cached_tokens": 50, "image_tokens": 20}
    told = changed(calls=calls, **sums, cost_usd=episode.calls[0].cost_usd)(episode)

    assert defects(await examined(told)) == ["nobody was asked for step 1"]


async def test_a_prompt_that_was_used_is_kept() -> None:
    finding = await examined(changed(prompts=())(await replied()))

    assert "a system prompt that was used is not kept" in defects(finding)


def with_a_call(episode: Episode) -> Episode:
    made = Call(step=0, call=0, role="policy", engine="engine-0", at=episode.steps[0].at)
    return episode.model_copy(update={"calls": (made,)})


WITHOUT: dict[str, tuple[str, Lie]] = {
    "a model's name": (
        "model, engine are stated, but the policy is scripted",
        changed(model="m", engine="vLLM"),
    ),
    "a model's sampling": ("sampling are stated", changed(sampling={"temperature": 1.0})),
    "a model's calls": ("calls are stated", with_a_call),
    "a model's reply": ("does not fit the policy", step(0, raw_reply="click")),
    "a model's reply that is none": ("and there was no reply", step(0, parse_error="no JSON")),
    "a thought that was rewritten": (
        "nothing rewrites yet",
        step(0, thought="So.", thought_source=ThoughtSource.REWRITTEN),
    ),
    "a model's thought": (
        "a model wrote the thought",
        step(0, thought="So.", thought_source=ThoughtSource.POLICY),
    ),
    "a mistake on purpose": (
        "the mistake 'typo' on purpose, which is only a clumsy policy's",
        step(0, injected_mistake=InjectedMistake.TYPO),
    ),
}
"""What a policy without a model does not have."""


@pytest.mark.parametrize(("named", "lie"), WITHOUT.values(), ids=WITHOUT.keys())
async def test_what_only_a_model_has_is_stated_by_no_other_policy(named: str, lie: Lie) -> None:
    [defect] = defects(await examined(lie(await lost(StopReason.STUCK))))

    assert named in defect


async def test_a_clumsy_policy_says_which_mistake_it_makes_but_not_after_its_last_action() -> None:
    clumsy = changed(policy="clumsy", policy_kind=PolicyKind.CLUMSY, privileged=True)(
        await lost(StopReason.STUCK)
    )
    slip = InjectedMistake.LOOPED

    assert defects(await examined(step(0, injected_mistake=slip)(clumsy))) == []
    [defect] = defects(await examined(step(-1, injected_mistake=slip)(clumsy)))
    assert "injected_mistake is stated, but nothing was done" in defect


async def test_a_slip_is_only_a_references() -> None:
    scripted = await lost(StopReason.STUCK)
    slip = step(0, injected_mistake=InjectedMistake.LOOK_ALIKE)

    assert defects(await examined(slip(scripted))) == []
    clumsy = changed(policy="clumsy", policy_kind=PolicyKind.CLUMSY, privileged=True)(scripted)
    [defect] = defects(await examined(slip(clumsy)))
    assert "the mistake 'look_alike' on purpose, which is only a reference's" in defect


async def test_a_call_may_be_made_up_to_the_next_picture() -> None:
    episode = await replied()

    assert defects(await examined(call(0, at=episode.steps[1].at)(episode))) == []


@pytest.mark.parametrize(("ms", "sound"), [(0.0, True), (1_000.0, True), (5_000.0, False)])
async def test_calls_that_come_to_no_action_take_no_longer_than_was_left(
    ms: float, *, sound: bool
) -> None:
    episode = await replied(clicked(50, 100), "Well.", "Well, no.")
    assert [one.step for one in episode.calls] == [0, 1, 1]
    later = episode.ended_at + timedelta(seconds=1)
    told = both(
        changed(ended_at=later, wall_seconds=episode.wall_seconds + 1),
        call(1, total_ms=ms),
        lambda one: changed(**dict(usage(one.calls)))(one),
    )(episode)

    found = defects(await examined(told))

    assert [one[:30] for one in found] == ([] if sound else ["the calls of step 1 took 5000 "])


@pytest.mark.parametrize("name", ["started_at", "ended_at"])
async def test_without_a_step_a_call_is_made_from_the_start_to_the_end(name: str) -> None:
    sessions = ScriptedSessions(pages(None))
    broken = await attempt_it(sessions, make_policy=model_policy(clicked(50, 100)))
    made = (await replied()).calls[0].model_copy(update={"at": getattr(broken, name)})
    told = changed(calls=(made,), **dict(usage((made,))))(broken)

    assert defects(await examined(told)) == []
