"""What follows from the calls of a model is held against them, each by a finding of its own."""

import json
from datetime import timedelta
from typing import Any

import pytest
from altered_episodes import (
    Lie,
    both,
    call,
    changed,
    counted,
    defects,
    examined,
    lost,
    model_policy,
    replied,
    step,
)
from scripted_rollouts import attempt_it, pages
from scripted_session import ScriptedSessions
from stub_engine import called, clicked
from stub_surfer import answered, at, opinion

from generators.engine.protocol import Reply
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Rationale
from generators.policy.dialects.registry import make_dialect
from schemas.action import Click
from schemas.base import JsonObject
from schemas.call import Call, Prompt, prompt_hash, usage
from schemas.episode import Episode, StopReason, ThoughtSource
from schemas.sections import PolicyName
from schemas.verdict import Status

VIEW = Frame(
    viewport_width=100,
    viewport_height=80,
    picture_width=100,
    picture_height=80,
    sent_width=100,
    sent_height=80,
)


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


def reworded(**changes: Any) -> Lie:
    """Return the lie that alters a system prompt, and its hash wherever it is stated."""

    def tell(episode: Episode) -> Episode:
        old = episode.prompts[0]
        new = old.model_copy(update=changes)
        named = prompt_hash(new.text, new.tools)
        text = episode.model_dump_json().replace(old.prompt_sha256, named)
        told = Episode.model_validate_json(text)
        prompt = new.model_copy(update={"prompt_sha256": named})
        return told.model_copy(update={"prompts": (prompt, *told.prompts[1:])})

    return tell


def message(number: int, at: int, old: str, new: str) -> Lie:
    """Return the lie that alters the words of a message of a call."""

    def tell(episode: Episode) -> Episode:
        messages: Any = json.loads(json.dumps(episode.calls[number].messages))
        said = json.dumps(messages[at])
        assert old in said
        messages[at] = json.loads(said.replace(old, new))
        return call(number, messages=messages)(episode)

    return tell


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
    "weights": ("weights_version is stated", changed(weights_version="1")),
    "call's weights": ("weights_version is stated", call(0, weights_version="1")),
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
    "no engine": ("a product and a number", call(0, engine=None)),
    "model": ("model is 'another'", call(0, model="another")),
    "longer model": ("model is 'written-large'", call(0, model="written-large")),
    "sampling": ("sampling is", call(0, sampling={"logprobs": True})),
    "cacheable": ("cacheable_tokens of call 1 is 99", call(1, cacheable_tokens=99)),
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
}
"""What a policy without a model does not have."""


@pytest.mark.parametrize(("named", "lie"), WITHOUT.values(), ids=WITHOUT.keys())
async def test_what_only_a_model_has_is_stated_by_no_other_policy(named: str, lie: Lie) -> None:
    [defect] = defects(await examined(lie(await lost(StopReason.STUCK))))

    assert named in defect


def in_dialect(name: str, **options: Any) -> list[str]:
    """Return two clicks as a model of that family replies."""
    dialect = make_dialect(name, options)
    frame = VIEW.model_copy(
        update=dict(zip(("sent_width", "sent_height"), dialect.sent_size(100, 80), strict=True))
    )
    why = Rationale(thought="There.", note="It is red.", element="the box")
    return [dialect.format_action(Click(x=5, y=8 + n), frame, why) for n in range(2)]


SETTINGS: dict[str, tuple[str, JsonObject]] = {
    "holotron": ("holotron", {}),
    "holotron in its own words": (
        "holotron",
        {
            "note_key": "memo",
            "thought_key": "why",
            "call_key": "do",
            "name_key": "fn",
            "observation_tag": "obs",
            "output_tag": "out",
            "error_tag": "err",
            "done": "okay",
            "leave_out": ["goto"],
            "page_line": False,
            "more_instructions": "Be kind.",
            "text_limit": 90,
            "placeholder": "[gone]",
            "convention": "px",
            "tiles": 3,
            "schema_in_prompt": False,
        },
    ),
    "holo1_5": ("holo1_5", {}),
    "holo2": ("holo2", {"thinking": False}),
    "holo2 of few tools": ("holo2", {"extended": False, "convention": "resized"}),
}


