"""Three roles: the policy decides, the localizer finds, the validator looks at the answer."""

import json

import pytest
from support.servers.stub_engine import SIDE, WrittenEngine, called, clicked, size_of
from support.servers.stub_surfer import LOCALIZER, SURFER, VALIDATOR, Surfing, answered, at, opinion

from generators.engine.protocol import Picture
from generators.policy.model.setup import EngineSet
from schemas.configuration.sections import RoleSection
from schemas.episodes.action import Answer, Click, Drag, Key
from schemas.errors import FailureKind, RolloutFailure


@pytest.fixture
def engine() -> WrittenEngine:
    return WrittenEngine()


@pytest.fixture
def surfing(engine: WrittenEngine) -> Surfing:
    return Surfing(EngineSet(engine))


async def test_the_localizers_point_is_acted_on_and_remembered(
    engine: WrittenEngine, surfing: Surfing
) -> None:
    engine.says(clicked(100, 100, element="the red button"), called("go_back"))
    engine.says(at(700, 200), session=LOCALIZER)

    first = await surfing.act()
    await surfing.act()

    assert first.action == Click(x=70, y=20)
    assert first.raw_reply == clicked(100, 100, element="the red button")
    assert first.parse_error is None
    assert engine.asked[-1].texts[2] == clicked(700, 200, element="the red button")
    assert surfing.booked == [(0, "policy"), (0, "localizer"), (1, "policy")]


async def test_the_localizer_sees_the_last_picture_before_the_words_and_nothing_else(
    engine: WrittenEngine, surfing: Surfing
) -> None:
    engine.says(clicked(1, 2, element="a <b> button"))
    engine.says(at(3, 4), session=LOCALIZER)

    await surfing.act()

    policy, localizer = engine.asked
    (message,) = localizer.prompt.messages
    picture, words = message.parts
    assert isinstance(picture, Picture)
    assert picture is policy.pictures[-1]
    assert isinstance(words, str)
    assert words == f"{surfing.roles.localizer.prompt.text}\na &lt;b> button"
    assert localizer.prompt.reply_schema == {
        "type": "object",
        "properties": {
            axis: {"type": "integer", "minimum": 0, "maximum": 1_000} for axis in ("x", "y")
        },
        "required": ["x", "y"],
        "additionalProperties": False,
    }
    call = surfing.account.calls[1]
    assert (call.image_steps, call.coordinates, call.sent_width) == ((0,), "0-1000", SIDE)
    assert call.prompt_sha256 == surfing.roles.localizer.prompt.prompt_sha256


async def test_a_localizer_of_another_dialect_gets_its_own_picture_and_convention(
    engine: WrittenEngine,
) -> None:
    surfing = Surfing(
        EngineSet(engine), SURFER.model_copy(update={"localizer": RoleSection(dialect="holo1_5")})
    )
    engine.says(clicked(1, 2))
    engine.says('{"action": "click_absolute", "x": 56, "y": 28}', session=LOCALIZER)

    decision = await surfing.act()

    assert decision.action == Click(x=50, y=25)
    (picture,) = engine.asked[1].pictures
    assert size_of(picture) == (112, 112)
    call = surfing.account.calls[1]
    assert (call.sent_width, call.sent_height, call.coordinates) == (112, 112, "resized")


async def test_only_the_start_of_a_drag_is_localized(
    engine: WrittenEngine, surfing: Surfing
) -> None:
    ends = {"x": 100, "y": 100, "to_x": 900, "to_y": 100}
    drag = {"tool_name": "drag", "element": "the handle", **ends, "button": "left"}
    engine.says(json.dumps({"note": None, "thought": "", "tool_call": drag}))
    engine.says(at(200, 300), session=LOCALIZER)

    assert (await surfing.act()).action == Drag(x=20, y=30, to_x=90, to_y=10)


