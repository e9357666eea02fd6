"""The ids of a run's parts: content hashes, so planning twice gives the same ids.

A run's own id is drawn once and kept in `run.json`; all other ids are derived from it, and none depends
on where the run is stored.
"""

from collections.abc import Sequence

from schemas.base import content_hash


def group_id(run_id: str, task_id: str) -> str:
    """Return the id shared by all attempts of a task in a run."""
    return content_hash(["group", run_id, task_id])


def episode_id(run_id: str, task_id: str, attempt: int) -> str:
    """Return the id of one attempt at a task in a run."""
    return content_hash(["episode", run_id, task_id, attempt])


def unit_id(run_id: str, task_ids: Sequence[str], attempts: int) -> str:
    """Return the id of the unit that makes `attempts` attempts at each of `task_ids`."""
    return content_hash(["unit", run_id, list(task_ids), attempts])


def served_unit_id(run_id: str, first_episode_id: str) -> str:
    """Return the id of a unit of episodes that were served and ended one after another; it is named after the first."""
    return content_hash(["served", run_id, first_episode_id])


SERVED_ATTEMPTS = 1_000_000
"""Attempts of served episodes begin here, and each server of a run counts in a block of this size of its own, so that
no two make the same episode, and none makes one that the run's plan has."""


def verdict_transaction(unit: str, verifier: str, version: str, round_: int) -> str:
    """Return the id of the Delta transaction that commits a unit's verdicts once."""
    return content_hash(["verdicts", unit, verifier, version, round_])