@pytest.mark.parametrize(("name", "options"), SETTINGS.values(), ids=SETTINGS.keys())
@pytest.mark.parametrize("keep", [1, 5])
async def test_the_replies_of_every_dialect_are_read_with_the_options_of_their_run(
    name: str, options: JsonObject, keep: int
) -> None:
    episode = await replied(
        *in_dialect(name, **options),
        dialect=name,
        dialect_options=options,
        keep_images=keep,
        slack_images=0,
    )

    finding = await examined(episode)
    assert (finding.status, finding.evidence) == (Status.PASSED, {}), finding
    assert [call.segment for call in episode.calls] == [0, int(keep == 1)]
    told = step(0, action=Click(x=50, y=50), x_norm=0.5, y_norm=50 / 80)(episode)
    assert any("action of step 0" in one for one in defects(await examined(told)))


TRIPS: dict[str, tuple[tuple[str | Reply, ...], dict[str, Any]]] = {
    "a repair": (("I click it.", clicked(50, 100), clicked(60, 100)), {}),
    "a reply cut off": (
        (
            counted(clicked(50, 100)).model_copy(update={"finish_reason": "length"}),
            clicked(50, 100),
            clicked(60, 100),
        ),
        {},
    ),
    "an objection": (
        (
            answered("It is done."),
            clicked(50, 100),
            clicked(60, 100),
            f"validator|{opinion(success=False)}",
            f"localizer|{at(50, 100)}",
            f"localizer|{at(70, 100)}",
        ),
        {"name": PolicyName.SURFER},
    ),
    "an objection that cannot be read, and an answer": (
        (
            clicked(50, 100),
            answered("It is done."),
            f"localizer|{at(50, 100)}",
            "validator|Well.",
            "validator|Well, no.",
        ),
        {"name": PolicyName.SURFER},
    ),
    "a localizer that is lost": (
        (
            clicked(50, 100),
            clicked(60, 100),
            "localizer|Left.",
            f"localizer|{at(50, 100)}",
            "localizer|Left.",
            "localizer|Right.",
        ),
        {"name": PolicyName.SURFER},
    ),
    "no point": ((called("go_back"), clicked(60, 100)), {}),
    "draws": ((clicked(50, 100), clicked(60, 100)), {"temperature": 0.7}),
    "an engine that breaks off": ((clicked(50, 100),), {}),
    "a policy that cannot be read": ((clicked(50, 100), "Well.", "Well, no."), {}),
}
"""What a model says, in its roles, and the policy's settings."""


@pytest.mark.parametrize(("said", "settings"), TRIPS.values(), ids=TRIPS.keys())
async def test_an_episode_is_sound_however_its_model_stumbled(
    said: tuple[str | Reply, ...], settings: dict[str, Any]
) -> None:
    episode = await replied(*said, **settings)

    assert len(episode.calls) >= 1
    finding = await examined(episode)
    assert (finding.status, finding.evidence) == (Status.PASSED, {}), finding


def without(episode: Episode, number: int) -> Episode:
    calls = [one for one in episode.calls if one.call != number]
    return told_calls(episode, calls)


def told_calls(episode: Episode, calls: list[Call]) -> Episode:
    """Return the episode with these calls, numbered and summed."""
    numbered = tuple(one.model_copy(update={"call": n}) for n, one in enumerate(calls))
    return episode.model_copy(update={"calls": numbered, **dict(usage(numbered))})


OTHER_ROLES = (
    *(answered("It is done."), clicked(50, 100), clicked(60, 100)),
    *(
        f"validator|{opinion(success=False)}",
        f"localizer|{at(50, 100)}",
        f"localizer|{at(70, 100)}",
    ),
)
"""Calls: policy, validator, policy, localizer, and policy, localizer."""


def agreed(episode: Episode) -> Episode:
    return call(1, reply=opinion(success=True))(episode)


