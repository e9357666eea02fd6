"""Three roles: the policy decides, the localizer finds, the validator looks at the answer."""

import json
from collections.abc import Sequence

import pytest
from asked import SESSION, SIDE, WrittenEngine, called, clicked, configured, history, seen, size_of

from generators.engine.protocol import Engine, Picture
from generators.policy.account import Account
from generators.policy.cues import AGREED, Cues
from generators.policy.dialects.make import make_dialect
from generators.policy.make import check_policy
from generators.policy.protocol import Decision
from generators.policy.surfer import Surfer
from generators.policy.voices import Engines, Place, Voices
from schemas.action import Action, Answer, Click, Drag, Key
from schemas.errors import BadConfig, FailureKind, RolloutFailure
from schemas.sections import PolicyName, PolicySection, PriceSection, RoleSection

SURFER = PolicySection(name=PolicyName.SURFER)
LOCALIZER, VALIDATOR = f"{SESSION}/localizer", f"{SESSION}/validator"
ELSEWHERE = ("http://127.0.0.1:2/v1",)


def at(x: float, y: float) -> str:
    """Return a localizer's reply."""
    return json.dumps({"x": x, "y": y})


def opinion(*, success: bool, thought: str = "It shows.") -> str:
    """Return a validator's reply."""
    return json.dumps({"thought": thought, "success": success})


def answered(text: str) -> str:
    """Return the policy's answer."""
    return called("answer", content=text)


class Surfing:
    """One episode of the policy, step by step."""

    def __init__(self, engines: Engines, section: PolicySection = SURFER) -> None:
        voices = Voices(configured(section), engines)
        voice, budget = voices.of(section)
        self.voice, self.roles = voice, voices.roles_of(section)
        self.account = Account()
        self.policy = Surfer(voice, self.roles, self.account, budget=budget, session=SESSION)
        self._done: list[Action] = []

    async def act(self) -> Decision:
        steps = history(self._done)
        decision = await self.policy.act("Click it.", steps, seen(len(steps)), None)
        self._done.append(decision.action)
        return decision

    @property
    def booked(self) -> Sequence[tuple[int, str]]:
        """Step and role of every call."""
        return [(call.step, call.role) for call in self.account.calls]


@pytest.fixture
def engine() -> WrittenEngine:
    return WrittenEngine()


@pytest.fixture
def surfing(engine: WrittenEngine) -> Surfing:
    return Surfing(Engines(engine))


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
        Engines(engine), SURFER.model_copy(update={"localizer": RoleSection(dialect="holo1_5")})
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
    surfing = Surfing(Engines(engine), section)
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


async def test_each_role_has_its_own_engine_and_sampling() -> None:
    main, finder, judge = WrittenEngine("main"), WrittenEngine("finder"), WrittenEngine("judge")
    section = SURFER.model_copy(
        update={
            "temperature": 0.7,
            "localizer": RoleSection(urls=ELSEWHERE, max_tokens=64),
            "validator": RoleSection(urls=ELSEWHERE, model="judge", temperature=0.2),
        }
    )
    places: dict[Place, Engine] = {(ELSEWHERE, None): finder, (ELSEWHERE, "judge"): judge}
    surfing = Surfing(Engines(main, places), section)
    main.says(clicked(1, 2), answered(""))
    finder.says(at(1, 2), session=LOCALIZER)
    judge.says(opinion(success=True), session=VALIDATOR)

    await surfing.act()
    await surfing.act()

    assert [call.model for call in surfing.account.calls] == ["main", "finder", "main", "judge"]
    samplings = [
        (c.sampling["temperature"], c.sampling["max_tokens"]) for c in surfing.account.calls
    ]
    assert samplings == [(0.7, 1_024), (0.0, 64), (0.7, 1_024), (0.2, 512)]
    assert surfing.policy.card.model == "main"


async def test_a_role_without_a_section_is_played_as_the_policy_is(
    engine: WrittenEngine,
) -> None:
    surfing = Surfing(Engines(engine), SURFER.model_copy(update={"temperature": 0.7}))

    assert surfing.roles.localizer.engine is surfing.roles.validator.engine is engine
    assert surfing.roles.localizer.sampling == surfing.voice.sampling


def test_a_price_list_is_the_runs_engines_and_no_others() -> None:
    section = SURFER.model_copy(update={"localizer": RoleSection(urls=ELSEWHERE)})
    config = configured(section)
    prices = PriceSection(prompt=1, completion=2)
    config = config.model_copy(
        update={"engine": config.engine.model_copy(update={"usd_per_million": prices})}
    )
    engines = Engines(WrittenEngine(), {(ELSEWHERE, None): WrittenEngine()})
    roles = Voices(config, engines).roles_of(section)

    assert roles.localizer.pricing.usd_per_million is None
    assert roles.validator.pricing.usd_per_million == prices


