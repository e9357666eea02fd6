"""A supervised server starts, is watched and started again, and leaves nothing behind."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import psutil
import pytest
from source_tree import ROOT
from support.runs.commands import SECONDS, STEPMILL, called, environment
from support.servers.engine_servers import held_port
from support.servers.fake_supervised import (
    PRETENDED,
    QUICK,
    Heard,
    fake_section,
    fake_server,
    happens,
    restarted,
)

from generators.engine.vllm.process import session_processes
from generators.engine.vllm.restart_policy import RestartPolicy
from generators.engine.vllm.supervisor import VllmServer
from schemas.errors import NoEngine

WEDGED = RestartPolicy(backoff=QUICK.backoff, poll_seconds=QUICK.poll_seconds, hung_seconds=0.2)
"""For a server that lives and says nothing useful."""


@pytest.fixture
async def heard(tmp_path: Path) -> AsyncIterator[Heard]:
    """Hear a server out, and see to it that nothing of it is left."""
    heard = Heard(tmp_path / "vllm.log")
    yield heard
    assert heard.processes == set()


def _session_of(server: VllmServer) -> list[psutil.Process]:
    """Return the processes of the server: the tie, vLLM and its worker."""
    port = str(server.url.rpartition(":")[2].removesuffix("/v1"))
    (tie,) = [one for one in psutil.Process().children() if port in one.cmdline()]
    return list(session_processes(tie.pid))


async def _asked(server: VllmServer) -> str:
    async with aiohttp.ClientSession() as http, http.get(server.url) as response:
        return await response.text()


async def test_a_server_is_there_when_the_context_begins_and_gone_when_it_ends(
    heard: Heard,
) -> None:
    async with fake_server(fake_section("--max-num-seqs", "4"), heard) as server:
        answer = await _asked(server)
        processes = _session_of(server)

    assert "serve some/model --host 127.0.0.1" in answer
    assert len(processes) == 3
    assert not any(process.is_running() for process in processes)
    assert "loading weights" in heard
    assert "ready at http://127.0.0.1:" in heard
    assert server.restarts == 0


async def test_a_killed_server_is_started_again_at_the_same_address(heard: Heard) -> None:
    async with fake_server(fake_section(), heard) as server:
        url, processes = server.url, _session_of(server)
        (killed,) = [one for one in processes if "serve" in one.cmdline()[2:4]]
        killed.kill()
        await restarted(server, 1)

        assert await _asked(server)
        assert server.url == url
        assert not any(process.is_running() for process in processes)
    assert "ended with code 137; starting it again" in heard


async def test_a_server_outlives_the_tie_by_nothing(heard: Heard) -> None:
    async with fake_server(fake_section(), heard) as server:
        processes = _session_of(server)
        (tie,) = [one for one in processes if "-P" in one.cmdline()]
        tie.kill()
        await restarted(server, 1)

        assert not any(process.is_running() for process in processes)


@pytest.mark.parametrize(
    ("status", "words"), [("503", "says that it is broken (503)"), ("404", "gave no answer for")]
)
async def test_a_server_that_serves_no_more_is_started_again(
    heard: Heard, tmp_path: Path, status: str, words: str
) -> None:
    told = tmp_path / "status"
    async with fake_server(fake_section("--status", str(told)), heard, WEDGED) as server:
        told.write_text(status)
        await happens(lambda: words in heard)
        told.unlink()
        await restarted(server, 1)
        assert server.is_ready


async def test_a_server_that_dies_at_its_start_is_refused_with_its_last_words(
    heard: Heard,
) -> None:
    with pytest.raises(NoEngine) as refused:
        await fake_server(fake_section("--refuse", "no such model"), heard).__aenter__()

    said = str(refused.value)
    assert said.startswith("vLLM ended with code 1 before it served; the end of its log, ")
    assert "ValueError: no such model" in said
    assert "RuntimeError: engine core initialisation failed" in said


async def test_a_server_that_keeps_dying_is_given_up(heard: Heard, tmp_path: Path) -> None:
    lives = tmp_path / "lives"
    section = fake_section("--lives", str(lives), "--refuse", "out of memory", "--only-first")
    async with fake_server(section, heard) as server:
        (killed,) = [one for one in _session_of(server) if "serve" in one.cmdline()[2:4]]
        killed.kill()
        with pytest.raises(NoEngine, match="3 times in a row"):
            await server.wait_given_up()
        with pytest.raises(NoEngine, match="out of memory"):
            await server.wait_ready()

    assert len(lives.read_text().splitlines()) == 3


async def test_a_server_told_more_requests_than_fit_is_started_with_those_that_fit(
    heard: Heard,
) -> None:
    async with fake_server(fake_section("--max-num-seqs", "900", "--fits", "658"), heard) as server:
        answer = await _asked(server)

    assert "--max-num-seqs 658" in answer
    assert "--max-num-seqs 900" not in answer
    assert "holds 658 requests at once" in heard
    assert server.restarts == 0


async def test_a_server_has_its_replies_say_what_they_took(heard: Heard) -> None:
    async with fake_server(fake_section("--max-num-seqs", "4"), heard) as server:
        answer = await _asked(server)

    assert "--enable-prompt-tokens-details --enable-per-request-metrics --max-num-seqs" in answer
    assert "does not take" not in heard


async def test_an_older_server_is_started_again_without_the_flag_that_it_lacks(
    heard: Heard, tmp_path: Path
) -> None:
    lacks, lives = "--enable-per-request-metrics", tmp_path / "lives"
    section = fake_section("--lives", str(lives), f"--lacks={lacks}")
    async with fake_server(section, heard) as server:
        answer = await _asked(server)
        (killed,) = [one for one in _session_of(server) if "serve" in one.cmdline()[2:4]]
        killed.kill()
        await restarted(server, 1)

    assert f" {lacks}" not in answer
    assert "--enable-prompt-tokens-details" in answer
    assert f"this vLLM does not take {lacks}; starting again without" in heard
    assert len(lives.read_text().splitlines()) == 3  # the refused start, the next, the restart


async def test_a_server_that_lacks_a_flag_of_the_configuration_is_refused(heard: Heard) -> None:
    with pytest.raises(NoEngine, match="unrecognized arguments: --of-tomorrow"):
        await fake_server(fake_section("--of-tomorrow"), heard).__aenter__()


async def test_a_start_that_goes_on_in_silence_is_refused(heard: Heard) -> None:
    policy = QUICK.model_copy(update={"silent_seconds": 0.3})

    with pytest.raises(NoEngine, match="did not serve, and said nothing"):
        await fake_server(fake_section("--hang"), heard, policy).__aenter__()


async def test_a_start_that_is_cancelled_leaves_nothing(heard: Heard) -> None:
    entering = asyncio.create_task(fake_server(fake_section("--hang"), heard).__aenter__())
    await happens(lambda: bool(heard.processes))

    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering


async def test_a_server_that_was_never_started_says_so() -> None:
    server = VllmServer(fake_section())

    for asking in (server.wait_ready(), server.wait_given_up()):
        with pytest.raises(NoEngine, match="not started"):
            await asking


OWNER = """
import asyncio, sys
from generators.engine.vllm.supervisor import VllmServer
from schemas.configuration.sections import EngineSection

