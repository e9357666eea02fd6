"""What Prefect keeps of runs and its pages show of them, and deployments on a server that is there already.

One server sees all of it; what starts and kills servers of its own is in `test_prefect_deployed.py`.
"""

import asyncio
import json
import re
import unicodedata
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import ROOT
from effort import THOROUGH
from playwright.async_api import Page, Route, async_playwright
from support.episodes.factories import MadeRun, commit_whole_unit, make_run, make_task, make_unit
from support.inputs.hostile_texts import HOSTILE
from support.inputs.secrets_search import Hoard, files
from support.runs.commands import LOOK, SECONDS, UNREPLAYED, Said, until
from support.servers.prefect_deployment import ENDED, Deployed, ask, gone
from support.servers.prefect_home import ask_database, commands, pages_served, prefect_home

from flows.orchestration.dataset_events import PUBLISHED
from flows.orchestration.inert_text import MAX_CHARS
from generators.browser.chromium import find_chromium
from schemas.truncation import to_well_formed
from storage.publish.card.escape import visible
from storage.publish.plan.manifest import read_manifest

pytestmark = [pytest.mark.browser, pytest.mark.prefect, pytest.mark.timeout(600)]

SECRET = "planted-password"  # noqa: S105 - nobody's

TEXTS = tuple(to_well_formed(text) for text in HOSTILE.values())
"""What rows hold of them."""


LISTS = ("artifacts", "runs")
"""Pages that quote less of it."""

MARK = "window.owned=1"
"""What is in one of them, and in no setting of another command."""


AUTOMATIONS = yaml.safe_load((ROOT / "automations.yaml").read_text())["automations"]

UNREPLAYED_SETTINGS = [flag.removeprefix("--set=") for flag in UNREPLAYED]


@dataclass(frozen=True)
class Recorded:
    """Commands that one server has seen."""

    url: str
    """Where its pages are."""
    home: Path
    run: Path
    """The run that was generated, judged again and published."""
    generated: Said
    judged: Said
    published: Said
    hostile: Said
    """What judging a run of hostile texts said."""

    def ask(self, question: str, *values: str) -> list[tuple[object, ...]]:
        """Ask the server's database."""
        return ask_database(self.home, question, *values)


@pytest.fixture(scope="module")
def recorded(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """Have a server see a run in a browser being made, judged again and published, and one of hostile texts judged."""
    folder = tmp_path_factory.mktemp("prefect")
    run, home = folder / "run", prefect_home(shared_folder, folder / "home")
    hostile = asyncio.run(_hostile_run(folder / "hostile")).folder
    quoted = [
        f"--set=storage.region={json.dumps(text, ensure_ascii=False)}"
        for text in TEXTS
        if len(text) < 999
    ]
    with pages_served(home) as url:
        said = commands(
            {"PREFECT_API_URL": f"{url}/api", "PREFECT_HOME": str(folder / "other")},
            (
                *("generate", "--json", f"--run={run}", *UNREPLAYED),
                f"--set=engine.urls=['http://me:{SECRET}@engine:8000/v1']",
                *("--set=tasks.include=['click-test']", "--set=tasks.seeds=[0,2]"),
                *("--set=tasks.unit_size=1", "--set=browser.sessions=3"),
            ),
            ("verify", str(run), "--verifiers=structure", "--json"),
            ("publish", str(run), f"--to={folder / 'data'}", "--json"),
            ("verify", str(hostile), "--verifiers=structure", "--json", *quoted),
        )
        yield Recorded(url, home, run, *said)


def test_a_run_is_a_flow_run_with_a_task_run_for_each_unit(recorded: Recorded) -> None:
    said = recorded.generated
    assert said.code == 0, said.err
    assert said.answer["accepted"] == 3
    assert "Traceback" not in said.err
    assert "prefect." not in said.err.lower()
    [(number, state, parameters)] = recorded.ask(
        "select flow_run.id, state_type, parameters from flow_run"
        " join flow on flow.id = flow_run.flow_id where flow.name = 'generate'"
    )
    assert state == "COMPLETED"
    units = recorded.ask("select name, state_type from task_run where flow_run_id = ?", str(number))
    assert len(units) == 3
    assert {state for _, state in units} == {"COMPLETED"}
    assert {name for name, _ in units} == {"miniwob: click-test (1 episode)"}
    artifacts = recorded.ask(
        "select key, type, data from artifact where flow_run_id = ?", str(number)
    )
    assert {(key, kind) for key, kind, _ in artifacts} == {
        ("generate-progress", "progress"),
        ("generate-summary", "table"),
    }
    assert [data for key, _, data in artifacts if key == "generate-progress"] == [100]
    assert "http://***@engine:8000/v1" in str(parameters)
    assert Hoard([SECRET]).found(files(recorded.home, recorded.run)) == []


def test_judging_and_publishing_are_flow_runs_too(recorded: Recorded) -> None:
    judged, published = recorded.judged, recorded.published

    assert (judged.code, published.code) == (0, 0), judged.err + published.err
    runs = recorded.ask(
        "select flow.name, flow_run.state_type, flow_run.parameters from flow_run"
        " join flow on flow.id = flow_run.flow_id where flow.name != 'generate'"
    )
    of_run = [(name, state) for name, state, given in runs if str(recorded.run) in str(given)]
    assert sorted(of_run, key=str) == [("publish", "COMPLETED"), ("verify", "COMPLETED")]
    assert ("publication", "COMPLETED") in recorded.ask("select name, state_type from task_run")


async def _hostile_run(place: Path) -> MadeRun:
    """Return a run with a template of each text; its tasks are attempted once."""
    made = await make_run(place)
    tasks = [
        make_task(number).model_copy(update={"template_id": text or "-"})
        for number, text in enumerate(TEXTS)
    ]
    unit_id, episodes = make_unit(tasks, n_steps=0, run_id=made.run_id)
    lake = made.lake()
    await commit_whole_unit(lake, unit_id, tasks=tasks, episodes=episodes)
    await lake.seal()
    await lake.close()
    return made


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[tuple[Page, list[str]]]:
    """Open a browser; yield a page, and what is asked of others than `url`."""
    asked: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(find_chromium()), args=["--no-sandbox"]
        )
        page = await browser.new_page()
        page.on("dialog", lambda dialog: asked.append(dialog.message))

        async def answer(route: Route) -> None:
            if route.request.url.startswith(url):
                await route.continue_()
            else:  # the pages ask their maker too, which nobody here shall reach
                asked.append(route.request.url)
                await route.abort()

        await page.route(re.compile("^(http|ws|file)"), answer)
        yield page, asked
        await browser.close()


