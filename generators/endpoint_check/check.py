"""Every check of an endpoint in order, a few results from each.

The context comes first, then a plain reply: where the endpoint gives none, the checks end there. A
check that fails with an error becomes a result that says so, and the next check follows.
"""

from collections.abc import AsyncIterator, Awaitable, Callable

from generators.endpoint_check.capabilities import (
    check_context,
    check_images,
    check_metrics,
    check_reply,
    check_usage_details,
)
from generators.endpoint_check.coordinates import check_coordinates
from generators.endpoint_check.endpoint import CheckedEndpoint, RequestRefused
from generators.endpoint_check.prefix_cache import check_prefix_cache
from generators.endpoint_check.replies import check_actions, check_structured_output
from generators.endpoint_check.result import CheckResult, Fitness
from generators.endpoint_check.template import check_template
from generators.engine.client.client import OpenAIEngine
from generators.policy.dialects.protocol import Dialect
from schemas.errors import RolloutFailure

_Check = Callable[[CheckedEndpoint], Awaitable[list[CheckResult]]]

_CHECKS: tuple[tuple[str, _Check], ...] = (
    ("context", check_context),
    ("reply", check_reply),
    ("structure", check_structured_output),
    ("metrics", check_metrics),
    ("pictures", check_images),
    ("template", check_template),
    ("accounts", check_usage_details),
    ("cache", check_prefix_cache),
    ("action", check_actions),
    ("coordinates", check_coordinates),
)
"""The checks by name, in order: later ones use the findings of earlier ones."""


async def check_endpoint(
    engine: OpenAIEngine, dialect: Dialect, *, report: Callable[[str], None]
) -> AsyncIterator[CheckResult]:
    """Yield a result for each need of a run in `dialect`; `report` gets the name of each check."""
    endpoint, card = CheckedEndpoint(engine, dialect), engine.card
    server = " ".join(filter(None, (card.product, card.version)))
    yield CheckResult(
        name="model",
        fitness=Fitness.FIT,
        found=f"{card.model} on {server or 'a server that does not say what it is'}",
    )
    for name, check in _CHECKS:
        report(f"asking: {name}")
        results, broken = await _run_check(endpoint, name, check)
        for result in results:
            yield result
        if broken and name == "reply":
            return


async def _run_check(
    endpoint: CheckedEndpoint, name: str, check: _Check
) -> tuple[list[CheckResult], bool]:
    """Return the results of a check, and whether it failed with an error."""
    try:
        return await check(endpoint), False
    except* (RequestRefused, RolloutFailure) as group:  # a check sends several requests at a time
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        message = str(first)
    result = CheckResult(
        name=name,
        fitness=Fitness.POOR if name == "cache" else Fitness.UNFIT,
        found=message,
        remedy="see the server's own log",
    )
    return [result], True
