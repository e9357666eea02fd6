"""Go every way out of a page, held back or not, and write down what was heard.

A program of its own, because it is run in a network of its own where the machine allows that: nothing
but the loopback, and a cable whose other end is loose, into which every packet for elsewhere goes.
"""

import argparse
import asyncio
import contextlib
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Self

from aiohttp import web
from playwright.async_api import Error, FileChooser, async_playwright
from pydantic import TypeAdapter
from sites.hostile.ways_out import HOST, ORIGIN, WAYS
from sites.hostile.window_ways import NOTES
from source_tree import ROOT
from support.browsers.canaries import Canary, Sniffer
from support.runs.commands import environment

from generators.browser.chromium import Chromium, find_chromium
from generators.browser.process.enclosure import Confinement
from generators.browser.protocol import ClockSpec, SessionSpec
from generators.browser.session import ChromiumSession
from generators.sites.gateway import Gateway
from schemas.configuration.browser_section import Sandbox
from schemas.episodes.action import Action, Click, Wait
from schemas.errors import RolloutFailure

BATCH = 24
"""The most ways that a page has, each in a frame."""

AT_ONCE = 3
"""How many pages of one way are held back at the same time; one of many keeps the browser busy by itself."""

LISTEN_SECONDS = 15.0
"""How long a page may take to be heard, or to be refused."""

LATE_SECONDS = 0.4
"""How long a page that is held back does nothing before it is done."""

_CABLE = """
ip link set lo up
ip link add out type veth peer name loose && ip link set out arp off &&
  ip addr add 192.0.2.1/24 dev out && ip link set out up && ip link set loose up &&
  ip route add default dev out || exit 1
ip -6 addr add 2001:db8::1/64 dev out nodad 2>/dev/null && ip -6 route add default dev out
exec "$@"
"""

_NO_MORE = """
echo 0 >/proc/sys/user/max_user_namespaces && echo 0 >/proc/sys/user/max_net_namespaces || exit 1
"""


class Mode(StrEnum):
    CONTROL = "control"
    """A browser that nothing holds back."""
    CONTAINED = "contained"
    """The browser of runs, enclosed as far as the machine allows."""
    CONTAINED_REAL = "contained-real"
    """The same, on pages whose time is real."""
    FLAGS = "flags"
    """The same, where no more namespaces are allowed: its flags and the gateway stand alone."""


@dataclass(frozen=True)
class Heard:
    """What a run of all ways came to."""

    ways: Mapping[str, Sequence[str]]
    """How each way was heard; empty: it was not."""
    unattributed: Sequence[str]
    """What was heard of nobody known."""
    quiet_pages: Sequence[str]
    """Pages of which nothing was refused, although they ask, and how that ended."""
    raw: bool
    """Whether every packet was listened to, and not only those to canaries."""
    enclosed: bool
    """Whether the browser was in a network namespace, in which there is nothing else."""

    @property
    def loud(self) -> set[str]:
        return {name for name, how in self.ways.items() if how}


@cache
def own_network(*, last: bool = False) -> tuple[str, ...]:
    """Return what starts a program in a network of its own, in the `last` namespace that it may have.

    Empty where the machine does not allow it.
    """
    if not shutil.which("unshare") or not shutil.which("ip"):
        return ()
    for flags in ("-rn",) if last else ("-n", "-rn"):
        start = ("unshare", flags, "sh", "-c", (_NO_MORE if last else "") + _CABLE, "sh")
        if subprocess.run([*start, "true"], capture_output=True, check=False).returncode == 0:
            return start
    return ()


