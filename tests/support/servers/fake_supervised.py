"""A supervised server that only pretends to be vLLM, and what it is heard to say."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
from source_tree import ROOT
from support.browsers.one_browser import processes
from support.runs.commands import until

from generators.engine.vllm.restart_policy import RestartPolicy
from generators.engine.vllm.supervisor import VllmServer
from schemas.backoff import Backoff
from schemas.configuration.sections import EngineKind, EngineSection

PRETENDED = (sys.executable, str(ROOT / "tests" / "support" / "servers" / "fake_vllm.py"))
QUICK = RestartPolicy(
    backoff=Backoff(first_seconds=0.01, max_seconds=60.0, tries=3), poll_seconds=0.05
)
"""A busy machine may take a while to notice a death; meanwhile nobody answers, and that is all."""


def fake_section(*args: str) -> EngineSection:
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


def _children() -> set[psutil.Process]:
    return set(processes())


def fake_server(section: EngineSection, heard: Heard, policy: RestartPolicy = QUICK) -> VllmServer:
    return VllmServer(section, report=heard, log=heard.log, restart_policy=policy)


async def happens(happened: Callable[[], bool]) -> None:
    await asyncio.to_thread(until, happened)


async def restarted(server: VllmServer, times: int) -> None:
    await happens(lambda: server.restarts >= times)
    await server.wait_ready()
