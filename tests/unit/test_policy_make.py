from pathlib import Path

import pytest
from factories import make_task

from generators.policy.make import check_policy, make_policy
from schemas.config import PolicyName, PolicySection
from schemas.episode import PolicyKind
from schemas.errors import BadConfig, BadTasks

SCRIPT = '{"click-test": [{"type": "click", "x": 1, "y": 2}]}'


def _script(folder: Path, text: str = SCRIPT) -> str:
    path = folder / "script.json"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", [PolicyName.TEACHER, PolicyName.CLUMSY])
def test_policies_that_read_the_page_are_made(name: PolicyName) -> None:
    card = make_policy(PolicySection(name=name), seed="1", task=make_task()).card

    assert card.name == name
    assert card.kind is PolicyKind.TEACHER
    assert card.privileged


def test_a_scripted_policy_is_made_from_its_templates_list(tmp_path: Path) -> None:
    section = PolicySection(name=PolicyName.SCRIPTED, script=_script(tmp_path))
    card = make_policy(section, seed="1", task=make_task()).card

    assert card.kind is PolicyKind.SCRIPTED
    assert not card.privileged


@pytest.mark.parametrize("name", [PolicyName.MODEL, PolicyName.SURFER])
def test_policies_that_ask_an_engine_are_refused(name: PolicyName) -> None:
    with pytest.raises(BadConfig, match=r"policy\.name: .* needs an engine"):
        check_policy(PolicySection(name=name))


def test_a_scripted_policy_needs_a_script() -> None:
    with pytest.raises(BadConfig, match=r"policy\.script: 'scripted' needs a JSON file"):
        check_policy(PolicySection(name=PolicyName.SCRIPTED))


def test_only_a_scripted_policy_reads_a_script(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"policy\.script: 'teacher' reads no script"):
        check_policy(PolicySection(name=PolicyName.TEACHER, script=_script(tmp_path)))


def test_a_template_without_a_list_is_refused(tmp_path: Path) -> None:
    section = PolicySection(name=PolicyName.SCRIPTED, script=_script(tmp_path))
    with pytest.raises(BadTasks, match="no list of actions for 'click-link'"):
        make_policy(section, seed="1", task=make_task(template="click-link"))
