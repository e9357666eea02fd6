"""The command line, as far as it needs no browser and no server."""

import gc
import json
import logging
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from source_tree import ROOT
from support.runs.commands import called, contents, environment

from flows.cli.main import main
from flows.cli.parser import COMMANDS
from flows.terminal import ExitCode, strip_control_chars, table

UNREACHABLE = "http://127.0.0.1:9/api"
"""A Prefect server that does not answer: whatever needs one is refused."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder, with no browser and no Prefect to be had."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPMILL_CHROMIUM", str(tmp_path / "no-browser"))
    monkeypatch.setenv("PREFECT_API_URL", UNREACHABLE)
    return tmp_path


def _ends(*argv: str) -> int:
    """Return the exit code of the command line, however it leaves."""
    try:
        return main(argv)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
    finally:
        logging.getLogger().handlers.clear()


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ends("--help") == 0

    shown = capsys.readouterr().out
    for name in ("generate", "show", "audit", "replay", "publish", "verify", "tasks", "doctor"):
        assert re.search(rf"^ +{name}\b", shown, re.MULTILINE), name


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_explains_itself_with_an_example(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _ends(command, "--help") == 0

    shown = capsys.readouterr().out
    assert f"Example: stepmill {command}" in shown
    assert len(shown.splitlines()) > 5


def test_a_command_of_its_own_process_looks_for_garbage_but_not_in_modules() -> None:
    code = (
        "import gc, sys, types\n"
        "doctor = sys.modules['flows.cli.doctor'] = types.ModuleType('doctor')\n"
        "doctor.run = lambda args: print(gc.isenabled(), gc.get_freeze_count() > 1_000) or 0\n"
        "sys.argv = ['stepmill', 'doctor']\n"
        "from flows.cli.main import main\n"
        "main()\n"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout == "True True\n"


def test_a_command_within_a_process_leaves_its_garbage_to_be_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = gc.get_freeze_count()

    assert main(["show", "/nowhere"]) == ExitCode.REFUSED

    assert capsys.readouterr().err
    assert gc.get_freeze_count() <= before
    assert gc.isenabled()


def test_the_version_is_that_of_the_distribution_and_costs_no_heavy_import() -> None:
    code = (
        "import sys; from flows.cli.main import main\n"
        "try: main(['--version'])\n"
        "except SystemExit as leaving: assert leaving.code in (0, None), leaving\n"
        "heavy = {'pydantic', 'asyncio', 'prefect', 'pyarrow', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    expected = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout == f"stepmill {expected['project']['version']}\n"


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("generat",), "there is no command 'generat'; did you mean 'generate'?"),
        (("generate", "--confg", "x"), "has no flag '--confg'; did you mean '--config'?"),
        (("generate", "extra"), "has no argument 'extra'"),
        (("audit",), "required: RUN"),
        (("publish", "runs/demo"), "required: --to"),
        (("replay", "runs/demo"), "required: EPISODE_ID"),
        (("publish", "runs/demo", "--to", "x", "--version", "one"), "invalid int value: 'one'"),
        ((), "required: COMMAND"),
    ],
)
def test_bad_usage_is_refused_with_the_nearest_right_word(
    argv: tuple[str, ...], told: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _ends(*argv) == 2

    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.err.endswith(" --help')\n")
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert contents(here) == {}


def test_a_dry_run_shows_the_configuration_and_the_plan(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It starts nothing: neither a browser nor Prefect could be had."""
    code = _ends("generate", "--dry-run", "--set", "tasks.include=['click-test']", "--json")

    answer = json.loads(capsys.readouterr().out)
    assert code == 0
    assert answer["config"]["tasks"]["include"] == ["click-test"]
    assert answer["plan"] == {
        "run": "runs/run",
        "begun": False,
        "templates": 1,
        "tasks": 5,
        "episodes": 5,
        "units": 1,
        "policies": {"teacher": 5},
    }
    assert contents(here) == {}


