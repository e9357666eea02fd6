"""Whether a configuration can be carried out, decided before anything is opened or written."""

from dataclasses import dataclass

from generators.policy.make import check_policy
from generators.tasks.sources import load_tasks
from generators.verify.make import check_names
from schemas.config import RunConfig, Runner
from schemas.errors import BadConfig
from schemas.task import Task


@dataclass(frozen=True, slots=True)
class Prepared:
    """A configuration that was found fit."""

    config: RunConfig
    """Resolved."""
    tasks: tuple[Task, ...]
    """What is to be attempted."""


def prepare(config: RunConfig) -> Prepared:
    """Return `config` with its tasks; nothing is opened or written.

    Raises:
        BadConfig: a value cannot be honoured by this version.
        BadTasks: the task source is unreadable or selects nothing.
        NotFound: a verifier does not exist.
    """
    if config.scale.runner is not Runner.LOCAL:
        raise BadConfig(
            f"scale.runner: this version runs on one machine, without '{config.scale.runner}'; "
            "use local"
        )
    for section in config.mix:
        check_policy(section)
    check_names(config.verify.verifiers)
    return Prepared(config, tuple(load_tasks(config.tasks)))
