"""How long a visit of a real application takes to open: its state put back, its user logged in, its page answered.

Each of the applications that tasks ship for is started twice: once as a site, visited again and again, a task after
another in the order of the file, as a run with one session does; and once for a plain client, which does the same
reset, the same login and the same request with nothing between it and the server, in turns with the site. The line to
hold, for each application: the median from asking for the visit to the last byte of its start page is at most 1.5
times the plain client's. fossil and MediaWiki have lines in ms besides: 60 and 250. The first visit of each world does
not count. Putting the state back alone, and reading the state, which every episode does twice, have no line.

The applications have to be installed (`stepmill sites install NAME`); others are left out.
"""

import asyncio
import contextlib
import itertools
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp

from bench.measuring.result import report
from flows.job.config_loader import Sources, load
from flows.resources.browsers import enter_sites
from generators.browser.protocol import SignIn
from generators.sites.application.login import log_in, user_of
from generators.sites.application.server_handle import Server
from generators.sites.gateway import Gateway
from generators.sites.installable.registry import what_is_missing
from generators.sites.protocol import Problem, Site
from generators.sites.registry import RunSites
from generators.tasks.task_plan import load_tasks
from schemas.configuration.application import Application
from schemas.tasks.task import Task

CONFIG = Path(__file__).parents[1] / "configs" / "apps.toml"
MAX_FOSSIL_MS = 60.0
MAX_MEDIAWIKI_MS = 250.0
MAX_RATIO = 1.5
VISITS = 20


class Times(NamedTuple):
    """The parts of one visit, ms."""

    lease: float
    """Until the server was put into the task's state and the user logged in."""
    page: float
    """From then until the start page was answered."""
    read: float
    """To read the state."""
    plain: float
    """For a plain client to do the same reset, login and request."""


async def ask_plainly(
    server: Server, application: Application, task: Task, client: aiohttp.ClientSession
) -> float:
    """Reset a server, log in and ask for the start page without anything in between; return how long it took, ms."""
    begun = time.perf_counter()
    values = server.values.with_task(task, session="0" * 32)
    values = user_of(application, task, values)
    await server.reset(values)
    signed_in = await log_in(application, server, values)
    cookies = {one.name: one.value for one in signed_in.cookies}
    parts = urlsplit(task.start_url)
    url = server.url + parts._replace(scheme="", netloc="").geturl()
    async with client.get(url, headers=server.introduce(values), cookies=cookies) as answered:
        answered.raise_for_status()
        await answered.read()
    return 1_000 * (time.perf_counter() - begun)


async def measure(
    site: Site, tasks: Sequence[Task], server: Server, application: Application, *, gateway: str
) -> list[Times]:
    """Visit a site as often as is counted; `gateway` is the gateway's host and port."""
    times = list[Times]()
    worlds = len({task.seed for task in tasks})
    first = list({task.seed: task for task in tasks}.values())
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
        for number in range(-worlds, VISITS):
            task = first[number] if number < 0 else tasks[number % len(tasks)]
            marks = [time.perf_counter()]
            async with site.open(task) as visit:
                marks.append(time.perf_counter())
                cookies = {each.name: each.value for each in (visit.sign_in or SignIn()).cookies}
                start = urlsplit(task.start_url)
                host = {"Host": start.netloc}
                url = start._replace(netloc=gateway).geturl()
                async with client.get(url, headers=host, cookies=cookies) as answered:
                    answered.raise_for_status()
                    await answered.read()
                marks.append(time.perf_counter())
                await site.state(Problem(goal="", nonce=visit.lease))
                marks.append(time.perf_counter())
            plain = await ask_plainly(server, application, task, client)
            if number >= 0:
                own = [1_000 * (b - a) for a, b in itertools.pairwise(marks)]
                times.append(Times(own[0], own[1], own[2], plain))
    return times


async def figures() -> dict[str, dict[str, float]]:
    """Return the figures of each application that is installed."""
    config = load(Sources(config=str(CONFIG)), {})
    tasks = load_tasks(config.tasks, applications=config.sites)
    here = [name for name, one in config.sites.items() if not what_is_missing(one.start)]
    found = {}
    async with contextlib.AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(Gateway())
        sites = RunSites(gateway, config.sites)
        await enter_sites(stack, sites, here)
        for name in here:
            own, application = [task for task in tasks if task.site == name], config.sites[name]
            server = Server(name, application)
            try:
                await server.start()
                times = await measure(
                    sites[name], own, server, application, gateway=f"127.0.0.1:{gateway.port}"
                )
            finally:
                await server.stop()
            opening = [each.lease + each.page for each in times]
            plain = statistics.median(each.plain for each in times)
            found[name] = {
                "open_ms": round(statistics.median(opening), 1),
                "open_p90_ms": round(statistics.quantiles(opening, n=10)[-1], 1),
                "plain_ms": round(plain, 1),
                "ratio": round(statistics.median(opening) / plain, 2),
                "lease_ms": round(statistics.median(each.lease for each in times), 1),
                "read_ms": round(statistics.median(each.read for each in times), 1),
                "visits": len(times),
            }
    return found


def main() -> int:
    """Run the benchmark; the exit status says whether all lines are held."""
    found = asyncio.run(figures())
    worst = max(one["ratio"] for one in found.values())
    limits = {"fossil": MAX_FOSSIL_MS, "mediawiki": MAX_MEDIAWIKI_MS}
    fast = all(found[name]["open_ms"] <= limit for name, limit in limits.items() if name in found)
    held = worst <= MAX_RATIO and fast
    report(
        {
            "bench": "visits",
            **found,
            "worst_ratio": worst,
            "max_ratio": MAX_RATIO,
            "max_fossil_ms": MAX_FOSSIL_MS,
            "max_mediawiki_ms": MAX_MEDIAWIKI_MS,
            "held": held,
        }
    )
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
