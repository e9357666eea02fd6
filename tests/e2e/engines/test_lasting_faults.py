"""What lasts differs from what passes: an engine that fails everybody is asked no more, and stops a run whole.

A lasting fault costs no episode: whoever waited has no row, and the same command goes on once it is mended.
"""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from effort import THOROUGH
from support.runs.commands import UNREPLAYED, called
from support.servers.engine_servers import (
    HASTY,
    engine,
    held_port,
    prompt,
    scripted_engine,
    scripted_process,
    until,
)

from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint import Endpoint
from generators.engine.client.endpoint_health import Phase, rendezvous_weight
from generators.engine.client.endpoint_pool import EndpointPool
from generators.engine.client.retry_policy import RetryPolicy
from generators.engine.protocol import Reply, Sampling
from generators.engine.simulator.faults import Fault, FaultKind
from generators.engine.simulator.server import SimulatorServer
from schemas.backoff import Backoff
from schemas.errors import NoEngine, RolloutFailure, StepmillError

SOON = RetryPolicy(Backoff(first_seconds=0.01, max_seconds=0.05, jitter=0.5), max_broken=3)
PATIENCE = 1.0
SAMPLING = Sampling(max_tokens=64)

LASTING = {
    FaultKind.HTTP_401: r"HTTP 401: .*told to fail",
    FaultKind.HTTP_400: r"HTTP 400: .*told to fail",
    FaultKind.HTTP_429: r"HTTP 429: .*told to fail",
    FaultKind.HTTP_503: r"HTTP 503: .*told to fail",
    FaultKind.HTTP_500: r"HTTP 500: .*told to fail",
    FaultKind.CUT: r"",
    FaultKind.INVALID_UTF8: r"",
    FaultKind.STUCK: r"no reply in 1 s, nor to a small request in 1 s",
    FaultKind.ENDLESS: r"no reply in 1 s, nor to a small request in 1 s",
}
"""Faults that may last, and what is said of them."""


def hurried(*urls: str) -> OpenAIEngine:
    """Return a client with a second of patience."""
    return engine(urls, timeout_seconds=PATIENCE, retry_policy=SOON, probe_timings=HASTY)


async def ask(client: OpenAIEngine, *sessions: str) -> list[Reply | StepmillError]:
    """Return what each conversation gets, in order."""

    async def one(session: str) -> Reply | StepmillError:
        try:
            return await client.reply(prompt(), SAMPLING, session=session)
        except (NoEngine, RolloutFailure) as failure:
            return failure

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(session)) for session in sessions]
    return [task.result() for task in tasks]


@pytest.mark.parametrize("kind", LASTING)
async def test_a_server_that_fails_everybody_leaves_no_engine(kind: FaultKind) -> None:
    async with SimulatorServer() as server, hurried(server.url) as client:
        (before,) = await ask(client, "a")
        server.add_fault(Fault(kind=kind, times=-1))
        failed = await ask(client, "a", "b", "c")
        asked = server.request_log.chats
        again = await ask(client, "d")

    assert isinstance(before, Reply)
    for one in (*failed, *again):
        assert isinstance(one, NoEngine)
    assert re.match(rf"no engine is left to ask \(.*{LASTING[kind]}.*\); mend", str(failed[0]))
    assert server.request_log.chats == asked, "nobody asks it again"


@pytest.mark.parametrize("kind", LASTING)
async def test_a_server_that_fails_one_request_is_asked_by_others(kind: FaultKind) -> None:
    async with SimulatorServer() as server, hurried(server.url) as client:
        server.add_fault(Fault(kind=kind, times=-1, session="a"))
        first, second = await ask(client, "a", "b")
        (third,) = await ask(client, "c")

    assert isinstance(first, RolloutFailure)
    assert isinstance(second, Reply)
    assert isinstance(third, Reply)


@pytest.mark.parametrize("kind", [FaultKind.HTTP_401, FaultKind.HTTP_500, FaultKind.STUCK])
async def test_where_another_is_left_it_is_asked_in_place_of_the_lost(kind: FaultKind) -> None:
    sessions = [f"episode-{number}" for number in range(12)]
    async with (
        SimulatorServer() as one,
        SimulatorServer() as other,
        hurried(one.url, other.url) as client,
    ):
        other.add_fault(Fault(kind=kind, times=-1))
        replies = await ask(client, *sessions)
        phases = {end.name: end.health.phase for end in client._open_pool.endpoints}

    assert {reply.endpoint for reply in replies if isinstance(reply, Reply)} == {f"{one.url}/v1"}
    assert len(replies) == len(sessions)
    assert all(isinstance(reply, Reply) for reply in replies)
    assert phases == {f"{one.url}/v1": Phase.LIVE, f"{other.url}/v1": Phase.LOST}


