"""What a judge is given of an attempt's end, and what it says of it.

The judge of `judge.py` holds the end against the rules that a task states. A probe (`probes.py`) is a function
of a plug-in that judges it in a way of its own.
"""

from pydantic import Field, JsonValue

from schemas.base import JsonObject, Record
from schemas.episodes.delta import Delta

REASON_BYTES = 500
"""The bound of one reason."""


class ProbeInput(Record):
    """The end of an attempt, as a probe is given it."""

    before: JsonValue
    """The server's state before the first action, masked."""
    after: JsonValue
    """The server's state after the last one, masked."""
    delta: Delta
    """What differs between the two."""
    answer: str | None
    """What the policy answered; None: nothing."""
    options: JsonObject
    """The `options` beside the probe's name in the task's `expect`; empty: none are stated."""
    seed: int
    """The task's seed."""
    parameters: JsonObject
    """The task's parameters."""


class Judgement(Record):
    """What a judge found."""

    reward: float = Field(ge=0, le=1)
    """1.0 if all that is expected is so, 0.0 if nothing is worth anything; a probe may give a part."""
    reasons: tuple[str, ...] = ()
    """Sentences for people who write tasks: what was expected and what was found, met or not."""
