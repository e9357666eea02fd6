"""The whole check of an endpoint: every check in order, a few results from each.

The context comes first, then whether the endpoint replies at all: where it does not, the check ends.
A check that fails with an error becomes a result that says so, and the next one follows.
"""

from collections.abc import AsyncIterator, Awaitable, Callable

from generators.endpoint_check.actions import look_at_action
from generators.endpoint_check.coordinates import look_at_coordinates
from generators.endpoint_check.endpoint import Refused, Subject
from generators.endpoint_check.limits import look_at_context, look_at_pictures
from generators.endpoint_check.prefix_cache import look_at_cache
from generators.endpoint_check.result import Fitness, Line
from generators.endpoint_check.structured_output import look_at_structure
from generators.endpoint_check.usage_metrics import look_at_accounts, look_at_metrics, look_at_reply
from generators.engine.client.client import OpenAIEngine
from generators.policy.dialects.protocol import Dialect
from schemas.errors import RolloutFailure

_Check = Callable[[Subject], Awaitable[list[Line]]]

_CHECKS: tuple[tuple[str, _Check], ...] = (
    ("context", look_at_context),
    ("reply", look_at_reply),
    ("structure", look_at_structure),
    ("metrics", look_at_metrics),
    ("pictures", look_at_pictures),
    ("accounts", look_at_accounts),
    ("cache", look_at_cache),
    ("action", look_at_action),
    ("coordinates", look_at_coordinates),
)
"""By name, in order: later ones use what earlier ones found."""


async def examine(
    engine: OpenAIEngine, dialect: Dialect, *, say: Callable[[str], None]
) -> AsyncIterator[Line]:
    """Yield a result for each need of a run in `dialect`; `say` gets the name of each check."""
    subject = Subject(engine, dialect)
    yield _model_result(subject)
    for name, look in _CHECKS:
        say(f"asking: {name}")
        lines, broken = await _run_check(subject, name, look)
        for line in lines:
            yield line
        if broken and name == "reply":
            return


def _model_result(subject: Subject) -> Line:
    card = subject.card
    who = " ".join(filter(None, (card.product, card.version)))
    found = f"{card.model} on {who or 'a server that does not say what it is'}"
    return Line(name="model", fitness=Fitness.FIT, found=found)


async def _run_check(subject: Subject, name: str, look: _Check) -> tuple[list[Line], bool]:
    """Return the results of a check, and whether it failed with an error."""
    why = ""
    try:
        return await look(subject), False
    except* (Refused, RolloutFailure) as broken:  # a check sends several requests at a time
        why = _first_error(broken)
    line = Line(
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
