"""Tells the lies of `directed_lies.toml` to the tests that are to notice them, one at a time.

    python tests/adversarial/directed_lies.py [--browser] [--table FILE …] [PART OF A NAME …]

No file is changed. Each lie is told by a process of its own, in which the lying source is found in the place
of the true one, a module's by Python and a page's script by who reads it, and which then runs the tests; it is
forked from this one, which has loaded what the tests need of other projects. Each lie ends in a line of JSON;
a lie that no test noticed ends this program with exit code 1.
"""

import argparse
import importlib
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_suffix(".toml")
WANTED_BEFORE = (
    *("aiohttp.web", "deltalake", "hypothesis", "PIL.Image", "playwright.async_api", "pydantic"),
    *("pyarrow.dataset", "pytest", "pytest_asyncio"),
)
"""What most tests load of other projects; loading it takes longer than the tests."""

FAILED = 1
"""pytest's exit code where a test failed; a source that cannot be loaded gives another."""


class Lie(NamedTuple):
    """One change of a source, and the tests that are to notice it."""

    name: str
    """What no longer holds."""
    file: str
    """What it changes, from the root of the tree."""
    old: str
    new: str
    tests: tuple[str, ...]
    browser: bool
    """The tests are those on real pages."""

    @property
    def full_name(self) -> str:
        """The file and the name; no two lies share them."""
        return f"{self.file}: {self.name}"

    def source(self) -> str:
        """Return the lying source.

        Raises:
            ValueError: the old text is not in the file exactly once; the table is to be brought up to date.
        """
        true = (ROOT / self.file).read_text(encoding="utf-8")
        if true.count(self.old) != 1:
            raise ValueError(
                f"{TABLE.name}: {self.full_name}: expected its old text once in {self.file}, found it "
                f"{true.count(self.old)} times; say there what the code says now: {self.old!r}"
            )
        return true.replace(self.old, self.new)


def read_lies(table: Path = TABLE) -> Iterator[Lie]:
    """Yield every lie of a table."""
    with table.open("rb") as file:
        for group in tomllib.load(file)["told"]:
            for name, old, new in group["lies"]:
                tests, browser = tuple(group["tests"]), group.get("browser", False)
                yield Lie(name, group["file"], old, new, tests, browser)


class _Loader(SourceFileLoader):
    """Loads a lying source in the place of a module's own, and neither reads nor writes bytecode."""

    def __init__(self, name: str, lie: Lie) -> None:
        super().__init__(name, str(ROOT / lie.file))
        self._lying = lie.source().encode()

    def path_stats(self, path: str) -> dict[str, float]:
        raise OSError(path)

    def get_data(self, path: str) -> bytes:
        del path
        return self._lying


class _Finder(MetaPathFinder):
    """Finds the one module about which a lie is told."""

    def __init__(self, lie: Lie) -> None:
        self._name = lie.file.removesuffix(".py").replace("/", ".")
        self._loader = _Loader(self._name, lie)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != self._name:
            return None
        return spec_from_file_location(fullname, self._loader.path, loader=self._loader)


def _put_in_place(lie: Lie) -> None:
    """Have this process find the lying source in the place of the true one."""
    if lie.file.endswith(".py"):
        sys.meta_path.insert(0, _Finder(lie))
        return
    from generators.browser import page_scripts  # noqa: PLC0415 - in the fork alone

    folder, _, file = lie.file.rpartition("/")
    lying, true = (folder.replace("/", "."), file), page_scripts.read_script

    def read_script(package: str, name: str) -> str:
        return lie.source() if (package, name) == lying else true(package, name)

    vars(page_scripts)["read_script"] = read_script


def _run_tests(tests: Sequence[str], lie: Lie | None, output: int) -> int:
    """Run the tests in a fork, and return pytest's exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        import pytest  # noqa: PLC0415 - loaded before the fork

        if lie is not None:
            _put_in_place(lie)
        marks = "browser" if lie is not None and lie.browser else "not browser and not prefect"
        options = ("-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", marks)
        code = int(
            pytest.main([*options, "-W", "ignore::pytest.PytestAssertRewriteWarning", *tests])
        )
    finally:
        os._exit(code)


def tell(lie: Lie) -> tuple[bool, str]:
    """Return whether a test noticed, and which."""
    lie.source()
    with tempfile.TemporaryFile() as output:
        code = _run_tests(lie.tests, lie, output.fileno())
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
    by = next((line for line in lines if line.startswith(("FAILED", "ERROR"))), "")
    return code == FAILED, by or f"pytest ended with {code}: {' '.join(lines[-1:])}"


def main() -> int:
    """Tell the lies that were asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--table", type=Path, action="append", help=f"other than {TABLE.name}")
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    for name in WANTED_BEFORE:
        importlib.import_module(name)
    unnoticed = 0
    for lie in chain.from_iterable(map(read_lies, given.table or [TABLE])):
        if lie.browser > given.browser:
            continue
        if given.names and not any(name in lie.full_name for name in given.names):
            continue
        noticed, by = tell(lie)
        unnoticed += not noticed
        said = {"lie": lie.full_name, "noticed": noticed, "by": by}
        sys.stdout.write(json.dumps(said, ensure_ascii=False) + "\n")
        sys.stdout.flush()
    return int(unnoticed > 0)


if __name__ == "__main__":
    sys.exit(main())
