"""The seats of a run: tasks on demand, each in a session of its own, and every episode kept.

`Seats` knows no door. A door takes a seat for a client (`take`), passes its words on, and gives the seat back
(`leave`); or it has a whole episode played (`play`). Whatever a client does, its rollout ends: with the episode, when
the client leaves, when its lease is over, or when the server ends.
"""

import asyncio
import contextlib
import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

from flows.job.plan import PlannedAttempt
from flows.job.unit_runner import RolloutSetup
from flows.resources.memory_room import MemoryRoom
from flows.serving.keeper import EpisodeKeeper
from flows.serving.task_desk import TaskDesk
from generators.browser.slots import Slots
from generators.policy.model.try_account import Account
from generators.policy.protocol import Policy, PolicyCard
from generators.seats.actions import StepMessage, call_of, decision_of
from generators.seats.seat import CARD, EpisodeEnd, Seat, SeatView, end_of
from generators.seats.turnstile import Busy, Turnstile
from schemas.configuration.config import RunConfig
from schemas.episodes.episode import Episode
from schemas.episodes.viewport import Viewport
from schemas.errors import FailureKind, Refusal, StepmillError
from schemas.tasks.selector import Selector
from schemas.tasks.task import Task

LEAVE_SECONDS = 1.0
"""How long a rollout may go on whose client has left, until it is cut off without a row."""

MakePolicy = Callable[[PlannedAttempt, Account, Viewport], Policy]
"""Makes the policy of each try of an episode."""

Live = Callable[[PlannedAttempt], contextlib.AbstractAsyncContextManager[None]]
"""Holds something while an episode goes on, as a place at its engine."""

LOG = logging.getLogger(__name__)


class AskedGroup(NamedTuple):
    """Attempts that a client wants to belong together."""

    name: str
    """The client's name, and its own for them."""
    size: int | None
    """How many they are; None: not told."""


T = TypeVar("T")


def _track(work: Coroutine[None, None, T], tasks: set[asyncio.Task[Any]]) -> asyncio.Task[T]:
    """Start work as a task that is among `tasks` until it ends."""
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task


def _no_place(_planned: PlannedAttempt) -> contextlib.AbstractAsyncContextManager[None]:
    return contextlib.nullcontext()


class NoSeat(Exception):
    """No seat is given: the server ends, or cannot go on; the text says why."""


