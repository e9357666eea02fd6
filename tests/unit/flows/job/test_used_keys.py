"""What `--set` gives to a command that has no use for it is refused by name; a file may hold it."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CopyRun
from support.episodes.factories import MadeRun
from support.runs.commands import Said, called, contents

from flows.cli.parser import build_parser, command_of, parse
from flows.job.config_loader import Sources
from flows.job.open_job import open_judging
from flows.job.publish_job import open_publication
from flows.job.used_keys import USED_KEYS, check_settings
from schemas.configuration.config import config_keys
from schemas.errors import BadConfig
from storage.export.registry import RENDERED

TEMPLATE = "click-test"

RESTRICTED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "verify": (("verify", "RUN", "--no-prefect"), "policy.name=teacher", "accept.min_reward=2"),
    "publish": (
        ("publish", "RUN", "--to=TO", "--no-prefect"),
        "tasks.include=['click-*']",
        "accept.passed=['outcome']",
    ),
    "export": (
        ("export", "RUN", "--format=atif", "--to=TO"),
        "policy.keep_images=2",
        "accept.passed=['outcome']",
    ),
    **{
        f"export --format {name}": (
            ("export", "RUN", f"--format={name}", "--to=TO", "--include-rejected"),
            "storage.shard_mb=4",
            "policy.keep_images=2",
        )
        for name in RENDERED
    },
    "audit": (("audit", "RUN"), "publish.include_rejected=true", "publish.to=['TO']"),
    "compact": (("compact", "RUN"), "browser.sessions=2", "storage.shard_mb=4"),
    "sites check": (("sites", "check", "shop"), "storage.shard_mb=4", "tasks.seeds=[3,3]"),
    "stream": (("stream", "RUN"), "tasks.attempts=3", "seats.max_staleness=2"),
    "show": (("show", "RUN"), "tasks.attempts=3", "accept.min_reward=0.5"),
    "report": (("report", "RUN", "--to=TO"), "tasks.attempts=3", "accept.min_reward=0.5"),
    "tasks export": (
        ("tasks", "export", "RUN", "--to=TO"),
        "tasks.include=['click-*']",
        "accept.passed=['outcome']",
    ),
    "withdraw": (
        ("withdraw", "RUN", "ID", "--reason=why"),
        "tasks.attempts=3",
        "storage.region=eu",
    ),
    "review": (("review", "RUN"), "tasks.attempts=3", "accept.reviews=require"),
    "diff": (("diff", "RUN", "RUN"), "tasks.attempts=3", "accept.min_reward=0.5"),
    "tasks show": (("tasks", "show", TEMPLATE), "tasks.seeds=[3,3]", "browser.viewport=[300,300]"),
    "tasks check": (
        ("tasks", "check", f"--include={TEMPLATE}", "--seeds=1"),
        "tasks.unit_size=2",
        "limits.steps=3",
    ),
    "tasks record": (
        ("tasks", "record", "RECORDING", "--task=TASK", "--to=TO"),
        "tasks.attempts=3",
        "limits.steps=3",
    ),
    "engine serve": (
        ("engine", "serve"),
        "engine.requests=3",
        "engine.command=['/nowhere/vllm']",
    ),
    "doctor": (("doctor",), "engine.requests=3", f"engine.revision={40 * 'a'}"),
    "engine rehearse": (
        ("engine", "rehearse", "--set=policy.name=model", "--set=engine.kind=simulator"),
        "tasks.attempts=3",
        "policy.keep_images=2",
    ),
    "engine plan": (("engine", "plan"), "tasks.attempts=3", "browser.picture_side=[300,400]"),
}
"""A way to call each command, a setting that it has no use for, and one that it has."""


LACKING = (
    "verify",
    "tasks show",
    "tasks check",
    "tasks record",
    "sites check",
    "engine serve",
    "doctor",
    "withdraw",
)
"""Commands that lack a browser, a vLLM, a file or an episode of that id here."""


@pytest.fixture
def made(copy_run: CopyRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeRun:
    """Return a run at rest, where there is no browser and no vLLM."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPMILL_CHROMIUM", str(tmp_path / "no-browser"))
    return copy_run(tmp_path / "run")