@pytest.mark.parametrize(
    "reply", [called("press_keys", keys=["Enter"]), clicked(500, 500, element="")]
)
async def test_nobody_looks_for_what_has_no_point_or_no_words(
    engine: WrittenEngine, surfing: Surfing, reply: str
) -> None:
    engine.says(reply)

    assert (await surfing.act()).action in (Key(key="Enter"), Click(x=50, y=50))
    assert surfing.booked == [(0, "policy")]


async def test_a_localizer_that_cannot_be_read_is_asked_once_more(
    engine: WrittenEngine, surfing: Surfing
) -> None:
    engine.says(clicked(1, 2))
    engine.says(at(1_200, 5), at(300, 400), session=LOCALIZER)

    decision = await surfing.act()

    assert decision.action == Click(x=30, y=40)
    assert decision.parse_error == "localizer: 'x' must lie from 0 to 1000, but is 1200"
    assert surfing.booked == [(0, "policy"), (0, "localizer"), (0, "repair")]
    assert [call.segment for call in surfing.account.calls] == [0, 0, 0]


@pytest.mark.parametrize(
    "reply", ["over there", '{"x": 5}', '{"x": "5", "y": 5}', '{"x": 5, "y": 5.5}', '{"x": NaN}']
)
async def test_where_nobody_finds_the_element_the_policys_own_point_is_used_and_that_is_said(
    engine: WrittenEngine, surfing: Surfing, reply: str
) -> None:
    engine.says(clicked(100, 200))
    engine.says(reply, reply, session=LOCALIZER)

    decision = await surfing.act()

    assert decision.action == Click(x=10, y=20)
    assert decision.parse_error is not None
    assert decision.parse_error.startswith("localizer: no reply could be read: ")
    assert [call.reply for call in surfing.account.calls[1:]] == [reply, reply]


async def test_every_question_to_the_localizer_is_a_segment_of_its_own(
    engine: WrittenEngine, surfing: Surfing
) -> None:
    engine.says(clicked(1, 2), clicked(3, 4))
    engine.says(at(1, 2), at(3, 4), session=LOCALIZER)

    await surfing.act()
    await surfing.act()

    found = [call for call in surfing.account.calls if call.role == "localizer"]
    assert [(call.step, call.segment, call.image_steps) for call in found] == [
        (0, 0, (0,)),
        (1, 1, (1,)),
    ]


async def test_an_answer_that_is_accepted_stands(engine: WrittenEngine, surfing: Surfing) -> None:
    engine.says(called("go_back"), answered("4 </b> 2"))
    engine.says(opinion(success=True), session=VALIDATOR)

    await surfing.act()
    decision = await surfing.act()

    assert decision.action == Answer(text="4 </b> 2")
    assert surfing.booked == [(0, "policy"), (1, "policy"), (1, "validator")]
    system, shown = engine.asked[-1].texts
    assert system == surfing.roles.validator.prompt.text
    assert shown == (
        "Task:\nClick it.\n\nScreenshots:\n[0: 100×100][1: 100×100]\n\nAnswer:\n4 &lt;/b> 2"
    )
    call = surfing.account.calls[-1]
    assert (call.image_steps, call.coordinates) == ((0, 1), None)
    assert (call.sent_width, call.sent_height) == (SIDE, SIDE)


async def test_the_validator_sees_the_last_pictures_only(engine: WrittenEngine) -> None:
    section = SURFER.model_copy(update={"keep_images": 1, "slack_images": 1})
    surfing = Surfing(EngineSet(engine), section)
    engine.says(*[called("go_back")] * 3, answered(""))
    engine.says(opinion(success=True), session=VALIDATOR)

    for _ in range(4):
        await surfing.act()

    assert [picture.step for picture in engine.asked[-1].pictures] == [2, 3]
    assert "(without words)" in engine.asked[-1].texts[-1]


