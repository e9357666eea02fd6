"""What a request to an engine costs: CPU, lag of the event loop, throughput beside bare clients.

128 sessions ask a simulator in a niced process of its own. Each turn a session thinks for
as long as a browser takes (0.4 to 1.2 s), then asks with a system message of about 6,000 characters
and its last three pictures of about 100 kB, one of them new; the engine replies after 1 to 3 s,
drawn from the prompt. That is some 45 requests a second while all sessions ask, about what twenty
H100s answer in this shape, and two idle cores are not saturated. They must be idle: beside other work
every lag is that of waiting for a core, the bare clients' too, whose lag is printed for comparison.

Think-times hide what a client costs, so a second engine answers at once and sessions ask again at once:
the rate is then that of the client alone. Four lines are held:

* CPU of this process a request, the bench's own included: at most 5 ms;
* lag of the event loop, sampled every 20 ms while all sessions ask: at most 20 ms at the 99th
  percentile;
* requests a second beside bare aiohttp clients that post the same bodies, encoded beforehand, with
  the same think-times, in alternating rounds: at least 97 %;
* the same at zero think-time, 16 sessions: at least 40 %, since a bare client neither encodes a
  prompt nor checks a reply.
"""

import argparse
import asyncio
import io
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import aiohttp
from PIL import Image

from bench.loading.serving import scripted_engine
from bench.measuring.result import report
from generators.engine.client.client import OpenAIEngine
from generators.engine.client.request_body import RequestBody, ServerQuirks
from generators.engine.protocol import EnginePrompt, Message, Picture, Role, Sampling
from schemas.base import JsonObject

MAX_CPU_MS = 5.0
MAX_LAG_MS = 20.0
MIN_THROUGHPUT = 0.97
MIN_SATURATED = 0.40
SATURATED_SESSIONS, SATURATED_TURNS = 16, 12
BROWSER_SECONDS = (0.4, 1.2)
ENGINE_MS = "1000,3000"
KEPT = 3
LAG_EVERY_SECONDS = 0.02
WIDTH, HEIGHT = 520, 300  # noise of this size is a JPEG of about 100 kB
SAMPLING = Sampling(max_tokens=128)
RULES = "You drive a browser. Answer with one JSON object. " * 120
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "thought": {"type": "string", "maxLength": 400},
        "x": {"type": "integer", "minimum": 0, "maximum": 1_000},
        "y": {"type": "integer", "minimum": 0, "maximum": 1_000},
    },
    "required": ["thought", "x", "y"],
}

Ask = Callable[[int, int], Awaitable[None]]
"""Asks for the reply of a session's turn."""


@dataclass
class Round:
    """What one round of all sessions took."""

    requests: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    lags_ms: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds


def screenshots(count: int) -> list[bytes]:
    """Return so many different pictures of about 100 kB."""
    out = []
    for seed in range(count):
        noise = Random(seed).randbytes(3 * WIDTH * HEIGHT)
        held = io.BytesIO()
        Image.frombytes("RGB", (WIDTH, HEIGHT), noise).save(held, "JPEG", quality=80)
        out.append(held.getvalue())
    return out


class Conversations:
    """The prompts of every session in every turn."""

    def __init__(self, sessions: int, turns: int, *, thinks: bool = True) -> None:
        self.sessions = sessions
        self.turns = turns
        self._thinks = thinks
        self._shots = screenshots(16)
        self._pictures: dict[int, list[Picture]] = {}

    def begin(self) -> None:
        """Forget the pictures of the round before, so that each is encoded anew."""
        self._pictures = {
            session: [self._picture(session, turn) for turn in range(KEPT - 1)]
            for session in range(self.sessions)
        }

    def prompt(self, session: int, turn: int) -> EnginePrompt:
        """Return a session's prompt in a turn; a new picture, and those of the turns before."""
        window = self._pictures[session]
        window.append(self._picture(session, turn + KEPT - 1))
        del window[:-KEPT]
        seen = [
            Message(role=Role.USER, parts=(f"Session {session}, turn {turn}.", picture))
            for picture in window
        ]
        return EnginePrompt(
            messages=(Message(role=Role.SYSTEM, parts=(RULES,)), *seen), reply_schema=SCHEMA
        )

    def bodies(self, model: str) -> dict[tuple[int, int], bytes]:
        """Return every request of a round, encoded."""
        self.begin()
        manners = ServerQuirks(token_ids=True)
        return {
            (session, turn): RequestBody(self.prompt(session, turn), SAMPLING, model=model).encode(
                manners
            )
            for session in range(self.sessions)
            for turn in range(self.turns)
        }

    def think_seconds(self, session: int, turn: int) -> float:
        """Return how long the browser takes before a turn."""
        if not self._thinks:
            return 0.0
        return Random(session * 1_000 + turn).uniform(*BROWSER_SECONDS)

    def _picture(self, session: int, turn: int) -> Picture:
        shot = self._shots[(session * 5 + turn) % len(self._shots)]
        return Picture(jpeg=shot, step=turn, width=WIDTH, height=HEIGHT)


