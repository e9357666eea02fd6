"""Which of mutmut's mutants the quick tests kill, asked cheaply.

mutmut changes one place of a function at a time and writes all its mutants beside the original, into the
copy `mutants/` of this tree; a variable decides which of them is called. Its own runner starts pytest for
each mutant, which takes longer than the tests. Here pytest collects the tests once, and a fork of that
process runs those that reach the changed function until one fails; those that killed others like it come
first. A mutant that fails a test is *killed*, and one that all of its tests pass *survives*.
"""

import gc
import json
import os
import resource
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import libcst
import pytest
from libcst import matchers
from mutmut import __main__ as mutmut
from mutmut.configuration import config
from mutmut.mutation import file_mutation
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils import file_utils
from mutmut.utils.format_utils import mangled_name_from_mutant_name

from bench.measuring.result import ROOT

COPY = ROOT / "mutants"
CPU_SECONDS = 60
"""What the tests of one mutant may take; one that loops for ever is killed by that."""

CHEAPLY = ("--rootdir=.", "-q", "--assert=plain", "--tb=no", "--capture=no")
"""Whether a test fails is asked, not why."""

SURVIVED, KILLED, UNREACHED = 0, 1, 33
"""How mutmut notes that all tests pass, that one fails, and that none reaches the function."""

_LOGGED = matchers.Call(func=matchers.Attribute(value=matchers.Name("LOG")))


class _Visitor(file_mutation.MutationVisitor):
    """mutmut's own, which leaves texts and log lines alone."""

    def _skip_node_and_children(self, node: libcst.CSTNode) -> bool:
        if isinstance(node, libcst.FormattedString) or matchers.matches(node, _LOGGED):
            return True
        if isinstance(node, libcst.SimpleString) and " " in node.value:
            return True
        return super()._skip_node_and_children(node)


@dataclass(frozen=True)
class Mutant:
    """A change of one place, and what the quick tests made of it."""

    module: str
    """The file that it changes."""
    name: str
    """mutmut's; `mutmut show NAME` shows the change."""
    code: int | None
    """The exit code of its tests; None if they were not run yet."""

    @property
    def killed(self) -> bool:
        """A test failed, or did not end."""
        return self.code not in {SURVIVED, UNREACHED, None}

    def change(self) -> str:
        """Return the lines that differ, `-` before the old and `+` before the new."""
        lines = get_diff_for_mutant(self.name, path=self.module).splitlines()[2:]
        return "\n".join(
            f"{line[0]} {line[1:].strip()}" for line in lines if line[:1] in {"-", "+"}
        )


def make_mutants() -> list[Mutant]:
    """Write the copy of the tree, the mutants in it; return them with the results that still hold."""
    file_mutation.MutationVisitor = _Visitor  # type: ignore[misc]
    COPY.mkdir(exist_ok=True)
    file_utils.copy_src_dir()
    for folder, name in file_utils.walk_all_files():
        if not name.endswith(".py"):
            shutil.copy2(Path(folder, name), COPY / folder / name)
    file_utils.copy_also_copy_files()
    mutmut.create_mutants(os.cpu_count() or 1)
    return read_mutants()


def read_mutants() -> list[Mutant]:
    """Return every mutant with its last result."""
    out = []
    for path in sorted(file_utils.walk_mutatable_files()):
        data = SourceFileMutationData(path=path)
        data.load()
        out += [Mutant(str(path), name, code) for name, code in data.exit_code_by_key.items()]
    return out


