"""The progress of a command: the work done, its speed, and the time that the rest may take.

The job counts each event as it happens, and only numbers are kept. They are for people who watch;
the summary at the end is read from the tables.
"""

import time
from collections import Counter
from collections.abc import Iterable

from generators.verify.novelty import Novelty
from schemas.base import Record
from schemas.configuration.sections import AcceptSection
from schemas.episodes.episode import Episode
from schemas.verdicts.acceptance import AcceptanceStatus, acceptance_status
from schemas.verdicts.verdict import Verdict


class Progress(Record):
    """The progress of a command."""

    episodes: int
    """Finished episodes: in the spool or committed."""
    episodes_total: int
    """Episodes of the plan."""
    accepted: int
    """Accepted episodes, as far as known."""
    copies: bool = False
    """Whether copies are among these: only a reader of the whole run can exclude them (`novelty`)."""
    unknown: int
    """Episodes that an earlier command judged and whose verdicts were not read yet."""
    judged: int
    """Episodes accepted or rejected so far."""
    units: int
    """Committed units."""
    units_total: int
    """Units of the plan."""
    units_failed: int
    """Units that failed; the same command again resumes them."""
    busy: int
    """Sessions open now."""
    sessions: int
    """The limit on open sessions."""
    steps_per_second: float
    """Steps per second of this command."""
    seconds: float
    """Seconds since the command began its work."""
    remaining_seconds: float | None
    """How long the rest may take; None while that cannot be estimated."""
    waiting_for_memory: int = 0
    """Episodes that do not begin, because the memory of the machine is short."""
    engine: str = ""
    """How many episodes live at the engine, how many may, and why; empty without one."""
    ending: bool
    """Whether no unit goes on any more: the tables are sealed and counted, and the run is published."""

    @property
    def percent(self) -> float:
        """Share of the work that is done, 0–100: an episode counts once finished, once judged."""
        whole = 2 * self.episodes_total
        return 100.0 * (self.episodes + self.judged) / whole if whole else 100.0

    def _accepted_words(self) -> list[str]:
        """Return the number of accepted episodes in words; empty while none is known."""
        if self.unknown and not self.accepted:
            return []
        copies = ", copies included" if self.copies and self.accepted else ""
        return [f"{'at least ' if self.unknown else ''}{self.accepted} accepted{copies}"]

    @property
    def sentence(self) -> str:
        """The progress, in a line for people."""
        parts = [
            f"{self.episodes}/{self.episodes_total} episodes",
            *self._accepted_words(),
            f"{self.steps_per_second:.1f} steps/s",
            f"{self.busy}/{self.sessions} sessions",
            f"{self.units}/{self.units_total} units",
        ]
        if self.waiting_for_memory:
            parts.append(f"memory is short: {self.waiting_for_memory} wait to begin")
        if self.engine:
            parts.append(self.engine)
        if self.units_failed:
            parts.append(f"{self.units_failed} failed")
        if self.ending:
            parts.append("finishing the run")
        elif self.remaining_seconds is not None:
            parts.append(f"{format_duration(self.remaining_seconds)} left")
        return " · ".join(parts)


def format_duration(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class ProgressCounter:
    """Counts the work of a command, and the work done before it."""

    def __init__(self, *, rule: AcceptSection) -> None:
        self._rule = rule
        self._began = time.perf_counter()
        self._statuses: dict[str, AcceptanceStatus | None] = {}
        self._finished: set[str] = set()
        self._in_spool: set[str] = set()
        self.accepted = 0
        """Accepted episodes, as far as known."""
        self._judged_here = 0
        self.episodes_total = 0
        """Episodes of the plan."""
        self.units_total = 0
        """Units of the plan."""
        self.units = 0
        """Committed units."""
        self.units_failed = 0
        """Units that failed."""
        self.ending = False
        """Whether no unit goes on any more."""
        self.left_out: Counter[str] = Counter()
        """Episodes that a verifier is not asked about again, by verifier."""
        self.rolled_out = 0
        """Episodes of this command."""
        self.steps = 0
        """Actions of this command."""

    @property
    def seconds(self) -> float:
        """Seconds since the command began its work."""
        return time.perf_counter() - self._began

    def count_existing(self, episode_id: str) -> None:
        """Count an episode that was finished before."""
        self._finished.add(episode_id)

    def count_new(self, episode: Episode) -> None:
        """Count an episode that this command finished."""
        self._finished.add(episode.episode_id)
        self.rolled_out += 1
        self.steps += episode.n_steps

    def count_spooled(self, episode_id: str) -> None:
        """Count an episode that is in the spool, and may stay there when the command ends."""
        self._in_spool.add(episode_id)

    def count_committed(self, episodes: Iterable[str]) -> None:
        """Count episodes that have left the spool."""
        self._in_spool.difference_update(episodes)

    @property
    def in_spool(self) -> int:
        """Number of finished episodes that wait for their unit's commit, as far as this command met them."""
        return len(self._in_spool)

    @property
    def accepted_in_spool(self) -> tuple[str, ...]:
        """Accepted episodes that are not committed, sorted."""
        statuses = self._statuses
        return tuple(
            sorted(one for one in self._in_spool if statuses.get(one) is AcceptanceStatus.ACCEPTED)
        )

    @property
    def has_unknown(self) -> bool:
        """Whether an earlier command judged an episode whose verdicts were not read yet."""
        return None in self._statuses.values()

    def count_judged(self, episode_id: str, verdicts: Iterable[Verdict]) -> None:
        """Count an episode by every verdict on it."""
        self._judged_here += episode_id not in self._statuses
        self._set_status(episode_id, acceptance_status(self._rule, verdicts))

    def count_judged_before(self, episode_id: str, verdicts: Iterable[Verdict] | None) -> None:
        """Count an episode that an earlier command judged; None: its verdicts were not read yet."""
        known = None if verdicts is None else acceptance_status(self._rule, verdicts)
        self._set_status(episode_id, known)

    def count_accepted_before(self, episode_id: str) -> None:
        """Count an episode in the spool that an earlier command accepted, until it is judged again."""
        self._set_status(episode_id, AcceptanceStatus.ACCEPTED)

    def _set_status(self, episode_id: str, status: AcceptanceStatus | None) -> None:
        before = self._statuses.get(episode_id)
        self.accepted += (status is AcceptanceStatus.ACCEPTED) - (
            before is AcceptanceStatus.ACCEPTED
        )
        self._statuses[episode_id] = status

    def progress(self, *, busy: int, sessions: int) -> Progress:
        """Return the progress so far."""
        seconds = self.seconds
        statuses = list(self._statuses.values())
        judged = sum(one is not AcceptanceStatus.UNJUDGED for one in statuses)
        done_here = self.rolled_out + self._judged_here
        missing = 2 * self.episodes_total - len(self._finished) - len(statuses)
        return Progress(
            episodes=len(self._finished),
            episodes_total=self.episodes_total,
            accepted=self.accepted,
            copies=Novelty.name in self._rule.passed,
            unknown=statuses.count(None),
            judged=judged,
            units=self.units,
            units_total=self.units_total,
            units_failed=self.units_failed,
            busy=busy,
            sessions=sessions,
            steps_per_second=self.steps / seconds if seconds else 0.0,
            seconds=seconds,
            remaining_seconds=missing * seconds / done_here if done_here else None,
            ending=self.ending,
        )
