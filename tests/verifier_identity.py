"""What a verifier's version stands for: all that can change one of its verdicts, as digests.

A stored verdict is kept while its verifier has the same version, so whatever would judge a stored episode
differently has to raise that version. `tests/golden/verifiers.json` has, for the version of each verifier,
the digests of what it rests on:

* the code of its module and of every module of `generators/verify` that these import, and of each function
  that they import from elsewhere, without comments and docstrings;
* the constants (names in capitals) of all modules that these import: bounds, tolerances, lists;
* where it asks a site, the constants of every site, thresholds and scripts among them; where it opens a
  browser, those of the browser, its flags among them, and the scripts that it puts into pages.

The versions of the site and of the browser in which a replay ran are no part of it: they change from
machine to machine and are in the verdict's evidence. What other code of the browser does with a page is
held by its own tests.

`make identity` writes the file for verifiers whose version was raised, and refuses the others, unless
`SAME` names them: then the developer says that they judge every stored episode as before.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from source_tree import ROOT

from generators.verify.registry import MAKERS
from schemas.base import sha256_hex

RECORD = ROOT / "tests" / "golden" / "verifiers.json"
"""Where versions and digests are kept."""

WHOLE = "generators/verify/"
"""Modules whose code counts whole."""

FOLLOWED = ("generators.", "schemas.")
"""Modules whose imports are followed."""

PULLED_IN = {"Site": "generators/sites", "Sessions": "generators/browser"}
"""Folders that a verifier rests on once it imports this name, though it names none of their modules."""

_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
_DIGITS = 16

Parts = Mapping[str, str]
"""Digests by file."""


def parts_of(module: str, root: Path = ROOT) -> Parts:
    """Return what the verifier in a module rests on, in the source tree at `root`."""
    files = dict.fromkeys(_closure(module, root))
    imported = {name for path in files if path.startswith(WHOLE) for name in _imports(root / path)}
    for _, name in _imports(root / _path(module)):
        folder = root / PULLED_IN[name] if name in PULLED_IN else None
        for file in sorted(folder.iterdir()) if folder else ():
            if file.suffix in {".py", ".js"}:
                files[file.relative_to(root).as_posix()] = None
    digests = dict[str, str]()
    for path in sorted(files):  # the order of the record
        wanted = frozenset(name for source, name in imported if _path(source) == path)
        text = (root / path).read_text(encoding="utf-8")
        code = [text] if path.endswith(".js") else _code(text, wanted, whole=path.startswith(WHOLE))
        if code:
            digests[path] = sha256_hex("\n".join(code).encode())[:_DIGITS]
    return digests


def verifiers() -> dict[str, tuple[str, str]]:
    """Return the module and the version of every verifier, by its name."""
    from support.browsers.scripted_session import ScriptedSessions  # noqa: PLC0415 - a test's, and only for this

    made = {name: make({}, ScriptedSessions()) for name, make in MAKERS.items()}
    return {name: (type(one).__module__, one.version) for name, one in made.items()}


def changes(now: Parts, recorded: Parts) -> list[str]:
    """Return the files whose digests differ."""
    return [path for path in sorted({*now, *recorded}) if now.get(path) != recorded.get(path)]


def _closure(module: str, root: Path) -> Iterator[str]:
    """Yield the files of a module and of what it imports."""
    seen, waiting = set[str](), [_path(module)]
    while waiting:
        path = waiting.pop()
        if path not in seen and (root / path).is_file():
            seen.add(path)
            yield path
            waiting += dict.fromkeys(_path(source) for source, _ in _imports(root / path))


def _path(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield what a module imports of ours: from which module, and which name."""
    yield from _imports_in(path.read_text(encoding="utf-8"))


@cache
def _imports_in(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (node.module or "", alias.name)
        for node in ast.walk(_parsed(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(FOLLOWED)
        for alias in node.names
    )


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def _code(text: str, wanted: frozenset[str], *, whole: bool) -> list[str]:
    """Return the lines of code of a module: all but its imports, or its constants and `wanted`."""
    tree = _parsed(text)
    kept = [
        node
        for node in tree.body
        if (whole and not isinstance(node, ast.Import | ast.ImportFrom))
        or _is_constant(node)
        or (isinstance(node, ast.FunctionDef) and node.name in wanted)
    ]
    docstrings = [node for one in [tree, *kept] for node in ast.walk(one) if _is_docstring(node)]
    left_out = {line for node in docstrings for line in _lines(node)}
    lines = _without_comments(text)
    code = (lines[number] for node in kept for number in _lines(node) if number not in left_out)
    return [line for line in code if line.strip()]


def _is_constant(node: ast.stmt) -> bool:
    targets: Sequence[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = (node.target,)
    return any(isinstance(one, ast.Name) and _CONSTANT.fullmatch(one.id) for one in targets)


def _is_docstring(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _lines(node: ast.AST) -> range:
    """Return the numbers of a statement's lines, decorators first."""
    if not isinstance(node, ast.stmt):
        return range(0)
    decorators = getattr(node, "decorator_list", ())
    first = min([node.lineno, *(one.lineno for one in decorators)])
    return range(first - 1, node.end_lineno or node.lineno)


def _without_comments(text: str) -> list[str]:
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return lines


def main(same: Collection[str]) -> int:
    """Record every verifier whose version was raised or that is in `same`; refuse the others."""
    told = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}
    record, refused = dict[str, dict[str, object]](), dict[str, list[str]]()
    for name, (module, version) in verifiers().items():
        before, parts = told.get(name, {"version": None, "rests_on": {}}), parts_of(module)
        record[name] = {"version": version, "rests_on": parts}
        files = changes(parts, before["rests_on"])
        if files and before["version"] == version and name not in same:
            refused[name] = files
    for name, files in refused.items():
        sys.stderr.write(f"{name} {record[name]['version']}: {', '.join(files)} changed\n")
    if refused:
        sys.stderr.write(
            "raise `version` of each that judges any stored episode differently; "
            f"if none does: make identity SAME='{' '.join(refused)}'\n"
        )
        return 1
    RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