async def test_a_dead_server_is_waited_for_as_long_as_there_is_patience() -> None:
    with held_port() as port:
        async with scripted_process(port) as server, hurried(server.url) as client:
            await ask(client, "a")
            await server.kill()
            begun = time.perf_counter()
            (failed,) = await ask(client, "a")
            waited = time.perf_counter() - begun
            await server.start()

            async def is_back() -> bool:
                return isinstance((await ask(client, "a"))[0], Reply)

            await until(is_back)

    assert isinstance(failed, NoEngine)
    assert "no engine is left to ask" in str(failed)
    assert waited >= PATIENCE


async def test_a_slow_server_that_replies_to_others_meanwhile_is_not_lost() -> None:
    async with SimulatorServer() as server, hurried(server.url) as client:
        server.add_fault(Fault(kind=FaultKind.STUCK, times=-1, session="a"))
        server.add_fault(Fault(kind=FaultKind.STUCK, times=-1, session="examination"))
        stop = asyncio.Event()

        async def others() -> None:
            while not stop.is_set():
                await ask(client, "b")

        talking = asyncio.create_task(others())
        (failed,) = await ask(client, "a")
        stop.set()
        await talking
        (end,) = client._open_pool.endpoints

    assert isinstance(failed, RolloutFailure)
    assert end.health.phase is Phase.LIVE


async def test_an_engine_that_is_given_up_answers_nobody_any_more() -> None:
    async with SimulatorServer() as server, hurried(server.url) as client:
        server.add_fault(Fault(kind=FaultKind.STUCK))
        waiting = asyncio.create_task(ask(client, "a"))

        async def is_asked() -> bool:
            return server.request_log.chats > 0

        await until(is_asked)
        client.give_up("vLLM died five times")
        (first,) = await waiting
        (second,) = await ask(client, "b")

    assert isinstance(first, NoEngine)
    assert isinstance(second, NoEngine)
    assert "vLLM died five times" in str(first)


async def test_one_server_of_several_that_is_given_up_leaves_its_conversations_to_the_others() -> (
    None
):
    async with (
        SimulatorServer() as one,
        SimulatorServer() as other,
        engine([one.url, other.url], retry_policy=SOON) as client,
    ):
        homes = _at_home([f"{one.url}/v1", f"{other.url}/v1"], 8)
        client.give_up("vLLM died five times", url=one.url)
        replies = await ask(client, *homes)
        client.give_up("vLLM died five times", url=other.url)
        (last,) = await ask(client, "b")

    assert set(homes.values()) == {f"{one.url}/v1", f"{other.url}/v1"}
    assert {getattr(reply, "endpoint", None) for reply in replies} == {f"{other.url}/v1"}
    assert isinstance(last, NoEngine)
    assert "vLLM died five times" in str(last)


async def test_a_server_without_room_now_and_then_keeps_its_conversations() -> None:
    async with (
        SimulatorServer() as one,
        SimulatorServer() as other,
        engine([one.url, other.url], retry_policy=SOON) as client,
    ):
        homes = _at_home([f"{one.url}/v1", f"{other.url}/v1"], 24)
        one.add_fault(Fault(kind=FaultKind.HTTP_503, times=12))
        one.add_fault(Fault(kind=FaultKind.SLOW, path="/health", times=-1, seconds=2.0))
        replies = await ask(client, *homes)

    endpoints = [reply.endpoint if isinstance(reply, Reply) else None for reply in replies]
    assert endpoints == list(homes.values())
    assert sum(reply.retries for reply in replies if isinstance(reply, Reply)) == 12


async def test_a_server_without_room_again_and_again_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at = ""
    report = EndpointPool.report_failure

    def watched(pool: EndpointPool, endpoint: Endpoint, reason: str) -> None:
        nonlocal looked_at
        looked_at += reason
        report(pool, endpoint, reason)

    monkeypatch.setattr(EndpointPool, "report_failure", watched)
    async with SimulatorServer() as server, hurried(server.url) as client:
        server.add_fault(Fault(kind=FaultKind.HTTP_503, times=3))
        (reply,) = await ask(client, "a")
        (end,) = client._open_pool.endpoints

    assert isinstance(reply, Reply)
    assert reply.retries == 3
    assert end.health.phase is Phase.LIVE
    assert "HTTP 503" in looked_at


def _at_home(names: Sequence[str], count: int) -> dict[str, str]:
    """Return conversations, each with the endpoint that it belongs to."""
    sessions = (f"episode-{number}" for number in range(count))
    return {
        session: max(names, key=lambda name: rendezvous_weight(name, session))
        for session in sessions
    }


