"""Which files are measured: the product's source, the part of it that makes worlds and tasks, and the rest.

`make measure` and the draw of paths for a reader (`questions.py`) share these lists, so that both look at the
same files. A package or a folder that is renamed is mended here.
"""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

PACKAGES = ("flows", "generators", "registries", "schemas", "stepmill", "storage")
"""The core: the packages of the wheel."""

PLUGINS = "plugins"
"""The folder of this repository's own plug-ins, one folder each."""

WORLDS = (
    "generators/worlds/",
    "generators/tasks/",
    "schemas/worlds/",
)
"""What worlds and tasks are made by: paths begin with one of these."""

OTHERS = ("tests", "bench", "docs", "configs")
"""The folders of the repository that are not the product's."""

GENERATED = {"durations.json", "mutants.json", "packages.json", "task.schema.json"}
"""Files that a command writes; the packages of worlds are a lock."""

GENERATED_FOLDERS = {"golden", "results"}
"""Folders whose files a command writes."""

TESTS = "tests"
"""The folder of tests, in the repository and in a plug-in."""


def core_files(root: Path) -> list[Path]:
    """Return the Python files of the packages."""
    return _python(root / package for package in PACKAGES)


def plugin_files(root: Path) -> list[Path]:
    """Return the Python files of the repository's own plug-ins, without their tests."""
    found = _python([root / PLUGINS])
    return [path for path in found if TESTS not in path.relative_to(root).parts]


def product_files(root: Path) -> list[Path]:
    """Return the Python files of the core and of the repository's own plug-ins."""
    return [*core_files(root), *plugin_files(root)]


def is_of_worlds(path: Path, root: Path) -> bool:
    """Return whether a file belongs to worlds and tasks."""
    return path.relative_to(root).as_posix().startswith(WORLDS)


def files_of_tests(root: Path) -> list[Path]:
    """Return the Python files of the tests, those of plug-ins too."""
    plugins = [path for path in _python([root / PLUGINS]) if TESTS in path.relative_to(root).parts]
    return [*_python([root / TESTS]), *plugins]


def files_of_kind(root: Path, ending: str) -> list[Path]:
    """Return the written files of the repository that have an ending: no locks and nothing generated."""
    folders = (*PACKAGES, PLUGINS, *OTHERS)
    found = [
        *root.glob(f"*{ending}"),
        *(p for f in folders for p in (root / f).rglob(f"*{ending}")),
    ]
    return sorted(path for path in found if _is_written(path.relative_to(root)))


def line_count(path: Path) -> int:
    """Return the lines of a file, blank ones and comments too."""
    return len(path.read_text(encoding="utf-8").splitlines())


def _python(folders: Iterator[Path] | list[Path]) -> list[Path]:
    return [path for folder in folders for path in sorted(folder.rglob("*.py"))]


def _is_written(path: Path) -> bool:
    return (
        path.name not in GENERATED
        and GENERATED_FOLDERS.isdisjoint(path.parts)
        and not any(part.startswith(".") for part in path.parts)
    )
