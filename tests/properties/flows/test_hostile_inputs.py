"""Whatever a command is given, it says in a line what is wrong, writes nothing, and ends soon."""

import asyncio
import contextlib
import json
import shutil
from collections.abc import Iterator

import pytest
from effort import THOROUGH
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from support.episodes.factories import MadeRun, make_whole_run
from support.inputs.odd_inputs import (
    any_text,
    arguments,
    damaged,
    keys,
    layers,
    toml,
    toml_file,
    wild_bytes,
    wild_json,
    wild_text,
    words,
)
from support.inputs.refusals import empty_folder, harmless, put
from support.servers.raw_server import RawServer, http
from support.servers.seaweedfs import credentials

from flows.cli.parser import COMMANDS
from flows.terminal import ExitCode
from generators.engine.client.response import InvalidCompletion, error_message, read_completion
from generators.tasks.files import TaskRow
from schemas.backoff import Backoff
from schemas.base import canonical_json
from schemas.configuration.application import Application

few = settings(
    max_examples=500 if THOROUGH else 12, suppress_health_check=list(HealthCheck), deadline=None
)
"""Each example is a whole command."""

GENERATE = ("generate", "--no-prefect")
REFUSED = ExitCode.REFUSED
LONG = {"serve", "install", "sheet"}
"""Commands that serve until they are interrupted, load something, or draw for long."""


@few
@given(st.data())
def test_a_command_line_of_anything(data: DataObject) -> None:
    inner = {
        "tasks": ("list", "validate", "show", "check"),
        "sites": ("check",),
        "worlds": ("list", "show", "check"),
        "engine": ("plan",),
    }
    command = data.draw(st.sampled_from(sorted(COMMANDS)) | arguments)
    first = [command, *([data.draw(st.sampled_from(inner[command]))] if command in inner else [])]
    flags = (
        "--json",
        "--set",
        "--config",
        "--run",
        "--to",
        "--version",
        "--k",
        "--seed",
        "--format",
    )
    rest = data.draw(st.lists(st.sampled_from(flags) | arguments, max_size=5))
    with empty_folder() as here:
        harmless(*first, *rest, here=here)


@few
@given(keys | words, wild_json.map(toml) | arguments)
def test_a_setting_of_anything(key: str, value: str) -> None:
    with empty_folder() as here:
        said = harmless(*GENERATE, "--set", f"{key}={value}".replace("\0", "0"), here=here)
    assert (said.code, said.out) == (REFUSED, "")


@few
@given(wild_bytes | layers)
def test_a_configuration_of_anything(content: bytes) -> None:
    with empty_folder() as here:
        put(here, {"run.toml": content})
        said = harmless(*GENERATE, "--config", "run.toml", here=here)
    assert (said.code, said.out) == (REFUSED, "")


PLACES = st.builds(
    lambda scheme, rest: f"{scheme}{rest}".replace("\0", "0"),
    st.sampled_from(("", "file://", "file:///", "s3://", "s3://bucket/", "hf://datasets/", "./")),
    any_text,
)


@few
@pytest.mark.usefixtures("in_a_hurry")
@given(
    PLACES, st.sampled_from(["show", "audit", "compact", "verify", "replay", "publish", "export"])
)
def test_a_place_of_anything(place: str, command: str) -> None:
    more = {
        "verify": ("--no-prefect",),
        "replay": ("0123",),
        "publish": ("--to=out", "--no-prefect"),
        "export": ("--format=atif", "--to=out"),
    }.get(command, ())
    with empty_folder() as here:
        said = harmless(command, f"{place}", *more, here=here)
    assert (said.code, said.out) == (REFUSED, "")


ROWS = st.fixed_dictionaries(
    {"site": st.just("miniwob") | wild_text, "template_id": st.just("click-test") | wild_text},
    optional=dict.fromkeys(sorted(TaskRow.model_fields.keys() - {"site", "template_id"}), wild_json)
    | {"seed": st.integers(0, 9) | wild_json},
)
"""Rows of a task file in which anything may stand in any column."""

ROW_BYTES = ROWS.map(json.dumps).map(str.encode)


@few
@given(wild_bytes | st.lists(ROW_BYTES | wild_bytes, max_size=3).map(b"\n".join))
def test_a_task_file_of_anything(content: bytes) -> None:
    with empty_folder() as here:
        put(here, {"tasks.jsonl": content})
        said = harmless(*GENERATE, "--set=tasks.source=tasks.jsonl", here=here)
        examined = harmless("tasks", "validate", "tasks.jsonl", "--json", here=here)
    assert (said.code, said.out) == (REFUSED, "")
    assert not examined.out or (examined.out.isascii() and json.loads(examined.out))


ACTION = st.dictionaries(
    st.sampled_from(("type", "x", "y", "text", "key", "ms", "url", "amount", "index")) | wild_text,
    st.sampled_from(("click", "type", "key", "wait", "goto", "answer", "scroll")) | wild_json,
    max_size=5,
)
SCRIPT = st.dictionaries(
    st.just("click-test") | wild_text, st.lists(ACTION, max_size=3), max_size=2
)


