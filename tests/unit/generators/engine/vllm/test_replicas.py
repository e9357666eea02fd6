"""Several servers start on GPUs of their own, and one that is lost leaves the others at work."""

import asyncio
import contextlib
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import psutil
import pytest
from source_tree import ROOT
from support.browsers.one_browser import processes
from support.engines.gpu_programs import nvidia_smi
from support.runs.commands import until

from generators.engine.vllm.replicas import VllmReplicas
from generators.engine.vllm.restart_policy import RestartPolicy
from schemas.backoff import Backoff
from schemas.configuration.sections import EngineKind, EngineSection
from schemas.errors import NoEngine

PRETENDED = (sys.executable, str(ROOT / "tests" / "support" / "servers" / "fake_vllm.py"))
QUICK = RestartPolicy(
    backoff=Backoff(first_seconds=0.01, max_seconds=60.0, tries=2), poll_seconds=0.05
)


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    before = set(processes())
    yield
    assert set(processes()) <= before


def servers(tmp_path: Path, *args: str, replicas: object, said: list[str]) -> VllmReplicas:
    """Return replicas on a machine of three GPUs."""
    section = EngineSection.model_validate(
        {
            "kind": EngineKind.VLLM,
            "model": "some/model",
            "command": PRETENDED,
            "args": args,
            "replicas": replicas,
        }
    )
    return VllmReplicas(
        section,
        report=said.append,
        environ={"PATH": nvidia_smi(tmp_path, gpus=3)},
        restart_policy=QUICK,
    )


async def gpus_at(url: str) -> str:
    """Return the GPUs that the server at `url` was given."""
    origin = url.removesuffix("/v1")
    async with aiohttp.ClientSession() as http, http.get(f"{origin}/gpus") as response:
        return response.headers["Visible"]


async def test_every_gpu_has_a_server_with_a_port_and_a_log_of_its_own(tmp_path: Path) -> None:
    said = list[str]()
    async with servers(tmp_path, replicas="gpus", said=said) as replicas:
        urls = replicas.urls
        gpus = [await gpus_at(url) for url in urls]

    logs = {found[1] for line in said if (found := re.search(r"its log is (\S+)", line))}
    assert gpus == ["0", "1", "2"]
    assert len(set(urls)) == len(logs) == replicas.count == 3
    assert any(line.startswith("replica 2 of 3 (GPU 1): vLLM is ready") for line in said)


async def test_a_single_server_finds_its_gpus_itself(tmp_path: Path) -> None:
    said = list[str]()
    async with servers(tmp_path, replicas=1, said=said) as replicas:
        [url] = replicas.urls

        assert await gpus_at(url) == "all"
    assert not any("replica" in line for line in said)


async def test_one_that_never_starts_is_left_out_with_its_log(tmp_path: Path) -> None:
    said = list[str]()
    args = ("--refuse", "this GPU is broken", "--broken-gpu", "1")
    async with servers(tmp_path, *args, replicas=3, said=said) as replicas:
        gpus = [await gpus_at(url) for url in replicas.urls]

    [note] = [line for line in said if "left out" in line]
    assert gpus == ["0", "2"]
    assert note.startswith(
        "replica 2 of 3 (GPU 1): left out, because it does not start: vLLM ended"
    )
    assert "this GPU is broken" in note
    assert re.search(r"the end of its log, \S+stepmill-vllm-\S+\.log", note)


async def test_where_none_starts_the_command_is_refused(tmp_path: Path) -> None:
    said = list[str]()
    with pytest.raises(NoEngine, match="no such model"):
        await servers(tmp_path, "--refuse", "no such model", replicas=2, said=said).__aenter__()


async def test_one_that_dies_for_good_leaves_the_others_until_all_are_given_up(
    tmp_path: Path,
) -> None:
    said, lost = list[str](), list[str]()
    lives = tmp_path / "dies"
    async with servers(tmp_path, "--dies", str(lives), replicas=2, said=said) as replicas:
        first, second = replicas.urls
        watching = asyncio.create_task(replicas.wait_given_up(lambda url, _: lost.append(url)))

        lives.write_text("0")
        await _kill(first)
        await asyncio.to_thread(until, lambda: bool(lost))
        assert (lost, list(replicas.urls)) == ([first], [second])
        assert not watching.done()
        assert await gpus_at(second) == "1"
        assert any("is given up, and 1 go on" in line for line in said)

        lives.write_text("0 1")
        await _kill(second)
        why = await watching

    assert lost == [first, second]
    assert "out of memory" in why


async def test_a_start_that_is_cancelled_leaves_no_server(tmp_path: Path) -> None:
    before, said = set(processes()), list[str]()
    replicas = servers(tmp_path, "--hang", replicas=2, said=said)
    starting = asyncio.create_task(replicas.__aenter__())
    await asyncio.to_thread(until, lambda: set(processes()) > before)

    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting


async def _kill(url: str) -> None:
    port = url.rpartition(":")[2].removesuffix("/v1")
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # what a server starts may just end
            if "serve" in one.cmdline()[2:4] and port in one.cmdline():
                one.send_signal(signal.SIGKILL)
