"""A defect of the program is called one: a line, a log without credentials, and exit code 70."""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from support.runs.commands import SECONDS, environment

from flows.cli import parser as parser_module
from flows.cli.main import main
from flows.cli.parser import Arguments
from flows.internal_error import report_defect
from flows.orchestration import serve
from schemas.errors import Conflict, Damaged, Refusal, Unfinished

BROKEN = "broken"
"""A command that is there for these tests alone."""

SECRET = "hunter2-hunter2"  # noqa: S105 - no credential of anything


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[BaseException], None]:
    """Return what gives the program a command that raises something; logs go to `tmp_path`."""

    def define(error: BaseException) -> None:
        def run(_: Arguments) -> int:
            raise error

        module = ModuleType(f"flows.cli.{BROKEN}")
        module.run = run  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)

    def add(parser: ArgumentParser) -> None:
        parser.add_argument("--token")

    monkeypatch.setitem(parser_module.COMMANDS, BROKEN, (add, "breaks", "stepmill broken"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return define


def _log(folder: Path) -> str:
    logs = list(folder.glob("stepmill-*.log"))
    assert len(logs) == 1
    assert logs[0].stat().st_mode & 0o077 == 0
    return logs[0].read_text(encoding="utf-8")


def test_a_defect_says_that_it_is_one_and_where_its_log_is(
    breaks: Callable[[BaseException], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    breaks(KeyError("x"))

    assert main([BROKEN]) == 70

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("stepmill: internal error, a defect of Stepmill: KeyError: 'x'; ")
    assert said.err.count("\n") == 1
    assert str(next(tmp_path.glob("stepmill-*.log"))) in said.err
    log = _log(tmp_path)
    assert "Traceback (most recent call last)" in log
    assert "raise error" in log
    assert f"['{BROKEN}']" in log
    assert log.startswith("stepmill 0.")


def test_neither_the_line_nor_the_log_of_a_defect_holds_a_credential(
    breaks: Callable[[BaseException], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{SECRET}-of-the-environment")
    breaks(
        RuntimeError(
            f"http://me:{SECRET}@host refused 'Bearer {SECRET}-of-the-environment' of --token={SECRET}"
        )
    )

    assert main([BROKEN, "--token", SECRET]) == 70

    err = capsys.readouterr().err
    assert "http://***@host refused 'Bearer ***'" in err
    assert SECRET not in err
    assert SECRET not in _log(tmp_path)


def test_a_defect_among_refusals_is_still_a_defect(
    breaks: Callable[[BaseException], None], tmp_path: Path
) -> None:
    breaks(ExceptionGroup("two", [Refusal("no"), ExceptionGroup("in", [ValueError("other")])]))

    assert main([BROKEN]) == 70
    assert "ValueError: other" in _log(tmp_path)


def test_refusals_alone_are_no_defect(
    breaks: Callable[[BaseException], None], tmp_path: Path
) -> None:
    breaks(ExceptionGroup("two", [Refusal("no"), Refusal("neither")]))

    assert main([BROKEN]) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Refusal("no"), 2),
        (Damaged("torn"), 2),
        (Conflict("late"), 2),
        (Unfinished("full"), 1),
        (ExceptionGroup("one", [Damaged("torn")]), 2),
        (ExceptionGroup("one", [Conflict("late")]), 2),
        (ExceptionGroup("two", [Damaged("torn"), Unfinished("full")]), 1),
        (ExceptionGroup("one", [Unfinished("full")]), 1),
        (ExceptionGroup("two", [Refusal("no"), ExceptionGroup("in", [Unfinished("full")])]), 1),
    ],
    ids=repr,
)
def test_the_class_of_an_error_decides_the_exit_code_however_it_is_wrapped(
    breaks: Callable[[BaseException], None], error: Exception, code: int
) -> None:
    breaks(error)

    assert main([BROKEN]) == code


def test_a_pipe_that_breaks_elsewhere_is_not_taken_for_a_reader_that_has_gone(
    breaks: Callable[[BaseException], None], tmp_path: Path
) -> None:
    breaks(BrokenPipeError("the driver's"))

    assert main([BROKEN]) == 70
    assert "BrokenPipeError: the driver's" in _log(tmp_path)


def test_an_interrupt_is_no_defect(
    breaks: Callable[[BaseException], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    breaks(KeyboardInterrupt())

    assert main([BROKEN]) == 130
    assert capsys.readouterr().err == (
        "stepmill: interrupted; run the same command again to go on\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_where_no_log_can_be_kept_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))

    assert report_defect(ValueError("why"), ["show"]) == 70

    err = capsys.readouterr().err
    assert "\nValueError: why\n" in err
    assert "its log stands above, as it cannot be kept (No such file or directory)" in err


def test_the_whole_process_ends_with_the_code_of_a_defect(tmp_path: Path) -> None:
    """As `python -m flows.cli` and the installed command end, with all that is done at exit."""
    code = (
        "import sys, types; from flows.cli import parser as cli_parsers; from flows.cli import main as cli\n"
        "broken = types.ModuleType('flows.cli.broken')\n"
        "broken.run = lambda args: {}['x']\n"
        "sys.modules['flows.cli.broken'] = broken\n"
        "cli_parsers.COMMANDS['broken'] = (lambda parser: None, 'breaks', 'stepmill broken')\n"
        "sys.exit(cli.main())\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, "broken"],
        cwd=tmp_path,
        env=environment({"TMPDIR": str(tmp_path)}),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert (said.returncode, said.stdout) == (os.EX_SOFTWARE, "")
    assert said.stderr.count("\n") == 1
    assert "KeyError: 'x'" in _log(tmp_path)


def test_a_defect_of_what_make_prefect_runs_is_owned_up_to_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: dict[str, str]) -> int:
        raise KeyError("x")

    monkeypatch.setattr(serve, "set_up", lambda *_, **__: None)
    monkeypatch.setattr(serve, "patience", broken)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    assert serve.main() == 70

    assert "a defect of Stepmill: KeyError: 'x'; " in capsys.readouterr().err
    assert "Traceback (most recent call last)" in _log(tmp_path)
