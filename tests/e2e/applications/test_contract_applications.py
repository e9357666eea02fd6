"""Sites of three public contracts are used by configuration alone, against small servers of the contracts.

The applications' files are those of `docs/applications.md`, with the servers' own addresses.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import JsonValue
from sites import bookshop_tasks, contact_tasks, cua_bench, cua_gym_hub, mail_tasks
from sites.bookshop import read as read_books
from sites.tasks import Action, Change, SiteTask
from source_tree import ROOT
from support.runs.commands import stepmill

from schemas.base import JsonObject

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

PAGE = (ROOT / "docs" / "applications.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```toml file (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEED = 1


@contextmanager
def serving(name: str, *more: str) -> Iterator[list[str]]:
    """Run a contract's server; yield what it writes: its addresses."""
    with subprocess.Popen(
        [sys.executable, str(ROOT / "tests" / "sites"), name, "--seed", str(SEED), *more],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield [process.stdout.readline().strip() for _ in range(1 + ("--folder" in more))]
        finally:
            process.terminate()


def expectation(task: SiteTask) -> JsonObject:
    """Return what a task expects, in Stepmill's words."""
    out: dict[str, list[JsonObject]] = {}
    for change in task.changes:
        out.setdefault(change.kind, []).append(_rule(change))
    answer = {} if task.answer is None else {"answer": task.answer}
    return {**out, **answer}  # type: ignore[dict-item]


def _rule(change: Change) -> JsonObject:
    rule: JsonObject = {"table": change.table, "where": dict(change.row)}
    return rule if change.now is None else rule | {"set": dict(change.now)}


def _step(action: Action) -> JsonObject:
    """Return a step of a reference."""
    on = action.get("label") or action.get("selector")
    text = {"text": action["text"]} if "text" in action else {}
    return {"do": action["do"], **({"on": on} if on else {}), **text}


def write(
    folder: Path, name: str, application: str, tasks: Sequence[SiteTask], parameters: object = None
) -> Path:
    """Write an application's file, its tasks and a run; return the run's file."""
    (folder / f"{name}.toml").write_text(application)
    rows = [
        {
            "site": name,
            "template_id": task.template,
            "seed": task.seed,
            "start_url": task.start,
            "instruction": task.instruction,
            "expect": expectation(task),
            "reference": [
                *map(_step, task.reference),
                *([{"do": "answer", "text": task.answer}] if task.answer is not None else []),
            ],
            "parameters": {} if parameters is None else parameters,
        }
        for task in tasks
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "tasks.jsonl").write_text(text)
    run = folder / "run.toml"
    run.write_text(
        f'[run]\nurl = "{folder}/run"\n[sites]\n{name} = "{folder}/{name}.toml"\n'
        f'[tasks]\nsource = "{folder}/tasks.jsonl"\n[policy]\nname = "scripted"\n'
        "[browser]\nsessions = 4\nviewport = [700, 600]\n"
    )
    return run


def shown(name: str) -> str:
    """Return an application's file as the page shows it."""
    return str(dict(BLOCK.findall(PAGE))[name])


def check_and_generate(run: Path, name: str) -> Mapping[str, JsonValue]:
    checked = stepmill("sites", "check", name, f"--config={run}")
    assert checked.code == 0, checked.out + checked.err
    made = stepmill("generate", f"--config={run}", "--no-prefect", "--json")
    assert made.code == 0, made.err
    return made.answer


def test_a_site_of_cua_gym_hub_keeps_a_state_for_each_visit(tmp_path: Path) -> None:
    state = cua_gym_hub.initial_state(SEED)
    with serving("cua_gym_hub") as (url,):
        file = shown("hub.toml").replace("http://127.0.0.1:8000", url)
        run = write(tmp_path, "hub", file, mail_tasks.tasks(SEED, state), dict(state))
        answer = check_and_generate(run, "hub")

    assert answer["episodes"] == 14
    assert answer["accepted"] >= 10, answer  # type: ignore[operator]
    assert answer["reproduced"] == 14


def test_a_site_of_cua_bench_begins_a_task_for_a_session(tmp_path: Path) -> None:
    tasks = contact_tasks.tasks(SEED, cua_bench.initial_state(SEED))
    with serving("cua_bench") as (url,):
        file = shown("bench.toml").replace("http://127.0.0.1:8002", url)
        run = write(tmp_path, "bench", file, tasks)
        answer = check_and_generate(run, "bench")

    assert answer["accepted"] >= 10, answer  # type: ignore[operator]


def test_a_site_of_webharbor_is_put_back_by_its_control_server(tmp_path: Path) -> None:
    folder = tmp_path / "harbor"
    with serving("webharbor", "--folder", str(folder)) as (url, control):
        database = next(folder.rglob("instance/bookshop.db"))
        tasks = bookshop_tasks.tasks(SEED, read_books(database))
        file = (
            shown("harbor.toml")
            .replace("http://127.0.0.1:8001", url)
            .replace("http://127.0.0.1:8101", control.rsplit(" ", 1)[-1])
            .replace("/srv/webharbor/bookshop/instance/bookshop.db", str(database))
        )
        run = write(tmp_path, "bookshop", file, tasks[:11])  # its visits wait for each other
        answer = check_and_generate(run, "bookshop")

    assert answer["accepted"] >= 10, answer  # type: ignore[operator]
