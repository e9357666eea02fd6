"""Logins with tokens, several users and origins, sockets and readiness: what they do, and what wrong ones are told."""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pydantic import ValidationError
from support.servers.ledger_site import Hands
from support.servers.office_site import ADD, API, ORIGIN, office

from generators.sites.application import sockets
from generators.sites.application.site import ApplicationSite
from generators.sites.gateway import Gateway
from generators.sites.protocol import Visit
from schemas.configuration.application import Application
from schemas.errors import BadConfig, RolloutFailure
from schemas.tasks.expectation import parse_expectation
from schemas.tasks.task import Task


def _task(user: str | None = None) -> Task:
    return Task(
        task_id="a",
        template_id="add",
        source="test",
        site="office",
        start_url=f"{ORIGIN}/",
        instruction="Add.",
        user=user,
        expect=parse_expectation(ADD["expect"], "a test"),
    )


async def _visit(application: Application, user: str | None = None) -> Visit:
    """Open a visit and end it; return it."""
    async with _visiting(application, user) as (_, _, visit):
        return visit


@contextlib.asynccontextmanager
async def _visiting(
    application: Application, user: str | None = None
) -> AsyncIterator[tuple[Gateway, ApplicationSite, Visit]]:
    """Yield an open visit, with its site and the gateway."""
    async with (
        Gateway() as gateway,
        ApplicationSite("office", application, gateway) as site,
        site.open(_task(user)) as visit,
    ):
        yield gateway, site, visit


async def _fault(application: Application) -> str:
    """Return why a visit cannot be opened."""
    with pytest.raises(RolloutFailure) as caught:
        await _visit(application)
    assert caught.value.message.startswith("office: ")
    return caught.value.message


def _cookies(visit: Visit) -> dict[str, tuple[str, bool, str]]:
    assert visit.sign_in is not None
    return {
        one.name: (one.url, one.http_only, one.domain)
        for one in visit.sign_in.cookies
        if one.name != "stepmill-visit"
    }


async def test_the_cookies_of_a_form_are_as_the_server_set_them() -> None:
    assert _cookies(await _visit(office())) == {
        "seen": (ORIGIN, False, ""),
        "session": (ORIGIN, True, "office.test"),
        "theme": (ORIGIN, False, ""),
    }


async def test_the_visits_cookie_is_there_for_each_origin() -> None:
    visit = await _visit(office())

    assert visit.sign_in is not None
    own = [one.url for one in visit.sign_in.cookies if one.name == "stepmill-visit"]
    assert own == [ORIGIN, API]
    assert visit.allowed_origins == (ORIGIN, API)


@pytest.mark.parametrize(
    ("fault", "because"),
    [
        (
            "no-token",
            r"step 1 of 2: GET /login: find.token: field 'token' has no value in the answer",
        ),
        ("two-tokens", r"find.token: field 'token' has 2 different values .*name the form too"),
        ("no-reset", r"reset, step 2 of 3: POST /reset/data: answered 500: no ticket"),
    ],
)
async def test_a_step_that_fails_is_named_with_its_rule(fault: str, because: str) -> None:
    message = await _fault(office(fault))

    assert re.search(because, message), message


async def test_a_rule_may_name_the_form() -> None:
    table = office().model_dump(mode="json")
    table["login"]["steps"][0]["find"]["token"]["form"] = "login"

    visit = await _visit(
        Application.model_validate(
            table | {"start": office("two-tokens").start.model_dump(mode="json")}
        )
    )

    assert "session" in _cookies(visit)


async def test_a_form_that_comes_back_is_a_failed_login_and_nothing_secret_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WRONG", "open-sesame")
    users = {"mia": {"name": "mia", "password": "$WRONG"}}

    message = await _fault(office(users=users))

    assert (
        "answered 200 with a form that asks for a password: the user was not logged in" in message
    )
    assert "open-sesame" not in message


async def test_a_proof_shows_that_a_login_worked_or_did_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    login = office().model_dump(mode="json")["login"]
    login["proof"] = {"path": "/", "contains": "Notes of {user.name}"}
    assert "session" in _cookies(await _visit(office(login=login)))

    monkeypatch.setenv("WRONG", "open-sesame")
    users = {"mia": {"name": "mia", "password": "$WRONG"}}
    message = await _fault(office(login=login, users=users))

    assert "login.proof: GET / answered 302 without the text" in message