async def main():
    section = EngineSection.model_validate_json(sys.argv[1])
    async with VllmServer(section, report=lambda line: print(line, file=sys.stderr)) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def test_nothing_is_left_of_a_server_whose_owner_was_killed() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, fake_section().model_dump_json()],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert owner.stdout is not None
    assert owner.stdout.readline().startswith(b"http://127.0.0.1:")
    processes = psutil.Process(owner.pid).children(recursive=True)

    owner.kill()
    owner.communicate()

    assert len(processes) == 3
    _, alive = psutil.wait_procs(processes, timeout=SECONDS)
    assert alive == []


def _flags(*args: str) -> list[str]:
    return [
        "--set=engine.model=some/model",
        f"--set=engine.command={json.dumps(PRETENDED)}",
        f"--set=engine.args={json.dumps(args)}",
    ]


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.full)]
)
def test_the_command_serves_until_it_is_interrupted(number: signal.Signals) -> None:
    running = subprocess.Popen(
        [*STEPMILL, "engine", "serve", "--json", *_flags()],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    told = json.loads(running.stdout.readline())
    processes = psutil.Process(running.pid).children(recursive=True)

    running.send_signal(number)
    out, err = running.communicate(timeout=SECONDS)

    assert told["model"] == "some/model"
    assert told["url"].startswith("http://127.0.0.1:")
    assert (running.returncode, out) == (130, b"")
    assert b"stopping vLLM" in err
    _, alive = psutil.wait_procs(processes, timeout=SECONDS)
    assert alive == []


def test_the_command_ends_when_the_server_is_given_up() -> None:
    done = called("engine", "serve", *_flags("--refuse", "no such model"))

    assert (done.code, done.out) == (2, "")
    assert "vLLM ended with code 1" in done.err
    assert "no such model" in done.err


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = called("engine", "serve", "--port", port, *_flags())

    assert (done.code, done.out) == (2, "")
    assert f"port {port} cannot be listened at" in done.err


def test_a_port_that_was_asked_for_is_listened_at() -> None:
    with held_port() as port:
        running = subprocess.Popen(
            [*STEPMILL, "engine", "serve", "--port", str(port), *_flags("--port", "1")],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert running.stdout is not None
        said = running.stdout.readline()
        processes = psutil.Process(running.pid).children(recursive=True)
        running.terminate()
        running.communicate(timeout=SECONDS)

    assert said == f"http://127.0.0.1:{port}/v1\n".encode()
    assert psutil.wait_procs(processes, timeout=SECONDS)[1] == []
