"""Worlds, their rows and their tasks as seeds draw them: each drawn once, and kept for all workers and later runs.

They follow from the code that draws them and from what it is given, and from nothing else. So they lie on
disk, below `.pytest_cache/drawn`, in a folder that is named after a hash of that code with its data: after a
change of either nothing of it is found. A file is written whole or not at all, and read only if it is whole.
`tests/unit/generators/worlds/test_same_everywhere.py` draws afresh and compares.
"""

import contextlib
import hashlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree
from tempfile import NamedTemporaryFile

from pydantic import JsonValue, TypeAdapter, ValidationError
from source_tree import ROOT, dotted

from generators.tasks.resolver.agreement import agrees
from generators.tasks.resolver.resolve import Resolver
from generators.tasks.worlds.draw import draw_task, draw_tasks
from generators.tasks.worlds.ground.task import WorldTask
from generators.worlds.drawing.draw import draw_whole, language_of, shipped_family
from generators.worlds.drawing.rows import draw_rows
from generators.worlds.drawing.specification import make_world
from generators.worlds.state.database import Rows
from schemas.base import canonical_json
from schemas.errors import BadTasks
from schemas.tasks.task import Task
from schemas.worlds.language import Language
from schemas.worlds.world import World

KEPT = ROOT / ".pytest_cache" / "drawn"
"""Where a folder lies for the code as it is."""

SOURCES = ("generators/worlds", "generators/tasks", "generators/sites", "schemas")
"""What draws, with what decides whether a task is drawn: code and data."""

FOLDERS = 4
"""How many of them stay: those of the code as it was before are used again when a change is taken back."""

_DRAWS = 20
"""How often a seed is drawn until it makes a valid world."""

_TASKS = TypeAdapter(list[WorldTask])


def world(family: str, seed: int) -> World:
    """Return the world of a seed."""
    return whole(family, seed)[0]


@cache
def whole(family: str, seed: int) -> tuple[World, Rows]:
    """Return the world of a seed and its rows, which nobody may change."""

    def draw() -> dict[str, JsonValue]:
        made, rows = draw_whole(family, seed)
        return {"world": made.model_dump(mode="json"), "rows": dict(rows)}  # type: ignore[arg-type]

    kept = read_or_keep(f"world {family} {seed}", draw)
    assert isinstance(kept, dict)
    return World.model_validate_json(json.dumps(kept["world"])), kept["rows"]  # type: ignore[return-value]


def rows_of(of: World) -> Rows:
    """Return the rows of a world, a drawn one or one that a test made of it; nobody may change them."""
    return _rows_of(of.model_dump_json())


@cache
def _rows_of(specification: str) -> Rows:
    return draw_rows(World.model_validate_json(specification))


@cache
def specification(family: str, seed: int) -> World:
    """Return the world of a seed without drawing its rows, which is six times the work.

    It is another than `world` only where the first valid one has rows that cannot be drawn.
    """
    for again in range(_DRAWS):
        with contextlib.suppress(ValidationError, BadTasks):
            spoken = shipped_family(family, language_of(family, seed))
            return make_world(spoken, family, seed, again=again)
    raise AssertionError(f"{family} {seed} makes no valid world")


def english(family: str, *, first: int = 3) -> int:
    """Return a seed of a family, from one on, whose pages and goals are in English."""
    seeds = itertools.count(first)
    return next(seed for seed in seeds if language_of(family, seed) is Language.ENGLISH)


@cache
def task(family: str, kind: str, seed: int) -> Task | None:
    """Return the first task of a kind in a family's world; None: the family has none for the seed."""

    def draw() -> JsonValue:
        try:
            return draw_task(f"{family}/{kind}", seed).model_dump(mode="json")
        except BadTasks:
            return None

    kept = read_or_keep(f"task {family} {kind} {seed}", draw)
    return None if kept is None else Task.model_validate_json(json.dumps(kept))


def task_that_is_read(kind: str) -> Task:
    """Return a task of a kind in a bank in English, of which the resolver reads the drawn goal rightly."""
    for seed in range(1, 99):
        if language_of("banking", seed) is not Language.ENGLISH:
            continue
        drawn, (of, rows) = task("banking", kind, seed), whole("banking", seed)
        if drawn is None or drawn.expect is None or drawn.parameters["world"] != seed:
            continue
        if agrees(Resolver(of, rows).read(drawn.instruction), drawn.expect, of):
            return drawn
    raise AssertionError("no such task")


def tasks(of: World, rows: Rows, seed: int, count: int) -> list[WorldTask]:
    """Return tasks of a world: of all kinds in turn."""
    about = hashlib.sha256(canonical_json([of.sha256, rows]).encode()).hexdigest()

    def draw() -> JsonValue:
        return _TASKS.dump_python(draw_tasks(of, rows, seed, count), mode="json")  # type: ignore[no-any-return]

    kept = read_or_keep(f"tasks {about} {seed} {count}", draw)
    return _TASKS.validate_json(json.dumps(kept))


def read_or_keep(name: str, draw: Callable[[], JsonValue]) -> JsonValue:
    """Return what is kept under a name; where that is nothing whole, draw it and keep it."""
    path = _folder() / f"{name.replace(' ', '-')}.json"
    with contextlib.suppress(OSError, ValueError):
        digest, _, text = path.read_text(encoding="utf-8").partition("\n")
        if digest == hashlib.sha256(text.encode()).hexdigest():
            return json.loads(text)  # type: ignore[no-any-return]
    text = json.dumps(draw())
    with contextlib.suppress(OSError):  # a full disk costs the time of another draw
        _write(path, f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
    return json.loads(text)  # type: ignore[no-any-return]


def _write(path: Path, text: str) -> None:
    """Put a file in its place at once, so that no worker sees a part of it, whoever is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(text)
    Path(file.name).replace(path)


@cache
def _folder() -> Path:
    """Return the folder of the code as it is, and remove those that were used longest ago."""
    folder = KEPT / source_hash()
    with contextlib.suppress(OSError):  # other workers do the same
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        used = sorted(KEPT.iterdir(), key=lambda one: one.stat().st_mtime)
        for other in used[:-FOLDERS]:
            rmtree(other, ignore_errors=True)
    return folder


def source_hash() -> str:
    """Return a hash of all that a draw depends on but its arguments; of a loaded module, of what was loaded."""
    digest = hashlib.sha256(f"{sys.version} {version('faker')} {version('pydantic')}".encode())
    for path in _sources():
        module = sys.modules.get(dotted(path.relative_to(ROOT).as_posix()))
        loader = None if module is None else module.__loader__
        data = path.read_bytes()
        if isinstance(loader, SourceFileLoader):
            data = loader.get_data(str(path))
        digest.update(f"\n{path.relative_to(ROOT)} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:24]


def _sources() -> Iterator[Path]:
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path
