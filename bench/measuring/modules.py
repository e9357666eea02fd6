"""The modules of the packages as their source says them: who imports whom, and who calls whom.

* A module's importers are the modules of the packages that name it in an import; one that only
  `__init__` re-exports counts as imported by that.
* A private function's callers are the places of its module that name it outside its own body.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from bench.measuring.source import PACKAGES, ROOT

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


@dataclass(frozen=True)
class House:
    """All modules of the packages and their imports."""

    modules: Mapping[str, Module]
    imports: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    """The modules of the packages that each module names."""


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
