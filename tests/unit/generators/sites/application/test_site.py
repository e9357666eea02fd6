"""The site of an application, over a real server and without a browser."""

import asyncio
import re
import socket
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from support.inputs.offered_parts import installed, offer
from support.servers.ledger_site import (
    ORIGIN,
    SHARED,
    answered,
    command,
    ledger,
    ledger_task,
    serving,
    visiting,
)

from generators.process_folder import process_folder
from generators.sites.application import process as process_module
from generators.sites.application import server_handle as server_module
from schemas.errors import FailureKind, RolloutFailure


async def test_a_task_is_judged_by_the_servers_state_when_the_policy_answers() -> None:
    async with (
        serving(ledger()) as (site, gateway),
        visiting(site, gateway, ledger_task()) as (visit, problem, hands),
    ):
        assert problem.goal == "Add Rope to the ledger."
        assert (await site.state(problem)).value == {"seed": "1", "entries": []}
        before = await site.outcome(problem, hands)  # type: ignore[arg-type]
        await hands.ask("POST", "/add", entry="Rope")
        going_on = await site.outcome(problem, hands)  # type: ignore[arg-type]
        end = await answered(site, problem, hands)
        await hands.ask("POST", "/add", entry="Tar")
        later = await answered(site, problem, hands)

    assert (before.reward, before.done) == (going_on.reward, going_on.done) == (0.0, False)
    assert (end.reward, end.done) == (1.0, True)
    assert later == end
    assert visit.allowed_origins == (ORIGIN,)
    assert "found 1" in end.because


async def test_anything_else_than_what_is_expected_is_not_rewarded(
    subtests: pytest.Subtests,
) -> None:
    async with serving(ledger()) as (site, gateway):
        for entries in ([], ["Tar"], ["Rope", "Tar"], ["Rope", "Rope"]):
            with subtests.test(msg=str(entries)):
                async with visiting(site, gateway, ledger_task()) as (_, problem, hands):
                    for entry in entries:
                        await hands.ask("POST", "/add", entry=entry)
                    end = await answered(site, problem, hands)
                assert (end.reward, end.done) == (0.0, True)


async def test_a_visit_finds_the_state_of_its_seed_whatever_was_done_before() -> None:
    async with serving(ledger()) as (site, gateway):
        for seed in (1, 2):
            async with visiting(site, gateway, ledger_task(seed)) as (_, problem, hands):
                assert (await site.state(problem)).value == {"seed": str(seed), "entries": []}
                await hands.ask("POST", "/add", entry="Rope")


@pytest.mark.parametrize("visits", ["one", SHARED])
async def test_visits_at_the_same_time_do_not_see_one_another(visits: object) -> None:
    async with (
        serving(ledger(visits=visits)) as (site, gateway),
        visiting(site, gateway, ledger_task(1)) as (_, one, hands),
        visiting(site, gateway, ledger_task(2)) as (_, other, _),
    ):
        await hands.ask("POST", "/add", entry="Rope")
        assert (await site.state(one)).value == {
            "seed": "1",
            "entries": [{"id": 1, "text": "Rope"}],
        }
        assert (await site.state(other)).value == {"seed": "2", "entries": []}


@pytest.mark.parametrize(("carrier", "name"), [("cookie", "sid"), ("query", "sid")])
async def test_a_visits_id_goes_by_cookie_or_query_too(carrier: str, name: str) -> None:
    application = ledger(visits={"carrier": carrier, "name": name})
    async with (
        serving(application) as (site, gateway),
        visiting(site, gateway, ledger_task()) as (_, _, hands),
    ):
        hands.cookies |= {"sid": "forged", "mine": "1"}
        _, page, _ = await hands.ask("GET", "/?sid=forged")

    assert "stepmill-visit" not in page
    assert "mine=1" in page
    if carrier == "cookie":
        assert re.search(r"sid=[0-9a-f]{32}", page)
        assert "forged" not in page


async def test_a_server_is_found_under_its_origin_and_never_under_its_port() -> None:
    async with (
        serving(ledger()) as (site, gateway),
        visiting(site, gateway, ledger_task()) as (_, _, hands),
    ):
        _, page, _ = await hands.ask("GET", "/")
        status, _, headers = await hands.ask("GET", "/away")

    assert "Ledger of ledger.localhost<" in page
    assert "no cookie" in page
    assert (status, headers["Location"]) == (302, f"{ORIGIN}/")


async def test_a_session_without_a_visit_reaches_no_server() -> None:
    async with serving(ledger()) as (site, gateway):
        async with visiting(site, gateway, ledger_task()) as (_, problem, hands):
            pass
        status, text, _ = await hands.ask("GET", "/")
        with pytest.raises(RolloutFailure, match="the visit has ended"):
            await site.state(problem)

    assert (status, text) == (403, "this session has no visit here")


async def test_a_login_is_in_the_browser_and_in_no_record() -> None:
    application = ledger(
        start={"command": command(), "secrets": ["LEDGER_KEY"]},
        login={
            "request": {"path": "/login", "form": {"key": "$LEDGER_KEY"}},
            "storage": {"theme": "dark"},
        },
    )
    async with (
        serving(application) as (site, gateway),
        visiting(site, gateway, ledger_task()) as (visit, _, hands),
    ):
        _, page, _ = await hands.ask("GET", "/")

    assert "user=mia" in page
    assert visit.sign_in is not None
    assert visit.sign_in.storage == {ORIGIN: {"theme": "dark"}}
    assert "sign_in" not in visit.model_dump()
    assert "lease" not in visit.model_dump()
    assert "mia" not in visit.model_dump_json() + repr(visit)


