"""Looks at every process below one for as long as it lives: its environment and its arguments.

It reads what the kernel shows of them to every program of the same user, again and again, because
processes come and go. What it reads of a process last is what counts: between its fork and the
start of its program it shows its parent's.
"""

import contextlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import psutil

LOOK_SECONDS = 0.1
START_SECONDS = 10.0
"""What goes on for so long with its parent's arguments has no program of its own to start."""


@dataclass
class Seen:
    """One process, as it looked last."""

    arguments: list[str]
    environment: Mapping[str, str]
    since: float
    until: float

    @property
    def text(self) -> str:
        """All of it, as a search wants it."""
        variables = (f"{name}={value}" for name, value in self.environment.items())
        return "\0".join((*self.arguments, *variables))

    def __str__(self) -> str:
        return " ".join(self.arguments)[:200]


class Onlooker:
    """Looks as long as its context is open."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._seen: dict[psutil.Process, Seen] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def root(self) -> Seen:
        """The process itself."""
        return self._seen[self._root]

    @property
    def below(self) -> list[Seen]:
        """Every process below it that had a program of its own, or long enough none."""
        return [
            seen
            for process, seen in list(self._seen.items())
            if process != self._root
            and (seen.arguments != self.root.arguments or seen.until - seen.since > START_SECONDS)
        ]

    def holding(self, *words: str) -> list[Seen]:
        """Return those below whose arguments or environment hold one of some words."""
        return [seen for seen in self.below if any(word in seen.text for word in words)]

    def running(self, *words: str) -> list[Seen]:
        """Return those below whose arguments hold all of some words."""
        return [
            seen
            for seen in self.below
            if all(any(word in argument for argument in seen.arguments) for word in words)
        ]

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in (self._root, *self._root.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                    self._note(process)

    def _note(self, process: psutil.Process) -> None:
        arguments, environment, now = process.cmdline(), process.environ(), time.monotonic()
        if not arguments and not environment:  # it has ended, and nobody has asked how
            return
        before = self._seen.get(process)
        since = before.since if before and before.arguments == arguments else now
        self._seen[process] = Seen(arguments, environment, since, now)
