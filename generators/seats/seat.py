"""A seat: a policy whose decisions come from whoever sits there.

The rollout asks a seat as it asks any policy, and so everything that a rollout does holds for a client too: limits,
failures as rows, the reward of the site, the record. `act` hands what was observed to the client and waits for the
answer. The client's side is `look`, `step` and `leave`. Each step has the number of the action that it decides, from
0: the same number again gets the kept answer and acts on nothing, so a client whose answer was lost repeats its
request.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.base import Record
from schemas.episodes.call import Call
from schemas.episodes.episode import Episode, PolicyKind, Step, StopReason
from schemas.episodes.observation import Observation
from schemas.errors import FailureKind, RolloutFailure

CARD = PolicyCard(name="external", kind=PolicyKind.EXTERNAL, tries_again=False)
"""The card of a seat whose client names no policy of its own."""


class WrongStep(StrEnum):
    """Why a step is refused."""

    OVER = "over"
    """The episode is over."""
    BEFORE = "before"
    """A later action has been carried out."""
    AHEAD = "ahead"
    """An earlier action is missing."""
    OTHER = "other"
    """Another action was given under the same number."""


class StepRefused(ValueError):
    """A step is not carried out; the text says what was expected, what came, and what to do."""

    def __init__(self, why: WrongStep, message: str) -> None:
        super().__init__(message)
        self.why = why


class EpisodeEnd(Record):
    """How an episode ended, for its client."""

    episode_id: str | None = None
    """The id of its row; None where it left none."""
    reward: float | None = None
    """The site's raw reward; None where the site reported none, and where the episode failed."""
    done: bool = False
    """Whether the site reported that the task is done."""
    stop_reason: StopReason | None = None
    """Why it ended; None where it left no row."""
    failure_kind: FailureKind | None = None
    """What failed; None if nothing did. A failure is no reward of 0."""
    failure_message: str | None = None
    """How it failed; None if it did not."""

    @property
    def is_truncated(self) -> bool:
        """Whether it was ended from outside: by a limit, or by a failure."""
        return not self.done and self.stop_reason is not StopReason.ANSWERED


@dataclass(frozen=True, slots=True)
class SeatView:
    """What a client is shown: the page before its next action, or the end."""

    number: int
    """The number of the next action, from 0; that of actions in all once the episode is over."""
    instruction: str
    """The goal."""
    observation: Observation | None
    """The page now; None where it could not be seen, as after a failure."""
    last: Step | None
    """The step before, with what came of it; None before the first action."""
    end: EpisodeEnd | None = None
    """How the episode ended; None while it goes on."""


def end_of(episode: Episode) -> EpisodeEnd:
    """Return how an episode ended."""
    failed = None if episode.failure_kind is None else FailureKind(episode.failure_kind)
    return EpisodeEnd(
        episode_id=episode.episode_id,
        reward=episode.reward if failed in (None, FailureKind.POLICY) else None,
        done=episode.done,
        stop_reason=episode.stop_reason,
        failure_kind=failed,
        failure_message=episode.failure_message,
    )


def last_page(steps: Sequence[Step]) -> Observation | None:
    """Return the observation of the last row; None if there is none."""
    if not steps:
        return None
    (*_, row) = steps
    return Observation(
        screenshot=row.screenshot,
        width=row.width,
        height=row.height,
        page=row.page,
        elements=row.elements,
        elements_left_out=row.elements_left_out or 0,
        sights=row.sights,
        observe_ms=row.observe_ms,
    )


