"""From a configuration's policy section to the policy of one episode.

Each episode gets a policy of its own, made from the run's seed and the task, so that what a policy
remembers or draws at random belongs to that episode alone.
"""

from pathlib import Path

from generators.policy.clumsy import Clumsy
from generators.policy.protocol import Policy
from generators.policy.scripted import ScriptedPolicy, load_script
from generators.policy.teacher.policy import Teacher
from schemas.config import PolicyName, PolicySection
from schemas.errors import BadConfig, BadTasks
from schemas.task import Task


def check_policy(section: PolicySection) -> None:
    """Refuse a section that no policy can be made from, before any work.

    Raises:
        BadConfig: this version has no such policy, or a script is missing or out of place.
        BadTasks: the script is unreadable or holds something that is no action.
    """
    if section.name in {PolicyName.MODEL, PolicyName.SURFER}:
        raise BadConfig(
            f"policy.name: '{section.name}' needs an engine, which this version does not have; "
            "use teacher, clumsy or scripted"
        )
    if section.name is PolicyName.SCRIPTED:
        if section.script is None:
            raise BadConfig("policy.script: 'scripted' needs a JSON file of actions by template")
        load_script(Path(section.script))
    elif section.script is not None:
        raise BadConfig(f"policy.script: '{section.name}' reads no script; leave it out")


def make_policy(section: PolicySection, *, seed: str, task: Task) -> Policy:
    """Return the policy of one episode of `task`; `seed` decides whatever it draws at random.

    Raises:
        BadConfig: this version has no such policy, or a script is missing or out of place.
        BadTasks: the script is unreadable or has no list for the task's template.
    """
    check_policy(section)
    match section.name:
        case PolicyName.TEACHER:
            return Teacher()
        case PolicyName.CLUMSY:
            return Clumsy(Teacher(), seed=seed)
        case _:
            return _scripted(Path(section.script or ""), task)


def _scripted(path: Path, task: Task) -> Policy:
    scripts = load_script(path)
    if task.template_id not in scripts:
        raise BadTasks(f"{path}: there is no list of actions for '{task.template_id}'")
    return ScriptedPolicy(scripts[task.template_id])