def test_what_a_dry_run_shows_is_a_configuration_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("--set", "tasks.include=['click-test']", "--set", 'policies=[{name="clumsy"}]')
    assert _ends("generate", "--dry-run", *chosen) == 0
    shown = capsys.readouterr().out
    (here / "again.toml").write_text(shown, encoding="utf-8")

    assert _ends("generate", "--dry-run", "--config", "again.toml") == 0

    assert capsys.readouterr().out == shown


def test_a_rule_that_nothing_could_meet_is_pointed_out(here: Path) -> None:
    said = called(
        "generate", "--dry-run", "--json", "--set=verify.verifiers=['structure', 'outcome']"
    )

    assert said.code == 0
    assert (
        "accept.passed requires 'novelty', 'replay', 'seen', which verify.verifiers leaves out"
        in said.err
    )
    assert contents(here) == {}


@pytest.mark.parametrize("key", ["verify.verifiers", "verify.rejected_too", "accept.passed"])
def test_a_verifier_that_nobody_knows_is_refused_wherever_it_is_named(here: Path, key: str) -> None:
    said = called("generate", "--dry-run", "--json", f"--set={key}=['replays']")

    assert said.code == 2
    assert "there is no verifier 'replays'; did you mean 'replay'?" in said.err
    assert contents(here) == {}


def test_a_threshold_that_does_not_hold_for_some_templates_is_pointed_out(here: Path) -> None:
    only = "--set=tasks.include=['click-test','circle-center','bisect-angle']"
    said = called("generate", "--dry-run", "--json", only, "--set=accept.min_reward=0.5")
    usual = called("generate", "--dry-run", "--json", only)

    assert (said.code, usual.code) == (0, 0)
    assert (
        "accept.min_reward = 0.5 does not hold for bisect-angle (0.95), circle-center (0.97): a "
        "template whose score is continuous has a threshold of its own" in said.err
    )
    assert usual.err == ""
    assert contents(here) == {}


@pytest.mark.usefixtures("here")
def test_json_is_one_line_on_standard_output() -> None:
    said = called("generate", "--dry-run", "--json")

    assert said.code == 0
    assert set(said.answer) == {"config", "plan"}
    assert said.err == ""


@pytest.mark.usefixtures("here")
def test_a_refusal_says_nothing_on_standard_output() -> None:
    said = called("generate", "--json", "--set", "browser.sessions=0")

    assert (said.code, said.out) == (2, "")
    assert "browser.sessions" in said.err
    assert "Traceback" not in said.err


def test_the_doctor_names_what_is_lacking_and_the_remedy(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _ends("doctor") == 1

    shown = capsys.readouterr().out
    assert re.search(r"^browser +lacking ", shown, re.MULTILINE)
    assert str(here / "no-browser") in shown


@pytest.mark.parametrize(
    ("revision", "health"), [((), "poor"), ((f"--set=engine.revision={40 * 'a'}",), "good")]
)
def test_the_doctor_warns_of_code_that_no_revision_pins(
    here: Path, capsys: pytest.CaptureFixture[str], revision: tuple[str, ...], health: str
) -> None:
    (here / "run.toml").write_text(
        "[engine]\nkind = 'vllm'\nmodel = 'a/b'\nargs = ['--trust-remote-code']\n"
    )
    assert _ends("doctor", "--config=run.toml", *revision) == 1
    assert _ends("doctor", "--set=engine.model=a/b") == 1

    (code,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("code ")]
    assert code.split()[1] == health
    assert "a/b's, at " in code


def test_the_doctor_answers_in_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _ends("doctor", "--json") == 1

    answer = json.loads(capsys.readouterr().out)
    assert answer["fit"] is False
    assert {"browser", "disk", "memory", "pages", "prefect", "python"} <= {
        line["name"] for line in answer["lines"]
    }
    assert contents(here) == {}


def test_text_from_outside_cannot_steer_a_terminal() -> None:
    assert strip_control_chars("a\x1b[2Jb\x07c\u202ed\ne\tf") == "a�[2Jb�c�d\ne\tf"


def test_a_table_is_aligned_and_its_cells_are_single_lines() -> None:
    lines = table(["family", "steps"], [["a\nb", "1"], ["longer", "10"]])

    assert lines == ["family  steps", "a b         1", "longer     10"]
