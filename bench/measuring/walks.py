"""How far a value walks through the code until it is what it becomes: which `make measure` prints.

A walk is read off an execution. Its rules:

* A *call* goes from one named function to another. A lambda, a comprehension and a generator expression
  belong to the function in which they are written, and code of libraries between two functions is left out.
* Only functions of flows, generators, registries and storage count. Those of `schemas` do not: a record is
  the value that is carried, and asking it something leads nowhere else.
* Each call is taken once, when it is made for the first time, and the first times are taken in their order.
* *Names* are the different functions called.
* A *room* is a module. A *stay* is one or more calls into the same room in a row. *Returns* are the stays
  in a room that was left before: the stays less the rooms.

The walks begin in a process that has drawn nothing, so that what is cached later is walked as well.

| at 74da7f6 | stays | rooms | returns | names | counted then by reading |
|---|---|---|---|---|---|
| family → world | 64 | 15 | 49 | 93 | 61, 14, 47, 86 |
| world → task | 68 | 22 | 46 | 120 | 65, 21, 44, 109 |

    python bench/measuring/walks.py    # in the root of a checkout, which is on PYTHONPATH

prints a JSON object for each walk. Whoever renames a function that a walk begins with mends `_to_world` or
`_to_task`; whoever changes a rule measures 74da7f6 again and writes the figures here.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

from generators.tasks.worlds.draw import draw_task
from generators.worlds.drawing.draw import draw_whole
from generators.worlds.drawing.rows import draw_rows

FAMILY, KIND, SEED = "banking", "edit", 1
"""What is drawn: with these the figures at 74da7f6 are near to those that were read."""

WALKED = ("flows", "generators", "registries", "storage")
"""The packages whose modules are rooms."""


def _to_world() -> None:
    """Draw a world: what the file of its family allows becomes a specification with rows."""
    draw_whole(FAMILY, SEED)


def _to_task() -> None:
    """Draw a task of a world that is drawn: its rows, then the task that is set in them."""
    world, _ = draw_whole(FAMILY, SEED)
    draw_rows(world)
    draw_task(f"{FAMILY}/{KIND}", SEED)


WALKS: dict[str, Callable[[], None]] = {"family → world": _to_world, "world → task": _to_task}
"""The walks, in their order: the second begins with what the first has drawn."""


@dataclass(frozen=True)
class Walk:
    """The way that a value went."""

    stays: tuple[str, ...]
    """The module of each stay, in order."""
    names: int
    """Different functions called."""

    @property
    def rooms(self) -> int:
        """Return how many modules there are."""
        return len(set(self.stays))

    @property
    def returns(self) -> int:
        """Return how many stays are in a module that was left before."""
        return len(self.stays) - self.rooms

    def by_folder(self) -> "Walk":
        """Return the same walk as it is between folders."""
        return Walk(_in_a_row([stay.rpartition(".")[0] for stay in self.stays]), self.names)


def _in_a_row(rooms: list[str]) -> tuple[str, ...]:
    return tuple(room for n, room in enumerate(rooms) if n == 0 or room != rooms[n - 1])


@dataclass
class Trace:
    """Follows the calls of a program; `sys.setprofile` takes it."""

    root: Path
    """The checkout that is walked."""
    calls: dict[tuple[CodeType | None, CodeType], str] = field(default_factory=dict)
    """By caller and function, in the order of their first times: the room of the function."""
    _rooms: dict[CodeType, str | None] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call."""
        if event != "call":
            return
        room = self._room(frame.f_code)
        if room is None:
            return
        back = frame.f_back
        while back is not None and self._room(back.f_code) is None:
            back = back.f_back
        self.calls.setdefault((None if back is None else back.f_code, frame.f_code), room)

    def _room(self, code: CodeType) -> str | None:
        """Return the module of a named function; None if it is another's or has no name."""
        if code not in self._rooms:
            self._rooms[code] = None if code.co_name.startswith("<") else self._module(code)
        return self._rooms[code]

    def _module(self, code: CodeType) -> str | None:
        path = Path(code.co_filename)
        if not path.is_relative_to(self.root):
            return None
        parts = path.relative_to(self.root).with_suffix("").parts
        return ".".join(parts) if parts[0] in WALKED else None

    def walk(self) -> Walk:
        """Return the walk so far."""
        names = {function for _, function in self.calls}
        return Walk(_in_a_row(list(self.calls.values())), len(names))


def trace(call: Callable[[], object], root: Path) -> Walk:
    """Return the walk of a call, made now."""
    follow = Trace(root)
    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
    return follow.walk()


def main() -> int:
    """Trace the walks through the checkout in which this runs."""
    root = Path.cwd()
    for name, call in WALKS.items():
        walk = trace(call, root)
        figures = {
            "stays": len(walk.stays),
            "rooms": walk.rooms,
            "returns": walk.returns,
            "names": walk.names,
            "returns between folders": walk.by_folder().returns,
        }
        print(json.dumps({"walk": name, **figures}, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
