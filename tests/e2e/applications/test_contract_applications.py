"""Sites of three public contracts are used by configuration alone, against small servers of the contracts.

The applications' files are those of `docs/applications.md`, with the servers' own addresses.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from effort import THOROUGH
from sites import bookshop_tasks, contact_tasks, cua_bench, cua_gym_hub, mail_tasks
from sites.bookshop import read as read_books
from sites.tasks import Action, Change, SiteTask
from source_tree import ROOT
from support.browsers.one_browser import browser_and_gateway
from support.runs.commands import called

from flows.checks.sites import SiteTrial, choose_tasks
from flows.job.config_loader import Sources, load
from flows.job.validate import validate
from flows.resources.browsers import Browsers, enter_sites
from generators.sites.registry import RunSites
from schemas.base import JsonObject

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

PAGE = (ROOT / "docs" / "applications.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```toml file (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEED = 1

CHECKED = 3 if THOROUGH else 1
"""Tasks on which a contract's site is tried."""

ACCEPTED = 10
"""Episodes of each that are accepted; a few of the others come out as those before them."""

KINDS = {"start", "reset", "masks", "isolation", "outcome", "replay"}
"""What is tried of a site."""

CONTRACTS = ("hub", "bench", "bookshop")
"""What the run calls the sites: of CUA-Gym-Hub, CUA-Bench and WebHarbor."""


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


def rows(name: str, tasks: Sequence[SiteTask], parameters: object = None) -> list[str]:
    """Return lines of a task file."""
    return [
        json.dumps(
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
        )
        for task in tasks
    ]


def shown(name: str) -> str:
    """Return an application's file as the page shows it."""
    return str(dict(BLOCK.findall(PAGE))[name])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start a server of each contract; return the file of a run over all three."""
    folder = tmp_path_factory.mktemp("contracts")
    state = cua_gym_hub.initial_state(SEED)
    with ExitStack() as stack:
        [hub] = stack.enter_context(serving("cua_gym_hub"))
        [bench] = stack.enter_context(serving("cua_bench"))
        harbor, control = stack.enter_context(
            serving("webharbor", "--folder", str(folder / "harbor"))
        )
        database = next(folder.rglob("instance/bookshop.db"))
        applications = (
            shown("hub.toml").replace("http://127.0.0.1:8000", hub),
            shown("bench.toml").replace("http://127.0.0.1:8002", bench),
            shown("harbor.toml")
            .replace("http://127.0.0.1:8001", harbor)
            .replace("http://127.0.0.1:8101", control.rsplit(" ", 1)[-1])
            .replace("/srv/webharbor/bookshop/instance/bookshop.db", str(database)),
        )
        lines = [
            *rows("hub", mail_tasks.tasks(SEED, state), dict(state)),
            *rows("bench", contact_tasks.tasks(SEED, cua_bench.initial_state(SEED))),
            # the visits of this one wait for each other
            *rows("bookshop", bookshop_tasks.tasks(SEED, read_books(database))[:11]),
        ]
        for name, application in zip(CONTRACTS, applications, strict=True):
            (folder / f"{name}.toml").write_text(application)
        (folder / "tasks.jsonl").write_text("\n".join(lines))
        file = folder / "run.toml"
        file.write_text(
            f'[run]\nurl = "{folder}/run"\n[sites]\n'
            + "".join(f'{name} = "{folder}/{name}.toml"\n' for name in CONTRACTS)
            + f'[tasks]\nsource = "{folder}/tasks.jsonl"\n[policy]\nname = "reference"\n'
            "[browser]\nsessions = 4\nviewport = [700, 600]\n"
        )
        yield file


@pytest.mark.usefixtures("one_browser")
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("name", CONTRACTS)
async def test_a_site_of_each_contract_is_fit_for_runs(name: str, run: Path) -> None:
    prepared = validate(load(Sources(config=str(run)), {}))
    config, tasks = prepared.config, choose_tasks(prepared.tasks, name)
    async with browser_and_gateway() as (chromium, gateway), AsyncExitStack() as stack:
        sites = RunSites(gateway, config.sites)
        await enter_sites(stack, sites, {name})
        trial = SiteTrial(config, Browsers(sites=sites, sessions=chromium, replays=chromium))
        checks = [one for task in tasks[:CHECKED] for one in await trial.try_task(task)]

    assert {one.name for one in checks} == KINDS
    assert [one for one in checks if not one.ok] == []


@pytest.mark.full
def test_one_run_over_all_three_has_tasks_of_each_verified_and_replayed(run: Path) -> None:
    said = called("generate", f"--config={run}", "--no-prefect", "--json")

    assert said.code == 0, said.err
    made: dict[str, Any] = json.loads(said.out)
    assert made["reproduced"] == made["episodes"]
    accepted = Counter[str]()
    for one in made["templates"]:
        accepted[one["site"]] += one["accepted"]
    assert all(accepted[name] >= ACCEPTED for name in CONTRACTS), accepted


@pytest.mark.full
@pytest.mark.parametrize("name", CONTRACTS)
def test_the_command_says_that_each_is_fit(name: str, run: Path) -> None:
    said = called("sites", "check", name, f"--config={run}")

    assert said.code == 0, said.out + said.err
    assert f"{name} is fit for runs" in said.out
