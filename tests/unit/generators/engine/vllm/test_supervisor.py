"""A supervised server starts, is watched and started again, and leaves nothing behind."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiohttp
import psutil
import pytest
from source_tree import ROOT
from support.browsers.one_browser import processes
from support.runs.commands import SECONDS, STEPMILL, called, environment, until
from support.servers.engine_servers import held_port

from generators.engine.vllm.process import session_processes
from generators.engine.vllm.restart_policy import RestartPolicy
from generators.engine.vllm.supervisor import VllmServer
from schemas.backoff import Backoff
from schemas.configuration.sections import EngineKind, EngineSection
from schemas.errors import NoEngine

PRETENDED = (sys.executable, str(ROOT / "tests" / "support" / "servers" / "fake_vllm.py"))
QUICK = RestartPolicy(
    backoff=Backoff(first_seconds=0.01, max_seconds=60.0, tries=3), poll_seconds=0.05
)
"""A busy machine may take a while to notice a death; meanwhile nobody answers, and that is all."""

WEDGED = RestartPolicy(backoff=QUICK.backoff, poll_seconds=QUICK.poll_seconds, hung_seconds=0.2)
"""For a server that lives and says nothing useful."""


def _section(*args: str) -> EngineSection:
    return EngineSection(kind=EngineKind.VLLM, model="some/model", command=PRETENDED, args=args)


class Heard:
    """What a server said, and the processes it had."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.lines: list[str] = []
        self._before = _children()

    @property
    def processes(self) -> set[psutil.Process]:
        """Those that live now and did not before."""
        return _children() - self._before

    def __call__(self, line: str) -> None:
        self.lines.append(line)

    def __contains__(self, words: str) -> bool:
        return any(words in line for line in self.lines)


@pytest.fixture
async def heard(tmp_path: Path) -> AsyncIterator[Heard]:
    """Hear a server out, and see to it that nothing of it is left."""
    heard = Heard(tmp_path / "vllm.log")
    yield heard
    assert heard.processes == set()


def _children() -> set[psutil.Process]:
    return set(processes())


def _server(section: EngineSection, heard: Heard, policy: RestartPolicy = QUICK) -> VllmServer:
    return VllmServer(section, report=heard, log=heard.log, restart_policy=policy)


def _session_of(server: VllmServer) -> list[psutil.Process]:
    """Return the processes of the server: the tie, vLLM and its worker."""
    port = str(server.url.rpartition(":")[2].removesuffix("/v1"))
    (tie,) = [one for one in psutil.Process().children() if port in one.cmdline()]
    return list(session_processes(tie.pid))


async def _asked(server: VllmServer) -> str:
    async with aiohttp.ClientSession() as http, http.get(server.url) as response:
        return await response.text()


async def _happens(happened: Callable[[], bool]) -> None:
    await asyncio.to_thread(until, happened)


async def _restarted(server: VllmServer, times: int) -> None:
    await _happens(lambda: server.restarts >= times)
    await server.wait_ready()


async def test_a_server_is_there_when_the_context_begins_and_gone_when_it_ends(
    heard: Heard,
) -> None:
    async with _server(_section("--max-num-seqs", "4"), heard) as server:
        answer = await _asked(server)
        processes = _session_of(server)

    assert "serve some/model --host 127.0.0.1" in answer
    assert len(processes) == 3
    assert not any(process.is_running() for process in processes)
    assert "loading weights" in heard
    assert "ready at http://127.0.0.1:" in heard
    assert server.restarts == 0


async def test_a_killed_server_is_started_again_at_the_same_address(heard: Heard) -> None:
    async with _server(_section(), heard) as server:
        url, processes = server.url, _session_of(server)
        (killed,) = [one for one in processes if "serve" in one.cmdline()[2:4]]
        killed.kill()
        await _restarted(server, 1)

        assert await _asked(server)
        assert server.url == url
        assert not any(process.is_running() for process in processes)
    assert "ended with code 137; starting it again" in heard


async def test_a_server_outlives_the_tie_by_nothing(heard: Heard) -> None:
    async with _server(_section(), heard) as server:
        processes = _session_of(server)
        (tie,) = [one for one in processes if "-P" in one.cmdline()]
        tie.kill()
        await _restarted(server, 1)

        assert not any(process.is_running() for process in processes)


@pytest.mark.parametrize(
    ("status", "words"), [("503", "says that it is broken (503)"), ("404", "gave no answer for")]
)
async def test_a_server_that_serves_no_more_is_started_again(
    heard: Heard, tmp_path: Path, status: str, words: str
) -> None:
    told = tmp_path / "status"
    async with _server(_section("--status", str(told)), heard, WEDGED) as server:
        told.write_text(status)
        await _happens(lambda: words in heard)
        told.unlink()
        await _restarted(server, 1)
        assert server.is_ready


@pytest.mark.parametrize("told_by_client", [False, True])
async def test_a_server_that_computes_nothing_for_its_requests_is_started_again(
    heard: Heard, tmp_path: Path, *, told_by_client: bool
) -> None:
    page, busy = tmp_path / "metrics", [int(told_by_client)]
    page.write_text(_page(7, 5, running=0 if told_by_client else 2))
    server = _server(_standing_section(page), heard, STANDING)
    if told_by_client:
        server.count_requests(lambda: busy[0])
    async with server:
        await _happens(lambda: "computed nothing for its requests" in heard)
        page.write_text(_page(0, 0, running=0))
        busy.clear()
        busy.append(0)
        await _restarted(server, 1)
        assert server.is_ready
    assert "vLLM answers, and has computed nothing for its requests for" in heard
    assert "starting it again" in heard


