"""How large the code is and how it hangs together: the numbers that `make measure` prints.

They are a compass and not a gate: a number that could only be met by worse code is missed, and the
change says so. Counted is the source alone; nothing is imported.

* A module's importers are the modules of the five packages that name it in an import; one that only
  `__init__` re-exports counts as imported by that.
* A private function's callers are the places of its module that name it outside its own body.
"""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("flows", "generators", "registries", "schemas", "storage")
MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 60

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One module as its source says it."""

    name: str
    """As it is imported."""
    path: Path
    tree: ast.Module
    lines: int
    """All of them, blank ones and comments too."""

    @property
    def folder(self) -> str:
        """The package that holds it directly."""
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]

    def functions(self) -> Iterator[Function]:
        """Yield every function, nested ones and methods too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


class Figure(NamedTuple):
    """One number beside its target."""

    what: str
    value: float
    target: float
    """At most so much."""
    where: tuple[str, ...] = ()
    """What misses the target, by name."""

    @property
    def held(self) -> bool:
        """Whether the number is at or below its target."""
        return self.value <= self.target


@dataclass(frozen=True)
class House:
    """All modules of the five packages and their imports."""

    modules: Mapping[str, Module]
    imports: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    """The modules of the five packages that each module names."""


def read_house(root: Path = ROOT) -> House:
    """Read every module below `root`."""
    modules: dict[str, Module] = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text(encoding="utf-8")
            modules[name] = Module(name, path, ast.parse(text), len(text.splitlines()))
    return House(modules, {name: _imports(each, modules) for name, each in modules.items()})


def _imports(module: Module, known: Mapping[str, Module]) -> AbstractSet[str]:
    out: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            out |= below & known.keys() or {node.module}
    return (out & known.keys()) - {module.name}


def importers(house: House) -> Counter[str]:
    """Return how many modules import each module that is not a package's own."""
    counts = Counter({n: 0 for n, m in house.modules.items() if m.path.name != "__init__.py"})
    for names in house.imports.values():
        counts.update(name for name in names if name in counts)
    return counts


def callers(module: Module) -> dict[str, int]:
    """Return how many places name each private function of a module, its own body apart."""
    private = [node for node in module.functions() if _is_private(node.name)]
    named = Counter(map(_name_of, ast.walk(module.tree)))
    return {
        node.name: named[node.name] - sum(_name_of(inner) == node.name for inner in ast.walk(node))
        for node in private
    }


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _name_of(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def cycles(house: House) -> list[str]:
    """Return a cycle among the folders below each folder, for every folder that has one."""
    links: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, names in house.imports.items():
        for other in names:
            _link(links, name.split("."), other.split("."))
    out = []
    for folder, graph in links.items():
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            out.append(f"{folder or 'top'}: {' > '.join(error.args[1])}")
    return out


def _link(links: dict[str, dict[str, set[str]]], name: list[str], other: list[str]) -> None:
    """Note an import among the parts of the lowest folder that holds both modules."""
    depth = next(
        (n for n, (a, b) in enumerate(zip(name, other, strict=False)) if a != b),
        min(len(name), len(other)),
    )
    if depth < len(name) and depth < len(other):
        links[".".join(name[:depth])][name[depth]].add(other[depth])


def figures(house: House) -> list[Figure]:
    """Return every number with its target."""
    modules = house.modules.values()
    counts = importers(house)
    single = sorted(name for name, count in counts.items() if count == 1)
    called = [count for module in modules for count in callers(module).values()]
    folders = Counter(m.folder for m in modules if m.path.name != "__init__.py")
    largest, size = folders.most_common(1)[0]
    circles = cycles(house)
    long = [
        f"{module.name}.{node.name}"
        for module in modules
        for node in module.functions()
        if (node.end_lineno or node.lineno) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    big = [f"{m.name} ({m.lines})" for m in modules if m.lines > MAX_MODULE_LINES]
    return [
        Figure("product lines", sum(m.lines for m in modules), 37_500),
        Figure("modules", len(counts), 300),
        Figure("modules with exactly one importer, %", _percent(len(single), len(counts)), 22),
        Figure("private functions with one caller, %", _percent(called.count(1), len(called)), 55),
        Figure("modules in the largest folder", size, 20, (largest,)),
        Figure("cycles among folders", len(circles), 0, tuple(circles)),
        Figure(f"functions over {MAX_FUNCTION_LINES} lines", len(long), 0, tuple(long)),
        Figure(f"files over {MAX_MODULE_LINES} lines", len(big), 0, tuple(big)),
    ]


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def main() -> int:
    """Print every number; `--names` adds the modules with one importer. Always succeeds."""
    house = read_house()
    print(f"{'':42}{'today':>9}{'target':>9}")
    for figure in figures(house):
        missed = "" if figure.held else "  missed  " + ", ".join(figure.where)
        print(f"{figure.what:42}{figure.value:>9,g}{figure.target:>9,g}{missed}".rstrip())
    if "--names" in sys.argv[1:]:
        for name, count in sorted(importers(house).items()):
            if count == 1:
                print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
