"""Bad input: a clear error and exit code 2, before anything is written or started."""

import logging
import os
import resource
import subprocess
from pathlib import Path

import pytest
from support.runs.commands import SECONDS, STEPMILL, called, contents, environment

from flows.cli.main import main

GENERATE = ("generate", "--no-prefect", "--set=tasks.include=['click-test']")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty folder, with no browser to be had."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPMILL_CHROMIUM", "/bin/false")
    return tmp_path


def _refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """Return why the command line refuses."""
    code = main(argv)
    logging.getLogger().handlers.clear()
    said = capsys.readouterr()
    assert (code, said.out) == (2, ""), said
    assert "Traceback" not in said.err
    return said.err


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["tasks.includ=['*']"], ["unknown key 'tasks.includ'", "tasks.include"]),
        (["browser.sessions='many'"], ["browser.sessions", "integer"]),
        (["limits.steps=0"], ["limits.steps", "greater than or equal to 1"]),
        (["tasks.source=nowhere.jsonl"], ["nowhere.jsonl"]),
        (["tasks.include=['clik-test']"], ["clik-test"]),
        (["tasks.sources=['miniwob','nowhere.jsonl']"], ["nowhere.jsonl"]),
        (["tasks.sources=[]"], ["tasks.sources", "at least 1"]),
        (["tasks.sample=0"], ["tasks.sample", "greater than or equal to 1"]),
        (["tasks.sample=1000001"], ["tasks.sample", "less than or equal to 1000000"]),
        (["verify.verifiers=['outcom']"], ["outcom", "did you mean 'outcome'"]),
        (["verify.verifiers=['outcome', 'outcome']"], ["verify.verifiers", "twice"]),
        (["accept.passed=['outcom']"], ["outcom", "did you mean 'outcome'"]),
        (["accept.min_scores={judge=0.5}"], ["judge"]),
        (["select.shares={miniwob=0.5}"], ["select.shares", "add up to 1, and these to 0.5"]),
        (
            ["publish.to=['out']", "select.where='lenght < 3'"],
            ["there is no column 'lenght'; there are episode_id", "n_steps"],
        ),
        (["policy.name=model"], ["policy.name", "model"]),
        (["policy.name=scripted"], ["policy.script"]),
        (["scale.workers=2"], ["unknown key 'scale", "no version reads [scale] any more"]),
        (["run.url=s3://bucket/run"], ["s3://bucket/run"]),
        (["publish.to=['s3://bucket/data']"], ["s3://bucket/data"]),
        (["publish.to=['runs/run/data']"], ["runs/run/data", "cannot contain each other"]),
        (["publish.to=['runs']"], ["cannot contain each other"]),
    ],
)
def test_a_configuration_that_cannot_be_honoured(
    settings: list[str], told: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _refused(capsys, *GENERATE, *(f"--set={setting}" for setting in settings))

    for part in told:
        assert part in said
    assert contents(here) == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a=" + "[" * 5_000 + "]" * 5_000, "nested too deep"),
        ("a=" + "[" * 20 + "]" * 20, "more than 16 tables or lists in each other"),
        ("a=" + "{a=" * 900 + "1" + "}" * 900, "nested too deep"),
        (".".join(["a"] * 3_000) + " = 1", "more than 16 tables or lists in each other"),
        ("[" + ".".join(["a"] * 3_000) + "]", "more than 16 tables or lists in each other"),
        ("[run]\nseed = " + "9" * 5_000, "a number has too many digits"),
        ("[run]\nseed = 0x" + "f" * 5_000, "run.seed: a number has too many digits"),
        ("[run]\nname = 2020-01-01", "run.name = 2020-01-01: no key is a date or a time"),
        ("[run]\nname = 07:30:00", "run.name = 07:30:00: no key is a date or a time"),
        ("[[policies]]\nname = 2020-01-01T00:00:00Z", "policies.0.name = 2020-01-01T00:00:00"),
        ("#" * (4 * 2**20 + 1), "expected a configuration of at most 4,194,304 bytes"),
    ],
    ids=lambda value: value[:20].strip(),
)
def test_a_file_that_says_what_no_configuration_can(
    text: str, told: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "run.toml").write_text(text, encoding="utf-8")

    said = _refused(capsys, "generate", "--no-prefect", "--config", "run.toml")

    assert said.startswith("stepmill: run.toml: ")
    assert told in said
    assert said.count("\n") == 1
    assert list(contents(here)) == ["run.toml"]


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (".".join(["a"] * 2_000) + "=1", "more than 16 tables or lists in each other"),
        ("run.name=" + "[" * 3_000 + "]" * 3_000, "brackets are nested too deep"),
        ("run.seed=" + "9" * 4_400, "a number has too many digits"),
        ("run.seed=0x" + "f" * 4_000, "a number has too many digits"),
        ("run.name=2020-01-01", "put text in quotes"),
        ("tasks.source=" + "a" * 300, "cannot be opened: File name too long"),
        ("publish.to=['~nobodyhere/x']", "this machine has no such user"),
        ("publish.to=['" + "a" * 300 + "']", "cannot be opened: File name too long"),
    ],
    ids=lambda value: value[:20],
)
def test_a_setting_beyond_all_measure(
    setting: str, told: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _refused(capsys, *GENERATE, "--set", setting)

    assert told in said
    assert said.count("\n") == 1
    assert len(said) < 1_500
    assert contents(here) == {}


def test_a_date_in_quotes_is_text(here: Path) -> None:
    said = called("generate", "--dry-run", "--json", "--set", "run.name='2020-01-01'")

    assert said.code == 0, said.err
    assert '"name": "2020-01-01"' in said.out
    assert contents(here) == {}


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("a" * 300, "cannot be opened: File name too long"),
        ("a/" * 3_000, "cannot be opened: File name too long"),
        ("~nobodyhere/x", "this machine has no such user"),
        ("file:///a%00b", "give a folder"),
        ("file://[::1/x", "invalid URL (Invalid IPv6 URL)"),
        ("s3://[", "stepmill: "),
        ("a\udcffb", "is not text in this locale's encoding"),
    ],
    ids=lambda value: ascii(value[:20]),
)
@pytest.mark.parametrize("command", ["generate", "show", "audit", "publish", "export"])
def test_a_place_that_can_be_no_run(
    url: str, told: str, command: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = {
        "generate": [*GENERATE, "--run", url],
        "publish": ["publish", url, "--to", "data", "--no-prefect"],
        "export": ["export", url, "--format", "atif", "--to", "data"],
    }.get(command, [command, url])

    said = _refused(capsys, *argv)

    assert told in said
    assert len(said) < 1_500
    assert contents(here) == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[" * 200_000, "nested too deep for a script"),
        ('{"click-test":' + "[" * 900 + "]" * 900 + "}", "a script is an object with a list"),
        ('{"click-test":[{"type":"wait","ms":' + "9" * 5_000 + "}]}", "has too many digits"),
    ],
    ids=["brackets", "lists", "digits"],
)
def test_a_script_that_says_what_no_script_can(
    text: str, told: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "script.json").write_text(text, encoding="utf-8")

    scripted = ("--set=policy.name=scripted", "--set=policy.script=script.json")
    said = _refused(capsys, *GENERATE, *scripted)

    assert said.startswith("stepmill: script.json: ")
    assert told in said
    assert said.count("\n") == 1
    assert list(contents(here)) == ["script.json"]


