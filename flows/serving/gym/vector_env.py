"""Several seats as a vector environment of Gymnasium: one step acts in all of them at the same time.

Seats lie in one process, so nothing is copied between processes, and Gymnasium's own vector environments are not
needed: `SyncVectorEnv` would act in one seat after the other, and each process of `AsyncVectorEnv` would open a run of
its own.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, ClassVar, TypeVar

from flows.serving.gym.env import Info, Observed, SeatEnv
from flows.serving.seat_thread import ConfigLike, SeatThread
from generators.seats.actions import StepMessage
from generators.seats.seat import CARD, SeatView
from schemas.base import JsonObject
from schemas.errors import BadConfig
from schemas.tasks.selector import Selector

import numpy as np  # isort: skip - the environments say what to install where it is missing
from gymnasium.vector import AutoresetMode, VectorEnv  # isort: skip
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array  # isort: skip
from numpy.typing import NDArray  # isort: skip

T = TypeVar("T")
Batch = dict[str, Any]
"""Observations of all seats, as Gymnasium batches them: pictures in one array, texts in tuples."""


class SeatVectorEnv(VectorEnv[Batch, Sequence[str | JsonObject], NDArray[Any]]):
    """Environments that act together; one whose episode is over begins the next one at the next step."""

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # type: ignore[misc]

    def __init__(
        self,
        seats: SeatThread | ConfigLike,
        num_envs: int,
        *,
        task: Selector | None = None,
        dialect: str | None = None,
        policy: str = CARD.name,
        elements: bool = False,
    ) -> None:
        """See `SeatEnv` for what is given.

        Raises:
            BadConfig: there are fewer seats.
            StepmillError: the seats cannot be opened.
        """
        super().__init__()
        self._borrowed = isinstance(seats, SeatThread)
        self.seats = seats if isinstance(seats, SeatThread) else SeatThread(seats)
        """The open seats."""
        limit = self.seats.seats.turnstile.limit
        if not 1 <= num_envs <= limit:
            self.close_extras()
            raise BadConfig(
                f"{num_envs} environments at once are not possible with {limit} seats; set browser.sessions"
            )
        self.num_envs = num_envs
        self.envs = [
            SeatEnv(self.seats, task=task, dialect=dialect, policy=policy, elements=elements)
            for _ in range(num_envs)
        ]
        """The environments."""
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over = [False] * num_envs

    envs: Sequence[SeatEnv] = ()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Info | None = None,
    ) -> tuple[Batch, Info]:
        """Take a task in every seat; `seed` is that of the first one, and the others have the next ones.

        Raises:
            BadTasks: no task fits.
            Busy: others hold seats that are needed here.
        """
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + index for index in range(self.num_envs)]
        else:
            seeds = list(seed)
        wanted = [env.choose(one, options) for env, one in zip(self.envs, seeds, strict=True)]
        views = self.seats.run(
            _all([env.begin(one) for env, one in zip(self.envs, wanted, strict=True)])
        )
        self._over = [False] * self.num_envs
        first = [env.first(view) for env, view in zip(self.envs, views, strict=True)]
        return self._batch([seen for seen, _ in first]), self._infos([told for _, told in first])

    def step(
        self, actions: Sequence[str | JsonObject]
    ) -> tuple[Batch, NDArray[Any], NDArray[Any], NDArray[Any], Info]:
        """Act in every seat; the action for an episode that is over is left out, and the next task taken.

        Raises:
            BadMessage: an action cannot be read; nothing was done in any seat.
        """
        pairs = zip(self.envs, actions, self._over, strict=True)
        read = [None if over else env.read(action) for env, action, over in pairs]
        views = self.seats.run(
            _all([_act(env, message) for env, message in zip(self.envs, read, strict=True)])
        )
        done = [
            _of_reset(*env.first(view)) if over else env.outcome(view)
            for env, view, over in zip(self.envs, views, self._over, strict=True)
        ]
        seen, rewards, terminated, truncated, told = zip(*done, strict=True)
        self._over = [one or other for one, other in zip(terminated, truncated, strict=True)]
        return (
            self._batch(seen),
            np.array(rewards, np.float64),
            np.array(terminated, np.bool_),
            np.array(truncated, np.bool_),
            self._infos(told),
        )

    def close_extras(self, **_kwargs: object) -> None:
        """Give the seats back, and close them if they were opened here."""
        for env in self.envs:
            env.close()
        if not self._borrowed:
            self.seats.close()

    def _batch(self, seen: Sequence[Observed]) -> Batch:
        empty = create_empty_array(self.single_observation_space, self.num_envs)
        assert isinstance(empty, dict)  # noqa: S101 - the space is a table
        batch: Batch = concatenate(self.single_observation_space, seen, empty)  # type: ignore[assignment]
        return batch

    def _infos(self, told: Sequence[Info]) -> Info:
        infos: Info = {}
        for index, one in enumerate(told):
            infos = self._add_info(infos, one, index)
        return infos


async def _act(env: SeatEnv, message: StepMessage | None) -> SeatView:
    """Act, or take the next task where there is nothing to do."""
    return await (env.begin(env.choose(None, None)) if message is None else env.act(message))


def _of_reset(seen: Observed, told: Info) -> tuple[Observed, float, bool, bool, Info]:
    return seen, 0.0, False, False, told


async def _all(works: Sequence[Awaitable[T]]) -> list[T]:
    """Return what all return; the first error ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_of(work)) for work in works]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


async def _of(work: Awaitable[T]) -> T:
    return await work