async def _show(page: Page, url: str, waited_for: str) -> str:
    """Open a page of Prefect's; return its text once it has `waited_for`."""
    await page.goto(url)
    await page.wait_for_function(
        "text => document.body.innerText.includes(text)", arg=waited_for, timeout=1_000 * SECONDS
    )
    return await page.inner_text("body")


def _hidden(text: str) -> set[str]:
    """Return the characters of a text that steer, hide or turn round a part of it."""
    return {char for char in text if unicodedata.category(char) in {"Cc", "Cf"}} - set("\n\t\xa0")


async def _made_of_text(page: Page) -> list[str]:
    """Return what hostile text made of a page: variables, links to elsewhere, pictures, elements in cells."""
    found: list[str] = await page.evaluate(
        """() => [
          ...(window.owned === undefined ? [] : ["owned"]),
          ...[...document.querySelectorAll("a")].map(one => one.href).filter(
            href => href && !href.startsWith(location.origin) && !href.includes("prefect.io")),
          ...[...document.querySelectorAll("td *, h1, h2, li, blockquote, img, script, svg a")]
            .filter(one => !["P", "DIV", "SPAN", "ARTICLE"].includes(one.tagName)
              && /owned|evil|127[.]0[.]0[.]1:9/i.test(one.outerHTML))
            .map(one => one.outerHTML.slice(0, 200)),
        ]"""
    )
    return found


async def test_hostile_text_is_text_on_prefects_pages(recorded: Recorded) -> None:
    assert recorded.hostile.code in (0, 1), recorded.hostile.err
    [run] = [
        one
        for one in ask(f"{recorded.url}/api/flow_runs/filter", {})
        if MARK in str(one["parameters"])
    ]
    found = ask(f"{recorded.url}/api/artifacts/filter", {})
    [table] = [one for one in found if one["flow_run_id"] == run["id"] and one["type"] == "table"]
    cells = [row["template"] for row in json.loads(table["data"])]
    assert len(cells) == len({text or "-" for text in TEXTS})

    async with _opened(recorded.url) as (page, asked):
        shown = await _show(page, f"{recorded.url}/artifacts/artifact/{table['id']}", "template")
        for text in TEXTS:
            assert visible(text)[: MAX_CHARS - 1] in " ".join(shown.split()), text
        assert not _hidden(shown)
        assert not await _made_of_text(page)
        parameters = await _show(
            page, f"{recorded.url}/runs/flow-run/{run['id']}?tab=Parameters", "region"
        )
        assert MARK in parameters
        assert not _hidden(parameters)
        assert not await _made_of_text(page)
        for path in (*LISTS, f"v2/artifacts/artifact/{table['id']}") if THOROUGH else ():
            await _show(page, f"{recorded.url}/{path}", "verify")
            assert not await _made_of_text(page), path
        assert not [one for one in asked if re.search("evil|owned|127[.]0[.]0[.]1", one)]


