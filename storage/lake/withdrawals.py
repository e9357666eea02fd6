"""The episodes of a run that were withdrawn: `withdrawn.json`.

Episodes are added and never taken back. Whoever reads the run for a dataset or an export leaves them out, and the next
compaction removes their rows. A unit that is committed is not made again, so none of them comes back; by the record an
audit knows the unit whole.
"""

from collections.abc import Iterable, Sequence
from typing import Self

from pydantic import Field, ValidationError, model_validator

from schemas.base import Record, content_hash
from schemas.errors import Damaged
from schemas.tables.tables import Row
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.record_change import change_record

KEY = "withdrawn.json"
"""The key of the record."""


class Withdrawal(Record):
    """An episode that was taken out of a run or a dataset, and never comes back."""

    episode: str = Field(pattern=r"^[0-9a-f]{16,}$")
    """The episode's id."""
    reason: str = Field(min_length=1, max_length=1_000)
    """Why, in the words of who withdrew it."""
    day: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    """When, `YYYY-MM-DD` in UTC."""


class RunWithdrawal(Withdrawal):
    """An episode that was taken out of a run; what its unit's id is made of stays when its rows are gone."""

    task_id: str
    """Its task."""
    attempt: int
    """Which attempt at the task it was."""
    unit_id: str
    """The unit that it was committed with."""


class Withdrawals(Record):
    """What was withdrawn from a run."""

    episodes: tuple[RunWithdrawal, ...] = ()
    """The episodes, in the order in which that was asked for."""
    units: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The tasks of each unit that has one of them, in the unit's order."""

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the episodes."""
        return frozenset(one.episode for one in self.episodes)


class _File(Withdrawals):
    digest: str
    """Hash of the episodes and the units."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.digest != _digest(self):
            raise ValueError("digest: is not that of the episodes and their units")
        for one in self.episodes:
            if one.task_id not in self.units.get(one.unit_id, ()):
                raise ValueError(f"units: the one of episode {one.episode} is not told")
        return self


def _digest(withdrawals: Withdrawals) -> str:
    return content_hash(withdrawals.model_dump(mode="json", include={"episodes", "units"}))


def parse_withdrawals(data: bytes) -> Withdrawals:
    """Return what `data` says was withdrawn.

    Raises:
        Damaged: it is not such a record.
    """
    try:
        return _File.model_validate_json(data)
    except ValidationError as error:
        raise Damaged(f"{KEY}: cannot be read: {error.errors()[0]['msg']}") from None


def withdrawals_of(episodes: Sequence[RunWithdrawal], heads: Iterable[Row]) -> Withdrawals:
    """Return the record of episodes; `heads` are rows of the run's `episodes`, of which it takes the tasks of units."""
    units: dict[str, dict[str, None]] = {one.unit_id: {} for one in episodes}
    for head in heads:
        if head["unit_id"] in units:
            units[head["unit_id"]][head["task_id"]] = None
    named = {unit_id: tuple(tasks) for unit_id, tasks in units.items()}
    return Withdrawals(episodes=tuple(episodes), units=named)


async def read_withdrawals(store: ObjectStore) -> Withdrawals:
    """Return what was withdrawn from a run.

    Raises:
        Damaged: the record cannot be read.
    """
    try:
        return parse_withdrawals(await store.get(KEY))
    except Missing:
        return Withdrawals()


async def add_withdrawals(store: ObjectStore, new: Withdrawals) -> int:
    """Record that episodes are withdrawn, and return how many were not before; the first reason stays.

    Raises:
        Damaged: the record cannot be read.
        Unwritable: the store cannot be written.
    """
    added: list[RunWithdrawal] = []

    def decide(before: bytes | None) -> bytes | None:
        known = Withdrawals() if before is None else parse_withdrawals(before)
        added[:] = [one for one in new.episodes if one.episode not in known.ids]
        if not added:
            return None
        whole = Withdrawals(episodes=(*known.episodes, *added), units={**new.units, **known.units})
        file = _File(episodes=whole.episodes, units=whole.units, digest=_digest(whole))
        return file.model_dump_json().encode() + b"\n"

    await change_record(store, KEY, decide)
    return len(added)
