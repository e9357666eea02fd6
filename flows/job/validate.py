"""Whether a configuration can be carried out, decided before anything is opened or written."""

import logging
from collections import Counter
from dataclasses import dataclass

from flows.job.thresholds import warn_of_thresholds
from flows.resources.engine_check import check_engine
from generators.policy.factory import check_policy
from generators.tasks.loader import load_tasks
from generators.verify.verifiers import check_verifier_names
from schemas.config import RunConfig
from schemas.errors import BadConfig
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
    warn_of_thresholds(config.accept, ((task.site, task.template_id) for task in tasks))
    return ValidConfig(config, tasks)


def _check_verifiers(config: RunConfig) -> None:
    asked, wanted = config.verify.verifiers, config.accept.passed
    check_verifier_names(asked)
    check_verifier_names((*wanted, *config.accept.min_scores, *config.verify.rejected_too))
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