def _argv(made: MadeRun, words: tuple[str, ...], *settings: str) -> list[str]:
    to = str(made.folder.parent / "to")
    flags = [f"--set={setting}" for setting in settings]
    return [word.replace("RUN", made.url).replace("TO", to) for word in (*words, *flags)]


def _said(made: MadeRun, words: tuple[str, ...], *settings: str) -> Said:
    return called(*_argv(made, words, *settings))


@pytest.mark.parametrize("command", RESTRICTED)
def test_a_setting_that_a_command_has_no_use_for_is_refused(command: str, made: MadeRun) -> None:
    words, unused, used = RESTRICTED[command]
    before = contents(made.folder.parent)

    said = _said(made, words, used, unused)

    key = unused.partition("=")[0]
    assert (said.code, said.out) == (2, "")
    assert f"--set {unused}: '{command}' does not use {key} (generate" in said.err
    assert f"does not use {used.partition('=')[0]}" not in said.err
    assert said.err.count("\n") == 1
    assert contents(made.folder.parent) == before


@pytest.mark.parametrize("command", RESTRICTED)
def test_a_used_setting_is_taken_and_a_file_and_the_environment_may_hold_a_whole_runs_keys(
    command: str, made: MadeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, unused, used = RESTRICTED[command]
    key, _, value = unused.partition("=")
    table, _, name = key.rpartition(".")
    file = made.folder.parent / "whole.toml"
    value = f'"{value}"' if value == "teacher" else value
    file.write_text(f"[{table}]\n{name} = {value}\n", encoding="utf-8")
    monkeypatch.setenv("STEPMILL_TASKS__ATTEMPTS", "2")

    said = _said(made, (*words, f"--config={file}"), used)

    assert "does not use" not in said.err
    assert "--set" not in said.err
    if command not in LACKING:
        assert said.code != 2, said.err


def test_a_table_is_looked_into_and_every_unused_key_is_named() -> None:
    with pytest.raises(BadConfig) as refused:
        check_settings("show", ["tasks={include=['a'],attempts=2}", "run={seed=1}"])

    lines = str(refused.value).splitlines()
    assert [line.partition("does not use ")[2].split(" ")[0] for line in lines] == [
        "tasks.include",
        "tasks.attempts",
        "run.seed",
    ]


def test_a_key_below_a_used_one_is_used() -> None:
    check_settings("show", ["accept.min_scores.replay=0.5", "accept={passed=['outcome']}"])
    check_settings("export --format chat", ["policy.dialect_options.tune=1"])
    with pytest.raises(BadConfig, match=r"does not use publish\.license"):
        check_settings("show", ["publish={license='mit'}"])


def test_a_key_that_does_not_exist_is_answered_with_the_nearest(made: MadeRun) -> None:
    said = _said(made, ("publish", "RUN", "--to=TO", "--no-prefect"), "tasks.includ=['a']")

    assert said.code == 2
    assert "unknown key 'tasks.includ'; did you mean 'tasks.include'?" in said.err


async def test_a_flow_refuses_what_its_command_does(made: MadeRun, tmp_path: Path) -> None:
    sources = Sources(settings=("tasks.include=['a']",))

    with pytest.raises(BadConfig, match=r"'publish' does not use tasks\.include"):
        async with open_publication(made.url, sources, str(tmp_path / "to"), None):
            pass
    with pytest.raises(BadConfig, match=r"'verify' does not use tasks\.include"):
        async with open_judging(made.url, sources):
            pass


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield below
                yield from _commands(below)


def test_every_command_that_takes_settings_says_which_it_uses() -> None:
    named = {
        parser.prog.removeprefix("stepmill ")
        for parser in _commands(build_parser())
        if any("--set" in action.option_strings for action in parser._actions)
    }

    assert {command.partition(" --")[0] for command in USED_KEYS} == named
    assert set(RESTRICTED) == {command for command, used in USED_KEYS.items() if used is not None}


def test_every_key_that_is_said_to_be_used_exists() -> None:
    known = set(config_keys())

    assert {key for used in USED_KEYS.values() for key in used or ()} <= known


@pytest.mark.parametrize("command", RESTRICTED)
def test_a_command_line_is_of_the_command_it_calls(command: str, made: MadeRun) -> None:
    assert command_of(parse(_argv(made, RESTRICTED[command][0]))) == command
