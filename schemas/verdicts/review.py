"""What people say of episodes: a review, its id, and which reviews stand.

A review is never changed. Its id is a hash of what it says, so the same review given twice is one. A reviewer
who changes their mind gives a further one, or withdraws the earlier one by naming its id; `standing_reviews` returns
the last word of each reviewer. Who a reviewer is, nobody checks: the name is what they call themselves.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from schemas.base import Moment, Record, content_hash
from schemas.columns import Int32

MAX_TEXT = 4_000
"""The maximum of characters in a reason or an instruction."""

MAX_NAME = 200
"""The maximum of characters in a reviewer's name."""


class Decision(StrEnum):
    """What a reviewer says of an episode."""

    ACCEPT = "accept"
    """It is good."""
    REJECT = "reject"
    """It is not; the reason says why."""
    UNSURE = "unsure"
    """They looked at it and cannot say."""
    MARK = "mark"
    """Nothing: the review marks a step, words the goal better, or only withdraws another review."""


class Review(Record):
    """A person's opinion of an episode."""

    episode_id: str = Field(pattern=r"^[0-9a-f]{16,64}$")
    """The episode reviewed."""
    reviewer: str = Field(max_length=MAX_NAME)
    """Who, as they call themselves."""
    decision: Decision
    """`accept`, `reject`, `unsure`, or `mark`, which decides nothing."""
    reason: str = Field(max_length=MAX_TEXT)
    """A sentence; empty where the reviewer gives none, which a `reject` may not."""
    step: Annotated[int | None, Int32] = Field(default=None, ge=0, lt=2**31)
    """The step it is about, from 0; None: the whole episode."""
    instruction: str | None = Field(default=None, max_length=MAX_TEXT)
    """A better wording of the goal; None if the wording is good."""
    at: Moment
    """When it was given, UTC."""
    undoes: str | None = Field(default=None, pattern=r"^[0-9a-f]{32}$")
    """The id of an earlier review of the same reviewer that this one withdraws; None if it withdraws none."""
    review_id: str | None = None
    """Hash of all other columns; None: not said, as in a review that is not stored yet."""

    @field_validator("reviewer", "instruction")
    @classmethod
    def _check_blank(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError("expected words, got none")
        return value

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.decision is Decision.REJECT and not self.reason.strip():
            raise ValueError("reason: expected why it is rejected, got nothing")
        if self.decision is Decision.MARK and not self._says_more:
            raise ValueError("decision: a mark expects a step, an instruction, or what it undoes")
        if self.review_id is not None and self.review_id != review_id(self):
            raise ValueError("review_id: is not the hash of what the review says")
        return self

    @property
    def _says_more(self) -> bool:
        return not (self.step is None and self.instruction is None and self.undoes is None)


def review_id(review: Review) -> str:
    """Return the id of a review, 32 hex characters: a hash of what it says, by whom and when."""
    return content_hash(["review", review.model_dump(mode="json", exclude={"review_id"})])


def identify(review: Review) -> Review:
    """Return the review with its id."""
    return review.model_copy(update={"review_id": review_id(review)})


def standing_reviews(reviews: Iterable[Review]) -> dict[str, list[Review]]:
    """Return the reviews that count by episode, in the order in which they were given.

    A review that its reviewer withdrew does not count; if the withdrawal is withdrawn too, it counts again. Of
    one reviewer the last word on the episode counts, and the last mark of each step and of the goal.
    """
    by_id = {review_id(one): one for one in reviews}
    undone = _undone(by_id)
    ordered = sorted(
        ((one.at, id_, one) for id_, one in by_id.items() if id_ not in undone),
        key=lambda entry: entry[:2],
    )
    words: dict[tuple[str, str, object], Review] = {}
    for _, _, one in ordered:
        if one.decision is Decision.MARK and one.step is None and one.instruction is None:
            continue  # it only withdraws another one
        about = one.step if one.decision is Decision.MARK else "the episode"
        key = (one.episode_id, one.reviewer, about)
        words.pop(key, None)  # so that a later word stands behind all earlier ones
        words[key] = one
    out: defaultdict[str, list[Review]] = defaultdict(list)
    for one in words.values():
        out[one.episode_id].append(one)
    return dict(out)


def _undone(by_id: dict[str, Review]) -> set[str]:
    """Return the ids of the reviews that their own reviewer withdrew, in a review that stands."""
    undone: set[str] = set()
    # A review names an id that existed before it, so whoever is later decides before.
    for id_, one in sorted(by_id.items(), key=lambda entry: (entry[1].at, entry[0]), reverse=True):
        other = by_id.get(one.undoes or "")
        if id_ not in undone and other is not None and is_own(other, one):
            undone.add(one.undoes or "")
    return undone


def is_own(earlier: Review, later: Review) -> bool:
    """Return whether a review may withdraw an earlier one: of the same reviewer, on the same episode, given before."""
    same = (earlier.reviewer, earlier.episode_id) == (later.reviewer, later.episode_id)
    return same and earlier.at < later.at


def decisions(reviews: Sequence[Review]) -> list[Review]:
    """Return those of an episode's standing reviews that decide: each reviewer's `accept` or `reject`."""
    return [one for one in reviews if one.decision in (Decision.ACCEPT, Decision.REJECT)]


class ReviewResult(StrEnum):
    """What the reviewers of an episode say together."""

    ACCEPTED = "accepted"
    """Each that decided accepts it."""
    REJECTED = "rejected"
    """Each that decided rejects it."""
    DISAGREED = "disagreed"
    """One accepts it and another rejects it."""
    UNSURE = "unsure"
    """Somebody reviewed it, and nobody decided."""


def review_result(reviews: Sequence[Review]) -> ReviewResult | None:
    """Return what an episode's standing reviews say together; None without one."""
    said = {one.decision for one in decisions(reviews)}
    if len(said) > 1:
        return ReviewResult.DISAGREED
    if said:
        return ReviewResult.ACCEPTED if Decision.ACCEPT in said else ReviewResult.REJECTED
    return ReviewResult.UNSURE if any(one.decision is Decision.UNSURE for one in reviews) else None


def reviewed_instruction(reviews: Sequence[Review]) -> str | None:
    """Return the last better wording of the goal among an episode's standing reviews; None without one."""
    worded = [one.instruction for one in reviews if one.instruction is not None]
    return worded[-1] if worded else None