SURFED: dict[str, tuple[str, Lie]] = {
    "no localizer": ("after call 4 nobody was asked", lambda e: without(e, 5)),
    "no validator": ("after call 0 a policy was asked", lambda e: without(e, 1)),
    "no objection": ("after call 1 a policy was asked", agreed),
    "nobody decides": ("step 1 begins with a localizer", lambda e: without(e, 4)),
    "another point": ("action of step 1", call(5, reply=at(90, 100))),
    "words of a localizer": ("messages of call 5", message(5, 0, "the button", "the box")),
    "words of a validator": ("messages of call 1", message(1, 1, "It is done", "It is red")),
    "objection in the prompt": ("messages of call 2", message(2, 3, "It shows.", "It is ok.")),
    "segment of a role": ("segment of call 5 is 7", call(5, segment=7)),
    "a role's prompt": (
        "it is not that of a localizer",
        lambda e: changed(prompts=(*e.prompts[:1], *_other(e.prompts[1]), *e.prompts[2:]))(
            call(5, prompt_sha256=_other(e.prompts[1])[1].prompt_sha256)(e)
        ),
    ),
    "a role that is none": ("nobody asks as 'judge'", call(5, role="judge")),
}
"""What is told of roles beside the policy, and what names it."""


def _other(prompt: Prompt) -> tuple[Prompt, Prompt]:
    text = prompt.text + " Hurry."
    named = prompt_hash(text, prompt.tools)
    return prompt, prompt.model_copy(update={"text": text, "prompt_sha256": named})


@pytest.mark.parametrize(("named", "lie"), SURFED.values(), ids=SURFED.keys())
async def test_each_lie_about_other_roles_is_named(named: str, lie: Lie) -> None:
    episode = await replied(*OTHER_ROLES, name=PolicyName.SURFER)
    assert [one.role[0] for one in episode.calls] == [*"pvplpl"]

    found = defects(await examined(lie(episode)))

    assert any(named in one for one in found), found


REPAIRED: dict[str, tuple[str, Lie]] = {
    "a repair dropped": ("decided by a reply that cannot be read", lambda e: without(e, 1)),
    "a repair of nothing": ("repairs a reply that can be read", call(0, reply=clicked(1, 1))),
    "why it was repaired": ("messages of call 1", message(1, -1, "Your last", "Your first")),
    "what was repaired": ("messages of call 1", message(1, -2, "I click", "I press")),
    "segment of a repair": (
        "segment of call 1 is 1",
        call(1, segment=1, cacheable_tokens=None),
    ),
    "calls' times": (
        "times do not follow",
        lambda e: both(call(0, at=e.calls[1].at), call(1, at=e.calls[0].at))(e),
    ),
    "why it could not be parsed": ("parse_error of step 0", step(0, parse_error="no JSON")),
    "that it could not be parsed": ("parse_error of step 0", step(0, parse_error=None)),
    "a policy's name": ("after call 1 nobody was asked", changed(policy="surfer")),
}
"""What is told of a reply that was repaired, and what names it."""


@pytest.mark.parametrize(("named", "lie"), REPAIRED.values(), ids=REPAIRED.keys())
async def test_each_lie_about_a_repair_is_named(named: str, lie: Lie) -> None:
    episode = await replied("I click it.", clicked(50, 100), clicked(60, 100))

    found = defects(await examined(lie(episode)))

    assert any(named in one for one in found), found


async def test_a_prompt_of_an_earlier_dialect_is_not_read_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episode = reworded(dialect_version="1")(await replied())
    dialect = make_dialect("holotron")
    monkeypatch.setattr(type(dialect), "version", "2")

    finding = await examined(episode)

    assert finding.status is Status.PASSED, finding
    assert "not state it: what the replies say" in finding.reason


KEYED = (clicked(50, 100), called("go_back"))
"""One action with a point, and one without."""

ONE_POINT: dict[str, tuple[str, Lie]] = {
    "a policy with roles that asked none": (
        "after call 0 nobody was asked",
        changed(policy="surfer"),
    ),
}
"""What is told of a model that replies so, and what names it."""


@pytest.mark.parametrize(("named", "lie"), ONE_POINT.values(), ids=ONE_POINT.keys())
async def test_a_role_that_was_not_asked_is_named_alone(named: str, lie: Lie) -> None:
    [defect] = defects(await examined(lie(await replied(*KEYED))))

    assert named in defect


async def test_a_call_after_the_end_of_an_episode_without_steps_is_named() -> None:
    sessions = ScriptedSessions(pages(None))
    broken = await attempt_it(sessions, make_policy=model_policy(clicked(50, 100)))
    assert (broken.steps, broken.calls) == ((), ())
    made = (await replied()).calls[0]
    late = made.model_copy(update={"at": broken.ended_at + timedelta(seconds=1)})

    assert defects(await examined(told_calls(broken, [late]))) == [
        "a call was made before the start or after the end"
    ]
