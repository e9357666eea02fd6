"""The input of a judge, which is the end of an attempt, and its judgement.

The judge of `judge.py` applies the rules that a task states. A probe (`probes.py`) is a function of a
plug-in that judges in its own way.
"""

from pydantic import Field, JsonValue

from schemas.base import JsonObject, Record
from schemas.episodes.observation import Download
from schemas.episodes.state_delta import Delta

REASON_BYTES = 500
"""Largest size of one reason, UTF-8 bytes."""


class ProbeInput(Record):
    """The end of an attempt, as the input of a probe."""

    before: JsonValue
    """The server's state before the first action, masked."""
    after: JsonValue
    """The server's state after the last action, masked."""
    delta: Delta
    """The differences between the two."""
    answer: str | None
    """The policy's answer; None: it gave none."""
    options: JsonObject
    """The `options` beside the probe's name in the task's `expect`; empty if it has none."""
    seed: int
    """The task's seed."""
    parameters: JsonObject
    """The task's parameters."""
    downloads: tuple[Download, ...] = ()
    """What the pages gave to download, in order."""


class Judgement(Record):
    """A judge's result."""

    reward: float = Field(ge=0, le=1)
    """1.0 if everything expected holds, else 0.0; a probe may give a value between."""
    reasons: tuple[str, ...] = ()
    """Sentences for authors of tasks: expected and found values, met or not."""
