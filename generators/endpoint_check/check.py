"""The whole check of an endpoint: every check in order, a few results from each.

The context comes first, then whether the endpoint replies at all: where it does not, the check ends.
A check that fails with an error becomes a result that says so, and the next one follows.
"""

from collections.abc import AsyncIterator, Awaitable, Callable

from generators.endpoint_check.actions import check_actions
from generators.endpoint_check.coordinates import check_coordinates
from generators.endpoint_check.endpoint import CheckedEndpoint, RequestRefused
from generators.endpoint_check.limits import check_context, check_images
from generators.endpoint_check.prefix_cache import check_prefix_cache
from generators.endpoint_check.result import CheckResult, Fitness
from generators.endpoint_check.structured_output import check_structured_output
from generators.endpoint_check.usage_metrics import check_metrics, check_reply, check_usage_details
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
    ("accounts", check_usage_details),
    ("cache", check_prefix_cache),
    ("action", check_actions),
    ("coordinates", check_coordinates),
)
"""By name, in order: later ones use what earlier ones found."""


async def check_endpoint(
    engine: OpenAIEngine, dialect: Dialect, *, report: Callable[[str], None]
) -> AsyncIterator[CheckResult]:
    """Yield a result for each need of a run in `dialect`; `report` gets the name of each check."""
    subject = CheckedEndpoint(engine, dialect)
    yield _model_result(subject)
    for name, look in _CHECKS:
        report(f"asking: {name}")
        lines, broken = await _run_check(subject, name, look)
        for line in lines:
            yield line
        if broken and name == "reply":
            return


def _model_result(subject: CheckedEndpoint) -> CheckResult:
    card = subject.card
    who = " ".join(filter(None, (card.product, card.version)))
    found = f"{card.model} on {who or 'a server that does not say what it is'}"
    return CheckResult(name="model", fitness=Fitness.FIT, found=found)


async def _run_check(
    subject: CheckedEndpoint, name: str, look: _Check
) -> tuple[list[CheckResult], bool]:
    """Return the results of a check, and whether it failed with an error."""
    why = ""
    try:
        return await look(subject), False
    except* (RequestRefused, RolloutFailure) as broken:  # a check sends several requests at a time
        why = _first_error(broken)
    line = CheckResult(
        name=name,
        fitness=Fitness.POOR if name == "cache" else Fitness.UNFIT,
        found=why,
        remedy="see the server's own log",
    )
    return [line], True


def _first_error(group: BaseExceptionGroup[BaseException]) -> str:
    """Return the message of the first error in a group."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)
