"""Whether a configuration can be carried out, decided before anything is opened or written."""

import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pyarrow.dataset import Dataset

from flows.job.min_reward_warnings import warn_of_thresholds
from flows.job.run_limits import check_run_limits
from flows.resources.engine_config_check import check_engine
from generators.policy.factory import check_policy
from generators.policy.model.setup import dialect_of
from generators.sites.judging.probes import check_probes, probe_names
from generators.sites.registry import SITES
from generators.tasks.site_offers import site_offers
from generators.tasks.task_plan import TaskPlan, plan_tasks, refusal_of
from generators.tasks.worlds.draw import is_in_further_world
from generators.verify.registry import check_verifier_names
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import PolicyName
from schemas.errors import BadConfig, BadTasks
from schemas.tasks.task import Task
from storage.lake import readers

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ValidConfig:
    """A configuration that can be carried out."""

    config: RunConfig
    """The resolved configuration."""
    tasks: tuple[Task, ...]
    """The tasks to attempt."""
    waiting: tuple[Task, ...] = ()
    """The run's tasks of applications that are not installed here."""


def validate(config: RunConfig) -> ValidConfig:
    """Return `config` with its tasks; nothing is opened or written.

    Raises:
        BadConfig: a value cannot be honoured by this version, or a plug-in cannot be used.
        BadTasks: a task source is unreadable or selects nothing, or no task of it can be attempted here.
        NotFound: a verifier does not exist.
    """
    for section in config.mix:
        check_policy(section, config)
    if config.uses_engine:
        check_engine(config)
    check_run_limits(config)
    check_verifiers(config)
    plan = plan_tasks(config.tasks, seed=config.run.seed, applications=config.sites)
    tasks = _attemptable(plan, config)
    _check_references(config, (*tasks, *plan.waiting))
    for name in sorted({task.site for task in tasks} - config.sites.keys()):
        SITES.get(name, key="site")  # a plug-in that cannot be used is refused before any work
    check_probes(probe_names(tasks))
    warn_of_thresholds(config.accept, ((task.site, task.template_id) for task in tasks))
    return ValidConfig(config, tasks, plan.waiting)


def _check_references(config: RunConfig, tasks: Sequence[Task]) -> None:
    """Refuse tasks without a reference that a policy would carry out by reference."""
    carried_out = {PolicyName.REFERENCE, PolicyName.SCRIPTED}
    name = next((one.name for one in config.mix if one.name in carried_out and not one.script), "")
    if name:
        without = [task for task in tasks if task.reference is None]
        if without:
            first = without[0]
            raise BadTasks(
                f"policy: without a policy.script '{name}' carries out the tasks' references, and "
                f"{len(without):,} of {len(tasks):,} tasks have no reference, as {first.site} "
                f"{first.template_id} with seed {first.seed}"
            )


def _attemptable(plan: TaskPlan, config: RunConfig) -> tuple[Task, ...]:
    """Return the tasks that can be attempted here, and log those left out.

    Raises:
        BadTasks: no task can be attempted.
    """
    sites = site_offers(config.sites)
    reasons = Counter(refusal_of(task, sites) for task in plan.set_apart)
    if not plan.tasks:
        parts = [f"none of {count} tasks can be attempted: {why}" for why, count in reasons.items()]
        raise BadTasks(f"tasks: {'; '.join(parts)}")
    later = {sites[task.site].missing for task in plan.waiting}
    for why, count in reasons.items():
        then = " (then the same command attempts them too)" if why in later else ""
        LOG.warning("%d tasks are left out: %s%s", count, why, then)
    if plan.unmapped:
        LOG.warning(
            "%d rows of task files give no task; `stepmill tasks validate FILE` names each",
            len(plan.unmapped),
        )
    if config.tasks.sample is not None and config.tasks.sample > plan.available:
        LOG.warning(
            "tasks.sample = %d, but there are only %d tasks: all are taken",
            config.tasks.sample,
            plan.available,
        )
    further = sum(is_in_further_world(task) for task in plan.tasks)
    if further:
        LOG.warning(
            "%d of %d tasks are set in a further world, as that of their seed has none of their kind",
            further,
            len(plan.tasks),
        )
    return plan.tasks


def check_dialects(config: RunConfig) -> None:
    """Refuse to judge a run whose dialects are not all here: its replies could not be read.

    Raises:
        BadConfig: a dialect's plug-in is not installed, or cannot be used.
    """
    for section in config.mix:
        if config.asks_engine(section):
            dialect_of(section)


def check_stored_probes(tasks: Dataset | None) -> None:
    """Refuse to judge a run whose probes are not all here: its replays could not be judged.

    `tasks` is the run's table of them; None: it has none.

    Raises:
        NotFound: a probe's plug-in is not installed.
        BadConfig: it cannot be used.
        Damaged: the tasks cannot be read.
    """
    stated = {row["expect"] for row in readers.rows(tasks, columns=["expect"])} - {None}
    named = {json.loads(text).get("probe") for text in stated} - {None}
    check_probes(sorted(named))


def check_verifiers(config: RunConfig) -> None:
    """Refuse verifiers that do not exist or are named twice, and warn of those that acceptance misses.

    Raises:
        BadConfig: one is named twice.
        NotFound: one does not exist.
    """
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
