"""A distribution with a part of each kind, built to a wheel, installed beside Stepmill, and used by its commands.

It is the one that `docs/extending.md` shows: the blocks of the page are its files.
"""

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from source_tree import ROOT
from support.browsers.scripted_rollouts import RUNNING, attempt_it, pages
from support.browsers.scripted_session import ScriptedSessions
from support.episodes.factories import make_task
from support.inputs.example_plugin import DISTRIBUTION, SOURCE, build_plugin, install_plugin
from support.inputs.offered_parts import offer
from support.runs.commands import SMALL, Said, called, stepmill
from support.runs.exports import lines
from support.runs.locations import Place
from support.servers.ledger_site import command as start
from support.servers.ledger_site import ledger_task

from flows.job.provenance import code_version, provenance
from generators.policy.factory import PolicyFactory
from generators.sites.application.server_handle import Server
from schemas.base import JsonObject
from schemas.configuration.application import Application
from schemas.configuration.config import RunConfig, resolve
from schemas.episodes.action import Answer, Click
from schemas.episodes.episode import PolicyKind
from schemas.errors import RolloutFailure

Command = Callable[..., Said]

PAGE = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
FILE_LINES = 60

SUM: JsonObject = {"probe": "total", "options": {"member": "text", "is": 19}}
"""What a task of the ledger expects that the plug-in's probe judges."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which the wheel is installed."""
    work = tmp_path_factory.mktemp("plugin")
    install_plugin(build_plugin(work), "--target", work / "home")
    return work / "home"