async def test_a_user_that_the_file_has_not_is_refused_by_name() -> None:
    with pytest.raises(RolloutFailure, match=r"no user 'tom' \(there are: mia, root\)"):
        await _visit(office(), "tom")


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        (
            {"users": {"a": {"name": "x", "password": "$P"}, "b": {"name": "x", "password": "$P"}}},
            "users.b and users.a are one user",
        ),
        (
            {"users": {"mia": {"name": "mia"}}},
            r"login writes \{user.password\}, but users.mia has no",
        ),
        (
            {"users": {"mia": {"name": "mia", "password": "tea"}}},
            "users.mia.password is written into",
        ),
        ({"users": {}}, "but users has no"),
        ({"login": None}, r"login writes no \{user.KEY\}"),
        (
            {"origins": {"http://10.0.0.1": "http://127.0.0.1:{port}"}},
            "another name without a port",
        ),
        (
            {"origins": {"http://a.test:81": "http://127.0.0.1:{port}"}},
            "another name without a port",
        ),
        ({"origins": {"https://office.test": "http://127.0.0.1:{port}"}}, "another name without"),
        ({"origins": {API: "http://127.0.0.1:5432"}}, "a server that Stepmill starts is at"),
        ({"origins": {API: "http://10.0.0.1:{port.api}"}}, "a server that Stepmill starts is at"),
        (
            {
                "start": {"url": "http://127.0.0.1:1"},
                "origins": {API: "http://10.0.0.1:2"},
            },
            "with the host of start.url",
        ),
        (
            {"start": {"url": "http://127.0.0.1:1", "certificate": "x.pem"}, "origins": {}},
            "a certificate is for a server that runs already at an https:// url",
        ),
        (
            {"login": {"steps": [{"path": "/", "find": {"a": {}}}]}},
            "one of field, pattern, pointer",
        ),
        (
            {"login": {"steps": [{"path": "/", "find": {"a": {"pattern": "("}}}]}},
            "is no regular expression",
        ),
        (
            {"login": {"steps": [{"path": "/", "find": {"A b": {"field": "x"}}}]}},
            "small letters, digits",
        ),
    ],
)
def test_what_contradicts_itself_is_refused_with_the_rule(more: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValidationError, match=rule):
        office(**more)


async def test_a_server_that_never_gets_ready_is_refused_with_its_last_answer() -> None:
    start = office("never-ready").start.model_dump(mode="json") | {"seconds": 2}

    with pytest.raises(
        BadConfig, match=r"/health does not answer within 2 s; the last answer to /health: 503"
    ):
        await _visit(office(start=start))


async def test_a_certificate_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.pem").write_text("no certificate")
    start = {"url": "https://127.0.0.1:9", "certificate": "x.pem"}
    application = office(start=start, origins={}, home=str(tmp_path))

    with pytest.raises(
        BadConfig, match=r"start.certificate = 'x.pem': there is no certificate in PEM"
    ):
        await _visit(application)


def _state(**more: Any) -> dict[str, Any]:
    cookie = {"name": "session", "value": "v", "domain": "office.test", "path": "/", "expires": -1}
    return {"cookies": [cookie | more], "origins": []}


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("{", "Invalid JSON"),
        ('{"cookies": [{"name": "a"}]}', "cookies.0.value: Field required"),
        (json.dumps(_state(domain="example.com")), "it holds nothing for .*, but for: example.com"),
        (json.dumps(_state(expires=1_600_000_000)), "'session' expired on 2020-09-13"),
    ],
)
async def test_a_storage_state_of_no_use_is_refused(
    tmp_path: Path, text: str, because: str
) -> None:
    (tmp_path / "state.json").write_text(text)
    login = {"storage_state": "state.json"}

    message = await _fault(office(login=login, users={}, home=str(tmp_path)))

    assert re.search(f"login.storage_state = 'state.json': .*{because}", message), message


async def test_a_storage_state_logs_in(tmp_path: Path) -> None:
    stored = _state(httpOnly=True, expires=time.time() + 1_000)
    entry = {"name": "theme", "value": "dark"}
    stored["origins"] = [{"origin": API, "localStorage": [entry]}]
    (tmp_path / "state.json").write_text(json.dumps(stored))

    visit = await _visit(
        office(login={"storage_state": "state.json"}, users={}, home=str(tmp_path))
    )

    assert _cookies(visit) == {"session": (ORIGIN, True, "")}
    assert visit.sign_in is not None
    assert visit.sign_in.storage == {API: {"theme": "dark"}}


