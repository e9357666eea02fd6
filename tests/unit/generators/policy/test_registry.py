"""Policies of plug-ins: made of what they are promised, and held to what they say."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.episodes.factories import make_task
from support.inputs.offered_parts import installed, offer
from support.servers.stub_engine import ENGINE, SESSION, WrittenEngine, clicked, configured

from generators.policy.factory import PolicyFactory, check_policy
from generators.policy.model.setup import EngineSet
from generators.policy.model.try_account import Account
from generators.policy.protocol import Policy
from generators.policy.registry import POLICIES
from schemas.configuration.config import RunConfig, identity
from schemas.configuration.sections import PolicyName, PolicySection, RoleSection
from schemas.episodes.episode import PolicyKind
from schemas.errors import BadConfig, NotFound

CODE = """
from pydantic import BaseModel
from generators.policy.model.policy import ModelPolicy
from generators.policy.protocol import PolicyCard
from schemas.episodes.episode import PolicyKind

stepmill_api = 1

class Plain:
    card = PolicyCard(name="plain", kind=PolicyKind.PLUGIN)
    def __init__(self, parts):
        self.parts = parts

class Optional_(Plain):
    class Options(BaseModel):
        clicks: int = 3

class OtherName(Plain):
    card = PolicyCard(name="teacher", kind=PolicyKind.PLUGIN)

class OtherKind(Plain):
    card = PolicyCard(name="kind", kind=PolicyKind.TEACHER)

def broken(parts):
    raise KeyError("a")

class Asking:
    def __init__(self, parts):
        models = parts.models
        self.model = ModelPolicy(
            models.model, parts.account, budget=models.budget, session=parts.seed
        )
        self.card = self.model.card.model_copy(update={"name": "asking"})
"""

PLACES = {
    "plain": "Plain",
    "optional": "Optional_",
    "name": "OtherName",
    "kind": "OtherKind",
    "broken": "broken",
    "asking": "Asking",
}


@pytest.fixture(autouse=True)
def _offered(tmp_path: Path) -> Iterator[None]:
    parts = {f"stepmill.policies:{name}": f"own_policies:{at}" for name, at in PLACES.items()}
    with installed(tmp_path):
        offer(tmp_path, "own-policies", parts, modules={"own_policies": CODE})
        yield


def make(section: PolicySection, engine: WrittenEngine | None = None) -> Policy:
    config = configured(section) if engine else RunConfig(policy=section)
    factory = PolicyFactory(config, EngineSet(engine) if engine else None)
    return factory.make(section, seed=SESSION, task=make_task(), account=Account())


def test_every_policy_that_ships_is_in_the_registry() -> None:
    assert set(POLICIES.built_in) == set(PolicyName)


def test_a_policy_of_a_plugin_is_made_of_the_section_and_its_options() -> None:
    section = PolicySection(name="plain", options={"any": [1]})
    check_policy(section, RunConfig())
    parts = vars(make(section))["parts"]

    assert (parts.section, parts.options, parts.seed) == (section, {"any": [1]}, SESSION)
    assert parts.models is None


def test_options_have_the_defaults_of_the_plugins_model() -> None:
    section = PolicySection(name="optional")
    check_policy(section, RunConfig())

    with pytest.raises(BadConfig, match=r"policy\.options: 'optional' has no option 'click'"):
        check_policy(PolicySection(name="optional", options={"click": 1}), RunConfig())


@pytest.mark.parametrize("name", [one for one in PolicyName if one is not PolicyName.REFERENCE])
def test_a_policy_that_ships_has_no_options(name: PolicyName) -> None:
    with pytest.raises(BadConfig, match=rf"policy\.options: '{name}' has no option 'a'.* none"):
        check_policy(PolicySection(name=name, options={"a": 1}), RunConfig())


def test_the_reference_has_a_share_of_mistakes() -> None:
    check_policy(PolicySection(name="reference", options={"mistakes": 0.5}), RunConfig())
    for name, value, said in (("mistakes", 1.5, "mistakes"), ("slips", 1, "has no option 'slips'")):
        with pytest.raises(BadConfig, match=rf"policy\.options.*{said}"):
            check_policy(PolicySection(name="reference", options={name: value}), RunConfig())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "name",
            r"the card .* 'name' says 'teacher', plugin; expected 'name', and plugin or model",
        ),
        ("kind", r"the card .* 'kind' says 'kind', teacher; expected 'kind', and plugin or model"),
        ("broken", r"^policy\.name: 'broken' cannot be used: it is not made: KeyError: 'a'$"),
    ],
)
def test_a_policy_that_is_not_what_it_says_is_refused(name: str, said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        make(PolicySection(name=name))


def test_an_unknown_policy_is_refused_with_the_nearest() -> None:
    said = r"^policy\.name: there is no policy 'plane'; did you mean 'plain'\?"
    with pytest.raises(NotFound, match=said):
        check_policy(PolicySection(name="plane"), RunConfig())


def test_a_policy_of_a_plugin_reads_no_script_and_has_no_roles() -> None:
    with pytest.raises(BadConfig, match="'plain' reads no script"):
        check_policy(PolicySection(name="plain", script="a.json"), RunConfig())
    with pytest.raises(BadConfig, match="'plain' has no roles"):
        check_policy(PolicySection(name="plain", localizer=RoleSection()), RunConfig())


def test_a_policy_of_a_plugin_asks_the_engine_that_a_run_has() -> None:
    engine = WrittenEngine()
    engine.says(clicked(500, 250))
    section = PolicySection(name="asking")
    made = make(section, engine)

    assert (made.card.kind, made.card.model) == (PolicyKind.MODEL, "written")
    assert RunConfig(policy=section, engine=ENGINE).uses_engine
    assert not RunConfig(policy=section).uses_engine
    with pytest.raises(BadConfig, match="'asking' cannot be used: it is not made: AttributeError"):
        make(section)


def test_options_are_a_runs_identity_and_none_are_that_of_earlier_runs() -> None:
    def kept(section: PolicySection) -> object:
        policies = identity(RunConfig(policy=section))["policies"]
        assert isinstance(policies, list)
        assert isinstance(policies[0], dict)
        return policies[0].get("options")

    assert kept(PolicySection(name="plain", options={"any": 1})) == {"any": 1}
    assert kept(PolicySection(name="plain")) is None
