"""The report of a command on a run: the totals of the run, and the rates of this command."""

from pydantic import Field, JsonValue

from flows.job.run_limits import ReachedLimit, RunLimit
from flows.job.summary import Summary
from flows.terminal import ExitCode
from schemas.base import Record
from storage.publish.publish import PublishReport

_TOTALS = (
    "tasks",
    "episodes",
    "accepted",
    "rejected",
    "unjudged",
    "failed",
    "steps",
    "prompt_tokens",
    "completion_tokens",
    "engine_seconds",
    "browser_seconds",
)

_REACHED = {
    RunLimit.DOLLARS: ExitCode.DOLLARS_REACHED,
    RunLimit.HOURS: ExitCode.HOURS_REACHED,
    RunLimit.ACCEPTED: ExitCode.ACCEPTED_REACHED,
}


class Report(Record):
    """The report of a command on a run at its end."""

    run: str
    """The run's URL."""
    run_id: str
    """The run's id."""
    summary: Summary
    """The run's contents now."""
    seconds: float
    """Wall s of this command, from the start of its work."""
    rolled_out: int
    """Episodes this command made."""
    steps: int
    """Actions this command took."""
    left_out: dict[str, int] = Field(default_factory=dict)
    """Episodes that a verifier was not asked about again, by verifier: it has judged them as often as it
    may."""
    units_failed: int
    """Units that failed; the same command again resumes them."""
    planned: int
    """Episodes of the plan."""
    publications: tuple[PublishReport, ...] = ()
    """The report of each destination that was published to."""
    problems: tuple[str, ...] = Field(default=())
    """The problems, each in a sentence."""
    interrupted: bool = False
    """The user stopped it; the same command again goes on."""
    reached: ReachedLimit | None = None
    """The limit of the run that stopped it; None: none did."""
    waiting: int = 0
    """Finished episodes in the spool, which are committed with the rest of their units."""

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the command."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        if self.reached is not None and not (self.units_failed or self.problems):
            return _REACHED[self.reached.limit]
        short = self.units_failed or self.problems or not self.summary.accepted
        return ExitCode.SHORT if short else ExitCode.DONE

    def as_json(self) -> dict[str, JsonValue]:
        """Return the one object that `--json` prints."""
        rate = 1 / self.seconds if self.seconds else 0.0
        summary = self.summary.model_dump(mode="json")
        return {
            "run": self.run,
            "run_id": self.run_id,
            "version": self.summary.version,
            **{name: summary[name] for name in _TOTALS},
            "seconds": round(self.seconds, 3),
            "episodes_per_hour": round(self.rolled_out * rate * 3_600, 3),
            "steps_per_second": round(self.steps * rate, 3),
            "published": [publication.destination for publication in self.publications],
            "planned": self.planned,
            "rolled_out": self.rolled_out,
            "replayed": self.summary.replayed,
            "reproduced": self.summary.reproduced,
            "units_failed": self.units_failed,
            "left_out": dict(self.left_out),
            "problems": list(self.problems),
            "interrupted": self.interrupted,
            "reached": self.reached and self.reached.model_dump(mode="json"),
            "waiting": self.waiting,
            "templates": [
                count.model_dump(mode="json", exclude={"policy"})
                for count in self.summary.templates
            ],
        }
