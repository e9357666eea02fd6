"""A client's conversation about one seat: it resets, steps, looks, and the seat is given back at the end.

The step door has one for each connection, and MCP one for each session. What it returns is OpenEnv's result:
observation, reward, done and metadata.
"""

from dataclasses import dataclass

from pydantic import Field, ValidationError

from flows.serving.seating import Lease, Seats
from generators.policy.protocol import PolicyCard
from generators.seats.actions import BadMessage, mistakes_in, read_message
from generators.seats.seat import CARD, SeatView
from generators.seats.view import observation_of
from schemas.base import JsonObject
from schemas.errors import BadTasks
from schemas.tasks.selector import Selector
from schemas.tasks.task import Task


class ResetMessage(Selector):
    """The data of a `reset`: which task, and how the client wants to see it."""

    lease: str | None = Field(default=None, max_length=100)
    """The lease to return to; None: a new task."""
    elements: bool = False
    """Whether the page's elements are told as text."""
    picture: bool = True
    """Whether the picture is told."""
    dialect: str | None = Field(default=None, max_length=100)
    """The dialect of replies that name none; None: that of the configuration."""
    policy: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$")
    """The client's name for what decides; None: `external`."""
    episode_id: str | None = Field(default=None, max_length=255)
    """OpenEnv's own field; episodes have ids of their own, so it says nothing here."""


@dataclass(slots=True)
class _Wishes:
    """How a client wants to see pages."""

    elements: bool = False
    picture: bool = True


class Conversation:
    """One client's connection and the seat that it holds."""

    def __init__(self, seats: Seats, client: str) -> None:
        self._seats, self._client = seats, client
        self._lease: Lease | None = None
        self._wishes = _Wishes()
        self.closed = False
        """Whether the client has said that it closes."""

    async def reset(self, data: object) -> tuple[Lease, SeatView]:
        """Take the task that `data` names, or return to a lease.

        Raises:
            BadMessage: the data are none of a reset.
            BadTasks, Busy, NoSeat: as `Seats.take`.
        """
        try:
            asked = ResetMessage.model_validate(data)
        except ValidationError as error:
            raise BadMessage(mistakes_in(error)[0]) from None
        await self.free("the client took another task")
        self._wishes = _Wishes(asked.elements, asked.picture)
        if asked.lease is not None:
            self._lease = self._return_to(asked.lease)
        else:
            self._lease = await self._seats.take(
                self._client,
                Selector.model_validate(
                    asked.model_dump(include=set(Selector.model_fields), exclude_unset=True)
                ),
                card=_card(asked.policy),
                dialect=asked.dialect,
            )
        self._lease.attached = True
        return self._lease, await self._lease.look()

    def _return_to(self, lease_id: str) -> Lease:
        lease = self._seats.find(lease_id, self._client)
        if lease is None:
            raise BadTasks(
                "there is no such lease: it is over, or another client's; reset without it takes a new task"
            )
        if lease.attached:
            raise BadTasks("another connection has this lease; close it first")
        return lease

    async def step(self, data: object) -> tuple[Lease, SeatView]:
        """Have an action carried out.

        Raises:
            BadMessage: there is no task yet, or the action is none.
            StepRefused: it is not the next action.
        """
        if self._lease is None:
            raise BadMessage("there is no task yet: reset first")
        return self._lease, await self._lease.step(read_message(data))

    def result_of(self, lease: Lease, view: SeatView) -> JsonObject:
        """Return a view as OpenEnv's result: observation, reward, done and metadata."""
        wishes, end = self._wishes, view.end
        told = observation_of(view, elements=wishes.elements, picture=wishes.picture)
        told["viewport"] = [lease.viewport.width, lease.viewport.height]
        about = metadata_of(lease, view)
        return {
            "observation": {**told, "metadata": about},
            "reward": None if end is None else end.reward,
            "done": end is not None,
            "metadata": about,
        }

    def state(self) -> JsonObject:
        """Return what OpenEnv calls the state: the episode and how many actions it has."""
        lease = self._lease
        if lease is None:
            return {"episode_id": None, "step_count": 0}
        return {
            "episode_id": lease.episode_id,
            "step_count": lease.seat.number,
            "lease": lease.lease_id,
            "done": lease.seat.is_over,
            "task": about_task(lease.task),
        }

    async def free(self, why: str) -> None:
        """Give back the seat, if there is one."""
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.attached = False
            await self._seats.leave(lease, why)

    async def end(self) -> None:
        """Give back the seat once the connection has ended, or keep it for a moment if it broke."""
        lease = self._lease
        if lease is None:
            return
        lease.attached = False
        if self.closed or self._seats.config.seats.return_seconds == 0:
            await self.free("the client closed its connection")
        else:
            self._lease = None
            self._seats.leave_later(lease, "the client's connection broke")


def _card(policy: str | None) -> PolicyCard:
    return CARD if policy is None else CARD.model_copy(update={"name": policy})


def about_task(task: Task) -> JsonObject:
    """Return what a client may know of a task."""
    return {
        "task_id": task.task_id,
        "site": task.site,
        "template": task.template_id,
        "seed": task.seed,
        "split": task.split or None,
        "max_steps": task.max_steps,
    }


def metadata_of(lease: Lease, view: SeatView) -> JsonObject:
    """Return what stands beside an observation: lease, task, and the end."""
    told: JsonObject = {"lease": lease.lease_id, **about_task(lease.task)}
    if view.end is not None:
        told |= view.end.model_dump(mode="json")
        told["truncated"] = view.end.is_truncated
    return told
