"""Makes the policy of one episode from a configuration's policy sections.

Each episode gets its own policy, made from the run's seed and the task, so that no state or random draw is
shared. The parts that all episodes share (the engine, the dialect, the system prompt, the budget) are made
once, with the factory.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from generators.policy.model.answer_validator import ROLE as VALIDATOR
from generators.policy.model.localizer import ROLE as LOCALIZER
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.setup import EngineSet, ModelConfigs, PolicyModels, dialect_of
from generators.policy.model.try_account import Account
from generators.policy.protocol import Policy
from generators.policy.registry import POLICIES, PolicyParts, make_teacher, read_policy_options
from generators.policy.scripted import load_script
from generators.policy.teacher_replies import RoleReplies, TeacherDrivenPolicy
from registries.registry import plugin_errors
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import ENGINE_POLICIES, EngineKind, PolicyName, PolicySection
from schemas.episodes.episode import PolicyKind
from schemas.episodes.viewport import Viewport
from schemas.errors import BadConfig
from schemas.tasks.task import Task

QueueReply = Callable[[str, str], None]
"""Queues the simulator's next reply in a conversation: the session, then the text."""


def check_policy(section: PolicySection, config: RunConfig) -> None:
    """Refuse a section from which no policy can be made, before any work.

    Raises:
        NotFound: there is no such policy.
        BadConfig: its plug-in cannot be used, it needs an engine and the run has none, an option is
            unknown, or a script is not allowed.
        BadTasks: the script is unreadable or has an item that is not an action.
    """
    read_policy_options(section)
    if section.name in ENGINE_POLICIES and config.engine.kind is EngineKind.NONE:
        raise BadConfig(
            f"policy.name: '{section.name}' needs an engine; set engine.kind to openai (with "
            "engine.urls), vllm (with engine.model) or simulator"
        )
    if config.asks_engine(section):
        dialect_of(section)
    _check_roles(section)
    if section.name == PolicyName.SCRIPTED:
        if section.script is not None:
            load_script(Path(section.script))
    elif section.script is not None:
        raise BadConfig(f"policy.script: '{section.name}' reads no script; leave it out")


def _check_roles(section: PolicySection) -> None:
    for name, role in ((LOCALIZER, section.localizer), (VALIDATOR, section.validator)):
        if role is None:
            continue
        if section.name != PolicyName.SURFER:
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
        """Make the parts that all episodes share.

        With `queue_reply` the teacher drives every policy that uses an engine.

        Raises:
            BadConfig: a section needs an engine and there is none, or its context is too small.
        """
        self._config = config
        self._queue_reply = queue_reply
        self._model_configs = ModelConfigs(config, engines) if engines is not None else None

    @property
    def models(self) -> tuple[ModelConfig, ...]:
        """The models of all policies; empty if none uses an engine."""
        return self._model_configs.all if self._model_configs is not None else ()

    def asks_engine(self, section: PolicySection) -> bool:
        """Return whether the policy of a section asks the run's engine."""
        return self._config.asks_engine(section)

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

        `seed` seeds its random draws and names its conversation with the engine. `viewport` is the size of
        its page; None: the largest that the run may have.

        Raises:
            BadConfig: it needs an engine and there is none, or a plug-in's policy has another name or kind.
            BadTasks: the script is unreadable or has no list for the task's template.
        """
        models = None
        if self._config.asks_engine(section) and self._model_configs is not None:
            models = self._model_configs.of(section, viewport)
        parts = PolicyParts(
            section=section,
            options=read_policy_options(section),
            seed=seed,
            task=task,
            account=account,
            models=models,
        )
        if section.name not in set(PolicyName):
            return _made_by_plugin(parts)
        policy = POLICIES.get(section.name, key="policy.name").make(parts)
        if models is not None and self._queue_reply is not None:
            return _teacher_driven(
                policy, models, session=seed, queue=self._queue_reply, teacher=make_teacher(parts)
            )
        return policy


def _teacher_driven(
    policy: Policy, models: PolicyModels, *, session: str, queue: QueueReply, teacher: Policy
) -> Policy:
    """Return a model's policy whose replies are the teacher's."""
    replies = None
    if models.roles is not None:
        replies = RoleReplies(models.model, models.roles, session=session, queue=queue)
    return TeacherDrivenPolicy(
        policy,
        teacher,
        models.model,
        queue=partial(queue, session),
        role_replies=replies,
    )


def _made_by_plugin(parts: PolicyParts) -> Policy:
    """Return a plug-in's policy.

    Raises:
        BadConfig: it cannot be made, has another name, or declares a kind reserved for shipped policies.
    """
    name, kinds = parts.section.name, (PolicyKind.PLUGIN, PolicyKind.MODEL)
    make = POLICIES.get(name, key="policy.name").make
    with plugin_errors(f"policy.name: '{name}'", "it is not made"):
        policy = make(parts)
        card = policy.card
    if card.name != name or card.kind not in kinds:
        raise BadConfig(
            f"policy.name: the card of the plug-in's policy '{name}' says '{card.name}', {card.kind}; "
            f"expected '{name}', and {' or '.join(kinds)}"
        )
    return policy