async def sample_lag(into: list[float]) -> None:
    """Append at intervals how much later than due the event loop wakes a sleeper, in ms."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + LAG_EVERY_SECONDS
        await asyncio.sleep(LAG_EVERY_SECONDS)
        into.append((loop.time() - due) * 1e3)


async def converse(conversations: Conversations, ask: Ask) -> Round:
    """Run all turns of all sessions."""
    out = Round(requests=conversations.sessions * conversations.turns)

    async def run_session(session: int) -> None:
        for turn in range(conversations.turns):
            await asyncio.sleep(conversations.think_seconds(session, turn))
            await ask(session, turn)

    lag = asyncio.create_task(sample_lag(out.lags_ms))
    cpu, begun = time.process_time(), time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for session in range(conversations.sessions):
            group.create_task(run_session(session))
    out.seconds, out.cpu_seconds = time.perf_counter() - begun, time.process_time() - cpu
    lag.cancel()
    return out


async def ours(conversations: Conversations, url: str) -> Round:
    """Ask through the client that ships."""
    conversations.begin()
    async with OpenAIEngine([url]) as engine:

        async def ask(session: int, turn: int) -> None:
            reply = await engine.reply(
                conversations.prompt(session, turn), SAMPLING, session=f"session-{session}"
            )
            if reply.retries or not reply.structured:
                raise SystemExit(f"a request went wrong: {reply}")

        return await converse(conversations, ask)


async def bare(
    conversations: Conversations, url: str, bodies: dict[tuple[int, int], bytes]
) -> Round:
    """Ask through aiohttp and nothing else."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:

        async def ask(session: int, turn: int) -> None:
            async with http.post(
                f"{url}/v1/chat/completions",
                data=bodies[session, turn],
                headers={"Content-Type": "application/json"},
            ) as response:
                json.loads(await response.read())
                if not response.ok:
                    raise SystemExit(f"a bare request went wrong: {response.status}")

        return await converse(conversations, ask)


def percentile(values: list[float], share: float) -> float:
    """Return the value that this share of `values` does not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


Pair = tuple[Round, Round]
"""A round through the client that ships, and one through bare clients."""


async def measure(conversations: Conversations, engine_ms: str, rounds: int) -> list[Pair]:
    """Return alternating rounds against an engine that answers after `engine_ms`."""
    async with scripted_engine("--delay-ms", engine_ms) as url:
        bodies = conversations.bodies("scripted")
        warm = Conversations(8, 1)
        await ours(warm, url)
        await bare(warm, url, warm.bodies("scripted"))
        return [
            (await ours(conversations, url), await bare(conversations, url, bodies))
            for _ in range(rounds)
        ]


def ratio_of(pairs: Sequence[Pair]) -> float:
    """Return our rate beside the bare clients', the median of all rounds."""
    return statistics.median(mine.rate / theirs.rate for mine, theirs in pairs)


def cpu_ms(rounds: Sequence[Round]) -> float:
    """Return the CPU of this process for a request, the median of all rounds."""
    return statistics.median(each.cpu_seconds / each.requests * 1e3 for each in rounds)


async def run(sessions: int, turns: int, rounds: int) -> bool:
    """Measure, report the figures, and say whether every line is held."""
    conversations = Conversations(sessions, turns)
    pairs = await measure(conversations, ENGINE_MS, rounds)
    mine, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    lags = [[lag for each in side for lag in each.lags_ms] for side in (mine, theirs)]
    lag_ms, bare_lag_ms = (percentile(side, 0.99) for side in lags)
    at_once = Conversations(SATURATED_SESSIONS, SATURATED_TURNS, thinks=False)
    saturated = await measure(at_once, "0,0", rounds)
    held = (
        cpu_ms(mine) <= MAX_CPU_MS
        and lag_ms <= MAX_LAG_MS
        and ratio_of(pairs) >= MIN_THROUGHPUT
        and ratio_of(saturated) >= MIN_SATURATED
    )
    sizes = map(len, Conversations(sessions, 1).bodies("scripted").values())
    figures = {
        "bench": "client",
        "sessions": sessions,
        "requests": sum(each.requests for each in mine),
        "body_kb": round(statistics.mean(sizes) / 1e3),
        "requests_per_second": round(statistics.median(each.rate for each in mine), 1),
        "cpu_ms_per_request": round(cpu_ms(mine), 2),
        "bare_cpu_ms_per_request": round(cpu_ms(theirs), 2),
        "max_cpu_ms": MAX_CPU_MS,
        "lag_p99_ms": round(lag_ms, 2),
        "bare_lag_p99_ms": round(bare_lag_ms, 2),
        "max_lag_ms": MAX_LAG_MS,
        "throughput_ratio": round(ratio_of(pairs), 4),
        "min_throughput_ratio": MIN_THROUGHPUT,
        "saturated_requests_per_second": round(
            statistics.median(each.rate for each, _ in saturated), 1
        ),
        "saturated_ratio": round(ratio_of(saturated), 3),
        "min_saturated_ratio": MIN_SATURATED,
        "held": held,
    }
    report(figures)
    return held


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=128)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    return 0 if asyncio.run(run(arguments.sessions, arguments.turns, arguments.rounds)) else 1


if __name__ == "__main__":
    sys.exit(main())
