"""The replies of each dialect and role are read again, and lies about them named."""

from datetime import timedelta
from typing import Any

import pytest
from support.browsers.scripted_rollouts import RUNNING, attempt_it, pages
from support.browsers.scripted_session import ScriptedSessions
from support.episodes.altered_episodes import (
    Lie,
    both,
    call,
    capsule,
    changed,
    counted,
    defects,
    examined,
    message,
    model_policy,
    replied,
    reworded,
    step,
)
from support.servers.stub_engine import called, clicked
from support.servers.stub_surfer import answered, at, opinion

from generators.engine.protocol import Reply
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Rationale
from generators.policy.dialects.registry import make_dialect
from schemas.base import JsonObject
from schemas.configuration.sections import PolicyName
from schemas.episodes.action import Click
from schemas.episodes.call import Call, Prompt, prompt_hash, usage
from schemas.episodes.episode import Episode, StopReason
from schemas.verdicts.verdict import Status

VIEW = Frame(
    viewport_width=100,
    viewport_height=80,
    picture_width=100,
    picture_height=80,
    sent_width=100,
    sent_height=80,
)


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
        "segment of call 1 is 1, and nothing has left its prompt",
        call(1, segment=1, cacheable_tokens=None),
    ),
    "another segment of a repair": (
        "segment of call 1 is 2, not 0",
        call(1, segment=2, cacheable_tokens=None),
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


@pytest.mark.parametrize(("told", "sound"), [("surfer", True), ("another", True), ("model", False)])
async def test_another_policy_of_a_model_may_have_roles(told: str, *, sound: bool) -> None:
    surfed = await replied(*OTHER_ROLES, name=PolicyName.SURFER)
    assert (defects(await examined(changed(policy=told)(surfed))) == []) is sound
    plain = changed(policy=told)(await replied())
    assert (defects(await examined(plain)) == []) is (told != "surfer")


async def test_a_reply_without_a_thought_gives_no_source_of_one() -> None:
    episode = await replied(*[clicked(50 + n, 100).replace("I see.", "") for n in range(2)])

    assert [step.thought_source for step in episode.steps] == [None] * 3
    assert defects(await examined(episode)) == []


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


@pytest.mark.parametrize("width", [90, 1])
async def test_each_call_of_one_prompt_is_read_at_the_size_of_its_own_picture(width: int) -> None:
    found = defects(await examined(call(1, sent_width=width)(await replied())))

    foreign = f"'holotron' sends no pictures of {width}×80"
    assert found == [f"the system prompt of call 1 is foreign: {foreign}"]


BETWEEN = step(0, action=Click(x=5.5, y=8.0), x_norm=0.055)
"""Told of a model that points between two pixels of a picture that has one for each of the page's."""


async def test_a_point_is_that_of_a_pixel_but_in_episodes_of_earlier_versions() -> None:
    episode = BETWEEN(await replied(clicked(55, 100), clicked(60, 100)))

    [defect] = defects(await examined(episode))
    assert defect.startswith("action of step 0 is Click(type='click', x=5.5")
    earlier = capsule("visit", "bare", drop=True)(episode)
    assert defects(await examined(earlier)) == []


async def test_a_picture_of_more_pixels_has_points_between_those_of_the_page() -> None:
    larger = {"sent_width": 200, "sent_height": 160}
    told = both(changed(device_scale_factor=2.0), call(0, **larger), call(1, **larger), BETWEEN)(
        await replied(clicked(55, 100), clicked(60, 100))
    )

    found = defects(await examined(told))

    assert not any("system prompt" in one or "action of" in one for one in found), found


NO, LOCATED = f"validator|{opinion(success=False)}", f"localizer|{at(50, 100)}"
GIVEN = tuple(answered(text) for text in "abc")

SURFS: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "two objections to one answer": ((*GIVEN, NO, NO), {}),
    "two objections to two answers": (
        (
            *(GIVEN[0], clicked(50, 100), clicked(60, 100), *GIVEN[1:]),
            *(NO, NO, LOCATED, LOCATED),
        ),
        {},
    ),
    "points in another convention": (
        (clicked(5, 8), GIVEN[0], f"localizer|{at(7, 8)}", f"validator|{opinion(success=True)}"),
        {"dialect_options": {"convention": "px"}},
    ),
}
"""What a surfer says that answers in the end, and the policy's settings."""


@pytest.mark.parametrize(("said", "settings"), SURFS.values(), ids=SURFS.keys())
async def test_an_answer_is_assessed_twice_at_most(
    said: tuple[str, ...], settings: dict[str, Any]
) -> None:
    sessions = ScriptedSessions(pages(*[RUNNING] * 5))
    policy = model_policy(*said, name=PolicyName.SURFER, **settings)

    episode = await attempt_it(sessions, make_policy=policy)

    assert episode.stop_reason is StopReason.ANSWERED
    assert defects(await examined(episode)) == []
