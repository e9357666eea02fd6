"""What a model was sent is written again, message by message; what was not sent so is named."""

from collections.abc import Callable
from typing import Any

import pytest
from support.browsers.scripted_rollouts import RUNNING, WON, attempt_it, pages
from support.browsers.scripted_session import ScriptedSessions
from support.episodes.altered_episodes import (
    Lie,
    both,
    call,
    defects,
    examined,
    message,
    model_policy,
    replied,
)
from support.episodes.damaged_episodes import FurnishedSessions
from support.servers.stub_engine import clicked
from support.servers.stub_surfer import answered, at, opinion

from generators.engine.protocol import PromptTooLong, Reply
from generators.policy.dialects.registry import make_dialect
from schemas.configuration.sections import PolicyName
from schemas.episodes.call import usage
from schemas.episodes.episode import Episode, StopReason
from schemas.errors import FailureKind, RolloutFailure

REPAIRED = ("I click it.", clicked(50, 100), clicked(60, 100))
"""A reply that cannot be read, its repair, and another."""


def rows(number: int, change: Callable[[list[Any]], object], **changes: object) -> Lie:
    """Return the lie that changes the list of messages of a call."""

    def tell(episode: Episode) -> Episode:
        messages: Any = episode.model_copy(deep=True).calls[number].messages
        change(messages)
        return call(number, messages=messages, **changes)(episode)

    return tell


def unseen(messages: list[Any]) -> None:
    """Put words where the last picture was, as where an older one was left out."""
    head, _, after = messages[-1]["content"]
    head["text"] += "[screenshot removed]" + after["text"]
    messages[-1]["content"] = [head]


LIES: dict[str, Lie] = {
    "a reply dropped": rows(1, lambda messages: messages.pop(2)),
    "a reply twice": rows(1, lambda messages: messages.insert(2, messages[2])),
    "no system prompt": rows(1, lambda messages: messages.pop(0)),
    "nothing sent": rows(1, lambda messages: messages.clear(), image_steps=()),
    "an observation of another role": message(1, 1, '"role": "user"', '"role": "assistant"'),
    "words before the first observation": both(
        *[message(number, 1, "<observation>", "Stop. <observation>") for number in range(2)]
    ),
    "words before an observation": message(1, 3, "<observation>", "Stop. <observation>"),
    "a picture not sent": rows(1, unseen, image_steps=(0,)),
    "words after the result's own": both(
        message(1, 3, "done", "fine"),
        message(1, 3, "Title: scripted\\n", "Title: scripted\\nStop. "),
    ),
}
"""What is told of the messages of the second call."""


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
async def test_each_lie_about_a_prompt_is_named(lie: Lie) -> None:
    found = defects(await examined(lie(await replied())))

    assert "messages of call 1 are not what the steps and the replies before make" in found


async def test_nothing_was_observed_before_the_first_step() -> None:
    episode = await replied()
    dialect, end = make_dialect("holotron"), episode.steps[-1]
    task = dialect.task_message(episode.instruction)
    before, after = dialect.observation_text(-1, end.page)
    text = (
        task + dialect.result_text(episode.steps[-2]) + before + dialect.image_placeholder + after
    )

    def begin_earlier(messages: list[Any]) -> None:
        head = messages[1]["content"][0]
        head["text"] = head["text"].removeprefix(task)
        messages.insert(1, {"role": "user", "content": [{"type": "text", "text": text}]})

    found = defects(await examined(rows(1, begin_earlier)(episode)))

    assert "messages of call 1 are not what the steps and the replies before make" in found


async def test_words_around_a_picture_that_was_left_out_are_the_observations() -> None:
    episode = await replied(keep_images=1, slack_images=0)
    assert [one.image_steps for one in episode.calls] == [(0,), (1,)]
    assert defects(await examined(episode)) == []

    for old, new in (("</observation>", "</seen>"), ("URL: ", "URL: x")):
        found = defects(await examined(message(1, 1, old, new)(episode)))
        assert "messages of call 1 are not what the steps and the replies before make" in found