async def test_an_objection_sends_the_policy_back_in_a_prompt_that_only_grows(
    engine: WrittenEngine, surfing: Surfing
) -> None:
    engine.says(answered("41"), clicked(1, 2), called("go_back"))
    engine.says(opinion(success=False, thought="It is </error> 42."), session=VALIDATOR)
    engine.says(at(500, 500), session=LOCALIZER)

    decision = await surfing.act()
    await surfing.act()

    assert decision.action == Click(x=50, y=50)
    first, _, back, _, after = (asked.texts for asked in engine.asked)
    assert back[: len(first)] == first
    assert back[len(first)] == answered("41")
    assert back[len(first) + 1] == (
        '<error tool="answer">\nthe answer was looked at and is not accepted: It is &lt;/error> 42.\n'
        "Go on with the task.\n</error>"
    )
    assert after[: len(back)] == back
    assert after[len(back)] == clicked(500, 500)
    assert surfing.booked == [
        (0, "policy"),
        (0, "validator"),
        (0, "policy"),
        (0, "localizer"),
        (1, "policy"),
    ]
    assert [c.segment for c in surfing.account.calls if c.role == "policy"] == [0, 0, 0]


async def test_after_two_objections_an_answer_stands_unseen(
    engine: WrittenEngine, surfing: Surfing
) -> None:
    engine.says(answered("1"), called("go_back"), answered("2"), answered("3"))
    engine.says(*[opinion(success=False, thought="")] * 2, session=VALIDATOR)

    went_back = await surfing.act()
    decision = await surfing.act()

    assert went_back.action.type == "back"
    assert decision.action == Answer(text="3")
    assert [role for _, role in surfing.booked].count("validator") == 2
    assert "it does not do what the task asks" in engine.asked[-1].texts[-1]


@pytest.mark.parametrize(
    "reply", ["SUCCESS", '{"success": "yes"}', '{"success": true, "thought": 1}']
)
async def test_an_answer_stands_where_the_validator_cannot_be_understood_and_that_is_said(
    engine: WrittenEngine, surfing: Surfing, reply: str
) -> None:
    engine.says(answered("42"))
    engine.says(reply, reply, session=VALIDATOR)

    decision = await surfing.act()

    assert decision.action == Answer(text="42")
    assert decision.parse_error is not None
    assert decision.parse_error.startswith("validator: no reply could be read: ")
    assert surfing.booked == [(0, "policy"), (0, "validator"), (0, "repair")]


async def test_what_went_wrong_in_several_roles_is_said_of_each(
    engine: WrittenEngine, surfing: Surfing
) -> None:
    engine.says("hm", clicked(1, 2))
    engine.says("there", at(1, 2), session=LOCALIZER)

    problem = (await surfing.act()).parse_error

    assert problem is not None
    own, _, localizers = problem.partition("; localizer: ")
    assert "'tool_call'" in own
    assert "'x'" in localizers


async def test_an_engine_that_fails_a_role_fails_the_episode_with_all_calls_on_record(
    engine: WrittenEngine, surfing: Surfing
) -> None:
    engine.says(clicked(1, 2))
    engine.says(RolloutFailure(FailureKind.ENGINE, "it is gone"), session=LOCALIZER)

    with pytest.raises(RolloutFailure, match="it is gone"):
        await surfing.act()

    assert surfing.booked == [(0, "policy")]


async def test_pictures_of_other_roles_keep_their_jpeg_alone_after_the_step() -> None:
    engine = WrittenEngine()
    section = SURFER.model_copy(update={"keep_images": 1, "slack_images": 0})
    surfing = Surfing(EngineSet(engine), section)
    engine.says(clicked(1, 2), answered("done"))
    engine.says(at(1, 2), session=LOCALIZER)
    engine.says(opinion(success=True), session=VALIDATOR)

    await surfing.act()
    for picture in engine.asked[-1].pictures:
        assert picture.url
    await surfing.act()

    shown = {id(p): p for asked in engine.asked for p in asked.pictures}.values()
    assert {picture.step for picture in shown} == {0, 1}
    assert {picture.step for picture in shown if "url" in vars(picture)} <= {1}
