"""Seats beside BrowserGym on the same MiniWoB++ task with the same browser: memory, CPU, and the time of a reset.

BrowserGym runs in the interpreter that `--python` names, one with `browsergym-miniwob` 0.14.3 and `psutil`: an
environment a process, as it is used, without the waits that are its defaults. Seats are served by this process and
stepped into by clients of another, whose CPU and memory count too. Both click at checkboxes with the mouse and get a
picture after each step, in turns.

What an observation holds is not the same. BrowserGym's has the accessibility tree, the whole document, a picture of
498×321 px as an array, and the reward so far. A seat's has a JPEG of the page and its elements as text; the step is
recorded besides, and judged once the episode has ended.

Lines: sessions a GiB at least 4 times those of BrowserGym, steps a second of a core at least 3 times, seconds of a
reset at most a third.
"""

import argparse
import asyncio
import contextlib
import functools
import http.server
import json
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from bench.loading.seat_clients import STEPS
from bench.loading.seat_room import TEMPLATE, browser_cpu, config_of, own_cpu, room_of
from bench.measuring.process import pss_mb
from bench.measuring.result import report
from flows.serving.opening import open_seats
from generators.browser.chromium import find_chromium

MIN_SESSIONS, MIN_STEPS, MAX_RESET = 4.0, 3.0, 1 / 3
WORKER = Path(__file__).parent / "loading" / "browsergym_worker.py"

Figures = dict[str, Any]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Say nothing."""


@contextlib.contextmanager
def pages() -> Iterator[str]:
    """Serve MiniWoB++ as its users do; yield the address of its pages."""
    folder = metadata.distribution("miniwob").locate_file("miniwob/html")
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/miniwob/"
        server.shutdown()


def measure_theirs(python: str, environments: int, steps: int) -> Figures:
    """Return what so many environments of BrowserGym take."""
    with pages() as url:
        command = [python, "-W", "ignore", str(WORKER), TEMPLATE, str(steps), str(find_chromium())]
        workers = [
            subprocess.Popen(
                command,
                env={"MINIWOB_URL": url, "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            for _ in range(environments)
        ]
        ready = [_line(one) for one in workers]
        for one in workers:
            print("go", file=one.stdin, flush=True)
        done = [_line(one) for one in workers]
        for one in workers:
            one.wait()
    if errors := sum(one["errors"] for one in done):
        raise SystemExit(f"{errors} steps of BrowserGym failed")
    return {
        "mb": statistics.mean(one["pss_mb"] for one in done),
        "cpu_ms": sum(one["cpu"] for one in done) * 1e3 / environments / steps,
        "reset_s": statistics.median(one["again"][0] for one in ready),
        "reset_cpu_s": statistics.median(one["again"][1] for one in ready),
        "holds": ", ".join(done[0]["holds"]),
        "picture": done[0]["picture"],
    }


def _line(worker: "subprocess.Popen[str]") -> Any:
    if worker.stdout is None:
        raise SystemExit("a worker has no output")
    while line := worker.stdout.readline():
        if line.startswith("{"):
            return json.loads(line)
    raise SystemExit(
        "a worker of BrowserGym ended; has its interpreter browsergym-miniwob and psutil?"
    )


async def measure_ours(seats: int, steps: int) -> Figures:
    """Return what so many seats take."""
    async with room_of(config_of(sessions=seats), open_seats) as room:
        await room.clients.ask(
            "hold_many", url=room.url, seats=seats, steps=1
        )  # the browser's start
        begun = own_cpu() + browser_cpu(room.clients.pid) + room.clients.cpu
        resets, _, _ = await room.clients.ask("hold_many", url=room.url, seats=seats, steps=1)
        middle = own_cpu() + browser_cpu(room.clients.pid) + room.clients.cpu
        held = list[float]()
        holding = asyncio.create_task(
            room.clients.ask("hold_many", url=room.url, seats=seats, steps=steps)
        )
        while not holding.done():
            held.append(await asyncio.to_thread(pss_mb, own=True))
            await asyncio.wait([holding], timeout=1.0)
        _, made, _ = holding.result()
        end = own_cpu() + browser_cpu(room.clients.pid) + room.clients.cpu
    short = middle - begun  # the resets, and a step each
    return {
        "mb": max(held) / seats,
        "cpu_ms": (end - middle - short) * 1e3 / (made - seats),
        "reset_s": statistics.median(resets) / 1e3,
        "reset_cpu_s": short / seats,
    }


def compare(ours: Sequence[Figures], theirs: Sequence[Figures]) -> Figures:
    """Return the figures of both, and their ratios."""
    found: Figures = {
        "browsergym_holds": theirs[0]["holds"],
        "browsergym_picture": theirs[0]["picture"],
    }
    middle: dict[tuple[str, str], float] = {}
    for name, turns in (("seats", ours), ("browsergym", theirs)):
        for key in ("mb", "cpu_ms", "reset_s", "reset_cpu_s"):
            middle[name, key] = statistics.median(one[key] for one in turns)
            found[f"{name}_{key}"] = round(middle[name, key], 3)
    ratio = {
        key: middle["browsergym", key] / middle["seats", key]
        for key in ("mb", "cpu_ms", "reset_s", "reset_cpu_s")
    }
    return {
        **found,
        "sessions_a_gib_ratio": round(ratio["mb"], 2),
        "min_sessions_ratio": MIN_SESSIONS,
        "steps_a_core_ratio": round(ratio["cpu_ms"], 2),
        "min_steps_ratio": MIN_STEPS,
        "reset_share": round(1 / ratio["reset_s"], 3),
        "reset_cpu_share": round(1 / ratio["reset_cpu_s"], 3),
        "max_reset_share": round(MAX_RESET, 3),
        "held": ratio["mb"] >= MIN_SESSIONS
        and ratio["cpu_ms"] >= MIN_STEPS
        and 1 / ratio["reset_s"] <= MAX_RESET,
    }


def main() -> int:
    """Measure both in turns; return 1 if a line is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--python", required=True, help="an interpreter that has browsergym-miniwob"
    )
    parser.add_argument("--sessions", type=int, default=16)
    parser.add_argument("--steps", type=int, default=STEPS - 1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="keep the result in bench/results")
    asked = parser.parse_args()
    if asked.python is None:
        print(
            "not measured: --python names no interpreter with browsergym-miniwob", file=sys.stderr
        )
        return 0
    ours, theirs = list[Figures](), list[Figures]()
    for _ in range(asked.rounds):
        theirs.append(measure_theirs(asked.python, asked.sessions, asked.steps))
        ours.append(asyncio.run(measure_ours(asked.sessions, asked.steps)))
    figures = {"bench": "browsergym", "sessions": asked.sessions, **compare(ours, theirs)}
    report(figures, keep="browsergym" if asked.keep else None)
    return 0 if figures["held"] else 1


if __name__ == "__main__":
    sys.exit(main())
