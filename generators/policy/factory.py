"""Makes the policy of one episode from a configuration's policy sections.

Each episode gets a policy of its own, made from the run's seed and the task, so that the state and the
random draws of a policy belong to that episode alone. What all episodes share (the engine, the
dialect, the system prompt, the budget) is made once, with the factory.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from generators.policy.model.localizer import ROLE as LOCALIZER
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.policy import ModelPolicy
from generators.policy.model.setup import EngineSet, ModelConfigs, dialect_of
from generators.policy.model.surfer import SurferPolicy
from generators.policy.model.try_account import Account
from generators.policy.model.validator import ROLE as VALIDATOR
from generators.policy.noisy import NoisyPolicy
from generators.policy.protocol import Policy
from generators.policy.scripted import ScriptedPolicy, load_script
from generators.policy.teacher.policy import TeacherPolicy
from generators.policy.teacher_replies import RoleReplies, TeacherDrivenPolicy
from schemas.config import RunConfig
from schemas.errors import BadConfig, BadTasks
from schemas.sections import ENGINE_POLICIES, EngineKind, PolicyName, PolicySection
from schemas.task import Task
from schemas.viewport import Viewport

QueueReply = Callable[[str, str], None]
"""Queues the simulator's next reply in a conversation: the session, then the text."""


def check_policy(section: PolicySection, config: RunConfig) -> None:
    """Refuse a section from which no policy can be made, before any work.

    Raises:
        BadConfig: it needs an engine and the run has none, an option is unknown, or a script is
            missing or not allowed.
        BadTasks: the script is unreadable or has an item that is not an action.
    """
    if section.name in ENGINE_POLICIES:
        if config.engine.kind is EngineKind.NONE:
            raise BadConfig(
                f"policy.name: '{section.name}' needs an engine; set engine.kind to openai (with "
                "engine.urls), vllm (with engine.model) or scripted"
            )
        dialect_of(section)
    _check_roles(section)
    if section.name is PolicyName.SCRIPTED:
        if section.script is None:
            raise BadConfig("policy.script: 'scripted' needs a JSON file of actions by template")
        load_script(Path(section.script))
    elif section.script is not None:
        raise BadConfig(f"policy.script: '{section.name}' reads no script; leave it out")


def _check_roles(section: PolicySection) -> None:
    for name, role in ((LOCALIZER, section.localizer), (VALIDATOR, section.validator)):
        if role is None:
            continue
        if section.name is not PolicyName.SURFER:
            raise BadConfig(
                f"policy.{name}: '{section.name}' has no roles; leave it out, or set policy.name "
                f"to '{PolicyName.SURFER}'"
            )
        if role.model is not None and not role.urls:
            raise BadConfig(
                f"policy.{name}.model: '{role.model}' needs endpoints of its own; set "
                f"policy.{name}.urls, or leave the model out to ask the run's engine"
            )
        try:
            dialect_of(section, role)
        except BadConfig as error:
            raise BadConfig(f"policy.{name}{str(error).removeprefix('policy')}") from error


class PolicyFactory:
    """Makes the policy of every episode of a run."""

    def __init__(
        self,
        config: RunConfig,
        engines: EngineSet | None = None,
        *,
        queue_reply: QueueReply | None = None,
    ) -> None:
        """Make what all episodes share.

        With `queue_reply` the teacher drives every policy that asks an engine.

        Raises:
            BadConfig: a section needs an engine and there is none, or its context is too small.
        """
        self._queue_reply = queue_reply
        self._model_configs = ModelConfigs(config, engines) if engines is not None else None

    @property
    def models(self) -> tuple[ModelConfig, ...]:
        """The models of all policies; empty if none asks an engine."""
        return self._model_configs.all if self._model_configs is not None else ()

    def make(
        self,
        section: PolicySection,
        *,
        seed: str,
        task: Task,
        account: Account,
        viewport: Viewport | None = None,
    ) -> Policy:
        """Return the policy of one episode of `task`, which records its calls in `account`.

        `seed` is that of its random draws, and the name of its conversation with the engine. `viewport`
        is what it will see; None: the largest that the run may have.

        Raises:
            BadConfig: it needs an engine and there is none.
            BadTasks: the script is unreadable or has no list for the task's template.
        """
        match section.name:
            case PolicyName.TEACHER:
                return TeacherPolicy()
            case PolicyName.CLUMSY:
                return NoisyPolicy(TeacherPolicy(), seed=seed)
            case PolicyName.SCRIPTED:
                path = Path(section.script or "")
                scripts = load_script(path)
                if task.template_id not in scripts:
                    raise BadTasks(f"{path}: there is no list of actions for '{task.template_id}'")
                return ScriptedPolicy(scripts[task.template_id])
            case _:
                return self._make_model_policy(section, viewport, seed=seed, account=account)

    def _make_model_policy(
        self, section: PolicySection, viewport: Viewport | None, *, seed: str, account: Account
    ) -> Policy:
        if self._model_configs is None:
            raise BadConfig(f"policy.name: '{section.name}' needs an engine")
        models = self._model_configs.of(section, viewport)
        model, roles, budget = models.model, models.roles, models.budget
        policy: Policy
        if roles is None:
            policy = ModelPolicy(model, account, budget=budget, session=seed)
        else:
            policy = SurferPolicy(model, roles, account, budget=budget, session=seed)
        if self._queue_reply is None:
            return policy
        queue, replies = self._queue_reply, None
        if roles is not None:
            replies = RoleReplies(model, roles, session=seed, queue=queue)
        return TeacherDrivenPolicy(
            policy, TeacherPolicy(), model, queue=partial(queue, seed), role_replies=replies
        )
