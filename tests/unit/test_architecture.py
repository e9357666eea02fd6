"""The rules of the house that no linter knows, as tests."""

import ast
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
import source_tree
from source_tree import PACKAGES, PLUGINS, ROOT, dotted, field_docs, functions, modules, records

MODULE_LINES = 400
FUNCTION_LINES = 60
FOLDER_FILES = 20
"""The files that lie directly in one folder of tests, at most."""
CODE = (*PACKAGES, *PLUGINS)
EVERYTHING = (*PACKAGES, "plugins", "tests", "bench", "docs")

NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc"}
"""Names that say nothing about what is inside."""

HEAVY = ("PIL", "aiohttp", "boto3", "datasets", "deltalake", "playwright", "prefect", "pyarrow")
"""What the command line must not load before it knows what it was asked for."""

HEAVY_FOR_SOME = (
    "boto3",
    "datasets",
    "faker",
    "huggingface_hub",
    "openai",
    "playwright",
    "prefect",
)
"""What a command that runs episodes loads only for the runs that need it."""


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_module_is_too_long() -> None:
    long = [
        f"{path}: {lines} lines"
        for path, _ in modules(*EVERYTHING)
        if (lines := len((ROOT / path).read_text(encoding="utf-8").splitlines())) > MODULE_LINES
    ]

    assert long == []


def test_no_function_is_too_long() -> None:
    long = [
        f"{path}:{node.lineno} {node.name}: {_length(node)} lines"
        for path, tree in modules(*EVERYTHING)
        for node in functions(tree)
        if _length(node) > FUNCTION_LINES
    ]

    assert long == []


def test_most_functions_are_short() -> None:
    lengths = [_length(node) for _, tree in modules(*CODE) for node in functions(tree)]

    assert statistics.median(lengths) <= 10


def test_every_module_says_what_it_is() -> None:
    silent = [
        path
        for path, tree in modules(*CODE, "bench", "docs")
        if not (ast.get_docstring(tree) or "").strip().endswith((".", ".`", '"', ":", "|"))
    ]

    assert silent == []


def test_every_public_name_has_a_sentence() -> None:
    silent = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in modules(*CODE)
        for node in _public(tree)
        if not (ast.get_docstring(node) or "").strip()
    ]

    assert silent == []


def _public(
    tree: ast.Module | ast.ClassDef,
) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in tree.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or _overrides(node):
            continue
        yield node
        if isinstance(node, ast.ClassDef):
            yield from _public(node)


