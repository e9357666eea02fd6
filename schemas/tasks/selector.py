"""Which task a client asks for."""

from pydantic import Field

from schemas.base import Record


class Difficulty(Record):
    """How hard a task of a world is; each None: as the seed draws it."""

    rows: int | None = Field(default=None, ge=1)
    distractors: int | None = Field(default=None, ge=0)
    steps: int | None = Field(default=None, ge=1)
    faults: float | None = Field(default=None, ge=0, le=1)


class Selector(Record):
    """What fits a client."""

    name: str | None = None
    split: str | None = None
    seed: int | None = Field(default=None, ge=0)
    kind: str | None = None
    label: str | None = None
    difficulty: Difficulty | None = None
    index: int | None = Field(default=None, ge=0)
