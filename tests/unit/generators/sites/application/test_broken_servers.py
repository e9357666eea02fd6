"""Servers of an application that break: what the site says, and that it is the site's failure."""

import socket
from collections.abc import Mapping

import pytest
from pydantic import JsonValue
from support.servers.ledger_site import (
    SHARED,
    answered,
    command,
    ledger,
    ledger_task,
    mounted,
    serving,
    visiting,
)

from generators.sites.application import server_handle as server_module
from generators.sites.gateway import Gateway
from schemas.configuration.application import Application
from schemas.errors import BadConfig, FailureKind, RolloutFailure


@pytest.mark.parametrize(
    ("application", "because"),
    [
        (ledger("ends"), "the server ended before it answered.*no room in the harbour"),
        (ledger("silent", start={"command": command("silent"), "seconds": 1}), "within 1 s"),
        (ledger(start={"command": ["no-such-program"]}), "no command 'no-such-program'"),
        (ledger(start={"command": ["/etc/hostname"]}), "'/etc/hostname' cannot be run|ended"),
        (
            ledger(start={"command": command(), "environment": {"KEY": "$NOT_SET_ANYWHERE"}}),
            "environment variable NOT_SET_ANYWHERE is not set",
        ),
    ],
)
async def test_a_server_that_does_not_start_is_refused_before_any_work(
    application: Application, because: str
) -> None:
    async with Gateway() as gateway:
        with pytest.raises(BadConfig, match=f"^sites.ledger: .*{because}") as caught:
            await mounted(gateway, application).__aenter__()

    assert "\n" not in str(caught.value)


async def test_a_port_that_nobody_listens_on_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with Gateway() as gateway:
            with pytest.raises(BadConfig, match=f"{url} does not answer within 1 s"):
                await mounted(gateway, ledger(start={"url": url, "seconds": 1})).__aenter__()


@pytest.mark.parametrize(
    ("fault", "because"),
    [
        ("reset-500", "reset: POST /reset.* answered 500: cannot reset"),
        ("page-500", "the start page / answered 500"),
        ("state-500", "state: GET /state: answered 500: no state today"),
        ("login-500", "login: POST /login: answered 500: nobody at the desk"),
        ("no-json", "the answer to GET /state is no JSON: .*it begins with b'<p>a page</p>'"),
        (
            "large",
            "GET /state: answered with more than 64,000,000 bytes; have it leave out what no",
        ),
    ],
)
async def test_a_server_that_breaks_is_the_sites_failure_and_says_how(
    fault: str, because: str
) -> None:
    application = ledger(
        start={"command": command(fault), "secrets": ["LEDGER_KEY"]},
        login={"request": {"path": "/login", "form": {"key": "$LEDGER_KEY"}}},
    )
    async with serving(application) as (site, gateway):
        with pytest.raises(RolloutFailure, match=f"^ledger: .*{because}") as caught:
            async with visiting(site, gateway, ledger_task()):
                pass

    assert caught.value.kind is FailureKind.SITE
    assert "\n" not in caught.value.message


async def test_a_page_that_breaks_in_the_middle_is_the_policys_to_see_and_earns_nothing() -> None:
    async with (
        serving(ledger("add-500")) as (site, gateway),
        visiting(site, gateway, ledger_task()) as (_, problem, hands),
    ):
        shown = await hands.ask("POST", "/add", entry="Rope")
        end = await answered(site, problem, hands)

    assert shown[:2] == (500, "no ink")
    assert (end.reward, end.done) == (0.0, True)


async def test_a_state_that_breaks_in_the_middle_is_the_sites_failure() -> None:
    async with (
        serving(ledger("later-state-500")) as (site, gateway),
        visiting(site, gateway, ledger_task()) as (_, problem, hands),
    ):
        await hands.ask("POST", "/add", entry="Rope")
        with pytest.raises(RolloutFailure, match=r"^ledger: state: GET /state: answered 500"):
            await answered(site, problem, hands)


async def test_a_pointer_that_leads_to_nothing_is_named() -> None:
    state = {"request": {"method": "GET", "path": "/state"}, "pointer": "/current"}
    said = (
        "^ledger: reading the state: .*GET /state holds nothing at '/current', which state.pointer"
    )
    async with serving(ledger(state=state)) as (site, gateway):
        with pytest.raises(RolloutFailure, match=said):
            async with visiting(site, gateway, ledger_task()):
                pass


async def test_a_state_that_does_not_come_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "ASK_SECONDS", 0.5)
    async with serving(ledger("hangs")) as (site, gateway):
        with pytest.raises(RolloutFailure, match=r"GET /state: no answer within 0\.5 s"):
            async with visiting(site, gateway, ledger_task()):
                pass


async def test_an_answer_to_a_page_may_take_longer_than_this_program_would_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "ASK_SECONDS", 1.0)
    async with (
        serving(ledger("adds-slowly")) as (site, gateway),
        visiting(site, gateway, ledger_task()) as (_, problem, hands),
    ):
        status, _, _ = await hands.ask("POST", "/add", entry="Rope")
        outcome = await answered(site, problem, hands)

    assert status == 303
    assert outcome.reward == 1


async def test_a_start_page_that_is_not_there_is_named() -> None:
    async with serving(ledger()) as (site, gateway):
        with pytest.raises(RolloutFailure, match="the start page /attic answered 404"):
            async with visiting(site, gateway, ledger_task(path="/attic")):
                pass


@pytest.mark.parametrize("visits", ["one", SHARED])
async def test_a_server_that_ends_in_the_middle_fails_its_visit_and_is_replaced(
    visits: object,
) -> None:
    async with serving(ledger("dies", visits=visits)) as (site, gateway):
        async with visiting(site, gateway, ledger_task()) as (_, problem, hands):
            status, _, _ = await hands.ask("POST", "/add", entry="Rope")
            said = "^ledger: POST /add: .*; the server's last words: the mast broke$"
            with pytest.raises(RolloutFailure, match=said) as caught:
                await answered(site, problem, hands)
        async with visiting(site, gateway, ledger_task()) as (_, problem, _):
            assert (await site.state(problem)).value == {"seed": "1", "entries": []}

    assert status == 502
    assert caught.value.kind is FailureKind.SITE


@pytest.mark.parametrize(
    ("expect", "because"),
    [
        (
            {"added": [{"table": "orders"}]},
            "^ledger: judging: .*no table 'orders' in the state.*its tables are: /entries",
        ),
        ({"values": {"/orders/0/total": 3}}, "^ledger: judging: .*'/orders/0/total'"),
    ],
)
async def test_an_expectation_about_what_no_state_has_is_the_sites_failure(
    expect: Mapping[str, JsonValue], because: str
) -> None:
    task = ledger_task(expect=expect)
    async with (
        serving(ledger()) as (site, gateway),
        visiting(site, gateway, task) as (_, problem, hands),
    ):
        with pytest.raises(RolloutFailure, match=because) as caught:
            await answered(site, problem, hands)

    assert caught.value.kind is FailureKind.SITE