@dataclass(slots=True, eq=False)
class Lease:
    """A seat that a client holds."""

    lease_id: str
    """Random; its client may return to the seat with it."""
    episode_id: str
    """The id that the row of its episode will have."""
    client: str
    """The client's name."""
    task: Task
    """The task."""
    seat: Seat
    """The client's side of the policy."""
    viewport: Viewport
    """The size of its page, in whose CSS px actions point."""
    dialect: str | None
    """The dialect of replies that name none."""
    entered: "asyncio.Future[None]"
    """Done once the client has a seat."""
    playing: "asyncio.Task[None] | None" = None
    """The rollout, and keeping its episode."""
    expiry: asyncio.TimerHandle | None = None
    """Ends the lease."""
    attached: bool = False
    """Whether a connection has it now."""
    calls: int = 0
    """Calls of its own engine that the client told."""
    stepping: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while one of its steps is carried out."""

    def enter(self, refused: Exception | None = None) -> None:
        """Say that the client has a seat, or why it gets none; what was said first holds."""
        if self.entered.done():
            return
        if refused is None:
            self.entered.set_result(None)
        else:
            self.entered.set_exception(refused)

    async def look(self) -> SeatView:
        """Return the page before the next action, once it is there, or the end."""
        return await self.seat.look()

    async def step(self, message: StepMessage) -> SeatView:
        """Have an action carried out, and return what came of it.

        Raises:
            BadMessage: the action is none.
            StepRefused: it is not the next action, nor a repetition of the last one.
        """
        async with self.stepping:
            view = await self.seat.wait()
            number = view.number if message.step is None else message.step
            decision = decision_of(message, self.viewport, self.dialect)
            call = call_of(message, step=number, number=self.calls)
            if number == view.number and view.end is None:
                self.calls += call is not None
            else:
                call = None
            return await self.seat.step(number, decision, call)


class Seats:
    """The seats of one server."""

    def __init__(
        self,
        config: RunConfig,
        setup: RolloutSetup,
        keeper: EpisodeKeeper,
        *,
        desk: TaskDesk,
        slots: Slots,
        memory: MemoryRoom,
    ) -> None:
        """`slots` bounds the open sessions."""
        self.config = config
        """The configuration of the run."""
        self.desk = desk
        """Gives out tasks."""
        self.keeper = keeper
        """Keeps episodes."""
        section = config.seats
        bounds = {name: client.seats for name, client in section.clients.items()}
        self.turnstile = Turnstile(slots.limit, bounds, max_waiting=section.max_waiting)
        """Lets clients in."""
        self.leases: dict[str, Lease] = {}
        """The leases by their ids, those that are over included until their clients let go of them."""
        self.counts: Counter[str] = Counter()
        """Episodes by how they ended, and what else is counted."""
        self._setup, self._slots, self._memory = setup, slots, memory
        self._ending = ""
        self._playing = set[asyncio.Task[Any]]()
        self._keeping = set[asyncio.Task[Any]]()

    # seats

    async def take(
        self,
        client: str,
        selector: Selector | None = None,
        *,
        card: PolicyCard = CARD,
        dialect: str | None = None,
        wait_seconds: float | None = None,
    ) -> Lease:
        """Take a seat for a client, and return once its first page is there.

        `dialect` is that of replies that name none. `wait_seconds` is how long the client waits for its turn; None: as
        configured.

        Raises:
            BadTasks: there is no such task.
            Busy: no seat was free in time.
            NoSeat: the server ends, or has no browser any more.
        """
        self._check_open()
        task = await self.desk.draw(selector or Selector())
        planned, seat = self.desk.plan(task), Seat(card)
        lease = Lease(
            lease_id=secrets.token_urlsafe(18),
            episode_id=planned.episode_id,
            client=client,
            task=task,
            seat=seat,
            viewport=self._setup.viewport_of(task),
            dialect=dialect,
            entered=asyncio.get_running_loop().create_future(),
        )
        wait = self.config.seats.wait_seconds if wait_seconds is None else wait_seconds
        lease.playing = self._start(self._play(lease, planned, wait))
        self.leases[lease.lease_id] = lease
        try:
            await asyncio.shield(lease.entered)
            await seat.look()
        except BaseException as error:
            await self.leave(
                lease, f"the client left before its first page ({type(error).__name__})"
            )
            raise
        return lease

    def find(self, lease_id: str, client: str) -> Lease | None:
        """Return a lease of a client; None if it has none of that id."""
        lease = self.leases.get(lease_id)
        return lease if lease is not None and lease.client == client else None

    async def leave(self, lease: Lease, why: str = "the client left") -> None:
        """Give a seat back; its browser session is closed when this returns."""
        self.leases.pop(lease.lease_id, None)
        if lease.expiry is not None:
            lease.expiry.cancel()
        if lease.playing is None or lease.playing.done():
            return
        lease.seat.leave(why)
        if not lease.entered.done():
            lease.playing.cancel()
        _, late = await asyncio.wait([lease.playing], timeout=LEAVE_SECONDS)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    def leave_later(self, lease: Lease, why: str) -> None:
        """Give a seat back unless its client returns in time."""

        async def wait() -> None:
            await asyncio.sleep(self.config.seats.return_seconds)
            if not lease.attached:
                await self.leave(lease, why)

        self._start(wait())

    def _start(self, work: Coroutine[None, None, T]) -> asyncio.Task[T]:
        """Start work that the end of the server waits for, or ends."""
        return _track(work, self._playing)

    async def _play(self, lease: Lease, planned: PlannedAttempt, wait_seconds: float) -> None:
        """Play the episode of a lease to its end, keep it, and tell the client."""
        seat, made = lease.seat, False
        try:
            async with self._place(lease.client, wait_seconds):
                lease.enter()
                self._begin_lease(lease)
                episode = await self._setup.roll_out(
                    "", planned, lambda account, _viewport: seat.begin(account)
                )
            made = True
            stored = await self._keep(planned, episode)
        except (Busy, NoSeat) as refused:
            lease.enter(refused)
            seat.end(EpisodeEnd(failure_message=str(refused)))
        except StepmillError as error:
            self._fail(error)
            lease.enter(NoSeat(str(error)))
            seat.end(EpisodeEnd(failure_kind=FailureKind.INTERNAL, failure_message=str(error)))
        except asyncio.CancelledError:
            self.counts["cut off"] += not made
            lease.entered.cancel()
            seat.end(EpisodeEnd(failure_message=self._ending or "it was cut off"))
            raise
        else:
            seat.end(end_of(stored), stored.steps)

    def _begin_lease(self, lease: Lease) -> None:
        seconds = self.config.seats.lease_seconds
        why = f"the lease of {seconds:g} s (seats.lease_seconds) is over"
        lease.expiry = asyncio.get_running_loop().call_later(seconds, lease.seat.leave, why)

    @contextlib.asynccontextmanager
    async def _place(self, client: str, wait_seconds: float) -> AsyncIterator[None]:
        """Hold a seat, memory and a session's slot for a client."""
        async with self.turnstile.hold(client, wait_seconds=wait_seconds):
            await self._memory.wait(lambda: bool(self._ending))
            self._check_open()
            with self._memory.episode():
                async with self._slots.hold():
                    yield

    async def _keep(self, planned: PlannedAttempt, made: Episode) -> Episode:
        """Keep an episode, even if its client goes at this moment."""
        return await asyncio.shield(_track(self._keep_now(planned, made), self._keeping))

    async def _keep_now(self, planned: PlannedAttempt, made: Episode) -> Episode:
        stored = await self.keeper.keep(planned, made)
        self.counts[stored.failure_kind or stored.stop_reason.value] += 1
        self.counts["steps"] += stored.n_steps
        return stored

    async def play(
        self,
        client: str,
        task: Task,
        make_policy: MakePolicy,
        *,
        live: Live | None = None,
        group: AskedGroup | None = None,
    ) -> Episode:
        """Play a whole episode with a policy for a client, and return the episode as stored.

        What `live` returns is held for the episode once there is a seat; None: nothing is. `group` is that which the
        client asked for; None: it asked for none.

        Raises:
            Busy: no seat was free in time.
            NoSeat: the server ends, or has no browser any more.
        """
        self._check_open()
        playing = self._start(
            self._play_whole(client, self.desk.plan(task), make_policy, live or _no_place, group)
        )
        try:
            await asyncio.wait([playing])
        except asyncio.CancelledError:
            playing.cancel()
            await asyncio.wait([playing])
            raise
        if playing.cancelled():
            raise NoSeat(self._ending or "the episode was cut off")
        return playing.result()

    async def _play_whole(
        self,
        client: str,
        planned: PlannedAttempt,
        make_policy: MakePolicy,
        live: Live,
        group: AskedGroup | None,
    ) -> Episode:
        try:
            async with self._place(client, self.config.seats.wait_seconds), live(planned):
                made = await self._setup.roll_out("", planned, partial(make_policy, planned))
            if group is not None:
                asked = {"asked_group": group.name, "asked_group_size": group.size}
                made = made.model_copy(update=asked)
            return await self._keep(planned, made)
        except Refusal as error:
            self._fail(error)
            raise NoSeat(str(error)) from error
        except asyncio.CancelledError:
            self.counts["cut off"] += 1
            raise

    # the end

    @property
    def ending(self) -> str:
        """Why no seat is given any more; empty while seats are given."""
        return self._ending

    def _check_open(self) -> None:
        if self._ending:
            raise NoSeat(self._ending)

    def _fail(self, error: StepmillError) -> None:
        """Give no seat any more where every further one would fail for the same reason."""
        LOG.error("%s", error)
        self._ending = self._ending or f"the server cannot go on: {error}"

    async def drain(self, seconds: float, why: str = "the server ends") -> None:
        """Give no seat any more, let episodes go on for some time, and end the others."""
        self._ending = self._ending or why
        if self._playing and seconds > 0:
            await asyncio.wait(tuple(self._playing), timeout=seconds)
        for task in tuple(self._playing):
            task.cancel()
        if ended := (*self._playing, *self._keeping):
            await asyncio.wait(ended)
        await self.keeper.close()

    def figures(self) -> Mapping[str, float]:
        """Return what a server counts, by the names of its metrics."""
        return {
            "seats": self.turnstile.limit,
            "seats_taken": self.turnstile.in_use,
            "waiting": self.turnstile.waiting,
            "leases": len(self.leases),
            "episodes_kept": self.keeper.kept,
            "episodes_committed": self.keeper.committed,
        }
