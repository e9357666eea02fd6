"""MiniWoB++ with an oracle beside it, which follows the events of each problem's own page.

The oracle keeps a list of its own in the page: when a problem is drawn, and what each end reports. It
looks at nothing that the site keeps to tell its outcome.
"""

from dataclasses import dataclass, field, replace

from adversarial.lies.retelling import Told
from adversarial.recorded import RULE, Recorder

from generators.browser.protocol import Session
from generators.policy.protocol import Policy
from generators.sites.miniwob import MiniWob
from generators.sites.protocol import Outcome, Problem, Visit
from generators.verify.panel import Panel
from schemas.verdicts.acceptance import acceptance

WITHOUT_REPLAY = RULE.model_copy(
    update={"passed": tuple(name for name in RULE.passed if name != "replay")}
)
"""The default rule, for those who do not wait for replays."""

_WATCH = """(() => {
  const events = window.watchedEvents = [];
  const draw = genProblem, end = core.endEpisode;
  genProblem = (...given) => { events.push("draw"); return draw(...given); };
  core.endEpisode = (...given) => {
    const running = core.EP_TIMER !== null;
    const reported = window.planted ? "planted" : given[0];
    try { return end(...given); } finally { if (running) events.push(reported); }
  };
})()"""
"""Notes what the page draws and ends from now on, and whether code that a policy planted says so."""


async def watch_events(session: Session) -> None:
    """Note the events of the problem that the session's page has begun."""
    await session.evaluate(_WATCH)


async def first_end(session: Session) -> float | None:
    """Return what the watched problem's first end reported; None: it has none, or was left."""
    events = await session.evaluate("window.watchedEvents || []")
    assert isinstance(events, list)
    first = events[0] if events else None
    return first if isinstance(first, int | float) else None


@dataclass
class WatchedSite:
    """A site for one attempt, and what is true of its problem."""

    site: MiniWob
    true_reward: float | None = None
    """The reward of the first end of the visit's own problem; None: it has none, or was left."""

    def __getattr__(self, name: str) -> object:
        return getattr(self.site, name)

    async def begin(self, visit: Visit, session: Session) -> Problem:
        """Begin the problem, and watch its page from then on."""
        self.true_reward = None
        problem = await self.site.begin(visit, session)
        await watch_events(session)
        return problem

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        """Return the site's outcome, and read what happened."""
        outcome = await self.site.outcome(problem, session, answer=answer)
        end = await first_end(session)
        self.true_reward = self.true_reward if end is None else end
        return outcome

    def holds(self, outcome: Outcome) -> bool:
        """Return whether an outcome pays nothing but what is true."""
        pays = outcome.done and (outcome.reward or 0) > 0
        return not pays or outcome.reward == self.true_reward


@dataclass
class Played:
    """What a policy made of a task, what was made of it, and what is true."""

    told: Told
    site: WatchedSite
    paid: bool = False
    """Accepted by the default rule without its replay."""
    replayed: bool = False
    """Accepted by the default rule."""

    @property
    def false(self) -> bool:
        """The site's word, which both rules rest on, is for something else than the task."""
        last = Outcome(reward=self.told.episode.reward, done=self.told.episode.done)
        return not self.site.holds(last)

    def __str__(self) -> str:
        episode, task = self.told.episode, self.told.task
        actions = [step.action.model_dump_json(exclude_defaults=True) for step in episode.steps]
        return (
            f"{task.template_id} {task.seed}: {episode.stop_reason} {episode.failure_message} "
            f"reward {episode.reward}, true {self.site.true_reward}: {' '.join(actions)}"
        )


@dataclass
class Counts:
    """How much was played."""

    played: int = 0
    rewarded: int = 0
    """By the site, with more than nothing."""
    paid: int = 0
    replayed: int = 0
    false: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def add(self, one: Played) -> None:
        """Count one."""
        self.played += 1
        self.rewarded += one.told.episode.done and (one.told.episode.reward or 0) > 0
        self.paid += one.paid
        self.replayed += one.replayed
        if one.false:
            self.false.append(str(one))
        if one.told.episode.failure_kind is not None:
            self.failed.append(str(one))


async def play(
    recorder: Recorder, template: str, seed: int, policy: Policy, *, replays: bool = True
) -> Played:
    """Let a policy attempt a task once, and judge the episode by the rule with and without replay.

    Without `replays` only the rule without one is applied.
    """
    site = WatchedSite(recorder.site)
    watched = replace(recorder, site=site)  # type: ignore[arg-type]  # the rest is the site
    told = await watched.record(template, seed, lambda _: policy)
    panel = recorder.panel
    if not replays:
        panel = Panel(
            [one for one in panel.verifiers if one.name in WITHOUT_REPLAY.passed], WITHOUT_REPLAY
        )
    async with recorder.slots:
        verdicts = await panel.judge(told.task, told.episode)
    paid, replayed = (acceptance(rule, verdicts).accepted for rule in (WITHOUT_REPLAY, RULE))
    return Played(told, site, paid=paid, replayed=replayed)
