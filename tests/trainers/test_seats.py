"""Clients of other people's code step into seats: each plays 100 episodes of MiniWoB++ and worlds, by its own loop.

`make test-trainers` runs it. Each client has an environment of its own, from a lock in `requirements/trainers`. The
programs in `seats/` know no more of a page than its elements as text; the files of the pages in `docs/trainers` are run
as they stand there. The run door needs no client of others: whoever can send a request has the episodes played, here at the
simulator.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from deltalake import DeltaTable
from environments import files_of_the_page, python_of, run
from source_tree import ROOT

from generators.engine.simulator.server import SimulatorServer

pytestmark = pytest.mark.timeout(3600)

HERE = Path(__file__).parent / "seats"
EPISODES = int(os.environ.get("STEPMILL_SEAT_EPISODES", "100"))
"""How many episodes each client plays."""

MINIWOB = ("click-button", "click-link", "focus-text")
"""Templates that the programs do."""

WORLDS = ("shop/find", "travel/find")
"""Templates that they only act in."""

TEMPLATES = [MINIWOB[0], WORLDS[0], MINIWOB[1], WORLDS[1], MINIWOB[2]]
NEMO_GYM = "nemo-gym==0.4.0"
TOKEN = "a-token-of-a-test"  # noqa: S105 - of this test alone

CONFIG = f"""
[tasks]
sources = ["miniwob", "worlds"]
include = {json.dumps([*MINIWOB, *WORLDS])}
seeds = [0, 199]
[browser]
sessions = 3
viewport = [640, 480]
[seats]
splits = ["train", "validation", "test"]
commit_seconds = 3.0
[seats.clients.trainer]
token_env = "STEPMILL_TOKEN"
"""

Row = dict[str, Any]


@dataclass
class Server:
    """Seats that are served, and how many episodes clients have played in them."""

    url: str
    run: Path
    played: dict[str, int] = field(default_factory=dict)
    """Episodes by the name of the policy under which they are recorded."""
    answered: set[str] = field(default_factory=set)
    """The ids of those of the run door."""

    @property
    def environment(self) -> dict[str, str]:
        """What a client has to know."""
        return {
            "STEPMILL_URL": self.url,
            "STEPMILL_TOKEN": TOKEN,
            "PYTHONPATH": f"{ROOT / 'plugins' / 'trainers'}:{HERE}",
        }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve seats, and look at the end whether every episode is in the run."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "seats.toml").write_text(CONFIG, encoding="utf-8")
    port = _free_port()
    command: list[str | Path] = [
        ROOT / ".venv/bin/stepmill",
        *("serve", "--config", folder / "seats.toml", "--run", folder / "run"),
        *("--set", f"seats.port={port}", "--json"),
    ]
    with _process(command, STEPMILL_TOKEN=TOKEN) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        served = Server(url, folder / "run")
        yield served
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    table = DeltaTable(str(served.run / "tables" / "episodes")).to_pyarrow_table()
    rows = table.to_pylist()
    recorded = [row["policy"] for row in rows if row["policy_kind"] == "external"]
    assert {name: recorded.count(name) for name in served.played} == served.played
    assert {row["episode_id"] for row in rows if row["policy_kind"] == "model"} == served.answered


@contextmanager
def _process(
    command: Sequence[str | Path], **environment: str
) -> "Iterator[subprocess.Popen[str]]":
    with subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        cwd=ROOT,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def _check(told: Sequence[Row], episodes: int) -> None:
    """Every episode was played to its end, and those that the programs do were won."""
    assert len(told) == episodes
    assert {row["failure_kind"] for row in told} == {None}
    easy = [row["reward"] for row in told if row["template"] in MINIWOB]
    assert easy
    assert set(easy) == {1.0}
    assert None not in {row["reward"] for row in told}


def _lines(text: str) -> list[Row]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def _play(server: Server, trainer: str) -> list[Row]:
    script = HERE / f"play_{trainer}.py"
    arguments = [str(EPISODES), *TEMPLATES]
    told = run(python_of(trainer), script, server.url, *arguments, cwd=ROOT, **server.environment)
    return _lines(told)


def test_openenvs_client_plays(server: Server) -> None:
    _check(_play(server, "openenv"), EPISODES)
    server.played["external"] = server.played.get("external", 0) + EPISODES


def test_the_file_of_openenvs_page_runs(server: Server, tmp_path: Path) -> None:
    (name, text), *_ = files_of_the_page("trainers/openenv.md").items()
    (tmp_path / name).write_text(text, encoding="utf-8")
    told = run(python_of("openenv"), name, cwd=tmp_path, **server.environment)
    assert told.count("(640, 480)") == 3
    server.played["external"] = server.played.get("external", 0) + 3


def test_the_file_of_the_page_of_seats_wins_by_openenvs_generic_client(
    server: Server, tmp_path: Path
) -> None:
    name = "openenv_steps.py"
    (tmp_path / name).write_text(files_of_the_page("seats.md")[name], encoding="utf-8")
    told = run(python_of("openenv"), name, cwd=tmp_path, **server.environment)
    assert told.splitlines()[-1] == "1.0 None"
    server.played["external"] = server.played.get("external", 0) + 1


def test_openenvs_own_validation_passes(server: Server) -> None:
    ask = ("-m", "openenv.cli", "validate", "--json", "--url", server.url)
    report = json.loads(run(python_of("openenv"), *ask))
    assert report["passed"] is True, report
    assert {one["id"]: one["passed"] for one in report["criteria"] if not one["passed"]} == {}


def test_agentlabs_experiments_play(server: Server) -> None:
    told = _play(server, "agentlab")
    assert {row["error"] for row in told} == {None}
    _check(told, EPISODES)
    server.played["agentlab"] = EPISODES


def test_the_file_of_agentlabs_page_makes_experiments(server: Server, tmp_path: Path) -> None:
    files = files_of_the_page("trainers/agentlab.md")
    (tmp_path / "study.py").write_text(files["study.py"], encoding="utf-8")
    ask = "import study; print([one.env_args.task_seed for one in study.experiments(None)])"
    environment = server.environment
    environment["PYTHONPATH"] += f":{tmp_path}"
    told = run(python_of("agentlab"), "-c", ask, cwd=tmp_path, **environment)
    assert told.splitlines()[-1] == "[0, 1, 2, 3, 4]"


def test_verifiers_own_eval_plays(server: Server, tmp_path: Path) -> None:
    """The command of the page, over more tasks, and with elements for a model that is a script."""
    command = files_of_the_page("trainers/verifiers.md")["eval.sh"]
    changes = {
        '\'["click-button", "click-link"]\'': f"'{json.dumps(TEMPLATES)}'",
        "--env.taskset.tasks 20": f"--env.taskset.tasks {EPISODES}",
        "subprocess \\": "subprocess --env.agent.harness.elements true \\",
    }
    for old, new in changes.items():
        assert command.count(old) == 1
        command = command.replace(old, new)
    python, port = python_of("verifiers"), _free_port()
    with _process([python, HERE / "scripted_model.py", str(port)], **server.environment):
        _wait_for(port)
        environment = server.environment | {
            "MODEL": "scripted",
            "MODEL_URL": f"http://127.0.0.1:{port}/v1",
            "PATH": f"{python.parent}:{os.environ['PATH']}",
        }
        run("bash", "-c", command, cwd=tmp_path, **environment)
    (file,) = (tmp_path / "outputs").glob("*/traces.jsonl")
    traces = [
        trace
        for line in file.read_text(encoding="utf-8").splitlines()
        for trace in json.loads(line).get("traces", [json.loads(line)])
    ]
    assert all(trace["nodes"] and trace["calls"] for trace in traces)
    _check([_row_of(trace) for trace in traces], EPISODES)
    server.played["verifiers"] = EPISODES


def _row_of(trace: Row) -> Row:
    end = trace["info"]["stepmill"]
    assert end["reward"] == trace["rewards"]["site_reward"]["score"]
    return {key: end[key] for key in ("template", "reward", "failure_kind")}


def _wait_for(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise TimeoutError("the scripted model does not answer")


def test_gymnasiums_environments_play(tmp_path: Path) -> None:
    (tmp_path / "seats.toml").write_text(CONFIG, encoding="utf-8")
    script = HERE / "play_gymnasium.py"
    places = (tmp_path / "seats.toml", tmp_path / "run")
    told = run(sys.executable, script, *places, str(EPISODES), *TEMPLATES, STEPMILL_TOKEN=TOKEN)
    _check(_lines(told), EPISODES)
    table = DeltaTable(str(tmp_path / "run" / "tables" / "episodes")).to_pyarrow_table()
    # Seats that began the next task while others were still at the one before were left.
    kinds = [row["failure_kind"] for row in table.to_pylist()]
    assert kinds.count(None) == EPISODES
    assert set(kinds) <= {None, "client"}


async def test_the_run_door_plays_at_a_clients_engine(server: Server) -> None:
    """The simulator's replies are drawn at random: it acts in every page, and need not do what the goal says."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with SimulatorServer() as engine, ClientSession(server.url, headers=headers) as client:
        at_once = asyncio.Semaphore(3)

        async def play(number: int) -> Row:
            task = {"name": TEMPLATES[number % len(TEMPLATES)], "seed": number}
            body = {"task": task, "endpoint": engine.url, "pictures": False}
            async with at_once, client.post("/run", json=body) as answer:
                told: Row = await answer.json()
                assert answer.status == 200, told
                return told

        async with asyncio.TaskGroup() as group:
            playing = [group.create_task(play(number)) for number in range(EPISODES)]
        told = [one.result() for one in playing]
    assert [one["task"]["name"] for one in told[: len(TEMPLATES)]] == TEMPLATES
    assert {one["failure_kind"] for one in told} == {None}
    assert None not in {one["reward"] for one in told}
    for one in told:
        turns = one["trace"]["turns"]
        assert len(turns) >= one["n_steps"] >= 1
        assert all(len(turn["per_token_logps"]) == sum(turn["loss_mask"]) > 0 for turn in turns)
    server.answered |= {one["episode_id"] for one in told}
    assert len(server.answered) == EPISODES


def test_nemo_gyms_schemas_read_what_its_agent_would_answer(tmp_path: Path) -> None:
    """It wants Python 3.12, so that its servers are not run; its wheel is unpacked, and its schemas loaded."""
    uv = ROOT / run("sh", ROOT / "setup.sh", "uv").strip()
    python = python_of("nemo-gym")
    wheel = ("--no-deps", "--python-version", "3.12", "--target", tmp_path / "wheel", NEMO_GYM)
    run(uv, "pip", "install", "--quiet", "--python", python, *wheel)
    golden = ROOT / "plugins/trainers/tests/nemo_gym_answer.json"
    told = run(python, HERE / "read_nemo_gym.py", tmp_path / "wheel", golden)
    assert _lines(told) == [{"read": 1}]
