"""What became of the tokens of calls: served from a cache, or computed, for the first time or again, and for whom.

A prompt is sent whole. Of its tokens the server took some from its cache (*cached*) and *computed* the rest. Of those
computed, what a perfect cache would have served, because the endpoint had been sent it before, was computed *again*;
only the rest was *new*. Whoever asked owns a call's tokens: its role is on its row. A repair turn is a role too, and all
of it is waste. What a lost reply took is on the row of the call that was answered in the end, beside that call's own
tokens.

A figure is the sum of what rows say, never an estimate. Where no server says it, it is None.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from schemas.base import Record
from schemas.episodes.call import sum_known
from schemas.tables.tables import Row

LEDGER_COLUMNS = (
    "role",
    "image_steps",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "cacheable_tokens",
    "image_tokens",
    "wasted_tokens",
    "cost_usd",
)
"""The columns of `calls` that are read."""


class TokenLedger(Record):
    """The tokens of some calls; those of lost replies are in `wasted_tokens` alone."""

    calls: int
    """Requests that were answered."""
    prompt_tokens: int
    """Prompt tokens of all calls, as far as the server counts: cached, new, computed again, and those of calls whose
    server does not report what it cached."""
    completion_tokens: int
    """Completion tokens of all calls, as far as the server counts."""
    cached_tokens: int | None
    """Prompt tokens that a cache served; None where no server counts them."""
    again_tokens: int | None
    """Prompt tokens computed that the endpoint had been sent before, in whole blocks; None if unknown."""
    new_tokens: int | None
    """Prompt tokens computed that the endpoint was sent for the first time; None if unknown."""
    cacheable_tokens: int | None
    """Prompt tokens that the conversations' own caches could have served; None if unknown."""
    hit_efficiency: float | None
    """Share of the cacheable tokens that a cache served, over calls whose server reports it; None if there are none."""
    pictures: int
    """Pictures in all prompts."""
    image_tokens: int | None
    """Prompt tokens that are pictures; None where a server does not count them."""
    wasted_tokens: int | None
    """Tokens of incomplete replies; None without such replies, or if the server did not count them."""
    cost_usd: float | None
    """Cost of all calls; None where nothing is priced."""


def token_ledger(calls: Sequence[Row]) -> TokenLedger:
    """Return the ledger of rows of `calls`."""
    told = [row for row in calls if row["prompt_tokens"] is not None]
    cached = sum_known(row["cached_tokens"] for row in told)
    split = [
        (row["prompt_tokens"], row["cached_tokens"], max(could, row["cached_tokens"]))
        for row in told
        if row["cached_tokens"] is not None and (could := row["cacheable_tokens"]) is not None
    ]
    could_serve = sum(could for _, _, could in split)
    served = sum(cached for _, cached, _ in split)
    return TokenLedger(
        calls=len(calls),
        prompt_tokens=sum(row["prompt_tokens"] for row in told),
        completion_tokens=sum_known(row["completion_tokens"] for row in calls) or 0,
        cached_tokens=cached,
        again_tokens=could_serve - served if split else None,
        new_tokens=sum(sent - could for sent, _, could in split) if split else None,
        cacheable_tokens=sum_known(row["cacheable_tokens"] for row in calls),
        hit_efficiency=served / could_serve if could_serve else None,
        pictures=sum(len(row["image_steps"]) for row in calls),
        image_tokens=_picture_tokens(calls),
        wasted_tokens=sum_known(row["wasted_tokens"] for row in calls),
        cost_usd=sum_known(row["cost_usd"] for row in calls),
    )


def ledgers_by_owner(calls: Iterable[Row]) -> dict[str, TokenLedger]:
    """Return a ledger for each role that asked, the one with the most calls first."""
    by_role: defaultdict[str, list[Row]] = defaultdict(list)
    for row in calls:
        by_role[row["role"]].append(row)
    most_first = sorted(by_role.items(), key=lambda one: -len(one[1]))
    return {role: token_ledger(rows) for role, rows in most_first}


def _picture_tokens(calls: Iterable[Row]) -> int | None:
    """Return the tokens of all pictures; None where a server was sent pictures and does not count their tokens."""
    counts = [row["image_tokens"] for row in calls if row["image_steps"]]
    return None if None in counts else sum(counts)
