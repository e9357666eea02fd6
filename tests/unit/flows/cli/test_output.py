"""Where results and messages go, and what is done when they cannot go there."""

import asyncio
import io
import json
import logging
import os
import subprocess
import unicodedata
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from support.episodes.factories import make_whole_run
from support.inputs.hostile_texts import HOSTILE
from support.runs.commands import SECONDS, STEPMILL, called, contents, environment

from flows.cli.main import main
from flows.cli.parser import COMMANDS
from flows.terminal import OutputError, _StderrHandler, print_lines, print_note, print_result, table

FULL = Path("/dev/full")


def _of(coding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=coding)


def _got(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


@pytest.mark.parametrize("coding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_an_answer_is_json_that_cannot_steer_a_terminal(text: str, coding: str) -> None:
    with redirect_stdout(_of(coding)) as stream:
        print_result({"said": text, text: 1})

    line = _got(stream)
    assert json.loads(line) == {"said": text, text: 1}
    assert line.endswith("}\n")
    assert all(" " <= char <= "~" for char in line[:-1])


@pytest.mark.parametrize("coding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_is_printed_on_any_stream_and_steers_none(text: str, coding: str) -> None:
    with redirect_stdout(_of(coding)) as out, redirect_stderr(_of(coding)) as err:
        print_lines([*table(["said"], [[text]]), text])
        print_note(text)
        _StderrHandler().emit(logging.LogRecord("x", logging.WARNING, "", 0, text, None, None))

    assert not _hidden(_got(out) + _got(err))
    assert _got(out).count("\n") == 3
    assert _got(err).count("\n") == 2


def _hidden(text: str) -> set[str]:
    """Return the characters of a text that steer a terminal, or hide or turn round a part of it."""
    return {char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Cs"}} - set("\n\t")


def test_what_a_stream_has_no_form_for_is_written_as_an_escape() -> None:
    with redirect_stdout(_of("ascii")) as out, redirect_stderr(_of("latin-1")) as err:
        print_lines(["5 €"])
        print_note("Käse, 5 €")

    assert (_got(out), _got(err)) == ("5 \\u20ac\n", "Käse, 5 \\u20ac\n")


@pytest.mark.parametrize("argv", [(), *((name,) for name in sorted(COMMANDS))])
def test_help_is_printed_on_a_stream_of_ascii(argv: tuple[str, ...]) -> None:
    with redirect_stdout(_of("ascii")) as out, pytest.raises(SystemExit, match="0"):
        main([*argv, "--help"])

    assert "Example: stepmill" in _got(out)


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.full),
        pytest.param({"LC_ALL": "C"}, marks=pytest.mark.full),
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
    ids=" ".join,
)
def test_a_machine_that_speaks_ascii_gets_its_refusals_and_results(
    environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "tasks.jsonl").write_text('{"site": "Käse"}\n', encoding="utf-8")

    refused = _piped("generate", "--set", "tasks.source=tasks.jsonl", cwd=tmp_path, env=environ)
    shown = _piped("doctor", cwd=tmp_path, env=environ)

    assert refused.returncode == 2
    assert b"there are: miniwob" in refused.stderr
    assert shown.returncode in (0, 1)
    assert b"engine" in shown.stdout
    assert b"Traceback" not in refused.stderr + shown.stderr


def _piped(*argv: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run the command; nothing is known of the bytes that it writes."""
    return subprocess.run(
        [*STEPMILL, *argv],
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )


def _into(place: str, *argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command with standard output redirected as a shell does it."""
    script = f'exec "$@" {place}'
    return subprocess.run(
        ["/bin/sh", "-c", script, "sh", *STEPMILL, *argv],
        cwd=cwd,
        env=environment({"STEPMILL_CHROMIUM": "/bin/false"}),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize(
    "argv",
    [
        ("--help",),
        ("generate", "--no-prefect"),
        *(
            pytest.param(argv, marks=pytest.mark.full)
            for argv in (
                ("--version",),
                ("doctor",),
                ("doctor", "--json"),
                ("generate", "--dry-run"),
                ("tasks", "list"),
                ("show", "nowhere"),
            )
        ),
    ],
    ids=" ".join,
)
def test_an_output_that_is_full_is_refused_before_any_work(
    argv: tuple[str, ...], tmp_path: Path
) -> None:
    said = _into(f">{FULL}", *argv, cwd=tmp_path)

    reason = "stepmill: standard output: cannot be written: No space left on device\n"
    assert (said.returncode, said.stderr) == (2, reason)
    assert contents(tmp_path) == {}


def test_an_output_that_is_closed_is_refused_before_any_work(tmp_path: Path) -> None:
    said = _into(">&-", "generate", "--no-prefect", cwd=tmp_path)

    assert said.returncode == 2
    assert said.stderr.startswith("stepmill: standard output: is closed")
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("place", [f"2>{FULL}", pytest.param("2>&-", marks=pytest.mark.full)])
def test_messages_that_nobody_can_get_change_nothing(place: str, tmp_path: Path) -> None:
    refused = _into(place, "generat", cwd=tmp_path)
    shown = _into(place, "tasks", "list", "--json", cwd=tmp_path)

    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", "")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert json.loads(shown.stdout)


@pytest.fixture
def filling() -> Iterator[io.TextIOWrapper]:
    """A standard output that was well when the command began, and has become full since."""
    with FULL.open("wb", buffering=0) as full:
        yield _Later(full, encoding="utf-8", write_through=True)


class _Later(io.TextIOWrapper):
    """A stream whose device nobody can ask before something is written."""

    def fileno(self) -> int:
        raise io.UnsupportedOperation


def test_a_result_that_cannot_be_printed_is_an_error(filling: io.TextIOWrapper) -> None:
    with redirect_stdout(filling), pytest.raises(OutputError, match="No space left on device"):
        print_lines(["result"])


def test_an_output_that_filled_up_ends_a_command_that_only_reads(
    filling: io.TextIOWrapper, capsys: pytest.CaptureFixture[str]
) -> None:
    with redirect_stdout(filling):
        code = main(["tasks", "list"])

    assert code == 2
    assert "standard output: cannot be written: No space left" in capsys.readouterr().err


def test_an_output_that_filled_up_does_not_undo_what_a_command_made(
    filling: io.TextIOWrapper, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(make_whole_run(tmp_path))

    with redirect_stdout(filling):
        code = main(["compact", str(tmp_path)])

    assert code == 1
    said = capsys.readouterr().err
    assert "No space left on device; the work itself is done, and the same command" in said
    assert called("audit", str(tmp_path)).code == 0


@pytest.mark.parametrize(
    "argv", ["--help", "tasks list", pytest.param("generate --dry-run", marks=pytest.mark.full)]
)
def test_a_reader_that_goes_away_ends_any_command_quietly(argv: str, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    said = subprocess.run(
        [*STEPMILL, *argv.split()],
        cwd=tmp_path,
        env=environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    os.close(writing)

    assert (said.returncode, said.stderr) == (1, "")


def test_a_line_that_nobody_could_read_is_cut_in_its_middle(tmp_path: Path) -> None:
    said = called("show", f"{tmp_path}/{'a' * 3_000}")

    assert said.code == 2
    assert said.err.startswith(f"stepmill: {tmp_path}/aaa")
    assert "characters left out" in said.err
    assert "File name too long" in said.err
    assert len(said.err) < 1_000
