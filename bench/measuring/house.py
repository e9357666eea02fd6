"""How large the code is and how it hangs together: the numbers that `make measure` prints.

They are a compass and not a gate: a number that could only be met by worse code is missed, and the
change says so. Counted is the source; only the walks execute it, in a process of their own (`walks.py`).

`source.py` lists what is measured. `modules.py` defines importers and callers, `idiom.py` the words of idiom,
`walks.py` a walk, and `questions.py` the two numbers that a reader takes. The modules of a folder are those
directly in it, without `__init__`.

    python bench/measuring/house.py [--names] [FOLDER]

measures the checkout in FOLDER, as a worktree of another commit; `--names` prints all names, of modules with
one importer too.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from bench.measuring.idiom import idiom_rate
from bench.measuring.modules import House, callers, cycles, importers, read_house
from bench.measuring.questions import MAX_OPENED, MIN_GUESSED
from bench.measuring.source import (
    PACKAGES,
    ROOT,
    core_files,
    files_of_kind,
    files_of_tests,
    is_of_worlds,
    line_count,
    plugin_files,
    product_files,
)

MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 60

KINDS = {"HTML": ".html", "CSS": ".css", "JavaScript": ".js", "TOML": ".toml", "JSON": ".json"}
"""The files beside Python whose lines are counted."""

WALKS = Path(__file__).with_name("walks.py")
"""What traces the walks."""

MAX_SHOWN = 4
"""Names that are printed of what misses a target."""


class Figure(NamedTuple):
    """One number, beside its target if it has one."""

    what: str
    value: float | None
    """None: a reader takes it, or it could not be taken; `note` says how, or why."""
    target: float | None = None
    """At most this much; for `at_least`, at least. None: it is only reported."""
    where: tuple[str, ...] = ()
    """What misses the target, by name."""
    note: str = ""
    """What else belongs to the number."""
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """Return whether the target is held; empty without a number or a target."""
        if self.value is None or self.target is None:
            return ""
        held = self.value >= self.target if self.at_least else self.value <= self.target
        return "held" if held else "missed"


def figures(house: House) -> list[Figure]:
    """Return the numbers of the packages' modules, functions and imports."""
    return [*_module_figures(house), *_import_figures(house), *_function_figures(house)]


def _module_figures(house: House) -> list[Figure]:
    modules = house.modules.values()
    lines = sorted(m.lines for m in modules if m.path.name != "__init__.py")
    folders = Counter(m.folder for m in modules if m.path.name != "__init__.py")
    largest = folders.most_common(1)
    size = largest[0][1] if largest else 0
    big = [f"{m.name} ({m.lines})" for m in modules if m.lines > MAX_MODULE_LINES]
    circles = cycles(house)
    return [
        Figure("modules", len(lines)),
        Figure("lines of a module, median", statistics.median(lines) if lines else 0),
        Figure("lines of a module, 95th percentile", _percentile(lines, 95)),
        Figure("lines of the longest module", lines[-1] if lines else 0),
        Figure(f"files over {MAX_MODULE_LINES} lines", len(big), None, tuple(big)),
        Figure("modules in the largest folder", size, 23, _of_size(folders, 23)),
        Figure("cycles among folders", len(circles), 0, tuple(circles)),
    ]


def _import_figures(house: House) -> list[Figure]:
    counts = importers(house)
    single = sorted(name for name, count in counts.items() if count == 1)
    named = {name: len(house.imports[name]) for name in counts}
    first = max(named, key=lambda name: named[name], default="")
    mean = round(statistics.mean(named.values()), 2) if named else 0
    return [
        Figure("modules with exactly one importer, %", _percent(len(single), len(counts)), 22),
        Figure("project modules that a module imports, mean", mean, 5.2),
        Figure("project modules that a module imports, max", named.get(first, 0), None, (first,)),
    ]