SEEDS = 4 if THOROUGH else 2
"""Of each template."""

RUN = (
    "generate",
    "--json",
    "--no-prefect",
    "--set=policies=[{name='teacher',share=1.0},{name='model',share=1.0}]",
    "--set=engine.kind=openai",
    "--set=tasks.include=['click-test','enter-text','click-button','focus-text']",
    f"--set=tasks.seeds=[0,{SEEDS - 1}]",
    f"--set=tasks.unit_size={2 * SEEDS}",
    "--set=browser.viewport=[512,512]",
    "--set=browser.sessions=4",
    "--set=limits.steps=3",
    "--set=limits.stuck_steps=4",
    *UNREPLAYED,
)
PLANNED = 4 * SEEDS
"""Episodes."""

AFTER = 14 if THOROUGH else 5
"""Replies before the fault begins: some of the model's episodes are done by then, and not all."""


def rows(run: Path, *columns: str) -> list[dict[str, Any]]:
    """Return what the tables of a run hold of its episodes, and what its spool holds of others."""
    table = DeltaTable(run / "tables" / "episodes").to_pyarrow_table(columns=list(columns))
    return list(table.to_pylist())


@pytest.mark.browser
@pytest.mark.parametrize(
    ("fault", "told", "seconds"),
    [
        ("http-401", "HTTP 401", 30),
        pytest.param("http-429", "HTTP 429", 1.5, marks=pytest.mark.full),
        pytest.param(
            "stuck", "no reply in 2 s, nor to a small request in 2 s", 1.5, marks=pytest.mark.full
        ),
    ],
)
def test_a_fault_that_lasts_stops_the_run_and_costs_no_episode(
    tmp_path: Path, fault: str, told: str, seconds: float
) -> None:
    run = tmp_path / "run"
    with held_port() as port:
        flags = (
            f"--run={run}",
            f"--set=engine.urls=['http://127.0.0.1:{port}/v1']",
            "--set=engine.patience_seconds=2",
            f"--set=limits.seconds={seconds}",
        )
        with scripted_engine("--port", str(port), "--fault", f"{fault}:-1:after={AFTER}"):
            stopped = called(*RUN, *flags)
        shown = called("show", str(run), "--json").answer
        with scripted_engine("--port", str(port)):
            whole = called(*RUN, *flags)

    made = rows(run, "episode_id", "policy", "failure_kind", "stop_reason")
    assert stopped.code == 1
    [reason] = [line for line in stopped.err.splitlines() if "no engine is left to ask" in line]
    assert told in reason
    assert 0 < stopped.answer["rolled_out"] < PLANNED  # type: ignore[operator]
    assert shown["failed"] == 0
    assert whole.answer["rolled_out"] == PLANNED - stopped.answer["rolled_out"]  # type: ignore[operator]
    assert len({one["episode_id"] for one in made}) == len(made) == PLANNED
    assert {one["failure_kind"] for one in made} <= {None, "policy"}
    assert Counter(one["policy"] for one in made).keys() == {"teacher", "model"}
    assert called("audit", str(run), "--deep", "--json").code == 0


@pytest.mark.full
@pytest.mark.browser
def test_a_healthy_model_that_is_slow_reaches_the_time_limit_of_its_episodes(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    said = called(
        *RUN,
        f"--run={run}",
        "--set=policies=[{name='model',share=1.0}]",
        "--set=engine.kind=scripted",
        "--set=engine.args=['--delay-ms','2500,2500']",
        "--set=limits.seconds=2",
        "--set=tasks.seeds=[0,0]",
    )

    found = rows(run, "stop_reason", "failure_kind", "trainable", "n_steps")
    assert said.code == 1, "none was accepted"
    assert [tuple(one.values()) for one in found] == [("time_limit", None, True, 0)] * 4


@pytest.mark.full
@pytest.mark.browser
def test_a_run_of_which_more_than_a_tenth_failed_outside_the_policy_says_so(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    with scripted_engine("--fault", "no-pictures:-1:after=4") as (_, url):
        said = called(
            *RUN, f"--run={run}", f"--set=engine.urls=['{url}/v1']", "--set=browser.sessions=1"
        )

    failed = [one for one in rows(run, "failure_kind") if one["failure_kind"] == "engine"]
    assert len(failed) > PLANNED / 10
    assert said.code == 1
    assert (
        f"{len(failed)} of 16 episodes failed for reasons outside the policy, "
        f"{len(failed)} of them by engine: http://127.0.0.1:"
    ) in said.err
