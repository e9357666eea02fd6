"""The episodes of a run that were withdrawn: `withdrawn.json`.

Episodes are added and never taken back. Whoever reads the run for a dataset or an export leaves them out; a unit that
is committed is not made again, so none of them comes back.
"""

from collections.abc import Sequence
from typing import Self

from pydantic import Field, ValidationError, model_validator

from schemas.base import Record, content_hash
from schemas.errors import Damaged
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


class _File(Record):
    withdrawn: tuple[Withdrawal, ...]
    """The episodes, in the order in which that was asked for."""
    digest: str
    """Hash of `withdrawn`."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.digest != _digest(self.withdrawn):
            raise ValueError("digest: is not that of the episodes")
        return self


def _digest(withdrawn: Sequence[Withdrawal]) -> str:
    return content_hash([one.model_dump(mode="json") for one in withdrawn])


def parse_withdrawals(data: bytes) -> tuple[Withdrawal, ...]:
    """Return the withdrawn episodes in `data`.

    Raises:
        Damaged: it is not such a record.
    """
    try:
        return _File.model_validate_json(data).withdrawn
    except ValidationError as error:
        raise Damaged(f"{KEY}: cannot be read: {error.errors()[0]['msg']}") from None


async def read_withdrawals(store: ObjectStore) -> tuple[Withdrawal, ...]:
    """Return the episodes of a run that were withdrawn.

    Raises:
        Damaged: the record cannot be read.
    """
    try:
        return parse_withdrawals(await store.get(KEY))
    except Missing:
        return ()


async def add_withdrawals(store: ObjectStore, new: Sequence[Withdrawal]) -> int:
    """Record that episodes are withdrawn, and return how many were not before; the first reason stays.

    Raises:
        Damaged: the record cannot be read.
        Unwritable: the store cannot be written.
    """
    added: list[Withdrawal] = []

    def decide(before: bytes | None) -> bytes | None:
        known = () if before is None else parse_withdrawals(before)
        ids = {one.episode for one in known}
        added[:] = [one for one in new if one.episode not in ids]
        if not added:
            return None
        whole = (*known, *added)
        return _File(withdrawn=whole, digest=_digest(whole)).model_dump_json().encode() + b"\n"

    await change_record(store, KEY, decide)
    return len(added)