@pytest.fixture
def command(home: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return what runs a command with the plug-in installed, and with what else is installed `beside` it."""

    def run(*args: str, beside: Path | None = None) -> Said:
        with monkeypatch.context() as path:
            for folder in filter(None, (home, beside)):
                path.syspath_prepend(folder)
            return called(*args)

    return run


@pytest.fixture
def config(home: Path, monkeypatch: pytest.MonkeyPatch) -> RunConfig:
    """Return a configuration that names the plug-in's parts; this process has it installed."""
    monkeypatch.syspath_prepend(home)
    return resolve(
        [
            (
                "the test",
                {
                    "policy": {"name": "centre", "options": {"clicks": 2}, "dialect": "shouting"},
                    "verify": {"verifiers": ["structure", "short"]},
                },
            )
        ]
    )


def _shown() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file on the page."""
    section = PAGE[PAGE.index("## A package of your own") :]
    for found in re.finditer(r"^```\w+ file (\S+)\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
        yield found[1], found[2]


def test_the_page_shows_the_files_byte_for_byte() -> None:
    files = {
        path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
        for path in SOURCE.rglob("*")
        if path.suffix in {".py", ".toml"}
    }

    assert dict(_shown()) == files
    assert all(len(text.splitlines()) < FILE_LINES for text in files.values())


def _commands() -> Iterator[list[str]]:
    """Yield the words of each command on the page that its package is used by."""
    section = PAGE[PAGE.index("## A package of your own") : PAGE.index("## One that ships")]
    section = section[: section.index("### A site")]  # its commands start a browser
    for block in re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
        yield from (shlex.split(line)[1:] for line in block.splitlines())


def test_the_commands_on_the_page_run_as_they_stand(
    run: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(run, tmp_path / "runs" / "demo")
    monkeypatch.chdir(tmp_path)
    asked = [words for words in _commands() if words[0] != "tasks"]  # that one starts a browser

    assert [words[0] for words in asked] == ["doctor", "generate", "verify", "export", "export"]
    for words in asked:
        said = command(*words)
        assert said.code == 0 or words == ["doctor"], said


def test_its_verifier_judges_a_stored_run(run: Path, command: Command) -> None:
    said = command(
        *("verify", str(run), "--no-prefect", "--json"),
        '--set=verify.verifiers=["structure", "short"]',
        '--set=accept.passed=["structure", "short"]',
    )

    assert said.code == 0, said.err
    verdicts = Place(str(run)).table("verdicts")
    assert verdicts is not None
    rows = [row for row in verdicts.to_table().to_pylist() if row["verifier"] == "short"]
    assert {(row["status"], row["verifier_version"]) for row in rows} == {("passed", "1")}
    assert len(rows) == command("show", str(run), "--json").answer["episodes"]


def test_its_dialect_renders_a_stored_run(run: Path, tmp_path: Path, command: Command) -> None:
    said = command(
        *("export", str(run), "--format=chat", "--dialect=shouting", "--json"),
        *(f"--to={tmp_path / 'to'}", "--include-rejected"),
    )

    assert said.code == 0, said.err
    written = list(lines(tmp_path / "to"))
    assert written
    assert all("TASK: " in json.dumps(line["messages"]) for line in written)


def test_its_format_writes_a_line_for_each_episode(
    run: Path, tmp_path: Path, command: Command
) -> None:
    asked = ("export", str(run), "--format=goals", f"--to={tmp_path / 'to'}", "--json")
    said = command(*asked, "--include-rejected")

    assert said.code == 0, said.err
    written = list(lines(tmp_path / "to"))
    assert len(written) == said.answer["episodes"] != 0
    assert all(line.keys() == {"goal", "reward"} for line in written)
    manifest = json.loads((tmp_path / "to" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["made_of"]["plugin"] == DISTRIBUTION
    assert DISTRIBUTION in command("export", "--format=goals", "--help").out


def test_a_format_of_a_plugin_has_the_flags_it_says(run: Path, command: Command) -> None:
    said = command("export", str(run), "--format=goals", "--pictures=data", "--to=to")

    assert said.code == 2
    assert "--pictures: 'goals' has no such option" in said.err


def test_its_policy_is_planned_and_its_options_are_checked(
    tmp_path: Path, command: Command
) -> None:
    asked = ("generate", "--dry-run", "--json", f"--run={tmp_path / 'run'}", *SMALL)
    named = "--set=policy.name=centre"
    planned = command(*asked, named, "--set=policy.options={clicks=2}")
    misspelt = command(*asked, named, "--set=policy.options={click=2}")
    foreign = command(*asked, "--set=policy.options={clicks=2}")

    assert planned.code == 0, planned.err
    assert "centre" in planned.out
    assert (misspelt.code, foreign.code) == (2, 2)
    assert "policy.options: 'centre' has no option 'click'; did you mean 'clicks'?" in misspelt.err
    assert "policy.options: 'teacher' has no option 'clicks'; it has none" in foreign.err


async def test_its_policy_acts_as_its_options_say(config: RunConfig) -> None:
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, RUNNING, RUNNING))
    factory = PolicyFactory(config)

    episode = await attempt_it(
        sessions,
        make_policy=lambda account: factory.make(
            config.policy, seed="1", task=make_task(), account=account
        ),
    )

    assert (episode.policy, episode.policy_kind) == ("centre", PolicyKind.PLUGIN)
    taken = [step.action for step in episode.steps[: episode.n_steps]]
    assert [type(action) for action in taken] == [Click, Click, Answer]


def test_the_distribution_is_in_a_runs_provenance(config: RunConfig) -> None:
    names = {"stepmill.policies:centre", "stepmill.dialects:shouting", "stepmill.verifiers:short"}
    probed = [ledger_task(expect=SUM)]

    assert provenance(config, ())["plugins"] == dict.fromkeys(names, DISTRIBUTION)
    assert code_version(config, ()).endswith(f", {DISTRIBUTION}")
    assert provenance(RunConfig(), probed)["plugins"] == {"stepmill.probes:total": DISTRIBUTION}
    assert code_version(RunConfig(), probed).endswith(f", {DISTRIBUTION}")
    assert "plugins" not in provenance(RunConfig(), [make_task()])
    assert "," not in code_version(RunConfig(), [make_task()])


def test_the_doctor_names_every_part_and_what_is_broken(tmp_path: Path, command: Command) -> None:
    broken = {"stepmill.sites:shop": "broken_shop:Shop"}
    offer(tmp_path, "broken-shop", broken, modules={"broken_shop": "raise OSError('no shop')"})
    lines = command("doctor", "--json", beside=tmp_path).answer["lines"]

    assert isinstance(lines, list)
    found = {str(line["found"]): line for line in lines if isinstance(line, dict)}
    parts = ("policy 'centre'", "verifier 'short'", "dialect 'shouting'", "format 'goals'")
    for part in (*parts, "site 'button'", "probe 'total'", "application 'shelf'"):
        assert found[f"{part} of {DISTRIBUTION}"]["health"] == "good"
    shop = found["site 'shop' of broken-shop 1.0"]
    assert shop["health"] == "poor"
    assert "its import fails: OSError: no shop" in str(shop["remedy"])


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        (("generate", "--dry-run", "--set=policy.name=odd"), "stepmill.policies:odd"),
        (("generate", "--dry-run", "--set=verify.verifiers=['odd']"), "stepmill.verifiers:odd"),
        (("export", "RUN", "--format=odd", "--to=odd"), "stepmill.formats:odd"),
        (("export", "RUN", "--format=chat", "--dialect=odd", "--to=odd"), "stepmill.dialects:odd"),
    ],
)
def test_a_broken_plugin_is_refused_by_name_and_by_nobody_else(
    asked: tuple[str, ...], part: str, run: Path, tmp_path: Path, command: Command
) -> None:
    offer(tmp_path, "odd-parts", {part: "odd:Part"}, modules={"odd": "raise OSError('odd')"})
    words = tuple(str(run) if word == "RUN" else word for word in asked)
    said = command(*words, beside=tmp_path)

    assert (said.code, said.out) == (2, ""), said
    assert (
        "'odd' of odd-parts 1.0 (odd:Part) cannot be used: its import fails: OSError: odd"
        in said.err
    )
    assert "Traceback" not in said.err
    assert command("generate", "--dry-run", *SMALL, beside=tmp_path).code == 0


async def test_its_application_is_installed_and_served(
    home: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command and the site's file of the page, as they stand."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    section = PAGE[PAGE.index("### An application to install") : PAGE.index("## One that ships")]
    (line,) = re.findall(r"^```sh\nstepmill (.*)\n```", section, re.MULTILINE)
    (start,) = re.findall(r"^```toml\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    stated = tomllib.loads(start) | {"origin": "http://shelf.localhost"}
    stated["start"]["environment"] = {"PYTHONPATH": str(home)}
    shelf = Application.model_validate(stated | {"state": {"folder": "{folder}"}})

    assert "shelf" in command("sites", "install", "--help").out
    with pytest.raises(RolloutFailure, match="shelf is not installed: stepmill sites install"):
        await _start_page(shelf)
    said = command(*shlex.split(line))
    assert (said.code, said.err) == (0, "shelf: writing its page\n")
    assert said.out == f"shelf 1.0 is ready in {tmp_path}/data/stepmill/applications/shelf\n"
    assert await _start_page(shelf) == "<h3>Shelf</h3>"


async def _start_page(application: Application) -> str:
    server = Server("shelf", application)
    try:
        await server.start()
        async with server.http.get(server.url) as answer:
            return await answer.text()
    finally:
        await server.stop()


@pytest.mark.browser
def test_its_site_is_attempted_judged_and_replayed(home: Path, tmp_path: Path) -> None:
    """By the commands of the page, as they stand."""
    section = PAGE[PAGE.index("### A site") : PAGE.index("### A probe")]
    (block,) = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    row, line = block.splitlines()
    subprocess.run(["/bin/sh", "-c", row], cwd=tmp_path, check=True)

    said = stepmill(
        *shlex.split(line)[1:],
        "--no-prefect",
        "--json",
        cwd=tmp_path,
        env={"PYTHONPATH": f"{ROOT}:{home}"},
    )

    assert said.code == 0, said.err
    assert (said.answer["episodes"], said.answer["accepted"]) == (1, 1)


def _write_probed(folder: Path) -> None:
    """Write a run of three tasks: one attempt comes to 19 and one does not; the options of a third are not read."""
    adds = [{"do": "type", "on": "Entry", "text": "12"}, {"do": "click", "on": "Add"}]
    more = [{"do": "type", "on": "Entry", "text": "7"}, {"do": "click", "on": "Add"}]
    tasks = {
        "right": (SUM, adds + more),
        "wrong": (SUM, adds),
        "broken": ({"probe": "total", "options": {}}, adds),
    }
    rows = [
        {"site": "ledger", "template_id": name, "instruction": f"Add 12 and 7: {name}."}
        | {"start_url": "/", "expect": expect, "reference": steps}
        for name, (expect, steps) in tasks.items()
    ]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "ledger.toml").write_text(
        f'origin = "http://ledger.localhost"\n[start]\ncommand = {json.dumps(start())}\n'
        '[reset]\nrequest = { path = "/reset?seed={seed}" }\n'
        '[state]\nrequest = { method = "GET", path = "/state" }\n'
    )
    (folder / "run.toml").write_text(
        '[run]\nurl = "run"\n[sites]\nledger = "ledger.toml"\n[tasks]\nsource = "tasks.jsonl"\n'
        '[policy]\nname = "reference"\n'
    )


@pytest.mark.browser
@pytest.mark.full
def test_its_probe_judges_a_task_of_an_application(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The options of the third task are not what the probe reads."""
    _write_probed(tmp_path)
    monkeypatch.chdir(tmp_path)
    said = command("generate", "--config=run.toml", "--no-prefect", "--json")

    assert (said.answer["episodes"], said.answer["accepted"]) == (3, 1), said.err
    episodes = Place(str(tmp_path / "run")).rows(
        *("episodes", "instruction", "reward", "failure_kind", "failure_message", "code_version")
    )
    by_name = {one["instruction"].split()[-1].rstrip("."): one for one in episodes}
    assert (by_name["right"]["reward"], by_name["wrong"]["reward"]) == (1.0, 0.0)
    assert by_name["wrong"]["failure_kind"] is None
    assert by_name["broken"]["failure_kind"] == "site"
    assert f"the probe 'total' of {DISTRIBUTION} " in by_name["broken"]["failure_message"]
    assert all(one["code_version"].endswith(f", {DISTRIBUTION}") for one in episodes)


@pytest.mark.browser
@pytest.mark.full
def test_a_task_that_its_probe_judges_is_checked_but_for_near_misses(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write_probed(tmp_path)
    monkeypatch.chdir(tmp_path)

    checked = command("tasks", "check", "--config=run.toml", "--include=right")

    assert checked.code == 0, checked
    assert "right 0: near_misses: was not tried: a probe judges\n1 of 1 tasks pass" in checked.out


@pytest.mark.browser
def test_its_policy_attempts_tasks_in_a_browser(home: Path) -> None:
    said = stepmill(
        *("tasks", "check", "--include=click-test", "--policy=centre", "--seeds=1", "--json"),
        "--set=policy.options={clicks=1}",
        env={"PYTHONPATH": f"{ROOT}:{home}"},
    )

    assert said.code in (0, 1), said.err
    assert (said.answer["policies"], said.answer["episodes"]) == (["centre"], 1)