@dataclass
class _Runner:
    """A plugin of pytest: what it does with the tests instead of running them."""

    mutants: Sequence[Mutant]
    """Those to ask about."""
    reached: dict[str, dict[int, float]] = field(default_factory=dict)
    """By function the tests that reach it, by their place among all: how long each takes, s."""
    kills: Counter[tuple[str, int]] = field(default_factory=Counter)
    """How many mutants of a function a test has killed."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Find out which test reaches what; then let each mutant meet its tests."""
        if session.testsfailed:
            raise session.Interrupted("some of the quick tests cannot be loaded")
        self._find_tests(session)
        data: dict[str, SourceFileMutationData] = {}
        running: dict[int, tuple[Mutant, int]] = {}
        gc.freeze()
        for number, mutant in enumerate(self.mutants):
            if mutant.module not in data:
                data[mutant.module] = SourceFileMutationData(path=mutant.module)
                with file_utils.change_cwd(ROOT):
                    data[mutant.module].load()
            if len(running) >= (os.cpu_count() or 1):
                self._reap(running, data)
            tests = self._tests_for(mutant)
            if not tests:
                _note(data[mutant.module], mutant, UNREACHED)
                continue
            told, tell = os.pipe()
            child = os.fork()
            if not child:
                _meet(session, mutant, tests, tell)
            os.close(tell)
            running[child] = mutant, told
            if number % 50 == 0:
                print(f"{number} of {len(self.mutants)}: {mutant.module}", file=sys.stderr)
        while running:
            self._reap(running, data)
        return True

    def _tests_for(self, mutant: Mutant) -> list[int]:
        """Return the tests that reach a mutant; those that killed others like it come first."""
        function = mangled_name_from_mutant_name(mutant.name)
        seconds = self.reached.get(function, {})
        return sorted(seconds, key=lambda at: (-self.kills[function, at], seconds[at]))

    def _reap(
        self, running: dict[int, tuple[Mutant, int]], data: dict[str, SourceFileMutationData]
    ) -> None:
        """Wait for a mutant, and note what came of it."""
        child, status = os.wait()
        mutant, told = running.pop(child)
        with os.fdopen(told, encoding="utf-8") as killer:
            at = killer.read()
        if at:
            self.kills[mangled_name_from_mutant_name(mutant.name), int(at)] += 1
        _note(data[mutant.module], mutant, os.waitstatus_to_exitcode(status))

    def _find_tests(self, session: pytest.Session) -> None:
        """Run every test once, in a fork, and note the functions that it reaches.

        A test that fails without a mutant tells nothing about one, and is left out.
        """
        found = COPY / "reached.json"
        child = os.fork()
        if not child:
            reached: dict[str, dict[int, float]] = {}
            set_mutant_under_test("stats")
            for at, item in enumerate(session.items):
                state()._stats.clear()  # noqa: SLF001 - mutmut's own runner is where they are read
                begun, failed = os.times().elapsed, session.testsfailed
                _run(session, item, session.items[at + 1] if at + 1 < len(session.items) else None)
                if session.testsfailed > failed:
                    print(f"fails without a mutant: {item.nodeid}", file=sys.stderr)
                    continue
                for function in state()._stats:  # noqa: SLF001 - the same
                    reached.setdefault(function, {})[at] = os.times().elapsed - begun
            found.write_text(json.dumps(reached), encoding="utf-8")
            os._exit(0)
        os.waitpid(child, 0)
        for function, tests in json.loads(found.read_text(encoding="utf-8")).items():
            self.reached[function] = {int(at): seconds for at, seconds in tests.items()}


def _run(session: pytest.Session, item: pytest.Item, following: pytest.Item | None) -> None:
    session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def _meet(session: pytest.Session, mutant: Mutant, tests: Sequence[int], tell: int) -> None:
    """Run the tests until one fails, tell which, and end this process with what came of it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    set_mutant_under_test(mutant.name)
    code = KILLED
    items = [session.items[at] for at in tests]
    try:
        for at, item, following in zip(tests, items, [*items[1:], None], strict=True):
            _run(session, item, following)
            if session.testsfailed:
                os.write(tell, str(at).encode())
                break
        else:
            code = SURVIVED
    finally:
        os._exit(code)


def _note(data: SourceFileMutationData, mutant: Mutant, code: int) -> None:
    data.exit_code_by_key[mutant.name] = code
    with file_utils.change_cwd(ROOT):
        data.save()


def ask(mutants: Sequence[Mutant]) -> bool:
    """Let each mutant meet its tests, and keep what came of it; return False if they fail without any."""
    runner = _Runner(mutants)
    file_utils.setup_source_paths()
    arguments = [*config().pytest_add_cli_args, *config().pytest_add_cli_args_test_selection]
    with file_utils.change_cwd(COPY):
        pytest.main([*CHEAPLY, *arguments], plugins=[runner])
    return bool(runner.reached)
