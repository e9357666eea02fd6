"""Sites and their tasks that cannot be used: one clear line and exit code 2, and nothing is written."""

import json
from pathlib import Path

import pytest
from support.inputs.broken_tasks import WHOLE
from support.inputs.offered_parts import installed, offer
from support.runs.commands import called, contents
from support.servers.ledger_site import command

from schemas.base import JsonObject

ADD = WHOLE["add"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a folder that has nothing yet, with no browser to be had."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPMILL_CHROMIUM", "/bin/false")
    return tmp_path


def refusal(here: Path, *rows: JsonObject, faults: tuple[str, ...] = (), more: str = "") -> str:
    """Return why a run of these tasks over a ledger is refused; nothing may have been written."""
    (here / "ledger.toml").write_text(
        f'origin = "http://ledger.localhost"\n[start]\ncommand = {json.dumps(command(*faults))}\n'
        '[reset]\nrequest = { path = "/reset?seed={seed}" }\n'
        f'[state]\nrequest = {{ method = "GET", path = "/state" }}\n{more}'
    )
    (here / "tasks.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    before = contents(here)
    said = called(
        *("generate", "--no-prefect", "--run=run", "--set=sites.ledger=ledger.toml"),
        *("--set=tasks.source=tasks.jsonl", "--set=policy.name=scripted"),
    )
    assert (said.code, said.out) == (2, ""), said
    assert said.err.startswith("stepmill: ")
    assert said.err.count("\n") == 1
    assert contents(here) == before
    return said.err


def test_an_application_that_does_not_start(here: Path) -> None:
    said = refusal(here, ADD, faults=("ends",))

    assert "sites.ledger: the server ended before it answered" in said
    assert "the server's last words: no room in the harbour" in said


def test_a_task_that_starts_on_another_origin(here: Path) -> None:
    said = refusal(here, ADD, ADD | {"seed": 2, "start_url": "http://elsewhere.localhost/"})

    assert "tasks.jsonl: line 2: start_url = 'http://elsewhere.localhost/'" in said
    assert "tasks of ledger start on http://ledger.localhost; a path of it will do" in said


def test_a_task_that_is_there_twice(here: Path) -> None:
    assert "tasks.jsonl: line 2: is the same task as line 1: delete one" in refusal(here, ADD, ADD)


def test_an_expectation_that_says_what_there_is_not(here: Path) -> None:
    said = refusal(here, ADD | {"expect": {"added": [{"table": "entries", "rows": 2}]}})

    assert "tasks.jsonl: line 1: expect.added.0.rows: unknown field" in said


def test_a_pointer_to_the_state_that_is_none(here: Path) -> None:
    said = refusal(here, ADD, more='pointer = "current"\n')

    assert (
        "sites.ledger.state.pointer = 'current': expected a JSON pointer such as /orders/3" in said
    )


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ("[login.cookies]\nsid = 'hunter2'\n", "login.cookies.sid"),
        ("[login.request]\npath = '/'\nheaders = { Authorization = 'hunter2' }\n", "Authorization"),
        ("[start.environment]\nADMIN_TOKEN = 'hunter2'\n", "start.environment.ADMIN_TOKEN"),
    ],
)
def test_a_secret_that_is_written_into_the_file_is_named_and_not_shown(
    more: str, where: str, here: Path
) -> None:
    said = refusal(here, ADD, more=more)

    assert f"{where} is written into the file; name a variable of the environment" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("name", "code", "because"),
    [
        ("own", "raise OSError('no harbour')", "its import fails: OSError: no harbour"),
        (
            "own",
            "stepmill_api = 2\ndef Own(gateway): ...",
            "is written for API 2, and this Stepmill has API 1: install a newer Stepmill, or",
        ),
        (
            "own",
            "stepmill_api = 1\ndef Own(gateway): raise OSError('no berth')",
            "it is not made: OSError: no berth",
        ),
        (
            "miniwob",
            "stepmill_api = 1\ndef Own(gateway): ...",
            "takes the name of a built-in site: rename its entry point, or uninstall",
        ),
    ],
)
def test_a_site_of_a_plugin_that_cannot_be_used(
    name: str, code: str, because: str, here: Path
) -> None:
    task = {"site": "own", "instruction": "Press.", "start_url": "http://own.localhost/"}
    shipped = {"site": "miniwob", "template_id": "click-test", "seed": 1}
    (here / "tasks.jsonl").write_text(json.dumps(shipped if name == "miniwob" else task))
    asked = ("generate", "--no-prefect", "--run=run", "--set=tasks.source=tasks.jsonl")
    with installed(here / "parts"):
        offer(
            here / "parts",
            "own-site",
            {f"stepmill.sites:{name}": "own_site:Own"},
            modules={"own_site": code},
        )
        before = contents(here)
        said = called(*asked)

    assert (said.code, said.out) == (2, ""), said
    assert f"stepmill: site: the site '{name}' of own-site 1.0 (own_site:Own) " in said.err
    assert because in said.err
    assert said.err.count("\n") == 1
    written = {path: data for path, data in contents(here).items() if "__pycache__" not in path}
    assert written == before