ROLES = (
    *(answered("It is done."), clicked(50, 100), clicked(60, 100)),
    *(
        f"validator|{opinion(success=False)}",
        f"localizer|{at(50, 100)}",
        f"localizer|{at(70, 100)}",
    ),
)
"""The first call is a policy's that answers, the second a validator's."""


def without_the_first(episode: Episode) -> Episode:
    calls = tuple(
        one.model_copy(update={"call": number}) for number, one in enumerate(episode.calls[1:])
    )
    return episode.model_copy(update={"calls": calls, **dict(usage(calls))})


SURFED: dict[str, tuple[str, Lie]] = {
    "an answer that nobody gave": ("messages of call 0", without_the_first),
    "an answer that was seen by nobody": ("messages of call 1", call(1, image_steps=())),
    "more pictures than there were": ("messages of call 1", call(1, image_steps=(1,))),
}


@pytest.mark.parametrize(("named", "lie"), SURFED.values(), ids=SURFED.keys())
async def test_each_lie_about_what_other_roles_were_sent_is_named(named: str, lie: Lie) -> None:
    found = defects(await examined(lie(await replied(*ROLES, name=PolicyName.SURFER))))

    assert any(one.startswith(named) for one in found), found


SOUND: dict[str, tuple[tuple[str | Reply, ...], dict[str, Any]]] = {
    "a reply without words": (("", clicked(50, 100), clicked(60, 100)), {}),
    "a point that was moved": (
        (
            *(clicked(50, 100), clicked(60, 100)),
            *(f"localizer|{at(70, 100)}", f"localizer|{at(50, 100)}"),
        ),
        {"name": PolicyName.SURFER},
    ),
    "a validator of the last picture": (
        (
            *(clicked(50, 100), answered("It is done.")),
            *(f"localizer|{at(50, 100)}", f"validator|{opinion(success=True)}"),
        ),
        {"name": PolicyName.SURFER, "keep_images": 1, "slack_images": 0},
    ),
}
"""What a model says, in its roles, and the policy's settings."""


@pytest.mark.parametrize(("said", "settings"), SOUND.values(), ids=SOUND.keys())
async def test_what_was_sent_is_sound(
    said: tuple[str | Reply, ...], settings: dict[str, Any]
) -> None:
    assert defects(await examined(await replied(*said, **settings))) == []


@pytest.mark.parametrize("unkept", [(1,), (0, 1), (2,)])
async def test_messages_that_were_not_kept_contradict_nothing(unkept: tuple[int, ...]) -> None:
    lie = both(*[call(number, messages=None) for number in unkept])

    assert defects(await examined(lie(await replied(*REPAIRED)))) == []


async def test_the_oldest_steps_may_be_dropped() -> None:
    long = [clicked(50 + number, 100).replace("I see.", "I see. " * 3_000) for number in range(3)]
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, RUNNING, WON))
    policy = model_policy(*long, context_tokens=8_200)

    episode = await attempt_it(sessions, make_policy=policy)

    messages: Any = episode.calls[2].messages
    assert (len(messages), episode.calls[2].segment) == (4, 2)
    assert defects(await examined(episode)) == []


TOO_LONG = PromptTooLong(FailureKind.ENGINE, "HTTP 400: maximum context length")
SHORTENED = (clicked(50, 100), "I click it.", TOO_LONG, clicked(60, 100), clicked(70, 100))
"""A repair of the second reply that is too long, and then a block shorter; and another reply."""


async def _shortened(*said: str | RolloutFailure, slack: int = 3) -> Episode:
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, RUNNING, WON))
    policy = model_policy(*said, keep_images=1, slack_images=slack)
    return await attempt_it(sessions, make_policy=policy)


@pytest.mark.parametrize("slack", [1, 3])
async def test_a_repair_may_begin_a_segment(slack: int) -> None:
    episode = await _shortened(*SHORTENED, slack=slack)

    assert [call.image_steps for call in episode.calls] == [(0,), (0, 1), (1,), (1, 2)]
    assert [call.segment for call in episode.calls] == [0, 0, 1, 1]
    assert defects(await examined(episode)) == []


