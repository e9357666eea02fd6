"""What every policy promises, shown on each that a configuration can name."""

from collections.abc import Callable

import pytest
from support.browsers.page_trees import node
from support.episodes.factories import make_screenshot
from support.servers.stub_engine import SIDE, WrittenEngine, clicked, configured, history, seen
from support.servers.stub_surfer import LOCALIZER, VALIDATOR, Surfing, answered, at, opinion

from generators.browser.protocol import Node
from generators.policy.model.policy import ModelPolicy
from generators.policy.model.setup import EngineSet, ModelConfigs
from generators.policy.model.try_account import Account
from generators.policy.noisy import NoisyPolicy
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.scripted import ScriptedPolicy
from generators.policy.teacher.policy import TeacherPolicy
from generators.sites.miniwob import start_url
from schemas.configuration.sections import PolicyName, PolicySection
from schemas.episodes.action import Action, Answer, Click, NoAction
from schemas.episodes.episode import PolicyKind
from schemas.episodes.observation import Observation, PageState
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.reference import Do, ReferenceStep

GOAL = "Click the button."
TURNS = 4
"""Enough for any of these to reach its answer."""

Made = tuple[Policy, WrittenEngine | None]
"""A policy for one episode, and the engine that it asks."""


class Document:
    """A page with one button."""

    async def read(self) -> Node:
        return node("html", node("body", node("button", text="Click Me!")), box=(0, 0, 500, 400))


def teacher() -> Made:
    return TeacherPolicy(), None


def clumsy() -> Made:
    return NoisyPolicy(ScriptedPolicy([Click(x=1, y=2)]), seed="7"), None


def scripted() -> Made:
    return ScriptedPolicy([Click(x=1, y=2)]), None


def reference() -> Made:
    click = ReferenceStep(do=Do.CLICK, on="Click Me!")
    return ReferencePolicy((click, ReferenceStep(do=Do.ANSWER, text="done"))), None


def model() -> Made:
    engine = WrittenEngine()
    engine.says(clicked(500, 250), *[answered("done")] * TURNS)
    section = PolicySection(name=PolicyName.MODEL)
    models = ModelConfigs(configured(section), EngineSet(engine)).of(section)
    return ModelPolicy(models.model, Account(), budget=models.budget, session="e1"), engine


def surfer() -> Made:
    engine = WrittenEngine()
    engine.says(clicked(500, 250), *[answered("done")] * TURNS)
    engine.says(at(500, 250), session=LOCALIZER)
    engine.says(*[opinion(success=True)] * TURNS, session=VALIDATOR)
    return Surfing(EngineSet(engine)).policy, engine


MAKERS: dict[PolicyName, Callable[[], Made]] = {
    PolicyName.TEACHER: teacher,
    PolicyName.CLUMSY: clumsy,
    PolicyName.REFERENCE: reference,
    PolicyName.SCRIPTED: scripted,
    PolicyName.MODEL: model,
    PolicyName.SURFER: surfer,
}


@pytest.fixture(params=MAKERS, ids=lambda name: name.value)
def make(request: pytest.FixtureRequest) -> Callable[[], Made]:
    return MAKERS[request.param]


def turn(policy: Policy, done: list[Action]) -> PolicyInput:
    """Return what a policy decides from after `done`; a privileged one may read the page."""
    usual = seen(len(done))
    page = PageState(url=start_url("click-test"), title="T", scroll_x=0, scroll_y=0)
    looked = Observation(
        screenshot=make_screenshot(len(done), width=SIDE, height=SIDE),
        width=SIDE,
        height=SIDE,
        page=page,
        observe_ms=usual.observe_ms,
    )
    reader = Document() if policy.card.privileged else None
    return PolicyInput(GOAL, history(done), looked, reader)


async def episode(policy: Policy) -> list[Decision]:
    """Return a policy's decisions up to its answer, or as many as there are turns."""
    decisions: list[Decision] = []
    while len(decisions) < TURNS and not (decisions and isinstance(decisions[-1].action, Answer)):
        taken = [decision.action for decision in decisions]
        decisions.append(await policy.act(turn(policy, taken)))
    return decisions


def test_every_policy_is_tested() -> None:
    assert set(MAKERS) == set(PolicyName)


async def test_its_card_is_the_same_before_and_after_it_acts(make: Callable[[], Made]) -> None:
    policy, engine = make()
    before = policy.card
    await episode(policy)

    assert before.name
    assert policy.card == before
    assert (before.kind is PolicyKind.MODEL) == (engine is not None)
    assert (before.model is not None) == (engine is not None)
    assert PolicyCard.model_validate_json(before.model_dump_json()) == before


async def test_every_decision_is_an_action_and_the_last_an_answer(
    make: Callable[[], Made],
) -> None:
    decisions = await episode(make()[0])

    assert isinstance(decisions[-1].action, Answer)
    for decision in decisions:
        assert not isinstance(decision.action, NoAction)
        assert (decision.thought is None) == (decision.thought_source is None)
        assert Decision.model_validate_json(decision.model_dump_json()) == decision


async def test_a_fresh_policy_of_the_same_seed_decides_the_same(make: Callable[[], Made]) -> None:
    assert await episode(make()[0]) == await episode(make()[0])


async def test_what_it_decides_from_is_left_as_it_is(make: Callable[[], Made]) -> None:
    policy, _ = make()
    given = turn(policy, [Click(x=1, y=2)])
    steps, looked = list(given.history), given.observation.model_dump_json()
    await policy.act(turn(policy, []))
    await policy.act(given)

    assert list(given.history) == steps
    assert given.observation.model_dump_json() == looked


async def test_a_privileged_policy_without_a_reader_is_its_own_failure() -> None:
    policy, _ = teacher()

    with pytest.raises(RolloutFailure) as caught:
        await policy.act(PolicyInput(GOAL, [], turn(policy, []).observation, None))

    assert caught.value.kind is FailureKind.POLICY


@pytest.mark.parametrize("name", [PolicyName.MODEL, PolicyName.SURFER])
async def test_a_failure_of_the_engine_is_the_engines(name: PolicyName) -> None:
    policy, engine = MAKERS[name]()
    assert engine is not None
    engine._said.clear()

    with pytest.raises(RolloutFailure) as caught:
        await policy.act(turn(policy, []))

    assert caught.value.kind is FailureKind.ENGINE


@pytest.mark.parametrize("name", [PolicyName.MODEL, PolicyName.SURFER])
async def test_replies_that_cannot_be_read_are_the_policys_failure(name: PolicyName) -> None:
    policy, engine = MAKERS[name]()
    assert engine is not None
    engine._said.clear()
    engine.says("I would click.", "I would still click.")

    with pytest.raises(RolloutFailure) as caught:
        await policy.act(turn(policy, []))

    assert caught.value.kind is FailureKind.POLICY