@pytest.mark.parametrize(
    "page",
    [
        "",  # no metrics at all
        "vllm:num_requests_running 2\nvllm:prompt_tokens_total 7\n",  # one counter alone
        "sglang:prompt_tokens_total 7\nsglang:generation_tokens_total 5\nsglang:num_running_reqs 2\n",
        "vllm:prompt_tokens_total 7\nvllm:generation_tokens_total 5\nvllm:num_requests_running 0\n",
    ],
)
async def test_a_server_without_requests_or_without_counters_may_stand_still(
    heard: Heard, tmp_path: Path, page: str
) -> None:
    file = tmp_path / "metrics"
    file.write_text(page)
    async with _server(_standing_section(file), heard, STANDING) as server:
        await _happens(lambda: _looks(heard) >= ENOUGH_LOOKS)
        assert server.restarts == 0


async def test_a_server_whose_counters_move_is_left_alone(heard: Heard, tmp_path: Path) -> None:
    file = tmp_path / "metrics"
    file.write_text(_page(7, 5))
    async with _server(_standing_section(file, seconds=3.0), heard, STANDING) as server:
        for token in range(40):
            looks = _looks(heard)
            file.with_suffix(".new").write_text(_page(7, 5 + token))
            file.with_suffix(".new").replace(file)
            await _happens(lambda looks=looks: _looks(heard) > looks)  # type: ignore[misc]
            await asyncio.sleep(0.1)
        assert server.restarts == 0


ENOUGH_LOOKS = 30
"""At the counters, after which a server that stood still would have been ended several times over."""

STANDING = QUICK.model_copy(update={"progress_seconds": 0.02})


def _standing_section(page: Path, *, seconds: float = 0.2) -> EngineSection:
    section = _section("--metrics", str(page))
    return section.model_copy(update={"wedged_seconds": seconds})


def _page(prompt: int, generation: int, *, running: int = 2) -> str:
    return (
        f"vllm:prompt_tokens_total {prompt}\nvllm:generation_tokens_total {generation}\n"
        f"vllm:num_requests_running {running}\n"
    )


def _looks(heard: Heard) -> int:
    """Return how often the counters were asked for, by the server's log."""
    return heard.log.read_text().count("GET /metrics")


async def test_a_server_that_dies_at_its_start_is_refused_with_its_last_words(
    heard: Heard,
) -> None:
    with pytest.raises(NoEngine) as refused:
        await _server(_section("--refuse", "no such model"), heard).__aenter__()

    said = str(refused.value)
    assert said.startswith("vLLM ended with code 1 before it served; the end of its log, ")
    assert "ValueError: no such model" in said
    assert "RuntimeError: engine core initialisation failed" in said


async def test_a_server_that_keeps_dying_is_given_up(heard: Heard, tmp_path: Path) -> None:
    lives = tmp_path / "lives"
    section = _section("--lives", str(lives), "--refuse", "out of memory", "--only-first")
    async with _server(section, heard) as server:
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
    async with _server(_section("--max-num-seqs", "900", "--fits", "658"), heard) as server:
        answer = await _asked(server)

    assert "--max-num-seqs 658" in answer
    assert "--max-num-seqs 900" not in answer
    assert "holds 658 requests at once" in heard
    assert server.restarts == 0


async def test_a_server_has_its_replies_say_what_they_took(heard: Heard) -> None:
    async with _server(_section("--max-num-seqs", "4"), heard) as server:
        answer = await _asked(server)

    assert "--enable-prompt-tokens-details --enable-per-request-metrics --max-num-seqs" in answer
    assert "does not take" not in heard


async def test_an_older_server_is_started_again_without_the_flag_that_it_lacks(
    heard: Heard, tmp_path: Path
) -> None:
    lacks, lives = "--enable-per-request-metrics", tmp_path / "lives"
    section = _section("--lives", str(lives), f"--lacks={lacks}")
    async with _server(section, heard) as server:
        answer = await _asked(server)
        (killed,) = [one for one in _session_of(server) if "serve" in one.cmdline()[2:4]]
        killed.kill()
        await _restarted(server, 1)

    assert f" {lacks}" not in answer
    assert "--enable-prompt-tokens-details" in answer
    assert f"this vLLM does not take {lacks}; starting again without" in heard
    assert len(lives.read_text().splitlines()) == 3  # the refused start, the next, the restart


async def test_a_server_that_lacks_a_flag_of_the_configuration_is_refused(heard: Heard) -> None:
    with pytest.raises(NoEngine, match="unrecognized arguments: --of-tomorrow"):
        await _server(_section("--of-tomorrow"), heard).__aenter__()


async def test_a_start_that_goes_on_in_silence_is_refused(heard: Heard) -> None:
    policy = QUICK.model_copy(update={"silent_seconds": 0.3})

    with pytest.raises(NoEngine, match="did not serve, and said nothing"):
        await _server(_section("--hang"), heard, policy).__aenter__()


async def test_a_start_that_is_cancelled_leaves_nothing(heard: Heard) -> None:
    entering = asyncio.create_task(_server(_section("--hang"), heard).__aenter__())
    await _happens(lambda: bool(heard.processes))

    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering


async def test_a_server_that_was_never_started_says_so() -> None:
    server = VllmServer(_section())

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
        [sys.executable, "-c", OWNER, _section().model_dump_json()],
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
