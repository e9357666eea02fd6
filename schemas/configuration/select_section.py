"""The section of a configuration about selection: which of the episodes that may be published are.

The words of `select.where` are SQL over the columns of `attempts`; `storage.publish.plan.where` evaluates them.
"""

from enum import StrEnum
from fractions import Fraction
from typing import Annotated

from pydantic import Field, field_validator

from schemas.base import JsonObject, Record

Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, le=1)]

ROUNDING = Fraction(1, 1000)
"""By how much the sum of shares may differ from 1, so that thirds can be written."""


class SelectKey(StrEnum):
    """The keys of `select`, in the order in which they are applied."""

    WHERE = "where"
    """Its row does not meet the expression."""
    MAX_PER_TASK = "max_per_task"
    """Enough attempts of the run at its task are selected."""
    MAX_PER_TEMPLATE = "max_per_template"
    """Enough episodes of its template are selected."""
    MAX_PER_FAMILY = "max_per_family"
    """Enough episodes of its family are selected."""
    SHARES = "shares"
    """Its site has its share without it."""


class SelectSection(Record):
    """The selection, of the episodes that may be published, of those that are published or exported as trajectories.

    Every attempt stays in `attempts`, which says what left it out. Of more episodes than there may be, the first in
    the order of publication are selected, so that a run that goes on keeps those that it has published.
    """

    where: str | None = Field(default=None, min_length=1, max_length=10_000)
    """An expression of DuckDB's SQL over the columns of `attempts`, and `date`, `tags`, `difficulty`, `instruction`,
    `labels` and `verdicts`, as `n_steps <= 10 and site = 'miniwob'`. None: every episode."""
    max_per_task: Count | None = None
    """The most episodes of a task, of one run. None: all."""
    max_per_template: Count | None = None
    """The most episodes of a template; in a collection of all its nights together. None: all."""
    max_per_family: Count | None = None
    """The most episodes of a family, which is what stands before the first `/` of a template, as `shop` of
    `shop/find`; in a collection of all its nights together. None: all."""
    shares: dict[str, Share] = Field(default_factory=dict)
    """The mixture of `train` by sites, as `{miniwob = 0.7, worlds = 0.3}`: the largest with these shares, which
    add up to 1; other sites are left out of it. In a collection each night is mixed so. Empty: as it comes."""

    @field_validator("shares")
    @classmethod
    def _check_sum(cls, shares: dict[str, float]) -> dict[str, float]:
        total = sum(map(exact, shares.values()), Fraction())
        if shares and abs(total - 1) > ROUNDING:
            raise ValueError(f"shares add up to 1, and these to {float(total):g}")
        return shares

    @property
    def stated(self) -> JsonObject:
        """The keys that select anything, with their values; empty: everything is selected."""
        values: JsonObject = self.model_dump(mode="json")
        return {name: value for name, value in values.items() if value not in (None, {})}


def exact(share: float) -> Fraction:
    """Return a share as it is written, 0.1 as a tenth."""
    return Fraction(str(share))
