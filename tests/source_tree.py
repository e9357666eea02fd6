"""The project's own source, parsed: what the tests about the code itself look at."""

import ast
import gc
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("flows", "generators", "registries", "schemas", "stepmill", "storage")

PLUGINS = ("plugins/applications/stepmill_applications",)
"""The packages of this repository's own plug-ins."""


@cache
def modules(*folders: str) -> tuple[tuple[str, ast.Module], ...]:
    """Return every module below `folders` as its path in the project and its tree.

    The garbage collector would look at millions of nodes, all of which stay, again and again.
    """
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    gc.disable()
    try:
        return tuple((path.relative_to(ROOT).as_posix(), _parse(path)) for path in paths)
    finally:
        gc.freeze()
        gc.enable()


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def dotted(path: str) -> str:
    """Return the import name of a module at `path`; one of a plug-in lies in its project's folder."""
    path = re.sub(r"^plugins/[^/]+/", "", path)
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def functions(tree: ast.Module) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    """Return every function of a module, nested ones and methods too."""
    return tuple(
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the methods and properties that a class defines itself."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each


def ancestors(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> Iterator[ast.ClassDef]:
    """Yield those bases of a class, and theirs, that are among `classes`."""
    for base in node.bases:
        name = ast.unparse(base).partition("[")[0].rpartition(".")[2]
        if name in classes and classes[name] is not node:
            yield classes[name]
            yield from ancestors(classes[name], classes)


def records(tree: ast.Module) -> Iterator[ast.ClassDef]:
    """Yield every class that derives from `Record` directly."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and "Record" in [ast.unparse(b) for b in node.bases]:
            yield node


def field_docs(record: ast.ClassDef) -> Iterator[tuple[ast.AnnAssign, str | None]]:
    """Yield each field of a record with the docstring under it, None where there is none."""
    for node, after in zip(record.body, [*record.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            yield node, docstring_of(after)


def docstring_of(node: ast.stmt | None) -> str | None:
    """Return the text of a statement that is nothing but a string."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else None
    return None
