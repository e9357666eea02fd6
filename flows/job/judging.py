"""Committed units judged by the panel, and their verdicts committed under the right rounds.

The panel decides which verifiers are asked. This module decides which round a unit's new verdicts
belong to: for each verifier and version the next one that the unit has none of, so that no
transaction is used twice for different verdicts, whichever of a unit's episodes are judged again.
Where another worker judges the same unit, its answers stand and are not given a second time, and a
round that it took is left to it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from flows.job.context import JobContext, UnitReport, UnitState
from generators.verify.panel import RETRIED_STATUSES, Panel
from schemas.base import content_hash
from schemas.episodes.episode import Episode
from schemas.errors import StepmillError
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Verdict
from storage.lake.judged_units import JudgedMark
from storage.lake.lake import Lake

KnownVerdicts = Sequence[Verdict]
"""Every verdict on one episode."""


_RoundKey = tuple[str, str, int]
"""Verifier, version, round."""


def by_episode(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Return the verdicts by episode."""
    grouped: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        grouped[verdict.episode_id].append(verdict)
    return dict(grouped)


def assign_rounds(
    new: Iterable[Verdict], known: Iterable[Verdict]
) -> dict[_RoundKey, list[Verdict]]:
    """Return `new` verdicts of one unit by verifier, version and round, given those it has."""
    highest: dict[tuple[str, str], int] = {}
    for verdict in known:
        source = (verdict.verifier, verdict.verifier_version)
        highest[source] = max(verdict.round, highest.get(source, -1))
    out: defaultdict[_RoundKey, list[Verdict]] = defaultdict(list)
    for verdict in new:
        source = (verdict.verifier, verdict.verifier_version)
        round_ = highest.get(source, -1) + 1
        out[(*source, round_)].append(verdict.model_copy(update={"round": round_}))
    return dict(out)


def panel_id(panel: Panel) -> str:
    """Return the id of a panel: two panels that ask for other verdicts have different ids.

    The rule is part of it, because a verifier is not asked about what the rule rejects already.
    """
    asked = [
        [one.name, one.version, *(["rejected too"] if one.name in panel.rejected_too else [])]
        for one in panel.verifiers
    ]
    rule = panel.rule.model_dump(mode="json", exclude={"reviews"})  # no verifier waits for people
    return content_hash(["panel", asked, rule])


@dataclass(frozen=True, slots=True)
class JudgedCheck:
    """Decides whether a unit owes verdicts."""

    panel: Panel
    """The verifiers, and the rule that decides how far they are asked."""
    episodes: Collection[str]
    """The ids of the unit's episodes."""

    def mark(self, verdicts: Sequence[Verdict]) -> JudgedMark | None:
        """Return the mark of a unit that has exactly these `verdicts`; None while it owes some."""
        known = by_episode(verdicts)
        if any(self.panel.needs_verdicts(known.get(one, ())) for one in self.episodes):
            return None
        return JudgedMark(panel_id(self.panel), len(verdicts))


async def commit_verdicts(
    lake: Lake,
    unit_id: str,
    new: Sequence[Verdict],
    *,
    again: bool = False,
    check: JudgedCheck | None = None,
) -> None:
    """Commit `new` verdicts of a unit, all of them if it was judged `again`.

    Otherwise verdicts that a verifier of the same version has given meanwhile are left out. A unit that
    owes nothing with them is marked as judged, if `check` says so.

    Raises:
        Unwritable: the run cannot be written.
    """
    left = list(new)
    while left:
        known = await lake.verdicts(units={unit_id})
        answered = set() if again else _answered_questions(known)
        asked = [verdict for verdict in left if _question(verdict) not in answered]
        left = []
        rounds = assign_rounds(asked, known)
        whole = [*known, *(verdict for verdicts in rounds.values() for verdict in verdicts)]
        mark = check.mark(whole) if check else None
        for number, ((verifier, version, round_), verdicts) in enumerate(rounds.items(), 1):
            if not await lake.commit_verdicts(
                unit_id,
                verifier=verifier,
                version=version,
                round_=round_,
                verdicts=verdicts,
                # Only the last one has all of them, and only if every other one went in.
                mark=mark if number == len(rounds) and not left else None,
            ):
                left += verdicts


def _answered_questions(known: Iterable[Verdict]) -> set[tuple[str, str, str]]:
    """Return the questions whose last verdict is final: no abstention and no error."""
    last = {_question(verdict): verdict for verdict in sorted(known, key=lambda v: v.round)}
    return {
        question for question, verdict in last.items() if verdict.status not in RETRIED_STATUSES
    }


def _question(verdict: Verdict) -> tuple[str, str, str]:
    return verdict.episode_id, verdict.verifier, verdict.verifier_version


class UnitJudge:
    """Judges episodes, and whole units of them."""

    def __init__(self, context: JobContext) -> None:
        self._context = context

    async def judge_owed(self, unit_id: str, known: Mapping[str, KnownVerdicts]) -> UnitReport:
        """Judge the episodes of a committed unit that need verdicts beyond the `known` ones."""
        return await self._judge(unit_id, known, again=False)

    async def judge_again(self, unit_id: str, known: Mapping[str, KnownVerdicts]) -> UnitReport:
        """Judge all episodes of a committed unit, regardless of `known` verdicts."""
        return await self._judge(unit_id, known, again=True)

    async def judge_episode(
        self, task: Task, episode: Episode, known: KnownVerdicts, *, again: bool = False
    ) -> tuple[Verdict, ...]:
        """Return the panel's new verdicts on one episode, and count it by all of its verdicts."""
        new = await self._context.panel.judge(task, episode, known, again=again)
        self._context.progress.count_judged(episode.episode_id, [*known, *new])
        return tuple(new)

    async def _judge(
        self, unit_id: str, known: Mapping[str, KnownVerdicts], *, again: bool
    ) -> UnitReport:
        lake, panel = self._context.lake, self._context.panel
        try:
            tasks = {task.task_id: task for task in await lake.tasks(unit_id)}
            episodes = await lake.episodes(unit_id)
            async with asyncio.TaskGroup() as group:
                judging = [
                    group.create_task(
                        self._unless_stopped(tasks[episode.task_id], episode, before, again=again)
                    )
                    for episode in episodes
                    for before in [known.get(episode.episode_id, ())]
                    if again or panel.needs_verdicts(before)
                ]
                if again:
                    self._count_left_out(known.get(episode.episode_id, ()) for episode in episodes)
            new = [verdict for task in judging for verdict in task.result()]
            check = JudgedCheck(panel, {episode.episode_id for episode in episodes})
            await commit_verdicts(lake, unit_id, new, again=again, check=check)
        except (StepmillError, OSError, ExceptionGroup) as error:
            return self._context.fail(unit_id, error)
        stopped = self._context.stopping.asked
        state = UnitState.INTERRUPTED if stopped else UnitState.DONE
        return UnitReport(unit_id=unit_id, state=state)

    def _count_left_out(self, known: Iterable[KnownVerdicts]) -> None:
        """Count the episodes that a verifier is not asked about again."""
        for verdicts in known:
            self._context.progress.left_out.update(self._context.panel.spent(verdicts))

    async def _unless_stopped(
        self, task: Task, episode: Episode, known: KnownVerdicts, *, again: bool
    ) -> tuple[Verdict, ...]:
        """Judge an episode in a slot for attempts; return nothing if the job is stopping."""
        async with self._context.attempts:
            if self._context.stopping.asked:
                return ()
            return await self.judge_episode(task, episode, known, again=again)
