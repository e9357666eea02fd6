"""The state of a site's server, its changes during an attempt, and their judgement.

States are compared outside the event loop, because a large one takes seconds.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from generators.sites.judging.compare import compare_states
from generators.sites.judging.judge import judge
from generators.sites.judging.probes import ask_probe
from generators.sites.judging.protocol import Judgement, ProbeInput
from generators.sites.judging.state import state_digest
from schemas.base import Record
from schemas.episodes.observation import Download
from schemas.episodes.state_delta import Delta
from schemas.errors import BadState, FailureKind, RolloutFailure, boundary
from schemas.tasks.task import Task


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server's state at one moment, masked."""

    value: JsonValue
    """The state: any JSON value, in which arrays of objects are tables."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The members that identify a table's rows, by table, several joined by commas, as the server declares
    them; keys of other tables are inferred."""


class StateChange(Record):
    """A server's state before the first action and after the last."""

    before_sha256: str
    """Hash of the state before, as canonical JSON."""
    after_sha256: str
    """Hash of the state after, as canonical JSON."""
    delta: Delta
    """The added, changed and removed parts."""

    @classmethod
    async def between(cls, before: ServerState, after: ServerState) -> "StateChange":
        """Compare two states.

        Raises:
            RolloutFailure: the changes are too large for a row; the policy is to blame.
        """
        with boundary(FailureKind.SITE, "comparing the server's state"):
            try:
                return await asyncio.to_thread(_compare, before, after)
            except BadState as error:
                raise RolloutFailure(FailureKind.POLICY, str(error)) from error


async def judge_states(
    task: Task,
    *,
    before: ServerState,
    after: ServerState,
    answer: str | None,
    downloads: tuple[Download, ...] = (),
) -> Judgement:
    """Return the judgement of an attempt's end by its task's expectation.

    An attempt with changes too large for a row gets no reward.

    Raises:
        BadExpectation: it names a table or a place that neither state has.
        RolloutFailure: it names a probe, which cannot be run or gives no judgement.
        ValueError: the task has no expectation.
    """
    expectation = task.expect
    if expectation is None:
        raise ValueError(f"the task {task.task_id} expects nothing, so nothing can be judged")

    def compare_and_judge() -> Judgement | tuple[str, ProbeInput]:
        same = after.value is before.value
        try:
            delta = Delta() if same else compare_states(before.value, after.value, keys=before.keys)
        except BadState as error:
            return Judgement(reward=0.0, reasons=(str(error),))
        if expectation.probe is None:
            return judge(
                expectation, before=before.value, after=after.value, delta=delta, answer=answer
            )
        return expectation.probe, ProbeInput(
            before=before.value,
            after=after.value,
            delta=delta,
            answer=answer,
            options=expectation.options,
            seed=task.seed,
            parameters=task.parameters,
            downloads=downloads,
        )

    found = await asyncio.to_thread(compare_and_judge)
    return found if isinstance(found, Judgement) else await ask_probe(*found)


async def changes_between(before: ServerState, after: ServerState) -> Delta | None:
    """Return the differences of two states; None: they are too large for a row."""
    if after.value is before.value:
        return Delta()
    try:
        return await asyncio.to_thread(compare_states, before.value, after.value, keys=before.keys)
    except BadState:
        return None


def _compare(before: ServerState, after: ServerState) -> StateChange:
    return StateChange(
        before_sha256=state_digest(before.value),
        after_sha256=state_digest(after.value),
        delta=compare_states(before.value, after.value, keys=before.keys),
    )
