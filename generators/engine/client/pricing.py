"""What an engine costs: by the tokens of a call, or by the hour that it runs."""

from generators.engine.protocol import Reply
from schemas.sections import PriceSection

_MILLION = 1_000_000
_SECONDS_AN_HOUR = 3_600


def usd_of_reply(reply: Reply, prices: PriceSection) -> float | None:
    """Return the dollars that a reply cost; None where its tokens are unknown.

    Tokens that a cache served have a price of their own if there is one and the server says how
    many they were. Tokens of replies that did not arrive are not charged for.
    """
    if reply.prompt_tokens is None or reply.completion_tokens is None:
        return None
    cached = min(reply.cached_tokens or 0, reply.prompt_tokens)
    cached_price = prices.prompt if prices.cached is None else prices.cached
    dollars = (
        (reply.prompt_tokens - cached) * prices.prompt
        + cached * cached_price
        + reply.completion_tokens * prices.completion
    )
    return dollars / _MILLION


def usd_of_seconds(seconds: float, usd_per_hour: float) -> float:
    """Return the dollars of an engine that ran for so long."""
    return seconds * usd_per_hour / _SECONDS_AN_HOUR
