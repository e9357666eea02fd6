"""Turns observations and actions into steps, as they happen.

A step is complete only when the next observation shows whether anything changed, so the recorder
holds the last one back until then. The final observation becomes a row too, with the action `none`.
"""

import io
import itertools

from PIL import Image

from generators.engine.stopwatch import Stopwatch
from generators.policy.protocol import Decision
from generators.sites.protocol import Outcome
from schemas.action import NoAction, target_point
from schemas.base import sha256_hex
from schemas.episode import Step
from schemas.observation import Effect, Observation

_HASH_WIDTH, _HASH_HEIGHT = 9, 8


class Recorder:
    """The steps of one try."""

    def __init__(self, stopwatch: Stopwatch, *, viewport_width: int, viewport_height: int) -> None:
        self._stopwatch = stopwatch
        self._width = viewport_width
        self._height = viewport_height
        self._observation: Observation | None = None
        self._at = stopwatch.started
        self._pending: Step | None = None
        self._done: list[Step] = []

    @property
    def observation(self) -> Observation:
        """The last observation."""
        if self._observation is None:
            raise AssertionError("there is no observation yet")
        return self._observation

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps whose action was carried out, the last one possibly still open."""
        return (*self._done, self._pending) if self._pending else tuple(self._done)

    @property
    def n_rows(self) -> int:
        """How many rows `close` returns now."""
        return len(self.steps) + self._has_final_row

    @property
    def _has_final_row(self) -> bool:
        return self._observation is not None and self._pending is None

    def add_observation(self, seen: Observation) -> None:
        """Add an observation, which completes the step before it."""
        if self._pending is not None and self._observation is not None:
            changed = _visible_state(seen) != _visible_state(self._observation)
            self._done.append(self._pending.model_copy(update={"state_changed": changed}))
            self._pending = None
        self._observation = seen
        self._at = self._stopwatch.now

    def add_action(
        self, decision: Decision, effect: Effect, outcome: Outcome, *, think_ms: float
    ) -> None:
        """Add the action that was decided on the last observation, and its effect."""
        point = target_point(decision.action)
        self._pending = self._row().model_copy(
            update={
                "thought": decision.thought,
                "thought_source": decision.thought_source,
                "note": decision.note,
                "action": decision.action,
                "x_norm": None if point is None else point[0] / self._width,
                "y_norm": None if point is None else point[1] / self._height,
                "target": effect.target,
                "raw_reply": decision.raw_reply,
                "parse_error": decision.parse_error,
                "action_error": effect.error,
                "result_text": effect.result_text,
                "reward": outcome.reward,
                "terminated": outcome.done,
                "think_ms": think_ms,
                "act_ms": effect.act_ms,
            }
        )

    def close(self, *, truncated: bool) -> tuple[Step, ...]:
        """Return all steps, the final state as the last; `truncated` marks the last action."""
        steps = list(self.steps)
        if truncated and steps:
            steps[-1] = steps[-1].model_copy(update={"truncated": True})
        final = [self._row()] if self._has_final_row else []
        return (*steps, *final)

    def _row(self) -> Step:
        seen = self.observation
        return Step(
            step=len(self._done),
            screenshot=seen.screenshot,
            screenshot_sha256=sha256_hex(seen.screenshot.bytes),
            screenshot_phash=difference_hash(seen.screenshot.bytes),
            width=seen.width,
            height=seen.height,
            page=seen.page,
            action=NoAction(),
            observe_ms=seen.observe_ms,
            at=self._at,
            elements=seen.elements,
        )


def _visible_state(seen: Observation) -> tuple[bytes, str | None, str | None, str]:
    return (seen.screenshot.bytes, seen.page.dom_sha256, seen.page.form_sha256, seen.page.url)


def difference_hash(picture: bytes) -> str:
    """Return the 64-bit difference hash of an encoded picture, in hex.

    Each bit says whether a pixel of the picture, shrunk to 9×8 greys, is darker than its right
    neighbour (dHash, N. Krawetz, "Kind of Like That", 2013).
    """
    with Image.open(io.BytesIO(picture)) as image:
        image.draft("L", (_HASH_WIDTH * 8, _HASH_HEIGHT * 8))
        small = image.convert("L").resize((_HASH_WIDTH, _HASH_HEIGHT), Image.Resampling.BILINEAR)
    grey = small.tobytes()
    bits = 0
    for y in range(_HASH_HEIGHT):
        row = grey[y * _HASH_WIDTH : (y + 1) * _HASH_WIDTH]
        for left, right in itertools.pairwise(row):
            bits = bits << 1 | (left < right)
    return f"{bits:016x}"
