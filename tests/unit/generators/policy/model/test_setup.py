"""Who plays a surfer's roles: engines, sampling, prices, prompts, and what is refused."""

import pytest
from support.servers.stub_engine import SESSION, WrittenEngine, called, clicked, configured
from support.servers.stub_surfer import (
    ELSEWHERE,
    LOCALIZER,
    SURFER,
    VALIDATOR,
    Surfing,
    answered,
    at,
    opinion,
)

from generators.engine.protocol import Engine
from generators.policy.dialects.registry import make_dialect
from generators.policy.factory import check_policy
from generators.policy.model.setup import EngineKey, EngineSet, ModelConfigs
from generators.policy.teacher_replies import AGREEMENT, RoleReplies
from schemas.configuration.sections import PolicySection, PriceSection, RoleSection
from schemas.episodes.action import Answer, Click, Key
from schemas.errors import BadConfig


@pytest.fixture
def engine() -> WrittenEngine:
    return WrittenEngine()


@pytest.fixture
def surfing(engine: WrittenEngine) -> Surfing:
    return Surfing(EngineSet(engine))


async def test_each_role_has_its_own_engine_and_sampling() -> None:
    main, finder, judge = WrittenEngine("main"), WrittenEngine("finder"), WrittenEngine("judge")
    section = SURFER.model_copy(
        update={
            "temperature": 0.7,
            "localizer": RoleSection(urls=ELSEWHERE, max_tokens=64),
            "validator": RoleSection(urls=ELSEWHERE, model="judge", temperature=0.2),
        }
    )
    places: dict[EngineKey, Engine] = {(ELSEWHERE, None): finder, (ELSEWHERE, "judge"): judge}
    surfing = Surfing(EngineSet(main, places), section)
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
    surfing = Surfing(EngineSet(engine), SURFER.model_copy(update={"temperature": 0.7}))

    assert surfing.roles.localizer.engine is surfing.roles.validator.engine is engine
    assert surfing.roles.localizer.sampling == surfing.model.sampling


def test_a_price_list_is_the_runs_engines_and_no_others() -> None:
    section = SURFER.model_copy(update={"localizer": RoleSection(urls=ELSEWHERE)})
    config = configured(section)
    prices = PriceSection(prompt=1, completion=2)
    config = config.model_copy(
        update={"engine": config.engine.model_copy(update={"usd_per_million": prices})}
    )
    engines = EngineSet(WrittenEngine(), {(ELSEWHERE, None): WrittenEngine()})
    roles = ModelConfigs(config, engines).of(section).roles

    assert roles is not None
    assert roles.localizer.pricing.usd_per_million is None
    assert roles.validator.pricing.usd_per_million == prices


def test_the_card_names_the_prompts_of_all_roles_the_policys_first(surfing: Surfing) -> None:
    card = surfing.policy.card
    roles = surfing.roles

    assert (card.name, card.kind, card.dialect) == ("surfer", "model", "holotron")
    assert card.prompts == (surfing.model.prompt, roles.localizer.prompt, roles.validator.prompt)
    assert len({prompt.prompt_sha256 for prompt in card.prompts}) == 3


def test_the_validator_is_shown_as_many_pictures_as_its_engine_can_hold() -> None:
    def pictures(context: int) -> int:
        section = SURFER.model_copy(
            update={"slack_images": 20, "validator": RoleSection(urls=ELSEWHERE)}
        )
        places: dict[EngineKey, Engine] = {(ELSEWHERE, None): WrittenEngine(context_tokens=context)}
        return Surfing(EngineSet(WrittenEngine(), places), section).roles.max_pictures

    assert pictures(100_000) == 21
    assert 1 <= pictures(3_000) < 10


@pytest.mark.parametrize("role", ["localizer", "validator"])
def test_a_role_whose_engine_cannot_hold_a_picture_is_refused(role: str) -> None:
    section = SURFER.model_copy(update={role: RoleSection(urls=ELSEWHERE)})
    places: dict[EngineKey, Engine] = {(ELSEWHERE, None): WrittenEngine(context_tokens=1_500)}

    with pytest.raises(BadConfig, match=rf"policy\.{role}: its engine holds 1500 tokens"):
        ModelConfigs(configured(section), EngineSet(WrittenEngine(), places))


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
    queued: list[tuple[str, str]] = []
    section = SURFER.model_copy(update={"localizer": RoleSection(dialect="holo2")})
    surfing = Surfing(EngineSet(engine), section)
    replies = RoleReplies(
        surfing.model,
        surfing.roles,
        session=SESSION,
        queue=lambda *said: queued.append(said),
    )

    replies.add(clicked(100, 200), Click(x=10.4, y=20))
    replies.add(clicked(100, 200, element=""), Click(x=10, y=20))
    replies.add(called("press_keys", keys=["Enter"]), Key(key="Enter"))
    replies.add(answered("42"), Answer(text="42"))

    assert queued == [(LOCALIZER, '{"x": 104, "y": 200}'), (VALIDATOR, AGREEMENT)]


def test_nothing_is_queued_to_an_engine_that_does_not_listen(engine: WrittenEngine) -> None:
    queued: list[tuple[str, str]] = []
    section = SURFER.model_copy(update={"localizer": RoleSection(urls=ELSEWHERE)})
    surfing = Surfing(EngineSet(engine, {(ELSEWHERE, None): WrittenEngine()}), section)
    replies = RoleReplies(
        surfing.model,
        surfing.roles,
        session=SESSION,
        queue=lambda *said: queued.append(said),
    )

    replies.add(clicked(100, 200), Click(x=10, y=20))

    assert queued == []


@pytest.mark.parametrize("name", ["holotron", "holo1_5", "holo2"])
def test_a_dialect_says_that_an_answer_was_not_accepted(name: str) -> None:
    said = make_dialect(name).rejection_text(Answer(text="x"), "it is </error> 42")

    assert "answer" in said
    assert "it is &lt;/error> 42" in said
