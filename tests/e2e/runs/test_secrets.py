"""Nothing that lets anybody in is in anything that a run leaves or says.

Keys of a bucket, a session's token, one of the Hub, an engine's key, and a user and password in its
URL are planted; whole commands go well, and fail in the ways in which a server quotes what it was
asked with; with their clients' own debugging on. Then every byte is searched for each of them.
"""

import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from aiohttp import web
from conftest import CopyRun
from hub.faults import Fault
from hub.server import LocalHub
from hub.state import Account
from support.inputs.secrets_search import Hoard, files
from support.runs.commands import SMALL, Said, called, stepmill
from support.runs.locations import Place
from support.servers.http_servers import Loopback
from support.servers.s3_fault_proxy import Asked, Denial, Flaky
from support.servers.seaweedfs import ACCESS_KEY, SECRET_KEY, Weed, credentials

from generators.browser.chromium import find_chromium
from generators.engine.simulator.server import SimulatorServer

SESSION = "planted+session/token=of==somebody"
HUB_TOKEN = "hf_plantedTokenOfTheHub0123456789"  # noqa: S105 - good for nothing
ENGINE_KEY = "sk-planted/Engine+Key-0123456789"
USER, PASSWORD = "planted-user", "planted:pass/word@0"
IN_URL = "planted-user:planted%3Apass%2Fword%400"
FLAG = "planted-flag-of-a-server"
SECRETS = (SECRET_KEY, SESSION, HUB_TOKEN, ENGINE_KEY, PASSWORD, FLAG)

DEBUGGING = {
    "HF_DEBUG": "1",
    "OPENAI_LOG": "debug",
    "RUST_LOG": "debug",
    "HF_XET_LOG_LEVEL": "debug",
    "PREFECT_LOGGING_LEVEL": "DEBUG",
}
"""What makes the clients that are used tell more."""

ASKED = (
    "generate",
    "--no-prefect",
    "--json",
    "--set=policy.name=model",
    "--set=engine.kind=openai",
    "--set=engine.patience_seconds=5",
    "--set=browser.viewport=[512,512]",
    "--set=tasks.include=['click-test']",
    "--set=tasks.seeds=[0,1]",
    "--set=limits.steps=2",
    "--set=verify.verifiers=['structure']",
    "--set=accept.passed=['structure']",
    "--set=publish.include_rejected=true",
)


class Engine(Loopback):
    """The scripted engine, in a thread."""

    async def open(self) -> None:
        self._server = SimulatorServer()
        await self._server.__aenter__()
        self.port = self._server.port

    async def close(self) -> None:
        await self._server.__aexit__(None, None, None)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        raise web.HTTPNotFound(text=request.path)


def quoting(status: int, code: str, *secrets: str) -> Denial:
    """Return the no of a server that repeats what it was asked with."""
    return Denial(status, code, more="".join(f"<Quoted>{secret}</Quoted>" for secret in secrets))


@dataclass
class World:
    """Everything that is there, each behind something that may say no."""

    base: Path
    store: Flaky
    hub: LocalHub
    engine: Flaky
    place: str
    """In a bucket, where the first run and its copy lie."""
    said: list[tuple[str, bytes]] = field(default_factory=list)

    @property
    def made(self) -> str:
        """The run that went well."""
        return f"{self.place}/run"

    @property
    def short(self) -> str:
        """The run in a folder whose engine refused to go on."""
        return str(self.base / "short")

    def environment(self) -> dict[str, str]:
        homes = {name: str(self.base / name.lower()) for name in ("HOME", "TMPDIR", "HF_HOME")}
        for folder in homes.values():
            Path(folder).mkdir(exist_ok=True)
        return {
            **credentials(self.store.endpoint),
            **DEBUGGING,
            **homes,
            "HF_ENDPOINT": self.hub.url,
            "HF_TOKEN": HUB_TOKEN,
            "STEPMILL_CHROMIUM": str(find_chromium()),
        }

    def command(self, *argv: str, **more: str) -> Said:
        """Run a command in a process of its own, and keep what it said."""
        return self._kept(stepmill(*argv, env=self.environment() | more))

    def here(self, *argv: str, **more: str) -> Said:
        """Run a command in this process, and keep what it said."""
        return self._kept(called(*argv, env=credentials(self.store.endpoint) | more))

    def _kept(self, said: Said) -> Said:
        name = f"what command {len(self.said)} said"
        self.said.append((name, f"{said.out}\n{said.err}".encode()))
        return said


@pytest.fixture
def world(weed: Weed, tmp_path: Path) -> Iterator[World]:
    with (
        LocalHub(tmp_path / "hub") as hub,
        Engine() as engine,
        Flaky(engine.endpoint) as before_engine,
        Flaky(weed.endpoint) as before_store,
    ):
        hub.state.accounts[HUB_TOKEN] = Account("tester", orgs=("org",))
        yield World(tmp_path, before_store, hub, before_engine, weed.place())


