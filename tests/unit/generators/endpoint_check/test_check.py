"""What the checks find at the simulator, as it is and with each of its faults."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from support.servers.engine_servers import engine

from generators.endpoint_check.capabilities import (
    check_context,
    check_images,
    check_metrics,
    check_reply,
    check_usage_details,
    missing_figures,
)
from generators.endpoint_check.check import check_endpoint
from generators.endpoint_check.coordinates import check_coordinates
from generators.endpoint_check.endpoint import CheckedEndpoint, user
from generators.endpoint_check.prefix_cache import check_prefix_cache
from generators.endpoint_check.replies import (
    check_actions,
    check_structured_output,
    follows_probe_schema,
    has_raw_control,
)
from generators.endpoint_check.result import CheckResult, Fitness, is_fit
from generators.engine.client.metrics import EngineMetrics
from generators.engine.client.retry_policy import RetryPolicy
from generators.engine.simulator.faults import Fault, FaultKind
from generators.engine.simulator.options import Coordinates, SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from generators.policy.dialects.registry import make_dialect
from schemas.backoff import Backoff
from schemas.errors import NoEngine

Look = Callable[[CheckedEndpoint], Awaitable[list[CheckResult]]]

TOLD = SimulatorOptions(prompt_tokens_details=True, request_metrics=True)
"""It says of its replies all that there is to say."""

IMPATIENT = RetryPolicy(Backoff(first_seconds=0.01, max_seconds=0.05, jitter=0.5), max_broken=2)


@contextlib.asynccontextmanager
async def subject(
    options: SimulatorOptions | None = None,
    *kinds: FaultKind,
    dialect: str = "holotron",
    pictures: int = 3,
) -> AsyncIterator[CheckedEndpoint]:
    faults = [Fault(kind=kind, times=-1) for kind in kinds]
    async with (
        SimulatorServer(options, faults=faults) as server,
        engine([server.url], retry_policy=IMPATIENT) as client,
    ):
        found = CheckedEndpoint(client, make_dialect(dialect))
        found.max_images = pictures
        yield found


async def _look(
    look: Look,
    *kinds: FaultKind,
    options: SimulatorOptions | None = None,
    dialect: str = "holotron",
    pictures: int = 3,
) -> dict[str, CheckResult]:
    async with subject(options, *kinds, dialect=dialect, pictures=pictures) as found:
        return {line.name: line for line in await look(found)}


async def _examined(
    options: SimulatorOptions | None = None, *kinds: FaultKind
) -> tuple[list[CheckResult], list[str]]:
    faults = [Fault(kind=kind, times=-1) for kind in kinds]
    said: list[str] = []
    async with (
        SimulatorServer(options, faults=faults) as server,
        engine([server.url], retry_policy=IMPATIENT) as client,
    ):
        lines = [
            line
            async for line in check_endpoint(client, make_dialect("holotron"), report=said.append)
        ]
    return lines, said


async def test_a_scripted_engine_in_the_dialects_convention_is_fit_in_every_line() -> None:
    lines, said = await _examined(TOLD)

    assert is_fit(lines)
    assert {line.fitness for line in lines} == {Fitness.FIT}, lines
    assert not any(line.remedy for line in lines)
    assert len(said) == 10
    names = [line.name for line in lines]
    assert names[0] == "model"
    assert names[-1] == "coordinates"
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("dialect", "coordinates", "reading"),
    [
        ("holotron", Coordinates.PX, "pixels"),
        ("holotron", Coordinates.RESIZED, "pixels resized to patches of 28"),
        ("holotron", Coordinates.THOUSAND, "0-1000"),
        ("holotron", Coordinates.UNIT, "0-1"),
        ("holo1_5", Coordinates.PX, "pixels"),
        ("holo1_5", Coordinates.THOUSAND, "0-1000"),
    ],
)
async def test_the_convention_of_an_engine_is_found_whatever_the_dialect(
    dialect: str, coordinates: Coordinates, reading: str
) -> None:
    lines = await _look(
        check_coordinates, options=SimulatorOptions(coordinates=coordinates), dialect=dialect
    )

    line = lines["coordinates"]
    assert line.found.startswith(f"{reading}: 0.0% of the diagonal off")
    right = Coordinates.PX if dialect == "holo1_5" else Coordinates.THOUSAND
    assert line.fitness is (Fitness.FIT if coordinates is right else Fitness.UNFIT)
    assert bool(line.remedy) == (coordinates is not right)


async def test_an_engine_of_another_convention_acts_beside_its_targets() -> None:
    wrong = await _look(check_actions, options=SimulatorOptions(coordinates=Coordinates.PX))
    right = await _look(check_actions)

    assert wrong["action"].fitness is Fitness.POOR
    assert "0 of them" in wrong["action"].found
    assert right["action"].fitness is Fitness.FIT


async def test_a_remedy_names_the_setting_by_which_the_dialect_would_read_it() -> None:
    lines = await _look(check_coordinates, options=SimulatorOptions(coordinates=Coordinates.UNIT))

    assert 'policy.dialect_options.convention = "0-1"' in lines["coordinates"].remedy


async def test_an_engine_that_ignores_schemas_is_noticed_and_still_asked_for_points() -> None:
    structure = await _look(check_structured_output, FaultKind.UNSTRUCTURED)
    points = await _look(check_coordinates, FaultKind.UNSTRUCTURED)

    assert structure["structure"].fitness is Fitness.UNFIT
    assert structure["structure"].found.startswith("0 of 4 follow a schema")
    assert points["coordinates"].fitness is Fitness.FIT


async def test_a_model_whose_replies_are_no_actions_is_unfit() -> None:
    lines = await _look(check_actions, FaultKind.TRUNCATED)

    assert lines["action"].fitness is Fitness.UNFIT
    assert "ended early" in lines["action"].found


@pytest.mark.parametrize(
    ("kind", "name"), [(FaultKind.NO_USAGE, "usage"), (FaultKind.NAN_LOGPROBS, "logprobs")]
)
async def test_what_a_reply_does_not_tell_is_a_line(kind: FaultKind, name: str) -> None:
    lines = await _look(check_reply, kind)

    assert lines.pop(name).fitness is Fitness.POOR
    assert {line.fitness for line in lines.values()} == {Fitness.FIT}


async def test_a_server_that_knows_no_field_for_token_ids_gives_none() -> None:
    lines = await _look(check_reply, FaultKind.UNKNOWN_FIELDS)

    assert lines["token ids"].fitness is Fitness.POOR
    assert lines["usage"].fitness is Fitness.FIT


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (FaultKind.NO_METRICS, "no page at /metrics"),
        (FaultKind.HALF_METRICS, "without time to first token, time in the queue"),
    ],
)
async def test_figures_that_metrics_lack_are_named(kind: FaultKind, found: str) -> None:
    lines = await _look(check_metrics, kind)

    assert lines["metrics"].fitness is Fitness.POOR
    assert lines["metrics"].found == found


def test_a_hit_rate_is_as_good_as_the_hits() -> None:
    assert "prefix cache hits" not in missing_figures(EngineMetrics(prefix_hit_rate=0.5))
    assert "prefix cache hits" in missing_figures(EngineMetrics(running=1.0))


@pytest.mark.parametrize("kind", [None, FaultKind.NO_PICTURES])
async def test_a_model_that_does_not_see_is_unfit(kind: FaultKind | None) -> None:
    options = SimulatorOptions(max_pictures=0) if kind is None else None
    lines = await _look(check_images, *([kind] if kind else []), options=options, pictures=0)

    assert lines["pictures"].fitness is Fitness.UNFIT
    assert "image input" in lines["pictures"].found


@pytest.mark.parametrize(
    ("most", "fitness", "found"),
    [
        (1, Fitness.UNFIT, "1 in a prompt; 2: HTTP 400"),
        (3, Fitness.FIT, "3 in a prompt"),
        (None, Fitness.FIT, "8 in a prompt and perhaps more"),
    ],
)
async def test_pictures_are_counted_until_they_are_refused(
    most: int | None, fitness: Fitness, found: str
) -> None:
    lines = await _look(check_images, options=SimulatorOptions(max_pictures=most), pictures=0)

    assert lines["pictures"].fitness is fitness
    assert lines["pictures"].found.startswith(found)


async def test_a_remedy_for_too_few_pictures_fits_what_there_is() -> None:
    lines = await _look(check_images, options=SimulatorOptions(max_pictures=2), pictures=0)

    assert "policy.slack_images = 1" in lines["pictures"].remedy


@pytest.mark.parametrize("kinds", [(), (FaultKind.NO_USAGE,)])
async def test_what_a_cache_serves_is_measured_by_usage_or_else_by_metrics(
    kinds: tuple[FaultKind, ...],
) -> None:
    lines = await _look(check_prefix_cache, *kinds)

    assert set(lines) == {"cache, grown", "cache, system", "cache, evicted"}
    assert {line.fitness for line in lines.values()} == {Fitness.FIT}


async def test_a_cache_that_is_off_is_noticed() -> None:
    lines = await _look(check_prefix_cache, options=SimulatorOptions(prefix_cache=False))

    assert {line.fitness for line in lines.values()} == {Fitness.POOR}
    assert "--enable-prefix-caching" in lines["cache, grown"].remedy


async def test_a_cache_of_which_nothing_is_told_is_not_measured() -> None:
    lines = await _look(check_prefix_cache, FaultKind.NO_USAGE, FaultKind.NO_METRICS)

    assert {line.fitness for line in lines.values()} == {Fitness.POOR}
    assert "not measured" in lines["cache, grown"].found


async def test_where_one_picture_is_allowed_the_cache_is_measured_without_growing() -> None:
    lines = await _look(check_prefix_cache, options=SimulatorOptions(max_pictures=1), pictures=1)

    assert set(lines) == {"cache, system", "cache, evicted"}


@pytest.mark.parametrize(
    ("options", "poor"),
    [
        (TOLD, {}),
        (
            TOLD.model_copy(update={"prompt_tokens_details": False}),
            {"token details": "--enable-prompt-tokens-details"},
        ),
        (
            TOLD.model_copy(update={"request_metrics": False}),
            {"times": "--enable-per-request-metrics"},
        ),
    ],
)
async def test_an_endpoint_that_keeps_to_itself_what_a_reply_took_is_named_the_flag(
    options: SimulatorOptions, poor: dict[str, str]
) -> None:
    lines = await _look(check_usage_details, options=options)

    assert lines.keys() == {"token details", "times"}
    assert {name for name, line in lines.items() if line.fitness is Fitness.POOR} == set(poor)
    for name, flag in poor.items():
        assert flag in lines[name].remedy


async def test_an_endpoint_without_pictures_need_not_count_them() -> None:
    told, silent = [
        await _look(check_usage_details, options=options, pictures=0)
        for options in (TOLD, SimulatorOptions())
    ]

    assert told["token details"].found == "0 tokens cached, 0 of pictures"
    assert silent["token details"].found == "without cached tokens"


@pytest.mark.parametrize(
    ("tokens", "fitness"),
    [(4_096, Fitness.UNFIT), (8_192, Fitness.POOR), (32_768, Fitness.FIT)],
)
async def test_a_context_is_held_against_what_a_prompt_needs(tokens: int, fitness: Fitness) -> None:
    lines = await _look(check_context, options=SimulatorOptions(context_tokens=tokens))

    assert lines["context"].fitness is fitness
    assert bool(lines["context"].remedy) == (fitness is not Fitness.FIT)


async def test_an_endpoint_that_goes_away_is_not_waited_for() -> None:
    async with SimulatorServer() as server, engine([server.url]) as client:
        gone = CheckedEndpoint(client, make_dialect("holotron"), gone_seconds=0.2)
        await server.__aexit__()
        async with asyncio.timeout(200):
            with pytest.raises(NoEngine, match="gone away"):
                await gone.ask([user("hello")])


async def test_an_engine_that_never_replies_is_asked_once_and_no_further() -> None:
    lines, said = await _examined(None, FaultKind.HTTP_500)

    assert not is_fit(lines)
    assert [line.name for line in lines] == ["model", "context", "reply"]
    assert "HTTP 500" in lines[-1].found
    assert said == ["asking: context", "asking: reply"]


async def test_a_server_that_takes_replies_for_thinking_is_told_its_flag() -> None:
    lines, _ = await _examined(None, FaultKind.MISPLACED)

    found = {line.name: line for line in lines}
    assert found["structure"].fitness is Fitness.UNFIT
    assert "--reasoning-parser" in str(found["structure"].remedy)
    assert "--reasoning-parser" in found["action"].found


async def test_a_question_that_breaks_is_a_line_and_the_next_is_asked() -> None:
    lines, _ = await _examined(SimulatorOptions(context_tokens=2_048))

    found = {line.name: line for line in lines}
    assert found["context"].fitness is Fitness.UNFIT
    assert found["cache"].found.startswith("HTTP 400: This model's maximum context")
    assert found["action"].fitness is Fitness.UNFIT
    assert "coordinates" in found


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ('{"flavour": "mebtual", "crumbs": 40325}', True),
        ('{"flavour": "mebtual", "crumbs": 40325, "more": 1}', False),
        ('{"flavour": "sweet", "crumbs": 40325}', False),
        ('{"flavour": "mebtual", "crumbs": 5}', False),
        ('{"flavour": "mebtual", "crumbs": true}', False),
        ('{"flavour": "mebtual"', False),
        ("[1]", False),
    ],
)
def test_a_reply_follows_the_schema_or_it_does_not(text: str, good: bool) -> None:  # noqa: FBT001
    assert follows_probe_schema(text) is good


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ('{"text": "a\\tb"}', False),
        ('{\n\t"text": "a"}', False),
        ('{"text": "a\tb"}', True),
        ('{"text": "a\nb', True),
        ('{"text": "a', False),
        ("no JSON", False),
    ],
)
def test_a_raw_control_character_within_a_string_is_seen(text: str, raw: bool) -> None:  # noqa: FBT001
    assert has_raw_control(text) is raw
