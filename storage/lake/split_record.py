"""The splits that a run's publications assigned to its templates: `splits.json`.

A publication adds the templates that have none yet before it writes anything, and nothing is ever
changed or removed. So every later publication, of any version and at any destination, has each template
in the same split.
"""

from collections.abc import Mapping
from typing import Self

from pydantic import ValidationError, model_validator

from schemas.base import Record, canonical_json, content_hash
from schemas.errors import Conflict, Damaged
from schemas.tasks.task import SPLITS
from storage.objects.protocol import Missing, ObjectStore
from storage.objects.record_change import change_record

KEY = "splits.json"
"""The key of the record."""


class _File(Record):
    splits: dict[str, str]
    """The split of each template."""
    digest: str
    """Hash of `splits`."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.digest != content_hash(self.splits):
            raise ValueError("digest: is not that of the splits")
        if unknown := sorted(set(self.splits.values()) - set(SPLITS)):
            raise ValueError(f"names the split '{unknown[0]}'; there are {', '.join(SPLITS)}")
        return self


def parse_splits(data: bytes) -> dict[str, str]:
    """Return the split of each template in `data`.

    Raises:
        Damaged: it is not such a record.
    """
    try:
        return _File.model_validate_json(data).splits
    except ValidationError as error:
        raise Damaged(f"{KEY}: cannot be read: {error.errors()[0]['msg']}") from None


async def read_splits(store: ObjectStore) -> dict[str, str]:
    """Return the split of each template that was published; empty before the first publication.

    Raises:
        Damaged: the record cannot be read.
    """
    try:
        return parse_splits(await store.get(KEY))
    except Missing:
        return {}


async def add_splits(store: ObjectStore, splits: Mapping[str, str]) -> None:
    """Record the splits of templates that have none yet.

    Two publications that assign the same splits at once both succeed.

    Raises:
        Conflict: another publication gave one of them another split meanwhile.
        Damaged: the record cannot be read.
        Unwritable: the store cannot be written.
    """

    def decide(before: bytes | None) -> bytes | None:
        known = {} if before is None else parse_splits(before)
        for template, split in splits.items():
            if known.get(template, split) != split:
                raise Conflict(
                    f"{store.url}/{KEY}: another publication put {template} into "
                    f"{known[template]} meanwhile; run the command again"
                )
        if splits.items() <= known.items():
            return None
        whole = known | dict(splits)
        return canonical_json({"digest": content_hash(whole), "splits": whole}).encode() + b"\n"

    await change_record(store, KEY, decide)