def denying(denial: Denial, *, spare: int = 0, only: str = "") -> "Denying":
    return Denying(denial, spare, only)


@dataclass
class Denying:
    """The mood to deny requests to some place, after so many of them."""

    denial: Denial
    spare: int
    only: str

    def __call__(self, asked: Asked) -> Denial | None:
        if self.only not in f"{asked.method} {asked.path}":
            return None
        self.spare -= 1
        return self.denial if self.spare < 0 else None


def all_goes_well(world: World) -> None:
    """Make a run in a bucket by an engine with a user and password, and publish it everywhere."""
    headers: set[str] = set()

    def listening(asked: Asked) -> None:
        headers.add(asked.headers.get("Authorization", "none").partition(" ")[0])

    world.engine.mood = listening
    url = f"{world.engine.endpoint}/v1".replace("://", f"://{IN_URL}@")
    copies = [str(world.base / "to"), f"{world.place}/to", "hf://datasets/org/data"]
    said = world.command(
        *ASKED,
        f"--set=engine.urls=['{url}']",
        f"--set=engine.args=['--api-key','{FLAG}']",
        f"--set=publish.to={json.dumps(copies)}",
        f"--run={world.made}",
    )
    assert (said.code, headers) == (0, {"Basic"}), said.err


def the_engine_refuses(world: World) -> None:
    """Have its key refused in the middle of a run, and before another."""
    indiscreet = quoting(401, "Unauthorized", ENGINE_KEY, f"Bearer {ENGINE_KEY}")
    by_key = (*ASKED, f"--set=engine.urls=['{world.engine.endpoint}/v1']")
    to = f"--set=publish.to=['{world.short}-to']"

    world.engine.mood = denying(indiscreet, spare=3, only="/chat/completions")
    failed = world.command(*by_key, f"--run={world.short}", to, OPENAI_API_KEY=ENGINE_KEY)
    world.engine.mood = denying(indiscreet)
    refused = world.here(*by_key, f"--run={world.short}2", OPENAI_API_KEY=ENGINE_KEY)

    assert failed.code == 1, failed.err
    assert "no engine is left to ask" in failed.err
    assert refused.code == 2
    assert "HTTP 401" in refused.err


def the_hub_refuses(world: World) -> None:
    """Have its token refused: it may not write, and it is not known."""
    said = ("X-Error-Message", f"{HUB_TOKEN} may not")
    world.hub.faults.append(Fault("/commit/", status=403, headers=(said,)))
    publish = ("publish", world.made, "--no-prefect")

    no_right = world.command(*publish, "--to=hf://datasets/org/more")
    unknown = world.command(*publish, "--to=hf://datasets/org/else", HF_TOKEN=f"{HUB_TOKEN}0")

    assert (no_right.code, unknown.code) == (1, 2)
    assert "the Hub does not allow it (403): *** may not" in no_right.err
    assert "the Hub does not know the token" in unknown.err


def the_store_refuses(world: World) -> None:
    """Have a session refused, Delta's client alone, and every write."""
    for denial in (
        quoting(400, "ExpiredToken", ACCESS_KEY, SESSION),
        quoting(403, "SignatureDoesNotMatch", ACCESS_KEY, SESSION),
        quoting(418, "Teapot", ACCESS_KEY, SESSION),
    ):
        world.store.mood = denying(denial)
        assert world.here("show", world.made, AWS_SESSION_TOKEN=SESSION).code == 2
        world.store.mood = denying(denial, only="_delta_log")
        assert world.here("show", world.made).code == 2
        world.store.mood = denying(denial, only="PUT")
        to = f"--to={world.place}/to2"
        assert world.here("publish", world.short, to, "--no-prefect").code == 2
    world.store.mood = lambda _: None


def everything_is_looked_at(world: World) -> None:
    """Run the other commands on what was made."""
    assert world.command("audit", world.made, "--deep", "--json").code == 0
    for argv in (
        ("show", world.made, "--json"),
        ("export", world.made, "--format=verifiers", f"--to={world.base / 'export'}"),
        ("verify", world.made, "--no-prefect", "--json"),
        ("compact", world.made, "--json"),
        ("doctor",),
    ):
        assert world.here(*argv).code in {0, 1}