async def test_the_user_of_http_basic_is_added_on_the_way_and_a_page_may_name_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WORD", "tea")
    basic = {"user": "{user.name}", "password": "{user.password}"}
    users = {
        "mia": {"name": "mia", "password": "$WORD"},
        "tom": {"name": "tom", "password": "$WORD"},
    }
    application = office(login={"basic": basic}, users=users)
    async with _visiting(application, "tom") as (gateway, _, visit):
        hands = Hands(gateway, visit, host="office.test")
        _, sent, _ = await hands.ask("GET", "/who")
        own = await _ask_as(gateway, hands, Authorization="Bearer own")

    assert sent == '"Basic dG9tOnRlYQ=="'
    assert own == '"Bearer own"'
    assert list(hands.cookies) == ["stepmill-visit"]


async def _ask_as(gateway: Gateway, hands: Hands, **headers: str) -> str:
    url = f"http://127.0.0.1:{gateway.port}/who"
    async with (
        aiohttp.ClientSession(cookies=hands.cookies) as http,
        http.get(url, headers={"Host": "office.test", **headers}) as answer,
    ):
        return await answer.text()


async def test_a_socket_passes_messages_on_and_the_state_is_read_anew() -> None:
    async with _visiting(office()) as (gateway, site, visit):
        hands = Hands(gateway, visit, host="office.test")
        await hands.ask("GET", "/")
        problem = await site.begin(visit, hands)  # type: ignore[arg-type]
        async with _socket(gateway, hands) as socket:
            assert socket.protocol == "notes.v1"
            await socket.send_str("Coal")
            heard = json.loads((await socket.receive(timeout=5)).data)
            state = await site.state(problem)

    assert [one["text"] for one in heard] == ["Order rope", "Coal"]
    assert state is not None
    assert "Coal" in str(state.value)


async def test_a_socket_without_end_is_closed_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "MAX_BYTES", 5 * 2**20)
    async with (
        _visiting(office("flood")) as (gateway, _, visit),
        _socket(gateway, Hands(gateway, visit)) as socket,
    ):
        heard = [len(one.data) async for one in socket]

    assert len(heard) == 5


async def test_a_socket_that_never_opens_is_refused_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sockets, "OPEN_SECONDS", 0.3)
    application = office("silent-socket")
    async with _visiting(application) as (gateway, site, visit):
        with pytest.raises(aiohttp.WSServerHandshakeError, match="504"):
            async with _socket(gateway, Hands(gateway, visit)):
                pass
        assert not [server for server in site._all if server.broken]


def _socket(gateway: Gateway, hands: Hands) -> Any:
    """Open the office's socket as its page does."""
    cookies = "; ".join(f"{name}={value}" for name, value in hands.cookies.items())
    session = aiohttp.ClientSession(
        headers={"Host": "office.test", "Cookie": cookies}, cookie_jar=aiohttp.DummyCookieJar()
    )
    return _Socket(session, f"http://127.0.0.1:{gateway.port}/live")


class _Socket:
    """A socket with its client."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session, self._url = session, url

    async def __aenter__(self) -> aiohttp.ClientWebSocketResponse:
        try:
            self._socket = await self._session.ws_connect(self._url, protocols=["notes.v1"])
        except BaseException:
            await self._session.close()
            raise
        return self._socket

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()
        await self._session.close()


async def test_a_stream_that_goes_on_keeps_nobody_waiting() -> None:
    async with _visiting(office()) as (gateway, site, visit):
        hands = Hands(gateway, visit, host="office.test")
        await hands.ask("GET", "/")
        problem = await site.begin(visit, hands)  # type: ignore[arg-type]
        stream = asyncio.ensure_future(hands.ask("GET", "/events"))
        await asyncio.sleep(0.3)
        begun = time.monotonic()
        outcome = await site.outcome(problem, hands, answer="")  # type: ignore[arg-type]
        took = time.monotonic() - begun
        stream.cancel()

    assert outcome.done
    assert took < sockets.OPEN_SECONDS / 10
