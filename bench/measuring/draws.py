"""What seeds draw, as digests: run in two checkouts, it shows that both draw the same worlds and tasks.

    python bench/measuring/draws.py draw 63 before.jsonl   # 63 worlds of each family, all kinds of tasks in each
    python bench/measuring/draws.py compare before.jsonl after.jsonl

A line has the digests of one world, of its rows and, for each kind, of the task without its reference and of its
reference. `compare` prints each that differs and exits with 1 if any does, or if a line has no other.
"""

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from os import cpu_count
from pathlib import Path

from generators.tasks.worlds.draw import draw_task, kinds_of
from generators.worlds.drawing.draw import FAMILIES, draw_whole
from schemas.base import canonical_json
from schemas.errors import BadTasks

Digests = dict[str, str]
"""By what is drawn, `world`, `rows` or a kind, the digest; for a kind the task's and the reference's in one."""


def digests(place: tuple[str, int]) -> tuple[str, Digests]:
    """Return a world's name and the digests of all that its seed draws."""
    family, seed = place
    world, rows = draw_whole(family, seed)
    found = {"world": _digest(world.model_dump_json()), "rows": _digest(canonical_json(rows))}
    for kind in kinds_of(family):
        try:
            task = draw_task(f"{family}/{kind}", seed)
        except BadTasks as error:
            found[kind] = str(error)
            continue
        steps = [step.model_dump(mode="json") for step in task.reference or ()]
        own = _digest(task.model_dump_json(exclude={"reference"}))
        found[kind] = f"{own} {_digest(json.dumps(steps))}"
    return f"{family}/{seed}", found


def differences(before: Path, after: Path) -> Iterator[str]:
    """Yield each digest of `after` that is another in `before`, or that is in one of them alone."""
    one, other = _read(before), _read(after)
    for place in sorted(one.keys() | other.keys()):
        mine, theirs = one.get(place, {}), other.get(place, {})
        for key in sorted(mine.keys() | theirs.keys()):
            if mine.get(key) != theirs.get(key):
                yield f"{place} {key}: {mine.get(key)} before, {theirs.get(key)} after"


def _read(path: Path) -> dict[str, Digests]:
    return dict(map(json.loads, path.read_text(encoding="utf-8").splitlines()))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def main(words: list[str]) -> int:
    """Draw, or compare; the exit status says whether all is the same."""
    match words:
        case ["draw", count, to]:
            places = [(family, seed) for seed in range(int(count)) for family in FAMILIES]
            with ProcessPoolExecutor(cpu_count()) as pool, Path(to).open("w") as out:
                for number, found in enumerate(pool.map(digests, places, chunksize=4), start=1):
                    out.write(json.dumps(found) + "\n")
                    if number % 100 == 0:
                        print(f"{number} of {len(places)} worlds", file=sys.stderr)
            return 0
        case ["compare", before, after]:
            found_other = list(differences(Path(before), Path(after)))
            print("\n".join(found_other) or "all the same")
            return int(bool(found_other))
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
