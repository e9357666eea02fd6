"""The limits of a whole run: on its dollars, its hours at work and its accepted episodes.

They count what every command on the run has made, so the same limits end a resumed run at once, and higher ones let
it go on. A run that reaches one begins nothing new; what is in flight ends as after an interrupt.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from schemas.base import Record
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import LimitsSection
from schemas.errors import BadConfig

_SECONDS_PER_HOUR = 3_600


class RunLimit(StrEnum):
    """The keys of `[limits]` that a whole run has."""

    DOLLARS = "dollars"
    """What the run costs."""
    HOURS = "hours"
    """How long the run is worked on."""
    ACCEPTED = "accepted"
    """How many episodes of it are accepted."""


_WORDS = {
    RunLimit.DOLLARS: "the run has cost {:.4g} dollars",
    RunLimit.HOURS: "the run was worked on for {:.4g} hours",
    RunLimit.ACCEPTED: "{:g} episodes are accepted",
}


class ReachedLimit(Record):
    """A limit that the run has reached."""

    limit: RunLimit
    """The key."""
    value: float
    """Its value, in the key's unit."""
    total: float
    """The run's total, in the same unit."""

    @property
    def sentence(self) -> str:
        """The limit, the total and how to go on, in a line for people."""
        return (
            f"limits.{self.limit} = {self.value:g} is reached: {_WORDS[self.limit].format(self.total)}; "
            "the same command with a higher value goes on"
        )


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a run, over all commands."""

    dollars: float
    """What its engines have cost."""
    seconds: float
    """How long commands have worked on it."""
    accepted: int
    """Its accepted episodes."""


def _count_nothing() -> Totals:
    return Totals(dollars=0.0, seconds=0.0, accepted=0)


class RunLimits:
    """Compares the totals of a run with its limits."""

    def __init__(
        self, limits: LimitsSection | None = None, totals: Callable[[], Totals] = _count_nothing
    ) -> None:
        """`totals` are read at each comparison; `limits` None: there are none."""
        limits = limits or LimitsSection()
        self._values = {
            RunLimit.DOLLARS: limits.dollars,
            RunLimit.HOURS: limits.hours,
            RunLimit.ACCEPTED: limits.accepted,
        }
        self._totals = totals

    @property
    def are_set(self) -> bool:
        """Whether there is a limit."""
        return any(value is not None for value in self._values.values())

    def find_reached(self) -> ReachedLimit | None:
        """Return the first limit that the run has reached; None: it has reached none."""
        if not self.are_set:
            return None
        now = self._totals()
        totals = {
            RunLimit.DOLLARS: now.dollars,
            RunLimit.HOURS: now.seconds / _SECONDS_PER_HOUR,
            RunLimit.ACCEPTED: now.accepted,
        }
        for limit, value in self._values.items():
            if value is not None and totals[limit] >= value:
                return ReachedLimit(limit=limit, value=value, total=totals[limit])
        return None


def check_run_limits(config: RunConfig) -> None:
    """Refuse a limit on dollars where nothing that the run does has a price.

    Raises:
        BadConfig: the error names the keys that set a price.
    """
    if config.limits.dollars is None:
        return
    if not config.uses_engine:
        raise BadConfig(
            f"limits.dollars = {config.limits.dollars:g}: no policy of this run asks an engine, so it "
            "costs nothing; leave the key out, or set limits.hours"
        )
    if config.engine.usd_per_hour is None and config.engine.usd_per_million is None:
        raise BadConfig(
            f"limits.dollars = {config.limits.dollars:g}: no price is known; set engine.usd_per_hour or "
            "engine.usd_per_million"
        )