async def test_what_is_masked_is_no_part_of_the_state() -> None:
    async with (
        serving(ledger("clock", masks={"state": ["/now"]})) as (site, gateway),
        visiting(site, gateway, ledger_task()) as (visit, problem, hands),
    ):
        assert (await site.state(problem)).value == {"seed": "1", "entries": []}
        await hands.ask("POST", "/add", entry="Rope")
        end = await answered(site, problem, hands)

    assert end.reward == 1.0
    assert visit.masks is not None
    assert visit.masks.state == ("/now",)


async def test_visits_to_what_runs_already_wait_for_each_other() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    script = [part.replace("{port}", str(port)) for part in command()]
    process = await asyncio.create_subprocess_exec(*script)
    try:
        async with serving(ledger(start={"url": f"http://127.0.0.1:{port}"})) as (site, gateway):
            order = list[str]()

            async def visit(seed: int) -> None:
                async with visiting(site, gateway, ledger_task(seed)) as (_, problem, hands):
                    order.append(f"begins {seed}")
                    await hands.ask("POST", "/add", entry="Rope")
                    assert (await answered(site, problem, hands)).reward == 1.0
                    order.append(f"ends {seed}")

            async with asyncio.TaskGroup() as group:
                for seed in (1, 2, 3):
                    group.create_task(visit(seed))
    finally:
        process.kill()
        await process.wait()

    assert order == [f"{what} {seed}" for seed in (1, 2, 3) for what in ("begins", "ends")]


async def test_a_task_that_expects_nothing_is_not_visited() -> None:
    task = ledger_task().model_copy(update={"expect": None})
    async with serving(ledger()) as (site, gateway):
        with pytest.raises(RolloutFailure, match="expects nothing"):
            async with visiting(site, gateway, task):
                pass


PROBES = """
from generators.sites.judging.protocol import Judgement

stepmill_api = 1

def entries(given):
    entries = given.after["entries"][given.options.get("without", 0):]
    return Judgement(reward=len(entries) / 4, reasons=(f"{given.seed}: {given.answer}",))
"""


async def test_a_probe_judges_where_a_task_names_one(tmp_path: Path) -> None:
    parts = {"stepmill.probes:entries": "entry_probes:entries"}
    judged = ledger_task(1, expect={"probe": "entries"})
    failing = ledger_task(2, expect={"probe": "entries", "options": {"without": "one"}})
    with installed(tmp_path):
        offer(tmp_path, "entry-probes", parts, modules={"entry_probes": PROBES})
        async with serving(ledger()) as (site, gateway):
            async with visiting(site, gateway, failing) as (_, problem, hands):
                with pytest.raises(
                    RolloutFailure, match=r"the probe 'entries' of .* fai"
                ) as caught:
                    await answered(site, problem, hands)
            async with visiting(site, gateway, judged) as (_, problem, hands):
                await hands.ask("POST", "/add", entry="Rope")
                end = await answered(site, problem, hands, "done")

    assert caught.value.kind is FailureKind.SITE
    assert (end.reward, end.done, end.because) == (0.25, True, "1: done")


async def test_nothing_of_a_server_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = list[Path]()
    start = server_module.Server.start

    async def noting(server: server_module.Server) -> None:
        await start(server)
        assert server.folder is not None
        folders.append(server.folder)

    monkeypatch.setattr(server_module.Server, "start", noting)
    async with serving(ledger()) as (site, gateway), visiting(site, gateway, ledger_task()):
        assert all(folder.is_dir() for folder in folders)
        # What a killed program leaves in such a folder goes with the next one's (`test_process_folder`).
        own = process_folder(process_module._memory() or Path(tempfile.gettempdir()))
        assert {folder.parent for folder in folders} == {own}

    assert folders
    assert not any(folder.exists() for folder in folders)


async def test_files_of_a_seed_take_the_place_of_those_of_a_server_and_views_are_its_state(
    tmp_path: Path,
) -> None:
    for seed in (1, 2):
        (tmp_path / "worlds" / str(seed)).mkdir(parents=True)
        with closing(sqlite3.connect(tmp_path / "worlds" / str(seed) / "ledger.db")) as database:
            database.execute("create table entry (id integer primary key, text text, at real)")
            database.execute("insert into entry (text, at) values (?, 0.5)", (f"Rope {seed}",))
            database.commit()
    application = ledger(
        reset={"files": "worlds/{seed}"},
        state={
            "sqlite": "{folder}/ledger.db",
            "views": {"entries": "select id, text from entry"},
        },
        home=str(tmp_path),
    )
    async with serving(application) as (site, gateway):
        for seed in (1, 2, 1):
            async with visiting(site, gateway, ledger_task(seed)) as (_, problem, _):
                assert (await site.state(problem)).value == {
                    "entries": [{"id": 1, "text": f"Rope {seed}"}]
                }
        with pytest.raises(RolloutFailure, match=r"reset: .*there is no folder .*worlds/3"):
            async with visiting(site, gateway, ledger_task(3)):
                pass
