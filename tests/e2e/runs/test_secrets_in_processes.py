"""Nothing that a run starts holds what lets anybody in, but for the one thing that is for it.

A whole run is watched: an engine of its own, Playwright's driver and every process of the browser, and in `make
test-full` Prefect's embedded server. What the kernel shows of each, its environment and its arguments, is
searched for the secrets that were planted around the run; so is every file that it leaves.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from effort import THOROUGH
from source_tree import ROOT
from support.browsers.process_watcher import Onlooker
from support.inputs.secrets_search import Hoard, files
from support.runs.commands import end, start
from support.servers.prefect_home import ask_database, prefect_home

from generators.browser.chromium import find_chromium
from generators.browser.process.enclosure import probe

ENGINE_KEY = "planted-key-of-the-run's-own-engine"
SECRETS = {
    "AWS_ACCESS_KEY_ID": "AKIAPLANTEDPLANTED00",
    "AWS_SECRET_ACCESS_KEY": "planted/Aws+Secret0123456789abcdefABCDEFG",
    "AWS_SESSION_TOKEN": "planted/session+token==",
    "HF_TOKEN": "hf_plantedHubToken0123456789abcdef",
    "HUGGING_FACE_HUB_TOKEN": "hf_plantedOldToken0123456789abcdef",
    "OPENAI_API_KEY": "sk-planted-Key-Of-An-Engine",
    "OPENAI_API_KEY_ENGINE_EXAMPLE": "sk-planted-Key-Of-Another-Engine",
    "PREFECT_API_KEY": "pnu_plantedKeyOfPrefectsCloud",
    "HTTPS_PROXY": "http://someone:planted-password-of-a-proxy@127.0.0.1:9",
    "NOBODY_KNOWS_THIS_KIND": "planted-secret-of-a-new-kind",
}
WORTH = (*SECRETS.values(), "planted-password-of-a-proxy", ENGINE_KEY)
FOR_VLLM = {ENGINE_KEY, SECRETS["HTTPS_PROXY"], "planted-password-of-a-proxy"}
"""Its own key, and how models are downloaded from here."""


def _command(tmp_path: Path) -> tuple[str, ...]:
    """Return the command that makes and publishes a run by an engine of its own."""
    engine = [sys.executable, str(ROOT / "tests" / "support" / "servers" / "simulator_as_vllm.py")]
    return (
        "generate",
        "--json",
        *(() if THOROUGH else ("--no-prefect",)),
        f"--run={tmp_path / 'run'}",
        "--set=policy.name=model",
        "--set=engine.kind=vllm",
        "--set=engine.model=some/model",
        f"--set=engine.command={json.dumps(['env', f'PYTHONPATH={ROOT}', *engine])}",
        "--set=browser.viewport=[512,512]",
        "--set=tasks.include=['click-test']",
        "--set=tasks.seeds=[0,0]",
        "--set=limits.steps=2",
        "--set=verify.verifiers=['structure']",
        "--set=accept.passed=['structure']",
        "--set=publish.include_rejected=true",
        f"--set=publish.to=['{tmp_path / 'data'}']",
    )


@pytest.mark.browser
@pytest.mark.prefect
def test_no_process_of_a_run_and_no_file_of_it_holds_a_secret_that_is_not_for_it(
    tmp_path: Path, shared_folder: Path
) -> None:
    home = tmp_path / "state" / "stepmill" / "prefect"
    prefect = prefect_home(shared_folder, home) if THOROUGH else home
    homes = {name: str(tmp_path / name.lower()) for name in ("HOME", "TMPDIR")}
    for folder in homes.values():
        Path(folder).mkdir()
    running = start(
        *_command(tmp_path),
        env={
            **homes,
            **SECRETS,
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "NO_PROXY": "127.0.0.1,localhost",
            "VLLM_API_KEY": ENGINE_KEY,
            "STEPMILL_CHROMIUM": str(find_chromium()),
        },
    )
    with Onlooker(running.pid) as onlooker:
        said = end(running)

    assert said.code in {0, 1}, said.err
    assert (said.answer["episodes"], said.answer["failed"]) == (1, 0), said.err
    # They were all looked at, and a process that has something shows it.
    assert all(value in onlooker.root.text for value in SECRETS.values())
    assert bool(onlooker.running("flows.orchestration.server_process")) is THOROUGH
    assert onlooker.running("cli.js", "run-driver")
    assert onlooker.running("--type=renderer")
    assert onlooker.running("--user-data-dir", "--remote-debugging-port")
    servers = onlooker.running("simulator_as_vllm.py", "serve")
    assert any(seen.environment.get("VLLM_API_KEY") == ENGINE_KEY for seen in servers)
    # Nothing is where it does not belong. Python's `platform` asks the system itself, and is seen only now and then.
    asked = [*servers, *(seen for seen in onlooker.holding(*WORTH) if str(seen) == "uname -p")]
    others = [seen for seen in onlooker.holding(*WORTH) if seen not in asked]
    assert [f"{seen}: {sorted(seen.environment)}" for seen in others] == []
    for seen in servers:
        assert not any(value in seen.text for value in set(WORTH) - FOR_VLLM), str(seen)
        assert not any(value in argument for value in WORTH for argument in seen.arguments)
    hoard = Hoard(WORTH)
    left = list(files(tmp_path))
    assert hoard.found([("what was said", f"{said.out}{said.err}".encode()), *left]) == []
    there = (
        {"embedded.db", "run.json", "manifest.json"} if THOROUGH else {"run.json", "manifest.json"}
    )
    assert there <= {Path(path).name for path, _ in left}
    if THOROUGH:
        assert ask_database(prefect, "select count(*) from flow_run") == [(1,)]
    _check_browser_provenance(tmp_path / "run")


def _check_browser_provenance(run: Path) -> None:
    kept = json.loads((run / "run.json").read_text())["provenance"]["browser"]
    assert kept == probe().levels


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [(["planted-secret"], {}), ([], {"ANY": "planted-secret"}), ([], {"planted-secret": "1"})],
)
def test_an_onlooker_finds_what_a_process_holds_in_its_arguments_and_its_environment(
    arguments: list[str], environment: dict[str, str]
) -> None:
    child = "import subprocess, sys, time; subprocess.run([sys.executable, '-c', 'input()', *sys.argv[1:]], env={ENV})"
    code = child.replace("{ENV}", repr(environment))

    running = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, env={}
    )
    with Onlooker(running.pid) as onlooker:
        while not onlooker.running("input()"):
            assert running.poll() is None
        running.communicate(b"\n")

    assert [seen.arguments[2] for seen in onlooker.holding("planted-secret")] == ["input()"]
    assert not onlooker.holding("another-secret")
