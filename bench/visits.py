"""How long a visit of a real application takes to open: its state put back, its user logged in, its page answered.

Each of the applications that tasks ship for is started once and visited again and again, a task after
another in the order of the file, as a run with one session does. Two lines to hold, the median of each
from asking for the visit to the last byte of its start page, which a plain client asks for through the
gateway: 60 ms for fossil, 250 ms for MediaWiki. The first visit of each world does not count. Putting the
state back alone, and reading the state, which every episode does twice, have no line.

Both have to be installed: `stepmill sites install fossil`, `stepmill sites install mediawiki`.
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
from generators.sites.gateway import Gateway
from generators.sites.protocol import Problem, Site
from generators.sites.registry import RunSites
from generators.tasks.task_plan import load_tasks
from schemas.tasks.task import Task

CONFIG = Path(__file__).parents[1] / "configs" / "apps.toml"
MAX_FOSSIL_MS = 60.0
MAX_MEDIAWIKI_MS = 250.0
VISITS = 200


class Times(NamedTuple):
    """The parts of one visit, ms."""

    lease: float
    """Until the server was put into the task's state and the user logged in."""
    page: float
    """From then until the start page was answered."""
    read: float
    """To read the state."""


async def measure(site: Site, tasks: Sequence[Task], *, gateway: str) -> list[Times]:
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
            if number >= 0:
                times.append(Times(*(1_000 * (b - a) for a, b in itertools.pairwise(marks))))
    return times


async def figures() -> dict[str, dict[str, float]]:
    """Return the figures of each application."""
    config = load(Sources(config=str(CONFIG)), {})
    tasks = load_tasks(config.tasks, applications=config.sites)
    found = {}
    async with contextlib.AsyncExitStack() as stack:
        gateway = await stack.enter_async_context(Gateway())
        sites = RunSites(gateway, config.sites)
        await enter_sites(stack, sites, config.sites)
        for name in config.sites:
            own = [task for task in tasks if task.site == name]
            times = await measure(sites[name], own, gateway=f"127.0.0.1:{gateway.port}")
            opening = [each.lease + each.page for each in times]
            found[name] = {
                "open_ms": round(statistics.median(opening), 1),
                "open_p90_ms": round(statistics.quantiles(opening, n=10)[-1], 1),
                "lease_ms": round(statistics.median(each.lease for each in times), 1),
                "read_ms": round(statistics.median(each.read for each in times), 1),
                "visits": len(times),
            }
    return found


def main() -> int:
    """Run the benchmark; the exit status says whether both lines are held."""
    found = asyncio.run(figures())
    held = (
        found["fossil"]["open_ms"] <= MAX_FOSSIL_MS
        and found["mediawiki"]["open_ms"] <= MAX_MEDIAWIKI_MS
    )
    report(
        {
            "bench": "visits",
            **found,
            "max_fossil_ms": MAX_FOSSIL_MS,
            "max_mediawiki_ms": MAX_MEDIAWIKI_MS,
            "held": held,
        }
    )
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