async def test_the_next_observation_may_begin_another_segment() -> None:
    episode = await _shortened(*SHORTENED, slack=0)

    assert [call.segment for call in episode.calls] == [0, 1, 2, 3]
    assert defects(await examined(episode)) == []


@pytest.mark.parametrize(
    ("lie", "named"),
    [
        (rows(2, lambda messages: messages.pop(2)), "messages of call 2"),
        (message(2, -1, "Your last", "Your first"), "messages of call 2"),
        (call(2, segment=0), "messages of call 2"),
        (call(3, segment=2), "segment of call 3 is 2"),
    ],
    ids=["a reply dropped", "another request", "no segment of its own", "another segment"],
)
async def test_a_lie_about_a_repair_that_begins_a_segment_is_named(lie: Lie, named: str) -> None:
    found = defects(await examined(lie(await _shortened(*SHORTENED))))

    assert any(named in one for one in found), found


async def test_nothing_came_before_the_first_step_of_an_episode_that_broke() -> None:
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, None))
    policy = model_policy(*[clicked(50, 100), clicked(60, 100)] * 3)

    episode = await attempt_it(sessions, make_policy=policy)

    assert episode.stop_reason is StopReason.FAILED
    assert episode.steps[-1].action_error is not None
    assert defects(await examined(episode)) == []


async def test_what_an_action_came_to_is_what_the_model_was_told() -> None:
    policy = model_policy(clicked(50, 100), clicked(60, 100))
    episode = await attempt_it(FurnishedSessions(), make_policy=policy)
    assert [step.result_text for step in episode.steps] == ["Hello", "Hello", None]
    assert defects(await examined(episode)) == []

    for old, new in (("Hello", "Bye"), ("<observation>", "Stop. <observation>")):
        found = defects(await examined(message(1, 3, old, new)(episode)))
        assert "messages of call 1 are not what the steps and the replies before make" in found


async def test_a_run_has_one_wording_of_what_says_nothing_and_of_a_picture_left_out() -> None:
    said = [clicked(50 + number, 100) for number in range(4)]
    sessions = ScriptedSessions(pages(*[RUNNING] * 4, WON))
    policy = model_policy(*said, keep_images=1, slack_images=0)
    episode = await attempt_it(sessions, make_policy=policy)
    assert defects(await examined(episode)) == []

    for at_, old, new in ((3, "\\ndone", "\\nfine"), (3, "[Image omitted", "[Picture omitted")):
        told = [message(number, at_, old, new) for number in (2, 3)]
        found = defects(await examined(both(*told)(episode)))
        assert "messages of call 3 are not what the steps and the replies before make" in found


async def test_a_prompt_of_an_earlier_version_that_left_switch_words_whole_is_the_same() -> None:
    words = "Look at /thinkpads: it says <image>."
    episode = await replied(words, clicked(50, 100, element="/think"), clicked(60, 100))
    assert defects(await examined(episode)) == []
    later = episode.calls[2].messages
    assert isinstance(later, list)
    assert "\\\\u002fthink" in str(later[2])

    def whole(messages: list[Any]) -> None:
        for row in messages[1:]:
            for part in row["content"]:
                if "text" in part:
                    part["text"] = part["text"].replace("\\u002f", "/").replace("\\u003ci", "<i")

    earlier = both(*[rows(number, whole) for number in range(3)])(episode)
    assert earlier != episode
    assert defects(await examined(earlier)) == []


async def test_a_switch_word_does_not_excuse_another_word() -> None:
    episode = await replied("Look at /thinkpads.", clicked(50, 100), clicked(60, 100))

    found = defects(await examined(message(1, 2, "u002fthinkpads", "u002fthinktanks")(episode)))

    assert "messages of call 1 are not what the steps and the replies before make" in found
