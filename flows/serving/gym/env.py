"""A seat as an environment of Gymnasium: pictures in, actions out, the site's reward at the end.

`SeatEnv(config)` opens the seats of a configuration for itself. Several environments share a `SeatThread`, and
`SeatVectorEnv` steps many at once. A failure is no reward of 0: the reward that Gymnasium wants as a number is 0.0
there, `info["reward"]` is None, and `info["failure_kind"]` says what failed.
"""

import contextlib
from collections.abc import Mapping
from typing import Any, ClassVar, TypedDict

from flows.serving.gym.spaces import (
    Actions,
    Pixels,
    Words,
    message_of,
    picture_size,
    pixels_of,
)
from flows.serving.seat_thread import ConfigLike, SeatThread
from flows.serving.seating import Lease, NoSeat
from generators.policy.protocol import PolicyCard
from generators.seats.actions import StepMessage, decision_of
from generators.seats.seat import CARD, EpisodeEnd, SeatView, StepRefused, WrongStep
from generators.seats.view import text_of, told_elements
from schemas.base import JsonObject
from schemas.episodes.viewport import largest_viewport
from schemas.tasks.selector import Selector

import gymnasium  # isort: skip - the spaces say what to install where it is missing
import numpy as np  # isort: skip
from gymnasium import spaces  # isort: skip

CLIENT = "in-process"
"""The name of the client that environments are."""

Info = dict[str, Any]
"""What an environment tells beside the observation; Gymnasium's own type."""


class Observed(TypedDict):
    """An observation."""

    screenshot: Pixels
    """The page: height × width × 3."""
    instruction: str
    """The goal."""
    url: str
    """The page's address; empty where there is no page."""


