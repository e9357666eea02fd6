"""The ids of a run's parts: content hashes, so planning twice gives the same ids.

A run's own id is drawn once and kept in `run.json`; everything below it is derived, and nothing
depends on where the run lies.
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


def verdict_transaction(unit: str, verifier: str, version: str, round_: int) -> str:
    """Return the application transaction under which a unit's verdicts are committed once."""
    return content_hash(["verdicts", unit, verifier, version, round_])
