"""A dialect's renderer: what it says of an episode is what its policy would have been sent."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest
from support.episodes.factories import make_step
from support.episodes.taught_episodes import episode_of, learnt, section_of, sight, taught
from support.episodes.trainer_rules import check_row
from support.inputs.dialect_variants import section_in
from support.runs.exports import told_of
from support.servers.stub_engine import SESSION, SIDE, WrittenEngine, clicked, configured, seen

from generators.engine.protocol import Message, Picture, Reply
from generators.policy.dialects.registry import DIALECTS
from generators.policy.model.policy import ModelPolicy
from generators.policy.model.setup import EngineSet, ModelConfigs
from generators.policy.model.try_account import Account
from generators.policy.protocol import PolicyInput
from generators.training.dialect_renderer import make_renderer
from schemas.configuration.browser_section import BrowserSection
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import (
    PolicyName,
    PolicySection,
    RowKind,
)
from schemas.episodes.action import (
    Button,
    Click,
    Drag,
    NoAction,
    Select,
)
from schemas.episodes.conversation import (
    ChatMessage,
    MessagePicture,
    Rendered,
)
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Target
from schemas.episodes.placeholders import PLACEHOLDER
from schemas.errors import BadConfig
from storage.publish.training.rows import RowMaker

Said = tuple[str, tuple[str | tuple[int, bytes], ...]]
"""A message, however it is kept."""


async def acted(
    section: PolicySection, replies: Sequence[str | Reply], steps: int
) -> tuple[Episode, WrittenEngine, RunConfig]:
    """Let a model act, and return the episode as a run would have recorded it."""
    engine, account, config = WrittenEngine(), Account(), configured(section)
    engine.says(*replies)
    models = ModelConfigs(config, EngineSet(engine)).of(section)
    model = models.model
    policy = ModelPolicy(model, account, budget=models.budget, session=SESSION)
    done: list[Step] = []
    for number in range(steps):
        look = seen(number)
        decided = await policy.act(PolicyInput("Click it.", done, look))
        made = make_step(number, picture=number, action=decided.action)
        told = {name: getattr(decided, name) for name in ("thought", "note", "raw_reply")}
        done.append(made.model_copy(update=told | sight(number)))
    last = make_step(steps, picture=steps, action=NoAction()).model_copy(update=sight(steps))
    return episode_of([*done, last], account, model.prompt.prompt_sha256), engine, config


def sent(messages: Sequence[Message]) -> list[Said]:
    """Return what an engine was sent."""
    return [
        (m.role.value, tuple((p.step, p.jpeg) if isinstance(p, Picture) else p for p in m.parts))
        for m in messages
    ]


def shown(turns: Sequence[ChatMessage]) -> list[Said]:
    """Return what was rendered."""
    return [
        (
            turn.role,
            tuple((p.step, p.jpeg) if isinstance(p, MessagePicture) else p for p in turn.parts),
        )
        for turn in turns
    ]


def check_same(rendered: Rendered, episode: Episode, engine: WrittenEngine) -> None:
    """Hold every prompt that was sent against the beginning of its segment."""
    asked = [
        a for a, call in zip(engine.asked, episode.calls, strict=True) if call.role == "policy"
    ]
    calls = [call for call in episode.calls if call.role == "policy"]
    by_number = {segment.number: segment for segment in rendered.segments}
    assert sorted(by_number) == sorted({call.segment for call in calls})
    for request, call in zip(asked, calls, strict=True):
        prompt = sent(request.prompt.messages)
        turns = by_number[call.segment].turns
        assert shown(turns)[: len(prompt)] == prompt
        assert turns[len(prompt)].learnt
    assert sum(learnt(segment) for segment in rendered.segments) == len(calls)


CLICKS = [clicked(100 * n + 7, 50 * n + 3, element=f"button {n}") for n in range(8)]


@pytest.mark.parametrize(
    "section",
    [
        section_of(),
        section_of(keep_images=2, slack_images=1),
        section_of(keep_images=1, slack_images=0),
        section_of(keep_images=8),
        section_of(dialect_options={"convention": "px", "page_line": False}),
        section_of(dialect="holo2"),
    ],
)
def test_what_a_model_was_sent_is_what_is_rendered(section: PolicySection) -> None:
    replies: Sequence[str] = CLICKS
    if section.dialect_options:
        replies = [clicked(10 * n + 7, 5 * n + 3) for n in range(8)]
    if section.dialect == "holo2":
        plain = make_renderer(configured(section), None)
        [segment, *_] = plain.render(taught(*[Click(x=9, y=n + 1) for n in range(2)])).segments
        assert isinstance(segment.turns[2].parts[0], str)
        replies = [segment.turns[2].parts[0]] * 8
    episode, engine, config = asyncio.run(acted(section, replies, 8))

    rendered = make_renderer(config, None).render(episode)

    assert rendered.ended is None
    check_same(rendered, episode, engine)


def test_a_short_context_makes_segments_as_it_did() -> None:
    section = section_of(context_tokens=5_500, keep_images=1, slack_images=8)
    speaker = WrittenEngine()
    counted, plain = (
        [speaker.reply_of(text).model_copy(update={"prompt_tokens": count}) for text in CLICKS]
        for count in (5_100, None)
    )
    episode, engine, config = asyncio.run(acted(section, counted, 8))
    other, _, _ = asyncio.run(acted(section, plain, 8))

    segments = [call.segment for call in episode.calls]
    assert segments[-1] > 0
    assert segments != [call.segment for call in other.calls], "the counts make a difference"
    check_same(make_renderer(config, None).render(episode), episode, engine)


def test_a_repair_turn_leaves_no_trace_and_the_reply_that_counted_is_learnt() -> None:
    garbled = "I would click the button."
    replies = [CLICKS[0], garbled, CLICKS[1], CLICKS[2]]
    episode, engine, config = asyncio.run(acted(section_of(), replies, 3))
    rendered = make_renderer(config, None).render(episode)
    said = [turn.parts[0] for s in rendered.segments for turn in s.turns if turn.learnt]

    check_same(rendered, episode, engine)
    assert garbled not in said
    assert [part for part in said if "button 1" in str(part)] != []


def test_what_a_teacher_did_is_said_in_any_dialect_with_the_element_s_name() -> None:
    episode = taught(Click(x=50, y=25), target=Target(tag="button", name="Save"), elements=())
    said = {
        name: make_renderer(RunConfig(), name).render(episode).segments[0].turns[-1].parts[0]
        for name in ("holotron", "holo1_5", "holo2", "ui_tars", "computer_use", "claude")
    }

    assert '"element":"Save","x":500,"y":250' in str(said["holotron"]).replace(" ", "")
    assert "<point>140 70</point>" in str(said["ui_tars"])
    assert len(set(said.values())) >= 5


def test_a_picture_is_sent_at_the_dialect_s_size() -> None:
    browser = BrowserSection(viewport=(SIDE, SIDE))
    renderer = make_renderer(RunConfig(browser=browser), "holo1_5")
    [segment] = renderer.render(taught(Click(x=1, y=1))).segments
    [picture] = [p for turn in segment.turns for p in turn.parts if isinstance(p, MessagePicture)]

    assert picture.jpeg != seen(0).screenshot.bytes


def test_an_action_without_words_ends_the_episode_there() -> None:
    drag = Drag(x=1, y=1, to_x=5, to_y=5, button=Button.RIGHT)
    rendered = make_renderer(RunConfig(), "computer_use").render(taught(Click(x=1, y=1), drag))
    none = make_renderer(RunConfig(), "claude").render(taught(Select(x=1, y=1, option="a")))

    assert (rendered.ended, none.ended) == ("unsaid_drag", "unsaid_select")
    assert [segment.steps for segment in rendered.segments] == [(0,)]
    assert none.segments == ()


def test_an_observation_that_does_not_fit_ends_the_episode() -> None:
    section = section_of(name=PolicyName.TEACHER, context_tokens=256)
    rendered = make_renderer(RunConfig(policy=section), None).render(taught(Click(x=1, y=1)))

    assert (rendered.ended, rendered.segments) == ("too_long", ())


def test_the_words_are_those_of_the_policy_that_speaks_the_dialect() -> None:
    px, holo = (
        section_of(dialect_options={"convention": "px"}, keep_images=3),
        section_of(dialect="holo2"),
    )
    config = configured(px, holo)

    assert make_renderer(config, None).about["coordinates"] == "px"
    assert make_renderer(config, "holotron").about["keep_images"] == 3
    assert make_renderer(config, "holo2").about["keep_images"] == 1
    other = make_renderer(config, "claude").about
    assert (other["keep_images"], other["dialect_options"]) == (3, {})


def test_a_dialect_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadConfig, match="no dialect 'holotorn'; did you mean 'holotron'"):
        make_renderer(RunConfig(), "holotorn")


def test_a_row_s_prompt_is_what_the_model_was_sent() -> None:
    episode, engine, config = asyncio.run(acted(section_of(), CLICKS, 8))
    maker = RowMaker(RowKind.SFT, make_renderer(config, None))
    rows = list(maker.rows(told_of(episode), Counter()))

    assert len(rows) == len(engine.asked) == 8
    assert max(len(row["images"]) for row in rows) == 3
    for row, request in zip(rows, engine.asked, strict=True):
        check_row(row)
        sent = [
            (
                message.role.value,
                "".join("<image>" if isinstance(p, Picture) else p for p in message.parts),
            )
            for message in request.prompt.messages
        ]
        assert [(turn["role"], turn["content"]) for turn in row["messages"][:-1]] == sent
        assert [picture["bytes"] for picture in row["images"]] == [
            part.jpeg
            for message in request.prompt.messages
            for part in message.parts
            if isinstance(part, Picture)
        ]
    assert [row["completion"][0]["content"][0]["text"] for row in rows] == [*CLICKS]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_dialect_says_what_a_row_would_escape(dialect: str) -> None:
    renderer = make_renderer(configured(section_in(dialect)), dialect)
    episode = taught(*(Click(x=9, y=n + 1) for n in range(6)))
    texts = [
        part
        for segment in renderer.render(episode).segments
        for turn in segment.turns
        for part in turn.parts
        if isinstance(part, str)
    ]
    counts: Counter[str] = Counter()
    rows = list(RowMaker(RowKind.SFT, renderer).rows(told_of(episode), counts))

    assert not any(PLACEHOLDER.search(text) for text in texts)
    assert counts == {"rows": 6}
    for row in rows:
        check_row(row)
        assert row["dialect"] == dialect


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_goal_that_says_picture_adds_none_in_any_dialect(dialect: str) -> None:
    goal = "Type <image> and <|image_pad|> and [IMG]."
    episode = taught(Click(x=9, y=1)).model_copy(update={"instruction": goal})
    maker = RowMaker(RowKind.SFT, make_renderer(configured(section_in(dialect)), dialect))
    [row] = maker.rows(told_of(episode), Counter())

    check_row(row)
    [user] = [turn["content"] for turn in row["messages"] if turn["role"] == "user"]
    assert "&lt;image>" in user  # as in a rollout
    assert "&lt;|image_pad|>" in user
    assert "&#91;IMG]" in user
