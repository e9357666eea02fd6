from pathlib import Path

import pytest
from support.episodes.factories import make_task

from generators.engine.stopwatch import Stopwatch
from generators.policy.factory import PolicyFactory, check_policy
from generators.policy.model.try_account import Account
from generators.policy.protocol import Policy
from generators.policy.reference import ReferencePolicy
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import PolicyName, PolicySection, RoleSection
from schemas.episodes.episode import PolicyKind
from schemas.errors import BadConfig, BadTasks
from schemas.tasks.reference import REFERENCE
from schemas.tasks.task import Task

SCRIPT = '{"click-test": [{"type": "click", "x": 1, "y": 2}]}'


def make(section: PolicySection, task: Task) -> Policy:
    return PolicyFactory(RunConfig()).make(section, seed="1", task=task, account=Account())


def _script(folder: Path, text: str = SCRIPT) -> str:
    path = folder / "script.json"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("name", "kind"),
    [(PolicyName.TEACHER, PolicyKind.TEACHER), (PolicyName.CLUMSY, PolicyKind.CLUMSY)],
)
def test_policies_that_read_the_page_are_made(name: PolicyName, kind: PolicyKind) -> None:
    card = make(PolicySection(name=name), make_task()).card

    assert card.name == name
    assert card.kind is kind
    assert card.privileged


def test_a_scripted_policy_is_made_from_its_templates_list(tmp_path: Path) -> None:
    section = PolicySection(name=PolicyName.SCRIPTED, script=_script(tmp_path))
    card = make(section, make_task()).card

    assert card.kind is PolicyKind.SCRIPTED
    assert not card.privileged


@pytest.mark.parametrize("name", [PolicyName.MODEL, PolicyName.SURFER])
def test_policies_that_ask_an_engine_are_refused(name: PolicyName) -> None:
    with pytest.raises(BadConfig, match=r"policy\.name: .* needs an engine"):
        check_policy(PolicySection(name=name), RunConfig())


def test_a_scripted_policy_without_a_script_carries_out_the_tasks_reference() -> None:
    section = PolicySection(name=PolicyName.SCRIPTED)
    check_policy(section, RunConfig())
    factory = PolicyFactory(RunConfig(policy=section))
    task = make_task(0)
    (step,) = REFERENCE.validate_python([{"do": "click", "on": "Add"}])

    with pytest.raises(BadTasks, match="has no reference to carry out"):
        factory.make(section, seed="1", task=task, account=Account(Stopwatch()))
    policy = factory.make(
        section,
        seed="1",
        task=task.model_copy(update={"reference": (step,)}),
        account=Account(Stopwatch()),
    )
    assert isinstance(policy, ReferencePolicy)


def test_only_a_scripted_policy_reads_a_script(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"policy\.script: 'teacher' reads no script"):
        check_policy(PolicySection(name=PolicyName.TEACHER, script=_script(tmp_path)), RunConfig())


def test_only_a_surfer_has_roles() -> None:
    section = PolicySection(name=PolicyName.TEACHER, localizer=RoleSection())
    with pytest.raises(BadConfig, match="'teacher' has no roles"):
        check_policy(section, RunConfig())


def test_a_template_without_a_list_is_refused(tmp_path: Path) -> None:
    section = PolicySection(name=PolicyName.SCRIPTED, script=_script(tmp_path))
    with pytest.raises(BadTasks, match="no list of actions for 'click-link'"):
        make(section, make_task(template="click-link"))
