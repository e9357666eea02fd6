"""A recording of either recorder, as steps of a reference.

Playwright's codegen writes JSON Lines (`--target=jsonl`), Chrome's Recorder one JSON object, as `parse` of
`@puppeteer/replay` reads it. A recorder names elements by selectors; a reference names them by words, so each
selector has to have some: a role's name, a label, a text, an id. What a reference needs no step for, as a scroll or a
wait, is left out.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import ValidationError

from schemas.errors import BadTasks
from schemas.tasks.reference import MAX_STEPS, Do, ReferenceStep
from schemas.tasks.task import Task

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Hosts at which an application or a world is recorded that tasks know under another one."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A step of a recording that a reference has a step for."""

    place: str
    """Where it is in the file, as `line 4` or `step 3`."""
    selector: str
    """The selector by which the recorder names its element; empty for a step without one."""
    step: ReferenceStep
    """The reference's step."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An address that a recording opens."""

    place: str
    """Where it is in the file."""
    url: str
    """The address, as the browser had it."""


RecordedSteps = Iterator[Recorded | Opened]
"""What a reader of one recorder's files yields."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that may become a task's reference."""

    path: Path
    """The file."""
    steps: tuple[Recorded, ...]
    """Its steps; there is one at least."""

    @property
    def reference(self) -> tuple[ReferenceStep, ...]:
        """The steps of the reference."""
        return tuple(one.step for one in self.steps)


class BadStep(Exception):
    """A step that no reference has; the text says which and why."""


def make_step(do: Do, **more: str | None) -> ReferenceStep:
    """Return a step of a reference.

    Raises:
        BadStep: the words are none that a reference may have.
    """
    try:
        return ReferenceStep(do=do, **more)  # type: ignore[arg-type]  # pydantic checks each
    except ValidationError as error:
        raise BadStep(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def recording_of(path: Path, found: RecordedSteps, task: Task) -> Recording:
    """Return the recording of what a file holds, for a task.

    Raises:
        BadTasks: it was made at another origin than the task's, holds no step, or too many.
    """
    steps = list(_at_origin(path, found, task))
    if not steps:
        raise BadTasks(f"{path}: holds no action, so there is no reference to be made of it")
    if len(steps) > MAX_STEPS:
        raise BadTasks(f"{path}: holds {len(steps)} actions; a reference has at most {MAX_STEPS}")
    return Recording(path, tuple(steps))


def _at_origin(path: Path, found: RecordedSteps, task: Task) -> Iterator[Recorded]:
    """Yield the steps, addresses as steps that open a path; the task's start page needs none."""
    start = urlsplit(task.start_url)
    own, begun = f"{start.scheme}://{start.netloc}", list[str]()
    for one in found:
        if isinstance(one, Recorded):
            yield one
            continue
        parts = urlsplit(one.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in (begun or [own]) and (begun or parts.hostname not in LOOPBACK):
            raise BadTasks(
                f"{path}: {one.place}: was recorded at {origin}, and the task is at {own}; record it there, or at "
                f"the application's own address on this machine"
            )
        begun = begun or [origin]
        place = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        if place != f"{start.path or '/'}{'?' + start.query if start.query else ''}":
            yield Recorded(one.place, "", make_step(Do.OPEN, text=place))
            start = parts


def parse(text: str, path: Path, *, line: int = 1) -> object:
    """Return a JSON value; `line` is the file's line with which the text begins.

    Raises:
        BadTasks: it is broken; the message has the line and the column.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = line + error.lineno - 1
        raise BadTasks(
            f"{path}: line {at}, column {error.colno}: is no JSON: {error.msg}"
        ) from None
