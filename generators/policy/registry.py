"""The registry of policies: shipped ones and those of plug-ins, each made for one episode.

A plug-in offers a class or a function that takes `PolicyParts` and returns a `Policy`. Its class `Options`,
a pydantic model, defines the keys of `policy.options`; without it any key is allowed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import BaseModel, Field

from generators.policy.model.policy import ModelPolicy
from generators.policy.model.setup import PolicyModels
from generators.policy.model.surfer import SurferPolicy
from generators.policy.model.try_account import Account
from generators.policy.noisy import NoisyPolicy
from generators.policy.protocol import Policy
from generators.policy.reference import ReferencePolicy
from generators.policy.scripted import ScriptedPolicy, load_script
from generators.policy.slips.slips import SHARE, Slips
from generators.policy.teacher.policy import TeacherPolicy
from registries.entry_points import Group
from registries.options import options_of, read_options
from registries.registry import Registry, callable_part
from schemas.base import JsonObject, Record
from schemas.configuration.sections import PolicyName, PolicySection
from schemas.errors import BadConfig, BadTasks
from schemas.tasks.task import Task


@dataclass(frozen=True, slots=True)
class PolicyParts:
    """The inputs from which a policy of one episode is made."""

    section: PolicySection
    """Its section of the configuration."""
    options: JsonObject
    """`policy.options`, with the defaults of the plug-in's `Options`."""
    seed: str
    """Seeds its random draws, and names its conversation with the engine."""
    task: Task
    """The task that it attempts."""
    account: Account
    """Records its calls."""
    models: PolicyModels | None
    """The engine's models and their clients; None if the policy uses none."""


@dataclass(frozen=True, slots=True)
class PolicyPart:
    """Makes policies of one name."""

    make: Callable[[PolicyParts], Policy]
    """Makes the policy of an episode."""
    options: type[BaseModel] | None
    """The model of `policy.options`; None: any keys."""


class _NoOptions(Record):
    pass


class _ReferenceOptions(Record):
    """The options of the policies that carry out references."""

    mistakes: float = Field(default=SHARE, ge=0, le=1)
    """Share of the episodes for which a mistake is drawn: it is made, and mended, where the plan comes to a place for it
    and the site has no fault."""


def make_teacher(parts: PolicyParts) -> TeacherPolicy:
    """Return the teacher of one episode, which carries out the task's reference where there is one."""
    reference = parts.task.reference
    return TeacherPolicy(None if reference is None else ReferencePolicy(reference, seed=parts.seed))


def _reference(parts: PolicyParts) -> Policy:
    """Return the policy that carries out a task's reference, and now and then makes a mistake and mends it."""
    steps = parts.task.reference
    if steps is None:
        raise BadTasks(f"the task {parts.task.task_id} has no reference to carry out")
    options = _ReferenceOptions.model_validate(parts.options)
    share = options.mistakes if parts.task.fault is None else 0.0
    return ReferencePolicy(steps, Slips(steps, seed=parts.seed, share=share), seed=parts.seed)


def _script(parts: PolicyParts) -> Policy:
    if parts.section.script is None:
        if parts.task.reference is None:
            raise BadTasks(f"the task {parts.task.task_id} has no reference to carry out")
        return ReferencePolicy(parts.task.reference, seed=parts.seed)
    path = Path(parts.section.script)
    scripts = load_script(path)
    template = parts.task.template_id
    if template not in scripts:
        raise BadTasks(f"{path}: there is no list of actions for '{template}'")
    return ScriptedPolicy(scripts[template])


def _model(parts: PolicyParts) -> Policy:
    models = _models(parts)
    return ModelPolicy(models.model, parts.account, budget=models.budget, session=parts.seed)


def _surfer(parts: PolicyParts) -> Policy:
    models = _models(parts)
    if models.roles is None:  # pragma: no cover - a surfer's models have roles
        raise AssertionError
    return SurferPolicy(
        models.model, models.roles, parts.account, budget=models.budget, session=parts.seed
    )


def _models(parts: PolicyParts) -> PolicyModels:
    if parts.models is None:
        raise BadConfig(f"policy.name: '{parts.section.name}' needs an engine")
    return parts.models


def _adapt(found: object) -> PolicyPart:
    make = cast("Callable[[PolicyParts], Policy]", callable_part(found))
    return PolicyPart(make, options_of(found))


POLICIES = Registry[PolicyPart](
    Group.POLICIES,
    {
        PolicyName.TEACHER: PolicyPart(make_teacher, _NoOptions),
        PolicyName.CLUMSY: PolicyPart(
            lambda parts: NoisyPolicy(make_teacher(parts), seed=parts.seed), _NoOptions
        ),
        PolicyName.REFERENCE: PolicyPart(_reference, _ReferenceOptions),
        PolicyName.SCRIPTED: PolicyPart(_script, _NoOptions),
        PolicyName.MODEL: PolicyPart(_model, _NoOptions),
        PolicyName.SURFER: PolicyPart(_surfer, _NoOptions),
    },
    adapt=_adapt,
)
"""All policies by their names in configurations."""


def read_policy_options(section: PolicySection) -> JsonObject:
    """Return the options of a section's policy, with their defaults.

    Raises:
        NotFound: there is no such policy.
        BadConfig: the policy's plug-in cannot be used, or an option is unknown or invalid.
    """
    model = POLICIES.get(section.name, key="policy.name").options
    if model is None:
        return dict(section.options)
    read = read_options(model, section.options, key="policy.options", name=section.name)
    return read.model_dump(mode="json")