class SeatEnv(gymnasium.Env[Observed, str | JsonObject]):
    """One seat after the other."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 1}  # type: ignore[misc]

    def __init__(
        self,
        seats: SeatThread | ConfigLike,
        *,
        task: Selector | None = None,
        dialect: str | None = None,
        policy: str = CARD.name,
        elements: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """`seats` is borrowed if it is open, and opened otherwise.

        `task` is what every task has to fit; None: any but those of `test`. With a `dialect`, actions are a model's
        replies in it. `policy` is the name under which episodes are recorded. `elements` has `info["elements"]` hold
        the page's elements in sight, a line each, for policies of text.

        Raises:
            StepmillError: the seats cannot be opened.
        """
        self._borrowed = isinstance(seats, SeatThread)
        self.seats = seats if isinstance(seats, SeatThread) else SeatThread(seats)
        """The open seats."""
        config = self.seats.config
        self._size = picture_size(config)
        width, height = self._size
        self._task, self._dialect, self._elements = task or Selector(), dialect, elements
        self._card = PolicyCard(name=policy, kind=CARD.kind, tries_again=False)
        self.observation_space = spaces.Dict(  # type: ignore[assignment] # whose keys are not typed
            screenshot=spaces.Box(0, 255, (height, width, 3), dtype=np.uint8),
            instruction=Words(),
            url=Words(),
        )
        viewport = largest_viewport(config)
        self.action_space = Words() if dialect else Actions((viewport.width, viewport.height))
        self.render_mode = render_mode
        self._lease: Lease | None = None
        self._view: SeatView | None = None
        self._has_told_end = False

    # Gymnasium's side

    def reset(
        self, *, seed: int | None = None, options: Info | None = None
    ) -> tuple[Observed, Info]:
        """Take the next task, and return its first observation.

        `seed` seeds the generator of random numbers, which draws one of the tasks that fit. `options` are the fields of
        a `Selector`: `name` and `split`, for example, and `seed` and `index` for one task.

        Raises:
            BadTasks: no task fits.
            Busy: there are more environments than seats.
        """
        return self.first(self.seats.run(self.begin(self.choose(seed, options))))

    def step(self, action: str | JsonObject) -> tuple[Observed, float, bool, bool, Info]:
        """Carry an action out.

        Raises:
            BadMessage: the action cannot be read; nothing was done.
            StepRefused: the episode is over.
        """
        return self.outcome(self.seats.run(self.act(self.read(action))))

    def render(self) -> Pixels | None:
        """Return the picture of the page now, at its own size."""
        seen = None if self._view is None else self._view.observation
        if self.render_mode is None or seen is None:
            return None
        return pixels_of(seen.screenshot.bytes, (seen.width, seen.height))

    def close(self) -> None:
        """Give the seat back, and close the seats if they were opened here."""
        if self._lease is not None:
            lease, self._lease = self._lease, None
            with contextlib.suppress(NoSeat):  # the seats were closed before
                self.seats.run(self.seats.seats.leave(lease, "the environment was closed"))
        if not self._borrowed:
            self.seats.close()

    # of which both are made: what the caller chooses, reads and decodes, and what runs in the seats' event loop

    def choose(self, seed: int | None, options: Mapping[str, object] | None) -> Selector:
        """Return which task to take, and renew the generator of random numbers where there is a seed.

        Raises:
            ValueError: an option is unknown.
            BadTasks: no task fits.
        """
        super().reset(seed=seed)
        asked = {**self._task.model_dump(exclude_none=True), **(options or {})}
        wanted = Selector.model_validate(asked)
        if wanted.seed is None and wanted.index is None:
            count = self.seats.seats.desk.pool.count(wanted)
            index = int(self.np_random.integers(count)) if count else 0
            wanted = wanted.model_copy(update={"index": index})
        return wanted

    def read(self, action: object) -> StepMessage:
        """Return an action that can be carried out.

        Raises:
            BadMessage: it cannot be read.
            StepRefused: no task has been taken.
        """
        if self._lease is None:
            raise StepRefused(WrongStep.OVER, "there is no task yet; reset takes one")
        message = message_of(action, self._dialect)
        decision_of(message, self._lease.viewport, self._lease.dialect)
        return message

    async def begin(self, wanted: Selector) -> SeatView:
        """Take a task, in place of the one before."""
        seats = self.seats.seats
        if self._lease is not None:
            lease, self._lease = self._lease, None
            await seats.leave(lease, "the environment was reset")
        self._lease = await seats.take(CLIENT, wanted, card=self._card, dialect=self._dialect)
        self._view, self._has_told_end = await self._lease.look(), False
        return self._view

    async def act(self, message: StepMessage) -> SeatView:
        """Carry out what `read` returned."""
        lease = self._lease
        if lease is None:
            raise StepRefused(WrongStep.OVER, "there is no task yet; reset takes one")
        try:
            view = await lease.step(message)
        except StepRefused as refused:
            if refused.why is not WrongStep.OVER or self._has_told_end:
                raise
            # It ended before its first picture, or while the caller thought.
            view = await lease.look()
        self._view, self._has_told_end = view, view.end is not None
        if view.end is not None:
            await self.seats.seats.leave(lease)
        return view

    def first(self, view: SeatView) -> tuple[Observed, Info]:
        """Return what a reset tells of what `begin` returned."""
        return self._observation(view), self._info(view)

    def outcome(self, view: SeatView) -> tuple[Observed, float, bool, bool, Info]:
        """Return what a step tells of what `act` returned."""
        end = view.end
        reward = 0.0 if end is None or end.reward is None else float(end.reward)
        is_cut = end is not None and end.is_truncated
        is_done = end is not None and not is_cut
        return self._observation(view), reward, is_done, is_cut, self._info(view)

    def _observation(self, view: SeatView) -> Observed:
        seen = view.observation
        return {
            "screenshot": pixels_of(None if seen is None else seen.screenshot.bytes, self._size),
            "instruction": view.instruction,
            "url": "" if seen is None else seen.page.url,
        }

    def _info(self, view: SeatView) -> Info:
        if self._lease is None:
            raise AssertionError("a view is that of a lease")
        task, viewport = self._lease.task, self._lease.viewport
        told: Info = {
            "step": view.number,
            "task_id": task.task_id,
            "template_id": task.template_id,
            "task_seed": task.seed,
            "split": task.split,
            "viewport": (viewport.width, viewport.height),
            "scale": viewport.scale,
            "picture": viewport.picture,
            "action_error": None if view.last is None else view.last.action_error,
            "result_text": None if view.last is None else view.last.result_text,
        }
        if self._elements:
            seen = [] if view.observation is None else told_elements(view.observation)
            told["elements"] = [text_of(one) for one in seen]
        return told if view.end is None else told | _end_of(view.end)


def _end_of(end: EpisodeEnd) -> Info:
    return {
        "reward": end.reward,
        "failure_kind": None if end.failure_kind is None else end.failure_kind.value,
        "failure_message": end.failure_message,
        "stop_reason": None if end.stop_reason is None else end.stop_reason.value,
        "episode_id": end.episode_id,
    }