def _function_figures(house: House) -> list[Figure]:
    modules = house.modules.values()
    called = [count for module in modules for count in callers(module).values()]
    long = [
        f"{module.name}.{node.name}"
        for module in modules
        for node in module.functions()
        if (node.end_lineno or node.lineno) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    return [
        Figure("private functions with one caller, %", _percent(called.count(1), len(called)), 55),
        Figure(f"functions over {MAX_FUNCTION_LINES} lines", len(long), 0, tuple(long)),
    ]


def size_figures(root: Path) -> list[Figure]:
    """Return the lines of the core, of plug-ins, of tests and of what is not Python."""
    core = sum(map(line_count, core_files(root)))
    plugins = sum(map(line_count, plugin_files(root)))
    tests = files_of_tests(root)
    folders = Counter(p.parent.relative_to(root).as_posix() for p in tests if _is_named(p))
    largest = folders.most_common(1)
    return [
        Figure("Python lines, core", core, 75_000),
        Figure("Python lines, core and plug-ins", core + plugins, 77_500),
        Figure("Python lines, tests", sum(map(line_count, tests))),
        *(_kind_figure(root, kind, ending) for kind, ending in KINDS.items()),
        Figure(
            "modules in the largest folder of tests",
            largest[0][1] if largest else 0,
            note=largest[0][0] if largest else "",
        ),
    ]


def _kind_figure(root: Path, kind: str, ending: str) -> Figure:
    lines = {path: line_count(path) for path in files_of_kind(root, ending)}
    product = sum(
        count for path, count in lines.items() if path.relative_to(root).parts[0] in PACKAGES
    )
    note = f"{product:,} of them in the packages" if lines else ""
    return Figure(f"{kind} lines", sum(lines.values()), note=note)


def idiom_figures(root: Path) -> list[Figure]:
    """Return how much idiom the product's prose has, and that of worlds and tasks."""
    product = product_files(root)
    worlds = [path for path in product if is_of_worlds(path, root)]
    return [
        Figure("idiom words in 1,000 lines", round(idiom_rate(product), 1), 6),
        Figure("idiom words in 1,000 lines, worlds and tasks", round(idiom_rate(worlds), 1), 8),
    ]


def walk_figures(root: Path, script: Path = WALKS) -> list[Figure]:
    """Return the returns of the walks through a checkout."""
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "0"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason"])[-1]
        return [
            Figure("walks: returns", None, 20, note=f"not traced: {reason}; mend {script.name}")
        ]
    return [_walk_figure(json.loads(line)) for line in done.stdout.splitlines()]


def _walk_figure(walk: dict[str, int | str]) -> Figure:
    name, returns = walk.pop("walk"), int(walk.pop("returns"))
    note = ", ".join(f"{value} {what}" for what, value in walk.items())
    return Figure(f"{name}: returns", returns, 20, note=note)


def reader_figures() -> list[Figure]:
    """Return what a reader has to find out, with how."""
    command = "a reader: python -m bench.measuring.questions"
    return [
        Figure(
            "names guessed of 25 paths", None, MIN_GUESSED, note=f"{command} paths", at_least=True
        ),
        Figure(
            "files opened to answer, median of 12", None, MAX_OPENED, note=f"{command} questions"
        ),
    ]


def _of_size(folders: Counter[str], limit: int) -> tuple[str, ...]:
    return tuple(f"{name} ({size})" for name, size in folders.most_common() if size > limit)


def _is_named(path: Path) -> bool:
    return path.name != "__init__.py"


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def _percentile(ordered: list[int], percent: int) -> int:
    return ordered[(len(ordered) - 1) * percent // 100] if ordered else 0


def line(figure: Figure, shown: int | None = MAX_SHOWN) -> str:
    """Return how a number is printed; `shown` is how many names are printed at most."""
    value = "–" if figure.value is None else f"{figure.value:,.12g}"
    sign = "≥" if figure.at_least else "≤"
    target = "" if figure.target is None else f"{sign} {figure.target:,.12g}"
    names = figure.where if figure.verdict != "held" else ()
    further = () if shown is None or len(names) <= shown else (f"{len(names) - shown} more",)
    about = ", ".join((*filter(None, [figure.note]), *names[:shown], *further))
    return f"{figure.what:46}{value:>8}{target:>10}  {figure.verdict:8}{about}".rstrip()


def main(arguments: list[str] | None = None) -> int:
    """Print every number. Always succeeds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--names", action="store_true", help="print all names")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT, help="the checkout")
    given = parser.parse_args(arguments)
    root, house = given.folder.resolve(), read_house(given.folder.resolve())
    print(f"{'':46}{'today':>8}{'target':>10}")
    for figure in (
        *size_figures(root),
        *figures(house),
        *idiom_figures(root),
        *walk_figures(root),
        *reader_figures(),
    ):
        print(line(figure, None if given.names else MAX_SHOWN), flush=True)
    if given.names:
        print("\nmodules with exactly one importer:")
        print(*(name for name, n in sorted(importers(house).items()) if n == 1), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
