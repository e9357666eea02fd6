"""Whether a configuration can be carried out, decided before anything is opened or written."""

import logging
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from flows.resources.engine_check import check_engine
from generators.policy.factory import check_policy
from generators.sites import miniwob
from generators.tasks.loader import load_tasks
from generators.verify.verifiers import check_verifier_names
from schemas.config import RunConfig
from schemas.errors import BadConfig
from schemas.sections import AcceptSection
from schemas.task import Task

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ValidConfig:
    """A configuration that can be carried out."""

    config: RunConfig
    """The resolved configuration."""
    tasks: tuple[Task, ...]
    """The tasks to attempt."""


def validate(config: RunConfig) -> ValidConfig:
    """Return `config` with its tasks; nothing is opened or written.

    Raises:
        BadConfig: a value cannot be honoured by this version.
        BadTasks: the task source is unreadable or selects nothing.
        NotFound: a verifier does not exist.
    """
    for section in config.mix:
        check_policy(section, config)
    if config.uses_engine:
        check_engine(config)
    _check_verifiers(config)
    tasks = tuple(load_tasks(config.tasks))
    _warn_of_thresholds(config.accept, tasks)
    return ValidConfig(config, tasks)


def _warn_of_thresholds(rule: AcceptSection, tasks: Iterable[Task]) -> None:
    """Warn of templates to which the user's own threshold does not apply."""
    if rule.min_reward == AcceptSection().min_reward:
        return
    templates = {task.template_id for task in tasks if task.site == miniwob.NAME}
    own = [
        f"{name} ({miniwob.THRESHOLDS[name].reward:g})"
        for name in sorted(templates & miniwob.THRESHOLDS.keys())
    ]
    if own:
        LOG.warning(
            "accept.min_reward = %g does not hold for %s: a template whose score is continuous has "
            "a threshold of its own",
            rule.min_reward,
            ", ".join(own),
        )


def _check_verifiers(config: RunConfig) -> None:
    asked, wanted = config.verify.verifiers, config.accept.passed
    check_verifier_names(asked)
    check_verifier_names((*wanted, *config.accept.min_scores))
    twice = [name for name, times in Counter(asked).items() if times > 1]
    if twice:
        raise BadConfig(f"verify.verifiers: expected each verifier once, got '{twice[0]}' twice")
    unasked = [name for name in wanted if name not in asked]
    if unasked:
        LOG.warning(
            "accept.passed requires '%s', which verify.verifiers leaves out: "
            "no episode can be accepted before it is asked",
            "', '".join(unasked),
        )
