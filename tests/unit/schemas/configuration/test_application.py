"""What an application's file may say, and what it may not."""

from typing import Any

import pytest
from pydantic import ValidationError
from support.servers.ledger_site import SHARED, ledger

from schemas.configuration.application import Application
from schemas.configuration.config import RunConfig, identity, resolve
from schemas.errors import BadConfig

COMMAND = {"command": ["serve"]}


def test_a_small_file_is_enough() -> None:
    application = Application.model_validate(
        {
            "origin": "http://shop.localhost",
            "start": COMMAND,
            "state": {"sqlite": "{folder}/shop.db"},
        }
    )

    assert application.visits == "one"
    assert application.reset is None


@pytest.mark.parametrize(
    ("more", "rule"),
    [
        ({"origin": "http://shop.localhost:8000"}, "a name without a port"),
        ({"origin": "http://shop.localhost/"}, "a name without a port"),
        ({"origin": "http://10.0.0.7"}, "a name without a port"),
        ({"origin": "ftp://shop.localhost"}, "expected http://"),
        ({"start": {}}, "either a command .* or the url"),
        ({"start": {**COMMAND, "url": "http://127.0.0.1:1"}}, "either a command .* or the url"),
        ({"start": {"url": "127.0.0.1:80"}}, "expected http://HOST:PORT"),
        ({"start": {"url": "http://127.0.0.1:1", "secrets": ["KEY"]}}, "gets no environment"),
        ({"start": {"url": "http://127.0.0.1:1"}, "reset": None}, "needs a reset"),
        ({"reset": {}}, "one of request, steps, command and files"),
        (
            {"reset": {"files": "worlds", "command": ["x"]}},
            "one of request, steps, command and files",
        ),
        (
            {"start": {"url": "http://127.0.0.1:1"}, "reset": {"files": "worlds/{seed}"}},
            "reset.files are put into the folder of a server that Stepmill starts",
        ),
        (
            {"state": {"folder": "data", "views": {"page": "SELECT 1"}}},
            "views are of a SQLite file",
        ),
        (
            {"start": {"url": "http://127.0.0.1:1"}, "login": {"seeded": True}},
            "login.seeded is for servers that Stepmill starts",
        ),
        ({"reset": {"request": {"path": "reset"}}}, "pattern"),
        (
            {"reset": {"request": {"path": "/", "data": {}, "form": {}}}},
            "'data' or a 'form', not both",
        ),
        ({"state": {"request": {"method": "GET", "path": "/", "data": {}}}}, "a GET has no body"),
        ({"state": {}}, "one of request, requests, sqlite, folder and command"),
        ({"state": {"sqlite": "a", "folder": "b"}}, "one of request, requests, sqlite"),
        ({"state": {"command": ["dump"], "leave_out": ["log"]}}, "leave_out is for"),
        ({"visits": SHARED, "reset": None}, "need a reset"),
        ({"visits": "two"}, "Input should be"),
        (
            {
                "start": {"url": "http://127.0.0.1:1"},
                "clock": {"at": "2026-01-15T10:00:00Z", "freeze_server": True},
            },
            "only the time of a server that Stepmill starts",
        ),
        ({"masks": {"patterns": ["("]}}, "is no regular expression"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_what_contradicts_itself_is_refused_with_the_rule(more: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValidationError, match=rule):
        ledger(**more)


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"login": {"cookies": {"sid": "secret"}}}, "login.cookies.sid"),
        ({"login": {"storage": {"auth_token": "abc"}}}, "login.storage.auth_token"),
        (
            {"login": {"request": {"path": "/", "form": {"password": "tea"}}}},
            "login.request.form.password",
        ),
        (
            {"login": {"request": {"path": "/", "data": {"api_key": "tea"}}}},
            "login.request.data.api_key",
        ),
        (
            {"login": {"request": {"path": "/", "headers": {"Authorization": "Bearer abc"}}}},
            "login.request.headers.Authorization",
        ),
        (
            {"reset": {"request": {"path": "/", "headers": {"X-Admin-Token": "abc"}}}},
            "reset.request.headers.X-Admin-Token",
        ),
        ({"reset": {"request": {"path": "/", "form": {"api_key": "tea"}}}}, "reset.request.form"),
        ({"reset": {"request": {"path": "/", "data": {"token": "tea"}}}}, "reset.request.data"),
        ({"reset": {"request": {"path": "/?token=tea"}}}, "reset.request.path.token"),
        (
            {"state": {"request": {"path": "/", "headers": {"Cookie": "sid=1"}}}},
            "state.request.headers.Cookie",
        ),
        (
            {"state": {"requests": {"a": {"path": "/", "headers": {"Cookie": "sid=1"}}}}},
            "state.requests.a.headers.Cookie",
        ),
        (
            {"start": {**COMMAND, "environment": {"ADMIN_PASSWORD": "tea"}}},
            "start.environment.ADMIN_PASSWORD",
        ),
    ],
)
def test_a_secret_is_never_written_into_the_file(more: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError, match=f"{where}.* is written into the file") as caught:
        ledger(**more)
    assert "SHOP_TOKEN" in str(caught.value)


def test_what_names_a_secret_that_was_written_out_does_not_quote_it() -> None:
    table = ledger().model_dump(mode="json")
    login = {"cookies": {"sid": "hunter2-of-mia"}, "request": {"path": "/", "data": {}, "form": {}}}
    for wrong in (login, {**login, "request": None}):
        with pytest.raises(BadConfig, match=r"^shop.toml: sites\.ledger") as caught:
            resolve([("shop.toml", {"sites": {"ledger": {**table, "login": wrong}}})])

        assert "hunter2" not in str(caught.value)
        assert "\n" not in str(caught.value)


def test_the_name_of_a_variable_and_the_visits_id_are_no_secrets() -> None:
    ledger(
        visits=SHARED,
        start={**COMMAND, "environment": {"API_KEY": "$LEDGER_KEY", "TOKENS_SHOWN": "3"}},
        reset={"request": {"path": "/reset?session={session}"}},
        login={
            "cookies": {"sid": "$LEDGER_COOKIE"},
            "request": {"path": "/login", "headers": {"Authorization": "Bearer $LEDGER_KEY"}},
        },
    )


def test_a_login_that_each_seed_makes_is_no_secret() -> None:
    login = ledger(login={"seeded": True, "cookies": {"sid": "mia"}}).login

    assert login is not None
    assert login.cookies == {"sid": "mia"}


def test_what_decides_what_is_made_is_the_runs_identity() -> None:
    def of(**more: Any) -> object:
        return identity(RunConfig(sites={"ledger": ledger(**more)}))["sites.ledger"]

    start = {"command": ["serve"]}
    assert of(start=start) == of(start={**start, "seconds": 5, "environment": {"LANG": "C"}})
    assert of(start=start) == of(start=start, home="/srv")
    assert of(start=start) != of(start={"command": ["serve", "--fast"]})
    assert of(start=start) != of(start=start, masks={"fields": ["csrf"]})
    assert of(start=start) != of(start=start, version="2")


def test_two_sites_of_one_origin_are_refused() -> None:
    table = ledger().model_dump(mode="json")

    with pytest.raises(BadConfig, match=r"one and other have the same origin, http://ledger"):
        resolve([("run.toml", {"sites": {"one": table, "other": table}})])


@pytest.mark.parametrize("name", ["Shop", "a b", "", "x" * 41])
def test_a_sites_name_is_short_and_plain(name: str) -> None:
    with pytest.raises(BadConfig, match="sites"):
        resolve([("run.toml", {"sites": {name: ledger().model_dump(mode="json")}})])