def listen(mode: Mode, *, own: bool, single: bool = False) -> Heard:
    """Go all ways, in a network of their own or, those that lead no further than it, on this machine."""
    asked = [mode.value, *(["--single"] if single else []), *(["--abroad"] if own else [])]
    proxies = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY")
    done = subprocess.run(
        [*(own_network(last=mode is Mode.FLAGS) if own else ()), sys.executable, __file__, *asked],
        env={
            **environment({"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}),
            # A proxy of whoever started the run is no way out either; it would be heard as a packet.
            **({} if mode is Mode.CONTROL else dict.fromkeys(proxies, "http://127.0.0.2:9")),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return TypeAdapter(Heard).validate_json(done.stdout.splitlines()[-1])


@dataclass
class _Trial:
    """The ways, their canaries, and the pages that lead there."""

    names: Sequence[str]
    single: bool
    abroad: bool
    canaries: Mapping[str, Canary] = field(init=False)
    sniffer: Sniffer | None = None
    quiet: list[str] = field(default_factory=list)
    enclosed: bool = False

    def __post_init__(self) -> None:
        self.canaries = {name: Canary(n) for n, name in enumerate(self.names, start=1)}

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[Self]:
        """Listen at every canary, and for every packet if the network is its own."""
        async with contextlib.AsyncExitStack() as stack:
            for canary in self.canaries.values():
                await stack.enter_async_context(canary.listening())
            with contextlib.suppress(PermissionError):
                if self.abroad:  # on the machine's own network others speak too
                    self.sniffer = Sniffer(self.canaries.values())
                    stack.callback(self.sniffer.close)
            yield self

    @property
    def pages(self) -> Mapping[str, Sequence[str]]:
        """The ways of each page, by its path."""
        framed = [name for name in self.names if WAYS[name].is_framed and not self.single]
        batches = [framed[at : at + BATCH] for at in range(0, len(framed), BATCH)]
        alone = [name for name in self.names if name not in framed]
        return {f"/batch/{number}": batch for number, batch in enumerate(batches)} | {
            f"/way/{name}": [name] for name in alone
        }

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer as the site."""
        _, kind, name = (request.path + "/").split("/")[:3]
        if kind == "way":
            way, places = WAYS[name], self.canaries[name].places
            headers = way.answer_headers(places)
            return web.Response(text=way.page(places), content_type="text/html", headers=headers)
        if kind == "batch":
            frames = "".join(
                f"<iframe src=/way/{one}></iframe>" for one in self.pages[request.path]
            )
            return web.Response(text=f"<!DOCTYPE html>{frames}", content_type="text/html")
        if kind == "away":
            headers = {"Location": request.query["to"]}
            if file := request.query.get("attachment"):
                headers["Content-Disposition"] = f"attachment; filename={file}"
            return web.Response(status=int(request.query.get("code", "302")), headers=headers)
        if kind == "script":
            return web.Response(text=request.query["text"], content_type="text/javascript")
        return web.Response(text="blank", content_type="text/html")

    def acts(self, names: Sequence[str]) -> Sequence[Action]:
        """Return what the policy does on the page of some ways."""
        return [act for name in names for act in WAYS[name].acts]

    def told(self) -> Heard:
        ways = {name: sorted(canary.heard) for name, canary in self.canaries.items()}
        unattributed = self.sniffer.unattributed if self.sniffer else []
        raw = self.sniffer is not None
        return Heard(ways, unattributed, self.quiet, raw=raw, enclosed=self.enclosed)


async def _choose(chooser: FileChooser) -> None:
    await chooser.set_files(
        {"name": NOTES.name, "mimeType": "text/plain", "buffer": NOTES.contents}
    )


async def _let_loose(trial: _Trial, gateway: Gateway) -> None:
    """Go all ways in a browser that nothing holds back."""
    rule = f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{gateway.port}"
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=find_chromium(), args=[rule])
        if trial.sniffer:
            trial.sniffer.learn()
        for path, names in trial.pages.items():
            context = await browser.new_context()
            page = await context.new_page()
            page.on("dialog", lambda dialog: dialog.accept())
            page.on("filechooser", _choose)
            with contextlib.suppress(Error):
                await page.goto(ORIGIN + path, wait_until="commit", timeout=10_000)
                for act in trial.acts(names):
                    if isinstance(act, Click):
                        await page.wait_for_load_state()
                        await page.mouse.click(act.x, act.y)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LISTEN_SECONDS):
                    for name in names:
                        await trial.canaries[name].spoke.wait()
            with contextlib.suppress(Error):
                await context.close()
        await browser.close()


async def _fall_silent(session: ChromiumSession, *, asks: bool) -> int:
    """Wait until a page that `asks` is refused for the first time, and then for the last; return how often it was."""
    last, refused = -1, 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LISTEN_SECONDS):
            while refused != last or (asks and not refused):
                await asyncio.sleep(LATE_SECONDS)
                last, refused = refused, sum(one.count for one in session.blocked_requests())
    return refused


def _held_back(
    clock: ClockSpec | None, wanted: Confinement | None = None
) -> Callable[[_Trial, Gateway], Awaitable[None]]:
    """Return what goes all ways in the browser of runs."""
    spec = SessionSpec(
        viewport_width=500,
        viewport_height=400,
        allowed_origins=(ORIGIN,),
        clock=clock,
        files=(NOTES,),
    )

    async def visit(trial: _Trial, chromium: Chromium, path: str, names: Sequence[str]) -> None:
        async with chromium.session(spec) as session:
            if trial.sniffer:
                trial.sniffer.learn()
            ended = "asked nothing"
            try:
                await session.open(ORIGIN + path)
                for act in (*trial.acts(names), Wait(ms=500)):
                    await session.act(act)
            except RolloutFailure as failure:
                ended = str(failure)
            asks = any(WAYS[name].is_counted for name in names)
            if not await _fall_silent(session, asks=asks) and asks:
                trial.quiet.append(f"{path}: {ended}")

    async def go(trial: _Trial, gateway: Gateway) -> None:
        async with Chromium(network=gateway, wanted=wanted) as chromium:
            assert chromium.process is not None
            trial.enclosed = not chromium.process.containment.namespace
            slots = asyncio.Semaphore(AT_ONCE if trial.single else 1)

            async def visit_in_turn(path: str, names: Sequence[str]) -> None:
                async with slots:
                    await visit(trial, chromium, path, names)

            async with asyncio.TaskGroup() as group:
                for path, names in trial.pages.items():
                    group.create_task(visit_in_turn(path, names))

    return go


async def _main() -> Heard:
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", type=Mode)
    parser.add_argument("--single", action="store_true", help="one way a page, and no frames")
    parser.add_argument("--abroad", action="store_true", help="the network is its own")
    given = parser.parse_args()
    names = [
        name
        for name, way in WAYS.items()
        if (given.abroad or not way.abroad) and (given.single or not way.long)
    ]
    trial = _Trial(names, given.single, given.abroad)
    ways = {
        Mode.CONTROL: _let_loose,
        Mode.CONTAINED: _held_back(ClockSpec()),
        Mode.CONTAINED_REAL: _held_back(None),
        # The only user of such a namespace is root, which its browser then stays.
        Mode.FLAGS: _held_back(ClockSpec(), Confinement(sandbox=Sandbox.OFF)),
    }
    async with trial.listening(), Gateway() as gateway:
        gateway.mount(HOST, trial.answer)
        await ways[given.mode](trial, gateway)
        return trial.told()


if __name__ == "__main__":
    sys.stdout.write(TypeAdapter(Heard).dump_json(asyncio.run(_main())).decode() + "\n")
