"""What a step and an episode cost: rate and CPU at 1, 4, 16 and 32 sessions.

Every figure is of the shipped path and of the viewports that the default configuration draws: `rollout`
with a scripted policy on MiniWoB++, virtual time, screenshot, elements and the site's outcome included. CPU is that of this process and everything
below it, reaped children too, split by what the process is. Two ratios have a line to hold:

* our Python's share of the CPU of a step, perceptual hash counted apart: at most 10 %;
* setting an episode up (context, page, load) against a bare DevTools loop that makes, loads and
  closes a fresh context by the same recipe, in alternating rounds: at most 1.25.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time

from playwright.async_api import Browser, async_playwright

from bench.loading.attempts import make_attempt
from bench.measuring.process import cpu_by_kind, cpu_since
from bench.measuring.result import report
from generators.browser.chromium import FLAGS, Chromium, find_chromium
from generators.browser.page_scripts import read_script
from generators.browser.picture import read_picture
from generators.browser.protocol import ClockSpec, SessionSpec
from generators.policy.scripted import ScriptedPolicy
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.gateway import Gateway
from generators.sites.miniwob import ORIGIN, MiniWob, start_url
from schemas.configuration.config import RunConfig
from schemas.episodes.action import Action, Click
from schemas.episodes.episode import Episode
from schemas.episodes.viewport import draw_viewport

CONFIG = RunConfig()
"""The default configuration, whose pictures are measured."""

TEMPLATE = "click-checkboxes-large"
STEPS = 30
MAX_PYTHON_SHARE = 0.10
MAX_SETUP_RATIO = 1.25


def script() -> list[Action]:
    """Return clicks that change the picture each time and never end the task."""
    return [Click(x=16, y=60 + 15 * (step % 5)) for step in range(STEPS)]


async def episodes(
    site: MiniWob, chromium: Chromium, *, sessions: int, count: int
) -> list[Episode]:
    """Run `count` scripted episodes, `sessions` at once."""
    limits = Limits(steps=STEPS, seconds=600, stuck_steps=STEPS + 1)
    free = asyncio.Semaphore(sessions)
    out: list[Episode] = []

    async def attempt_one(seed: int) -> None:
        async with free:
            out.append(
                await rollout(
                    make_attempt(site, TEMPLATE, seed, seed=seed, config=CONFIG),
                    site=site,
                    sessions=chromium,
                    make_policy=lambda _: ScriptedPolicy(script()),
                    limits=limits,
                )
            )

    async with asyncio.TaskGroup() as group:
        for seed in range(count):
            group.create_task(attempt_one(seed))
    return out


def hash_seconds(done: list[Episode]) -> float:
    """Return the CPU seconds that the perceptual hashes of these episodes take."""
    pictures = [step.screenshot.bytes for episode in done[:4] for step in episode.steps]
    begun = time.process_time()
    for picture in pictures:
        read_picture(picture)
    each = (time.process_time() - begun) / len(pictures)
    return each * sum(len(episode.steps) for episode in done)


async def measure(site: MiniWob, chromium: Chromium, sessions: int) -> dict[str, float]:
    """Return the rate and the CPU of steps and episodes at so many sessions."""
    count = max(6, 2 * sessions)
    before, begun = cpu_by_kind(), time.perf_counter()
    done = await episodes(site, chromium, sessions=sessions, count=count)
    seconds, used = time.perf_counter() - begun, cpu_since(before)
    failed = [episode for episode in done if episode.failure_kind]
    if failed:
        raise SystemExit(f"an episode failed: {failed[0].failure_message}")
    steps = sum(episode.n_steps for episode in done)
    hashing = hash_seconds(done)
    total = sum(used.values()) - hashing
    return {
        "sessions": sessions,
        "episodes": len(done),
        "steps": steps,
        "steps_per_second": round(steps / seconds, 2),
        "cpu_ms_per_step": round(total / steps * 1e3, 1),
        "cpu_ms_per_episode": round(total / len(done) * 1e3, 1),
        "python_share": round((used["python"] - hashing) / total, 4),
        "python_ms_per_step": round((used["python"] - hashing) / steps * 1e3, 2),
        "hash_ms_per_step": round(hashing / steps * 1e3, 2),
    }


async def bare_setup(browser: Browser, spec: SessionSpec, url: str) -> None:
    """Make, load and close a fresh context by the recipe, with nothing around it."""
    context = await browser.new_context(
        viewport={"width": spec.viewport_width, "height": spec.viewport_height},
        device_scale_factor=spec.device_scale_factor,
        locale="en-US",
        timezone_id="UTC",
        reduced_motion="reduce",
        accept_downloads=False,
        service_workers="block",
    )
    await context.add_init_script(read_script("generators.browser", "shim.js"))
    page = await context.new_page()
    cdp = await context.new_cdp_session(page)
    passed = asyncio.Event()

    def expired(_: object) -> None:
        passed.set()

    cdp.on("Emulation.virtualTimeBudgetExpired", expired)
    policy = "Emulation.setVirtualTimePolicy"
    await cdp.send(policy, {"policy": "pause", "initialVirtualTime": 1_700_000_000})
    await cdp.send("Runtime.evaluate", {"expression": f"location.replace({json.dumps(url)})"})
    await cdp.send(policy, {"policy": "pauseIfNetworkFetchesPending", "budget": 1_000})
    await passed.wait()
    await cdp.send("Runtime.evaluate", {"expression": "document.readyState"})
    await context.close()


async def our_setup(chromium: Chromium, spec: SessionSpec, url: str) -> None:
    """Open and close a session as a rollout does."""
    async with chromium.session(spec) as session:
        await session.open(url)


async def setup_ratio(
    site: MiniWob, gateway: Gateway, chromium: Chromium, rounds: int
) -> dict[str, float]:
    """Return what a session's set-up costs beside a bare loop's, in alternating rounds."""
    viewport = draw_viewport(CONFIG, site.area(TEMPLATE), seed="set-up")
    spec = SessionSpec(
        viewport_width=viewport.width,
        viewport_height=viewport.height,
        device_scale_factor=viewport.scale,
        allowed_origins=(ORIGIN,),
        clock=ClockSpec(),
    )
    url, each = start_url(TEMPLATE), 12
    ours: list[float] = []
    bare: list[float] = []
    async with async_playwright() as playwright:
        rules = f"--host-resolver-rules=MAP * 127.0.0.1:{gateway.port}"
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(), args=[*FLAGS, rules]
        )
        for round_ in range(rounds + 1):
            spent: list[float] = []
            for kind in ("ours", "bare"):
                before = sum(cpu_by_kind().values())
                for _ in range(each):
                    if kind == "ours":
                        await our_setup(chromium, spec, url)
                    else:
                        await bare_setup(browser, spec, url)
                await asyncio.sleep(0.5)
                spent.append((sum(cpu_by_kind().values()) - before) / each * 1e3)
            if round_:
                ours.append(spent[0])
                bare.append(spent[1])
        await browser.close()
    ratio = statistics.median(a / b for a, b in zip(ours, bare, strict=True))
    return {
        "setup_cpu_ms": round(statistics.median(ours), 1),
        "bare_setup_cpu_ms": round(statistics.median(bare), 1),
        "setup_ratio": round(ratio, 3),
    }


async def run(sessions: list[int], rounds: int) -> bool:
    """Measure, print one JSON line, and say whether every line is held."""
    async with Gateway() as gateway:
        site = MiniWob(gateway)
        async with Chromium(network=gateway) as chromium:
            await episodes(site, chromium, sessions=2, count=2)
            rates = [await measure(site, chromium, count) for count in sessions]
            setup = await setup_ratio(site, gateway, chromium, rounds)
    share = max(rate["python_share"] for rate in rates)
    held = share <= MAX_PYTHON_SHARE and setup["setup_ratio"] <= MAX_SETUP_RATIO
    figures = {
        "bench": "rollout",
        "picture_side": list(CONFIG.picture_side),
        "template": TEMPLATE,
        "rates": rates,
        "python_share": share,
        "max_python_share": MAX_PYTHON_SHARE,
        **setup,
        "max_setup_ratio": MAX_SETUP_RATIO,
        "held": held,
    }
    report(figures)
    return held


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 4, 16, 32])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    return 0 if asyncio.run(run(arguments.sessions, arguments.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