@pytest.mark.browser
def test_no_secret_is_in_anything_that_is_left_or_said(
    world: World, weed: Weed, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_goes_well(world)
    the_engine_refuses(world)
    the_hub_refuses(world)
    the_store_refuses(world)
    everything_is_looked_at(world)

    hoard = Hoard([*SECRETS, f"{USER}:{PASSWORD}", IN_URL])
    names = Hoard([ACCESS_KEY])  # which is a name, and told where debugging is on
    for name, value in weed.environment.items():
        monkeypatch.setenv(name, value)
    stored = Place(world.place).objects()
    left = [*stored.items(), *files(world.base)]
    assert hoard.found([*world.said, *left]) == []
    assert names.found(left) == []
    assert {"run/run.json", "to/README.md", "to/manifest.json"} <= stored.keys()
    assert {path.rpartition("/")[2] for path, _ in left} >= {"README.md", "run.json"}
    assert hoard.searched > len(left) > len(stored) > 0


VLLM = (
    "generate",
    "--no-prefect",
    "--set=policy.name=model",
    "--set=engine.kind=vllm",
    "--set=engine.model=m",
)
REFUSED = (
    ("show", f"s3://{ACCESS_KEY}:{SECRET_KEY}@bucket/x"),
    ("show", f"s3://{ACCESS_KEY}:with/slash{SECRET_KEY}@bucket/x"),
    ("show", f"https://me:{PASSWORD}@host/x"),
    ("publish", "{run}", f"--to=s3://{ACCESS_KEY}:{SECRET_KEY}@bucket/x"),
    ("publish", "{run}", f"--to=hf://me:{HUB_TOKEN}@datasets/org/data"),
    ("publish", "{run}", f"--to=s3://bucket/x?X-Amz-Security-Token={SESSION}"),
    ("audit", "s3://bucket/x", f"--set=storage.endpoint_url=https://me:{PASSWORD}@host"),
    ("generate", f"--set=engine.urls=https://me:{PASSWORD}@host"),
    ("generate", f"--set=engine.url=['https://me:{PASSWORD}@host']"),
    ("generate", f"--set=engine.args='--api-key','{FLAG}'"),
    ("generate", f"--set=engine.kind=https://me:{PASSWORD}@host"),
    ("generate", f"--run=ftp://me:{PASSWORD}@host/x"),
    (*ASKED, "--run={run}-2", f"--set=engine.urls=['http://me:{PASSWORD}@127.0.0.1:9']"),
    (*ASKED, "--run={run}-2", f"--set=engine.urls=['http://me:{PASSWORD}@']"),
    ("generate", *SMALL, "--run={run}", f"--set=engine.args=['--api-key','{FLAG}']"),
    (*VLLM, "--run={run}-2", f"--set=engine.args=['--api-key','{FLAG}']"),
    (*VLLM, "--run={run}-2", f"--set=engine.args=['--hf-token={FLAG}']"),
)


@pytest.mark.parametrize(
    "argv", REFUSED, ids=[f"{argv[0]} {number}" for number, argv in enumerate(REFUSED)]
)
def test_a_refusal_repeats_no_secret_that_it_was_given(
    argv: tuple[str, ...], tmp_path: Path, weed: Weed, copy_run: CopyRun
) -> None:
    run = tmp_path / "run"
    copy_run(run, units=1)

    said = called(*(part.replace("{run}", str(run)) for part in argv), env=weed.environment)

    assert said.code == 2
    hoard = Hoard(SECRETS)
    assert hoard.found([("said", f"{said.out}{said.err}".encode()), *files(tmp_path)]) == []


@pytest.mark.parametrize("form", ["--json", "--set=run.name=x"])
def test_a_plan_that_is_shown_holds_no_secret(tmp_path: Path, form: str) -> None:
    said = called(
        *ASKED[:1],
        *ASKED[3:],
        "--dry-run",
        form,
        f"--run={tmp_path / 'run'}",
        f"--set=engine.urls=['http://me:{PASSWORD}@host:8000/v1']",
        f"--set=engine.args=['--api-key','{FLAG}']",
    )

    assert said.code == 0, said.err
    assert "host:8000/v1" in said.out
    assert Hoard(SECRETS).found([("said", f"{said.out}{said.err}".encode())]) == []


def test_the_search_finds_a_secret_in_every_form_it_may_take() -> None:
    hoard = Hoard(['se/cret+="x'])
    file = io.BytesIO()
    table = pa.table({"a": ["no", 'a se/cret+="x in a text'], "b": [b"", b"\1"]})
    pq.write_table(table, file, compression="zstd")
    encoded = ["c2UvY3JldCs9Ing", "ZS9jcmV0Kz0ieA", "xzZS9jcmV0Kz0ieG"]

    assert hoard.found([("table", file.getvalue())]) == ['se/cret+="x in table']
    for number, text in enumerate(["se%2Fcret%2B%3D%22x", 'se/cret+=\\"x', *encoded[:1]]):
        assert hoard.found([(f"{number}", f"before{text}after".encode())]), text
    assert hoard.found([("nothing", b"a secret")]) == []
    assert os.environ.get("HF_TOKEN") is None