@few
@given(wild_bytes | SCRIPT.map(json.dumps).map(str.encode))
def test_a_script_of_anything(content: bytes) -> None:
    with empty_folder() as here:
        put(here, {"script.json": content})
        scripted = ("--set=policy.name=scripted", "--set=policy.script=script.json")
        said = harmless(*GENERATE, *scripted, "--set=tasks.include=['click-test']", here=here)
    assert (said.code, said.out) == (REFUSED, "")


_PLACES = ("request", "command", "files", "cookies", "sqlite", "at", "carrier", "name", "path")
PARTS = st.dictionaries(
    st.sampled_from([*sorted(Application.model_fields.keys() - {"start"}), "x"]),
    wild_json | st.dictionaries(st.sampled_from(_PLACES) | words, wild_json, max_size=3),
    max_size=4,
)


@few
@given(PARTS.map(toml_file))
def test_an_application_of_anything(parts: bytes) -> None:
    with empty_folder() as here:
        put(here, {"shop.toml": b"start.command = ['true']\n" + parts})
        said = harmless(*GENERATE, "--set=sites.shop=shop.toml", here=here)
    assert (said.code, said.out) == (REFUSED, "")


@pytest.fixture
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask a store that does not answer only once more."""
    hurry = Backoff(first_seconds=0.001, max_seconds=0.001, tries=2)
    monkeypatch.setattr("storage.objects.s3.retry.BACKOFF", hurry)


@pytest.fixture(scope="module")
def server() -> Iterator[RawServer]:
    with RawServer() as server:
        yield server


XML = st.lists(
    st.sampled_from(
        ("<Error>", "</Error>", "<Code>", "</Code>", "<Key>", "</Key>", "<Size>", "&a;")
    )
    | words,
    max_size=8,
).map(lambda parts: "".join(parts).encode())
STATUS = st.sampled_from(("200 OK", "204 x", "206 x", "301 x", "400 x", "403 x", "404 x", "500 x"))
FIELDS = st.sampled_from(
    ("", 'ETag: "1"\r\n', "Last-Modified: x\r\n", "x-amz-bucket-region: \x7f\r\n")
)
ANSWERS = st.builds(
    lambda body, status, more: http(body, status=status, kind="application/xml", more=more),
    XML | wild_bytes,
    STATUS,
    FIELDS,
)


@few
@pytest.mark.usefixtures("in_a_hurry")
@given(ANSWERS | wild_bytes)
def test_a_store_that_answers_anything(server: RawServer, answer: bytes) -> None:
    server.answer = answer
    with empty_folder() as here:
        said = harmless("show", "s3://bucket/run", here=here, env=credentials(server.url))
    assert (said.code, said.out) == (REFUSED, "")


MODELS = st.fixed_dictionaries(
    {"data": st.just([{"id": "m"}]) | wild_json},
    optional={
        "choices": st.lists(st.fixed_dictionaries({"message": wild_json}), max_size=2) | wild_json,
        "usage": wild_json,
        "metrics": wild_json,
        "owned_by": wild_json,
    },
)
REPLIES = st.builds(
    lambda value, status: http(json.dumps(value), status=status), MODELS | wild_json, STATUS
)


@few
@given(REPLIES | wild_bytes)
def test_an_engine_that_answers_anything(server: RawServer, answer: bytes) -> None:
    server.answer = answer
    with empty_folder() as here:
        harmless("engine", "check", server.url, here=here)


@settings(max_examples=2_000 if THOROUGH else 100)
@given(
    wild_bytes
    | st.fixed_dictionaries(
        {},
        optional={
            "choices": st.lists(
                st.fixed_dictionaries(
                    {},
                    optional={
                        "message": st.dictionaries(
                            st.sampled_from(("content", "reasoning", "tool_calls")), wild_json
                        ),
                        "token_ids": wild_json,
                        "logprobs": wild_json,
                        "finish_reason": wild_json,
                    },
                )
            ),
            "usage": wild_json,
            "model": wild_json,
        },
    )
    .map(json.dumps)
    .map(str.encode)
)
def test_a_reply_of_anything_is_one_that_rows_hold_or_none(body: bytes) -> None:
    assert "\n" not in error_message(body)
    with contextlib.suppress(InvalidCompletion):
        reply = read_completion(body)
        assert canonical_json(
            [reply.text, reply.reasoning, reply.model, reply.finish_reason]
        ).encode()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> MadeRun:
    """A finished run."""
    return asyncio.run(make_whole_run(tmp_path_factory.mktemp("whole") / "run", units=1))


@few
@given(st.data())
def test_a_run_in_which_anything_is_damaged(run: MadeRun, data: DataObject) -> None:
    files = sorted(
        str(path.relative_to(run.folder)) for path in run.folder.rglob("*") if path.is_file()
    )
    name = data.draw(st.just("run.json") | st.sampled_from(files))
    content = data.draw(damaged((run.folder / name).read_bytes()))
    command = data.draw(st.sampled_from(("show", "audit", "audit --deep", "export", "publish")))
    more = {"export": "--format atif --to out", "publish": "--to out --no-prefect"}.get(command, "")
    with empty_folder() as here:
        shutil.copytree(run.folder, here / "run", copy_function=shutil.copyfile)
        put(here, {f"run/{name}": content})
        word, *flags = command.split()
        harmless(word, "run", *flags, *more.split(), here=here)