def test_the_card_names_the_prompts_of_all_roles_the_policys_first(surfing: Surfing) -> None:
    card = surfing.policy.card
    roles = surfing.roles

    assert (card.name, card.kind, card.dialect) == ("surfer", "model", "holotron")
    assert card.prompts == (surfing.voice.prompt, roles.localizer.prompt, roles.validator.prompt)
    assert len({prompt.prompt_sha256 for prompt in card.prompts}) == 3


def test_the_validator_is_shown_as_many_pictures_as_its_engine_can_hold() -> None:
    def pictures(context: int) -> int:
        section = SURFER.model_copy(
            update={"slack_images": 20, "validator": RoleSection(urls=ELSEWHERE)}
        )
        places: dict[Place, Engine] = {(ELSEWHERE, None): WrittenEngine(context_tokens=context)}
        return Surfing(Engines(WrittenEngine(), places), section).roles.pictures

    assert pictures(100_000) == 21
    assert 1 <= pictures(3_000) < 10


@pytest.mark.parametrize("role", ["localizer", "validator"])
def test_a_role_whose_engine_cannot_hold_a_picture_is_refused(role: str) -> None:
    section = SURFER.model_copy(update={role: RoleSection(urls=ELSEWHERE)})
    places: dict[Place, Engine] = {(ELSEWHERE, None): WrittenEngine(context_tokens=1_500)}

    with pytest.raises(BadConfig, match=rf"policy\.{role}: its engine holds 1500 tokens"):
        Voices(configured(section), Engines(WrittenEngine(), places))


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"localizer": {"dialect": "holo9"}}, r"^policy\.localizer\.dialect: there is no dialect"),
        (
            {"localizer": {"dialect": "claude"}},
            r"^policy\.localizer\.dialect: 'claude' is read and",
        ),
        ({"validator": {"dialect": "holo1"}}, r"^policy\.validator\.dialect: 'holo1' is read and"),
        ({"validator": {"model": "judge"}}, r"^policy\.validator\.model: 'judge' needs endpoints"),
        ({"name": "model", "localizer": {}}, r"^policy\.localizer: 'model' has no roles"),
    ],
)
def test_roles_that_cannot_be_played_are_refused(section: dict[str, object], told: str) -> None:
    made = PolicySection.model_validate({"name": "surfer", **section})

    with pytest.raises(BadConfig, match=told):
        check_policy(made, configured(made))


def test_a_role_is_told_what_to_say_exactly_when_it_is_asked(engine: WrittenEngine) -> None:
    whispered: list[tuple[str, str]] = []
    section = SURFER.model_copy(update={"localizer": RoleSection(dialect="holo2")})
    surfing = Surfing(Engines(engine), section)
    cues = Cues(
        surfing.voice,
        surfing.roles,
        session=SESSION,
        whisper=lambda *said: whispered.append(said),
    )

    cues.give(clicked(100, 200), Click(x=10.4, y=20))
    cues.give(clicked(100, 200, element=""), Click(x=10, y=20))
    cues.give(called("press_keys", keys=["Enter"]), Key(key="Enter"))
    cues.give(answered("42"), Answer(text="42"))

    assert whispered == [(LOCALIZER, '{"x": 104, "y": 200}'), (VALIDATOR, AGREED)]


def test_nothing_is_whispered_to_an_engine_that_does_not_listen(engine: WrittenEngine) -> None:
    whispered: list[tuple[str, str]] = []
    section = SURFER.model_copy(update={"localizer": RoleSection(urls=ELSEWHERE)})
    surfing = Surfing(Engines(engine, {(ELSEWHERE, None): WrittenEngine()}), section)
    cues = Cues(
        surfing.voice,
        surfing.roles,
        session=SESSION,
        whisper=lambda *said: whispered.append(said),
    )

    cues.give(clicked(100, 200), Click(x=10, y=20))

    assert whispered == []


@pytest.mark.parametrize("name", ["holotron", "holo1_5", "holo2"])
def test_a_dialect_says_that_an_answer_was_not_accepted(name: str) -> None:
    said = make_dialect(name).refused(Answer(text="x"), "it is </error> 42")

    assert "answer" in said
    assert "it is &lt;/error> 42" in said
