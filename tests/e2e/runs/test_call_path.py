"""How far it is from `stepmill generate` to the first page, in calls and in modules.

A stack ends where a task begins, so the stacks in which tasks are made are put before their own.
"""

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from source_tree import PACKAGES, ROOT
from support.runs.commands import UNREPLAYED, called

from generators.browser.session import ChromiumSession

pytestmark = pytest.mark.browser

MAX_CALLS = 13
MAX_MODULES = 8

Call = tuple[str, str]
"""A module's path and a function's name."""

EVENT_LOOP = "asyncio/events.py"
"""Where the stack of a task begins."""


class CallPath:
    """The calls that lead to a frame, across tasks."""

    def __init__(self) -> None:
        self._before: WeakKeyDictionary[asyncio.Task[object], list[Call]] = WeakKeyDictionary()
        self._create = asyncio.BaseEventLoop.create_task

    def create_task(
        self, loop: asyncio.BaseEventLoop, work: Coroutine[Any, Any, object], **options: Any
    ) -> asyncio.Task[object]:
        """Make a task, and remember which calls led to it."""
        task: asyncio.Task[object] = self._create(loop, work, **options)
        self._before[task] = self.to(sys._getframe(1))
        return task

    def to(self, frame: FrameType | None) -> list[Call]:
        """Return the calls of our own code that lead to a frame, the last one first."""
        calls: list[Call] = []
        in_loop = False
        while frame is not None and not in_loop:
            path, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
            if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES:
                # What a decorator or a comprehension adds is no call that a reader follows.
                calls += [(str(path.relative_to(ROOT)), name)] if "<locals>" not in name else []
            in_loop = str(path).endswith(EVENT_LOOP) and name == "Handle._run"
            frame = frame.f_back
        try:
            task = asyncio.current_task()
        except RuntimeError:
            return calls
        return calls + (self._before.get(task, []) if task is not None else [])


def test_a_page_is_opened_a_few_calls_after_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened, really_open = CallPath(), list[list[Call]](), ChromiumSession.open

    async def open_page(session: ChromiumSession, url: str) -> None:
        opened.append([("generators/browser/session.py", "open"), *path.to(sys._getframe(1))])
        await really_open(session, url)

    def create_task(
        loop: asyncio.BaseEventLoop, work: Coroutine[Any, Any, object], **options: Any
    ) -> asyncio.Task[object]:
        return path.create_task(loop, work, **options)

    monkeypatch.setattr(asyncio.BaseEventLoop, "create_task", create_task)
    monkeypatch.setattr(ChromiumSession, "open", open_page)

    said = called(
        "generate",
        "--no-prefect",
        f"--run={tmp_path / 'run'}",
        "--set=tasks.include=['click-test']",
        "--set=tasks.seeds=[0,0]",
        *UNREPLAYED,
    )

    assert said.code == 0, said.err
    first = opened[0]
    assert first[-1] == ("flows/cli/main.py", "main")
    assert ("flows/cli/generate.py", "run") in first
    assert len(first) <= MAX_CALLS, first
    assert len({module for module, _ in first}) <= MAX_MODULES, first