def test_a_broken_line_of_a_task_file_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = '{"site": "miniwob", "template_id": "click-test", "seed": 1}\n'
    (here / "tasks.jsonl").write_text(f"{good}{{broken\n", encoding="utf-8")

    said = _refused(capsys, "generate", "--no-prefect", "--set=tasks.source=tasks.jsonl")

    assert "tasks.jsonl" in said
    assert "2" in said
    assert list(contents(here)) == ["tasks.jsonl"]


def test_a_run_of_live_tasks_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = '{"web_name": "Shop", "id": "Shop--0", "ques": "Find it.", "web": "https://shop.com/"}'
    (here / "live.jsonl").write_text(row, encoding="utf-8")

    said = _refused(capsys, "generate", "--no-prefect", "--set=tasks.source=live.jsonl")

    assert "none of 1 tasks can be attempted: live origins are not supported yet" in said
    assert said.count("\n") == 1
    assert list(contents(here)) == ["live.jsonl"]


def test_a_browser_that_does_not_start(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = _refused(capsys, *GENERATE)

    assert "/bin/false does not start" in said
    assert said.count("\n") == 1, "a browser that does not start is not called slow"
    assert contents(here) == {}


def test_no_browser(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STEPMILL_CHROMIUM", str(here / "nowhere"))

    assert "STEPMILL_CHROMIUM" in _refused(capsys, *GENERATE)
    assert contents(here) == {}


def test_a_prefect_server_that_is_set_but_does_not_answer(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")

    said = _refused(capsys, "generate", "--set=tasks.include=['click-test']")

    assert "http://127.0.0.1:9/api does not answer" in said
    assert contents(here) == {}


@pytest.mark.parametrize("place", ["file", "file/run"])
def test_a_run_folder_that_is_a_file(
    place: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "file").write_text("mine", encoding="utf-8")

    assert "file" in _refused(capsys, *GENERATE, "--run", place)
    assert contents(here) == {"file": b"mine"}


@pytest.mark.usefixtures("here")
def test_a_run_folder_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert "/proc/1/run" in _refused(capsys, *GENERATE, "--run", "/proc/1/run")


def test_a_destination_that_cannot_be_written(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _refused(capsys, *GENERATE, "--set=publish.to=['/proc/1/data']")

    assert "/proc/1/data" in said
    assert contents(here) == {}


def test_a_destination_that_holds_something_else(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mine").mkdir()
    (here / "mine" / "letter.txt").write_text("dear", encoding="utf-8")

    said = _refused(capsys, *GENERATE, "--set=publish.to=['mine']")

    assert "letter.txt" in said
    assert list(contents(here)) == ["mine/letter.txt"]


def test_a_full_disk(here: Path) -> None:
    """A file may not become larger than a few bytes, as where no room is left."""

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))

    said = subprocess.run(
        [*STEPMILL, *GENERATE, "--run", "run"],
        env=environment(),
        preexec_fn=fill,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert said.returncode == 2, said
    assert "cannot be written" in said.stderr
    assert "Traceback" not in said.stderr
    assert contents(here) == {}


def test_what_is_left_of_a_run_whose_run_file_is_gone(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = here / "run" / "tables" / "episodes" / "_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").write_text("{}", encoding="utf-8")

    said = _refused(capsys, *GENERATE, "--run", "run")

    assert "run.json is missing" in said
    assert len(contents(here)) == 1


def test_a_run_file_that_is_torn(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "run").mkdir()
    (here / "run" / "run.json").write_text('{"run_id"', encoding="utf-8")

    assert "run.json" in _refused(capsys, *GENERATE, "--run", "run")
    assert len(contents(here)) == 1


@pytest.mark.parametrize(
    "argv",
    [
        ("show", "nowhere"),
        ("audit", "nowhere"),
        ("verify", "nowhere", "--no-prefect"),
        ("publish", "nowhere", "--to", "data", "--no-prefect"),
        ("replay", "nowhere", "0123456789abcdef"),
    ],
)
def test_a_run_that_does_not_exist(
    argv: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "nowhere: there is no run here" in _refused(capsys, *argv)
    assert contents(here) == {}
    assert os.listdir(here) == []  # noqa: PTH208 - folders count too