@pytest.fixture(scope="module")
def deployed(recorded: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """Start what `make prefect` starts, on the server, whose user has paused the nightly deployment and a schedule."""
    api = f"{recorded.url}/api"
    schedules = [
        {"active": False, "schedule": {"cron": "0 2 * * *"}, "slug": "nightly"},
        {"active": True, "schedule": {"cron": "5 5 * * *"}},
    ]
    flow = ask(f"{api}/flows/", {"name": "generate"})["id"]
    nightly = {"name": "generate-nightly", "flow_id": flow, "paused": True, "schedules": schedules}
    ask(f"{api}/deployments/", nightly)
    [again] = [one for one in AUTOMATIONS if one["name"] == "stepmill-again"]
    ask(f"{api}/automations/", {**again, "enabled": False})
    with Deployed(tmp_path_factory.mktemp("deployed"), {"PREFECT_API_URL": api}) as started:
        yield started


def test_deployments_are_those_of_the_file_and_keep_what_was_set(deployed: Deployed) -> None:
    nightly = deployed.deployment("generate/generate-nightly")
    verify = deployed.deployment("verify/verify")
    publish = deployed.deployment("publish/publish")

    assert nightly["global_concurrency_limit"]["limit"] == 1
    assert verify["parameters"] == {"run": nightly["parameters"]["run"]}
    assert publish["parameters"]["run"] == nightly["parameters"]["run"]
    assert publish["parameters"]["to"] in nightly["parameters"]["settings"][1]
    assert "{date}" in publish["parameters"]["run"]
    schedules = {one["schedule"]["cron"]: one["active"] for one in nightly["schedules"]}
    assert schedules == {"0 2 * * *": False, "5 5 * * *": True}
    assert nightly["paused"] is True
    assert "is paused and stays so" in deployed.log
    assert deployed.ask("work_pools/local")["type"] == "process"


def test_a_schedule_has_the_worker_make_its_runs_and_add_each_to_one_dataset(
    deployed: Deployed, tmp_path: Path
) -> None:
    nightly = deployed.deployment("generate/generate-nightly")
    of_nightly = f"deployments/{nightly['id']}"
    few = ["tasks.include=['click-test']", "tasks.seeds=[0,0]", *UNREPLAYED_SETTINGS]
    to = [f"publish.to=['{tmp_path / 'nights'}']", "publish.append=true"]
    parameters: dict[str, Any] = {
        "config": "configs/smoke.toml",
        "run": f"{tmp_path}/{{date}}/{{time}}",
        "settings": [*few, *to],
        "missed": 20,  # a slow machine would leave out each night for the next that is due meanwhile
    }
    deployed.ask(of_nightly, {"parameters": parameters}, "PATCH")
    deployed.ask(f"{of_nightly}/resume_deployment", {})
    often = {"active": True, "schedule": {"cron": "* * * * * */10"}}
    deployed.ask(f"{of_nightly}/schedules", [often])

    made = list[dict[str, Any]]()

    def two_are_made() -> bool:
        made[:] = deployed.on_schedule(*ENDED)
        return len(made) > 1

    until(two_are_made, every=LOOK)

    for number, run in enumerate(made[:2], start=1):
        assert run["state_type"] == "COMPLETED", deployed.log
        assert "1 of 1 episodes accepted" in run["state"]["message"]
        added = f"version {number}, night {number}: 1 trajectories added"
        assert f"{tmp_path / 'nights'}, {added}" in run["state"]["message"]
        day = run["expected_start_time"][:10]
        assert any((tmp_path / day).glob(f"{day}T*/run.json"))
        assert "1/1 episodes" in deployed.log_of(run, containing=f"run      {tmp_path}")
    there = read_manifest((tmp_path / "nights" / "manifest.json").read_bytes(), "here")
    assert len({night.run for night in there.nights}) == len(there.nights) >= 2
    until(lambda: _told(deployed, str(tmp_path / "nights")) >= {1, 2}, every=LOOK)
    assert deployed.errors == []


def _told(deployed: Deployed, place: str) -> set[int]:
    """Return the nights of a collection that events told of."""
    asked = {"filter": {"event": {"name": [PUBLISHED]}}}
    told = [one["payload"] for one in deployed.ask("events/filter", asked)["events"]]
    return {one["night"] for one in told if one["place"] == place}


def test_what_makes_a_dead_night_go_on_is_there_and_stays_switched_off(deployed: Deployed) -> None:
    there = {one["name"]: one["enabled"] for one in deployed.ask("automations/filter", {})}

    assert there == {"stepmill-silent": True, "stepmill-never-begun": True, "stepmill-again": False}
    assert "the automation stepmill-again is switched off and stays so" in deployed.log


def test_nothing_outlives_it_but_the_server_that_it_found(
    deployed: Deployed, recorded: Recorded
) -> None:
    left = deployed.processes
    deployed.process.kill()
    deployed.process.wait()

    assert gone(left), "something outlives `make prefect`"
    assert len(left) > 1
    assert ask(f"{recorded.url}/api/health") is True