class Seat:
    """A policy of one episode, and the client's side of it."""

    def __init__(self, card: PolicyCard = CARD) -> None:
        self.card = card
        """The columns of an episode that describe its policy."""
        self._account: Account | None = None
        self._view: SeatView | None = None
        self._shown = asyncio.Event()
        self._asked: asyncio.Future[Decision] | None = None
        self._given: tuple[int, Decision] | None = None
        self._left: str | None = None
        self._is_end_shown = False

    def begin(self, account: Account) -> "Seat":
        """Begin a try, whose clock stands still while the client thinks; return the seat itself, its policy."""
        self._account = account
        return self

    @property
    def is_over(self) -> bool:
        """Whether there is no further action."""
        return self._view is not None and self._view.end is not None

    @property
    def number(self) -> int:
        """How many actions have been decided on."""
        return self._next

    @property
    def is_asked(self) -> bool:
        """Whether the rollout waits for the client now."""
        return self._asked is not None and not self._asked.done()

    # the rollout's side

    async def act(self, turn: PolicyInput) -> Decision:
        """Show the turn to the client, and return its decision.

        Raises:
            RolloutFailure: the client has left.
        """
        if self._left is not None:
            raise RolloutFailure(FailureKind.CLIENT, self._left)
        self._asked = asyncio.get_running_loop().create_future()
        self._show(
            SeatView(
                number=len(turn.history),
                instruction=turn.instruction,
                observation=turn.observation,
                last=turn.history[-1] if turn.history else None,
            )
        )
        if self._account is None:
            raise AssertionError("the seat's try has not begun")
        with self._account.stopwatch.pause():
            return await self._asked

    def end(self, end: EpisodeEnd, steps: Sequence[Step] = ()) -> None:
        """Show the end to the client; `steps` are those of the episode, with its final state."""
        before = self._view
        acted = [step for step in steps if step.action.type != "none"]
        number = before.number if before is not None else 0
        self._show(
            SeatView(
                number=len(acted) if acted else number,
                instruction=before.instruction if before is not None else "",
                observation=last_page(steps),
                last=acted[-1] if acted else None,
                end=end,
            )
        )

    def _show(self, view: SeatView) -> None:
        self._view = view
        self._shown.set()

    # the client's side

    async def look(self) -> SeatView:
        """Return what there is to decide on, once there is, or the end."""
        view = await self.wait()
        self._is_end_shown = view.end is not None
        return view

    async def wait(self) -> SeatView:
        """Return what `look` would return, without the client's having seen it."""
        while True:
            await self._shown.wait()
            if self._view is not None and (self._view.end is not None or self.is_asked):
                return self._view
            self._shown.clear()

    async def step(self, number: int, decision: Decision, call: Call | None = None) -> SeatView:
        """Have the action `number` carried out, unless it has been, and return what came of it.

        `call` is the client's own call of its engine that led to the action; None: it tells none.

        Raises:
            StepRefused: it is not the next action, nor a repetition of the last one.
        """
        self.give(number, decision, call)
        return await self.look()

    def give(self, number: int, decision: Decision, call: Call | None = None) -> None:
        """Decide on the action `number`; a repetition of the last one changes nothing.

        Nor does the next one where the episode has ended without the client's having seen that.

        Raises:
            StepRefused: it is not the next action, nor a repetition of the last one.
        """
        if self._given is not None and number == self._given[0]:
            if decision.action != self._given[1].action:
                raise StepRefused(
                    WrongStep.OTHER,
                    f"step {number} was another action, {self._given[1].action.type}; a repetition must be the "
                    f"same, and the next one is step {number + 1}",
                )
            return
        if self.is_over and number == self._next and not self._is_end_shown:
            return  # it ended before this action, as the client is now to be shown
        if self.is_over:
            raise StepRefused(WrongStep.OVER, "the episode is over; reset takes the next task")
        expected = self._next
        if number != expected:
            late = number < expected
            raise StepRefused(
                WrongStep.BEFORE if late else WrongStep.AHEAD,
                f"expected step {expected}, got step {number}"
                + ("; it was carried out, and its answer is no longer kept" if late else ""),
            )
        if self._asked is None or self._asked.done():
            raise StepRefused(WrongStep.AHEAD, "the page is not ready; wait for its picture first")
        self._given = (number, decision)
        if call is not None and self._account is not None:
            self._account.calls.append(call)
        self._shown.clear()
        self._asked.set_result(decision)

    @property
    def _next(self) -> int:
        """The number of the next action."""
        return 0 if self._given is None else self._given[0] + 1

    def leave(self, why: str) -> None:
        """End the episode as one that the client left, at once if it is the client's turn, else at its next."""
        self._left = self._left or why
        if self._asked is not None and not self._asked.done():
            self._asked.set_exception(RolloutFailure(FailureKind.CLIENT, self._left))