def _overrides(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether the sentence stands where the method is declared; ruff (D102) agrees."""
    return any(ast.unparse(decorator) == "override" for decorator in node.decorator_list)


def test_an_override_without_a_sentence_finds_it_where_the_method_is_declared() -> None:
    assert list(_silent_overrides(modules(*CODE))) == []


def test_the_search_for_silent_overrides_finds_them() -> None:
    code = """
class Base(Protocol):
  def told(self): "Return one."
  def untold(self): ...
class Middle(Base): ...
class Last(Middle[int], io.RawIOBase):
  @override
  def told(self): return 1
  @override
  def untold(self): return 2
  @override
  def readable(self): return True
"""

    assert list(_silent_overrides((("a.py", ast.parse(code)),))) == ["a.py:10 Last.untold"]


def _silent_overrides(of: tuple[tuple[str, ast.Module], ...]) -> Iterator[str]:
    """Yield each override without a docstring whose bases here declare it without one too."""
    classes = {
        node.name: node
        for _, tree in of
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    for path, tree in of:
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef):
                continue
            for method in source_tree.methods(node):
                if not _overrides(method) or ast.get_docstring(method):
                    continue
                declared = [
                    bool(ast.get_docstring(other))
                    for base in source_tree.ancestors(node, classes)
                    for other in source_tree.methods(base)
                    if other.name == method.name
                ]
                if declared and not any(declared):
                    yield f"{path}:{method.lineno} {node.name}.{method.name}"


def test_every_field_of_a_record_says_what_it_holds() -> None:
    silent = [
        f"{path}:{field.lineno} {record.name}.{ast.unparse(field.target)}"
        for path, tree in modules(*CODE)
        for record in records(tree)
        for field, doc in field_docs(record)
        if not (doc or "").strip() and not _explains_itself(ast.unparse(field.annotation))
    ]

    assert silent == []


def _explains_itself(annotation: str) -> bool:
    """Say whether a field is a discriminator, or a section that has a docstring of its own."""
    return annotation.startswith("Literal[") or annotation.endswith("Section")


def test_every_folder_and_module_has_a_name_that_says_something() -> None:
    nameless = [
        path
        for path, _ in modules(*EVERYTHING)
        if NAMELESS & set(path.removesuffix(".py").split("/"))
    ]

    assert nameless == []


def test_no_folder_of_tests_is_a_heap() -> None:
    folders = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".jpg"}  # pictures of steps are numbered
    )

    assert {name: files for name, files in folders.items() if files > FOLDER_FILES} == {}


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {"BaseException"}
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(kind).rpartition(".")[2] for kind in types}


def _swallows(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    passes_on = isinstance(last, ast.Raise) and last.exc is None
    return bool(_caught(handler) & {"Exception", "BaseException"}) and not passes_on


def _broad(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the function and line of each handler that catches anything, `suppress` included.

    One that ends in a bare `raise` only cleans up on the way, and catches nothing.
    """
    for function in functions(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.ExceptHandler) and _swallows(node):
                yield function.name, node.lineno
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
                broad = {ast.unparse(arg) for arg in node.args} & {"Exception", "BaseException"}
                if broad:
                    yield function.name, node.lineno


NAMED_BOUNDARIES = {
    ("schemas/errors.py", "boundary"),  # names what it catches, and raises it again
    ("generators/worlds/checking/crawl.py", "ask"),  # whatever a world's server raises is a finding
    ("flows/orchestration/serve.py", "main"),  # the same for `make prefect`
    (
        "flows/cli/main.py",
        "main",
    ),  # the last resort: a defect ends the command, with a code of its own
}


def test_only_the_rollout_and_the_last_resort_catch_everything() -> None:
    found = {
        (path, function, line)
        for path, tree in modules(*CODE, "bench")
        for function, line in _broad(tree)
    }

    elsewhere = {
        (path, function, line)
        for path, function, line in found
        if not path.startswith("generators/rollout/") and (path, function) not in NAMED_BOUNDARIES
    }
    in_rollout = {place for place in found if place[0].startswith("generators/rollout/")}
    assert elsewhere == set()
    assert len(in_rollout) <= 1, in_rollout


STATE_PROGRAM = "plugins/applications/stepmill_applications/dokuwiki/state.py"
"""Writes an application's state for the site that starts it."""

SEAT_PROGRAM = "generators/tasks/harbor/seat.py"
"""Is the command line of a container, which has nothing else of ours."""

WHERE_PROGRAM = "storage/publish/plan/where_program.py"
"""Answers the process that started it, with bytes."""

OTHER_ENVIRONMENTS = "/stepmill_applications/environments/"
"""Holds what runs in the environments of applications, with packages that are not installed here."""


PROGRAMS = (STATE_PROGRAM, SEAT_PROGRAM, WHERE_PROGRAM)


def test_only_the_command_line_and_the_benchmarks_print() -> None:
    printing = [
        f"{path}:{node.lineno}"
        for path, tree in modules(*CODE)
        if not path.startswith(("flows/cli/", "flows/terminal.py", *PROGRAMS))
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id == "print")
        or (isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.stdout")
    ]

    assert printing == []


@pytest.mark.parametrize(
    ("module", "heavy"), [("flows.cli.main", HEAVY), ("flows.cli.job_in_terminal", HEAVY_FOR_SOME)]
)
def test_a_command_loads_nothing_heavy_before_it_needs_it(
    module: str, heavy: tuple[str, ...]
) -> None:
    code = f"import sys, {module}; print([m for m in {heavy!r} if m in sys.modules])"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "[]"


SCRIPT_LINES = 2
"""What of JavaScript may stand in a string; what is longer is a file, which the linter reads."""

_SCRIPT = re.compile(
    r"=>|\b(?:document|window|location)\.\w|\b(?:function|const|let|typeof) \w+ ?[(=]"
)


def _scripts(tree: ast.Module) -> Iterator[int]:
    """Yield the line of each string that is JavaScript of several lines, docstrings left out."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            text = node.value.strip()
            if text.count("\n") >= SCRIPT_LINES and _SCRIPT.search(text):
                yield node.lineno


def test_javascript_of_several_lines_is_a_file() -> None:
    found = [f"{path}:{line}" for path, tree in modules(*PACKAGES) for line in _scripts(tree)]

    assert found == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('LOOK = """(() => {\n  const a = 1;\n  return a;\n})()"""', [1]),
        ('ask(f"""{wanted}\nlet a = 1;\na += 1;\ndocument.write(a);""")', [1]),
        ('"""The page\'s own\nwindow.\nIt is closed."""', []),
        ('FIELDS = """[...document.forms]\n  .map((form) => form.name)"""', []),
        ('WORDS = """one\ntwo\nthree"""', []),
    ],
)
def test_the_search_for_javascript_finds_it(code: str, expected: list[int]) -> None:
    assert list(_scripts(ast.parse(code))) == expected


IMPORT_EVERYTHING = """
import importlib, sys

def ours():
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib") or "site-packages" in name:
            return None  # somebody else's doing
        if name.startswith(tuple(f"{sys.argv[1]}/{p}/" for p in ("flows", "generators", "plugins", "registries", "schemas", "stepmill", "storage"))):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return None

def watch(event, args):
    if event in {"open", "os.mkdir", "subprocess.Popen", "socket.connect", "socket.bind"}:
        if event == "open" and str(args[0]).endswith((".py", ".pyc")):
            return
        if place := ours():
            sys.stderr.write(f"{place} {event} {args[0]!r}\\n")

sys.addaudithook(watch)
for module in sys.argv[2:]:
    importlib.import_module(module)
"""


def test_no_module_does_anything_when_it_is_imported() -> None:
    names = [dotted(path) for path, _ in modules(*CODE) if OTHER_ENVIRONMENTS not in path]

    shown = subprocess.run(
        [sys.executable, "-c", IMPORT_EVERYTHING, str(ROOT), *names],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )

    assert shown.stderr == ""
    assert shown.returncode == 0


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f():\n  try: pass\n  except Exception: pass", 1),
        ("def f():\n  try: pass\n  except (OSError, BaseException): pass", 1),
        ("def f():\n  try: pass\n  except: pass", 1),
        ("def f():\n  with contextlib.suppress(Exception): pass", 1),
        ("def f():\n  try: pass\n  except OSError: pass", 0),
        ("def f():\n  try: pass\n  except BaseException:\n    tidy()\n    raise", 0),
        ("def f():\n  try: pass\n  except Exception as e:\n    raise Other from e", 1),
    ],
)
def test_the_search_for_broad_handlers_finds_them(code: str, expected: int) -> None:
    assert len(list(_broad(ast.parse(code)))) == expected


def test_the_search_for_field_docstrings_finds_them() -> None:
    tree = ast.parse('class A(Record):\n  x: int\n  """Said."""\n  y: int = 1\n')

    (record,) = source_tree.records(tree)

    assert [doc for _, doc in field_docs(record)] == ["Said.", None]
