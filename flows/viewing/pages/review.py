"""Reviews: the queue of what is to be judged next, and the answer to a form.

A form has one field for each part of a review. What another reviewer said is shown once one has said one's own word.
"""

import asyncio
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from aiohttp import web
from pydantic import ValidationError

from flows.reviewing.queue import QueueOrder, review_queue
from flows.viewing.asked import compute
from flows.viewing.page import REVIEWER, answer, place_of
from flows.viewing.reviews import all_reviews, review_file, save_reviews
from flows.viewing.shown import Shown
from schemas.base import first_mistake
from schemas.configuration.sections import AcceptSection
from schemas.errors import BadConfig, BadReview
from schemas.tables.tables import from_row
from schemas.verdicts.agreement import agreements
from schemas.verdicts.review import Decision, Review, standing_reviews
from schemas.verdicts.verdict import Verdict
from storage.reading.heads import rows_of

_WORDS = {
    QueueOrder.DISAGREEMENT: "verdicts that disagree first",
    QueueOrder.CONFIDENCE: "scores near their threshold first",
    QueueOrder.RANDOM: "a random sample",
}
_LISTED = 50
_COLUMNS = ("id", "goal", "status", "reason", "template", "policy")
_VERDICTS = tuple(Verdict.model_fields)


async def show(request: web.Request) -> web.Response:
    """Answer with the queue.

    Raises:
        BadConfig: the order is none.
    """
    _, place = place_of(request)
    order, seed = _order(request.query.get("order")), request.query.get("seed") or "0"
    if not seed.isdecimal():
        raise BadConfig(f"seed={seed}: expected a number")
    reviewer = request.app[REVIEWER]
    said = await all_reviews(place)
    queue = await asyncio.to_thread(_queue, place, order, said, reviewer, int(seed))
    heads = place.lookup.heads
    rows = pa.array([place.lookup.numbers[id_] for id_ in queue[:_LISTED]], pa.int64())
    listed: list[dict[str, Any]] = heads.take(rows).select(_COLUMNS).to_pylist()
    opened = place.lookup.opened
    file = review_file(opened.run_id, os.environ)
    given = {
        "orders": [{"name": one.value, "words": _WORDS[one]} for one in QueueOrder],
        "order": order.value,
        "seed": seed,
        "left": len(queue),
        "listed": listed,
        "reviewer": reviewer,
        "mine": sum(one.reviewer == reviewer and one.decision is not Decision.MARK for one in said),
        "agreements": agreements(standing_reviews(said)),
        "file": str(file) if not opened.is_run or file.exists() else "",
    }
    return answer(request, "review.html", given, tab="review", title="Review")


def _order(name: str | None) -> QueueOrder:
    try:
        return QueueOrder(name or QueueOrder.DISAGREEMENT.value)
    except ValueError:
        known = ", ".join(one.value for one in QueueOrder)
        raise BadConfig(f"order={name}: expected one of {known}") from None


def _queue(
    place: Shown, order: QueueOrder, said: list[Review], reviewer: str, seed: int
) -> list[str]:
    lookup = place.lookup
    shown = lookup.heads.filter(compute.fill_null(lookup.heads["shown"], fill_value=False))
    verdicts: dict[str, list[Verdict]] = {str(id_): [] for id_ in shown["id"].to_pylist()}
    for row in rows_of(lookup.opened.files.get("verdicts", ()), _VERDICTS):
        if row["episode_id"] in verdicts:
            verdicts[row["episode_id"]].append(from_row(Verdict, row))
    return review_queue(
        verdicts,
        order,
        rule=lookup.opened.rule or AcceptSection(),
        standing=standing_reviews(said),
        reviewer=reviewer,
        seed=seed,
    )


async def save(request: web.Request) -> web.Response:
    """Take the review of a form, and go on to the next episode of its queue, or stay.

    Raises:
        BadReview: it says what no review may say.
        NotFound: there is no such episode.
    """
    number, place = place_of(request)
    form = await request.post()
    given = {name: str(form.get(name) or "").strip() for name in _FIELDS}
    id_ = request.match_info["episode"]
    await save_reviews(place, [_review(id_, request.app[REVIEWER], given)])
    order = given["order"]
    if order:
        said = await all_reviews(place)
        queue = await asyncio.to_thread(
            _queue, place, _order(order), said, request.app[REVIEWER], int(given["seed"] or 0)
        )
        if queue:
            raise web.HTTPSeeOther(
                f"/{number}/episodes/{queue[0]}?review={order}&seed={given['seed'] or 0}"
            )
        raise web.HTTPSeeOther(f"/{number}/review?order={order}")
    raise web.HTTPSeeOther(f"/{number}/episodes/{id_}#review")


_FIELDS = ("decision", "reason", "step", "instruction", "undoes", "order", "seed")


def _review(id_: str, reviewer: str, given: Mapping[str, str]) -> Review:
    try:
        return Review(
            episode_id=id_,
            reviewer=reviewer,
            decision=Decision(given["decision"] or "mark"),
            reason=given["reason"],
            step=int(given["step"]) if given["step"] else None,
            instruction=given["instruction"] or None,
            undoes=given["undoes"] or None,
            at=datetime.now(UTC),
        )
    except ValidationError as error:
        raise BadReview(f"the review was not kept: {first_mistake(error)}") from None
    except ValueError as error:
        raise BadReview(f"the review was not kept: {error}") from None
