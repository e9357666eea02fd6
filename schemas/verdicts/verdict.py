"""Judgements of an episode: a verifier's finding, the row it becomes, and all of them combined.

A finding is the result of one verifier; a verdict is that finding with its address (which episode, which
round), a row of `verdicts`. A verifier that cannot decide abstains, and one that breaks gets `error`:
neither is a score of zero. `Acceptance` is what the run's rule makes of all verdicts on one episode; it
is computed at publication and never stored with the episode.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import JsonObject, Moment, Record
from schemas.columns import Int32


class Status(StrEnum):
    """The decision of a verifier about an episode."""

    PASSED = "passed"
    """It examined the episode and found it good."""
    FAILED = "failed"
    """It examined the episode and found it bad."""
    ABSTAINED = "abstained"
    """It examined the episode and cannot decide; it runs again in a later round."""
    ERROR = "error"
    """It broke; it runs again in a later round."""
    UNSUPPORTED = "unsupported"
    """It cannot examine episodes of this kind."""


class Finding(Record):
    """The result of one verifier for one episode."""

    status: Status
    """The verifier's decision."""
    score: float | None = None
    """0–1, where the verifier measures something; None where it does not."""
    reason: str
    """A sentence."""
    evidence: JsonObject = Field(default_factory=dict)
    """The facts that `reason` rests on."""
    cost_usd: float | None = None
    """None if it has no known price."""


class Verdict(Record):
    """A finding with its address."""

    episode_id: str
    """The episode judged."""
    unit_id: str
    """The unit the episode was committed with."""
    verifier: str
    """The verifier's name."""
    verifier_version: str
    """The verifier's version."""
    round: Annotated[int, Int32]
    """From 0; the highest round counts, and all of them are kept."""
    status: Status
    """`passed`, `failed`, `abstained`, `error` or `unsupported`."""
    score: float | None = None
    """0–1, where the verifier measures something; None where it does not."""
    reason: str
    """A sentence."""
    evidence: JsonObject = Field(default_factory=dict)
    """The facts that `reason` rests on."""
    seconds: float
    """How long the verifier took, wall s."""
    cost_usd: float | None = None
    """None if it has no known price."""
    judged_at: Moment
    """UTC."""


class Acceptance(Record):
    """The result of a run's rule for an episode: the columns `trajectories` has beside `episodes`'."""

    accepted: bool
    """The rule is met."""
    rejected_because: tuple[str, ...] = ()
    """One reason for each part of the rule that is not met."""
    assurance: str
    """How sure: `replayed`; `probed`, where the site judged by its server's state and nothing was replayed; or
    `none`. Reserved: `judged`, as no verifier that ships is a judge."""
    replay: str | None = None
    """`reproduced`, `diverged` or `unsupported`; None if not replayed."""
    replay_score: float | None = None
    """Share of pictures equal byte by byte; None if not replayed."""
    judge_score: float | None = None
    """A judge's score, 0–1; None if not judged. Reserved: no verifier that ships is a judge."""
    duplicate_of: str | None = None
    """The accepted episode of which this one is a copy, with equal pictures and actions; None if it is
    the first by id, or `novelty` has not seen it."""
    near_duplicate_of: str | None = None
    """The accepted episode that has the same goal, the same actions on the same targets, and near
    pictures; None if it is the first by id, a copy, or `novelty` has not seen it."""
    same_task_as: str | None = None
    """The first task by id with the same template, goal and first picture; None if it is its own."""
    split: str
    """`train`, `validation` or `test`, by the group of templates that its task's template is in."""
    min_reward: float | None = None
    """The lowest raw reward that counts as success; None if the rule does not ask for `outcome`, or
    without its verdict."""
    min_reward_reason: str | None = None
    """Why its template has a threshold of its own; None where the rule's `accept.min_reward` holds."""
    replays: Annotated[int | None, Int32] = None
    """How often the episode was executed again, all tries of all rounds and versions, broken ones too;
    None if never."""
    replays_agreed: Annotated[int | None, Int32] = None
    """How many of these agreed with the record; None if there was none."""
    review: str | None = None
    """What its reviewers say, whether or not the rule obeys: `accepted`, `rejected`, `disagreed`, or `unsure`, where
    none decided; None if nobody reviewed it."""
    reviewed_instruction: str | None = None
    """A reviewer's better wording of the goal, which no policy saw; None if there is none."""
    sketch: bytes | None = None
    """128 bytes made of its pictures, goal and actions, by which copies and near copies are found among
    many runs; None if `novelty` has not seen it."""
