"""How an engine serves many sessions: throughput, latency and cache hits, level by level.

    .venv/bin/python bench/engine_load.py http://127.0.0.1:8000/v1 --plot load.png

Each level runs so many sessions at once, in the shape of H Company's h_cua_perf: 38 steps an
episode, a new screenshot in each request, ten tools in the system prompt, recorded think-times;
prompts only grow, with one picture kept and two of slack, as those of runs do. What is counted is
what ended within a level's seconds, after its warm-up. Without a URL it starts a simulator in
a niced process of its own, for a short run with two lines to hold: no error, and at least half of
the prompts' tokens from the prefix cache. At another engine only the first one is held. Prints one
JSON line; `client_cpu` near the cores of this machine means that the bench itself was the limit.
"""

import argparse
import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.loading.episodes import TEN_TOOLS, Session, Shape, first_prompt, fit_budget
from bench.loading.figures import Answer, Level, level
from bench.loading.plot import plot
from bench.loading.serving import scripted_engine
from bench.loading.streaming import STREAMED, StreamingClient
from bench.measuring.result import report
from generators.engine.client.client import OpenAIEngine
from generators.engine.client.endpoint_keys import endpoint_keys
from generators.engine.client.metrics import EngineMetrics
from generators.engine.protocol import EnginePrompt, Sampling
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.registry import DEFAULT, make_dialect
from generators.policy.model.context_window import Budget
from schemas.base import JsonObject
from schemas.configuration.picture_sizes import MODEL_VIEWPORT
from schemas.errors import NoEngine, Refusal, StepmillError

LEVELS = (1, 8, 32, 64, 100, 128, 256)
SHORT_LEVELS = (1, 8, 32)
SECONDS, SHORT_SECONDS = 60.0, 4.0
WARM_UP = 0.25
MIN_HITS = 0.5
KEEP, SLACK = 1, 2
ENGINE_FLAGS = ("--delay-ms", "200,600", "--at-once", "64")
QUIET_LOOKS, LOOK_SECONDS = 75, 0.2
REFUSED = 2


def shape_of(args: argparse.Namespace, context: int | None) -> Shape:
    """Return what requests are made of, for an engine of that context."""
    options: JsonObject = {"leave_out": list(TEN_TOOLS)} if args.dialect == DEFAULT else {}
    dialect = make_dialect(args.dialect, options)
    width, height = args.viewport
    sent = dialect.sent_size(width, height)
    frame = Frame(
        viewport_width=width,
        viewport_height=height,
        picture_width=width,
        picture_height=height,
        sent_width=sent[0],
        sent_height=sent[1],
    )
    tokens = None if context is None else context - args.max_tokens
    return Shape(
        dialect=dialect,
        frame=frame,
        budget=Budget(keep_images=KEEP, slack_images=SLACK, tokens=tokens),
        schema=None if args.free else dialect.reply_schema(frame),
        think_scale=args.think_scale,
    )


class Bench:
    """One engine, level after level."""

    def __init__(self, engine: OpenAIEngine, client: StreamingClient, shape: Shape) -> None:
        self._engine = engine
        self._client = client
        self._shape = shape

    async def level(self, sessions: int, seconds: float) -> Level:
        """Run so many sessions; return the figures of `seconds` after the warm-up."""
        answers: list[Answer] = []
        now = asyncio.get_running_loop().time

        async def ask(prompt: EnginePrompt, session: str) -> Answer:
            return await self._client.ask(prompt, session=session)

        talking = [
            asyncio.create_task(
                Session(self._shape, ask, seed=f"{os.getpid()}-{sessions}-{number}").run(
                    answers.append
                )
            )
            for number in range(sessions)
        ]
        try:
            await _pause(talking, WARM_UP * seconds)
            before, begun, cpu = await self._metrics(), now(), time.process_time()
            await _pause(talking, seconds)
            ended, used = now(), time.process_time() - cpu
            after = await self._metrics()
        finally:
            for task in talking:
                task.cancel()
            await asyncio.wait(talking)
        await self._quiet()
        return level(
            [answer for answer in answers if begun <= answer.ended <= ended],
            sessions=sessions,
            seconds=ended - begun,
            before=before,
            after=after,
            client_cpu=used / (ended - begun),
        )

    async def _metrics(self) -> EngineMetrics | None:
        return next(iter((await self._engine.metrics()).values()))

    async def _quiet(self) -> None:
        """Wait until the engine has dropped the cancelled requests, as far as its metrics say."""
        for _ in range(QUIET_LOOKS):
            metrics = await self._metrics()
            if not metrics or not (metrics.running or metrics.waiting):
                return
            await asyncio.sleep(LOOK_SECONDS)


async def _pause(talking: Sequence[asyncio.Task[None]], seconds: float) -> None:
    """Let sessions run; one that ends has a defect, whose error is raised here."""
    done, _ = await asyncio.wait(talking, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def measure(url: str, args: argparse.Namespace) -> tuple[list[Level], dict[str, object]]:
    """Return the figures of every level, and what was measured."""
    keys = endpoint_keys([url], os.environ, main=[url])
    async with OpenAIEngine([url], model=args.model, keys=keys) as engine:
        card = engine.card
        sampling = Sampling(
            temperature=args.temperature, max_tokens=args.max_tokens, extra=_extra(args)
        )
        client = StreamingClient(url, model=card.model, sampling=sampling, api_key=keys.get(url))
        async with client:
            shape = shape_of(args, card.context_tokens)
            first = await client.ask(first_prompt(shape), session="first")
            if first.error is not None:
                raise NoEngine(f"{url} does not answer the first request: {first.error}")
            bench = Bench(engine, client, fit_budget(shape, first.prompt_tokens))
            levels = []
            for sessions in args.sessions:
                measured = await bench.level(sessions, args.seconds)
                levels.append(measured)
                rate, errors = measured.total_tokens_per_second, sum(measured.errors.values())
                sys.stderr.write(
                    f"{sessions} sessions: {measured.requests_per_second:g} requests/s, {rate} tokens/s, "
                    f"{errors} errors\n"
                )
    about = card.model_dump(mode="json", include={"model", "product", "version", "context_tokens"})
    return levels, about


def _extra(args: argparse.Namespace) -> JsonObject:
    """Return the fields of a request beside OpenAI's plainest."""
    return {**STREAMED, "ignore_eos": True} if args.ignore_eos else dict(STREAMED)


async def run(args: argparse.Namespace) -> bool:
    """Measure, print one JSON line, and say whether every line is held."""
    own = args.url is None
    async with contextlib.AsyncExitStack() as stack:
        url = await stack.enter_async_context(scripted_engine(*ENGINE_FLAGS)) if own else args.url
        levels, about = await measure(url, args)
    held = all(measured.requests and not measured.errors for measured in levels)
    if own:
        held = held and all((measured.prefix_hit_rate or 0.0) >= MIN_HITS for measured in levels)
    figures = {
        "bench": "engine_load",
        **about,
        "dialect": args.dialect,
        "viewport": list(args.viewport),
        "think_scale": args.think_scale,
        "max_tokens": args.max_tokens,
        "min_prefix_hit_rate": MIN_HITS if own else None,
        "levels": [measured.model_dump(mode="json") for measured in levels],
        "held": held,
    }
    report(figures, keep=args.keep)
    if args.plot is not None:
        plot(levels, args.plot, title=f"{about['model']} on {about['product']} {about['version']}")
    return held


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("url", nargs="?", help="the endpoint; without one a scripted engine is started")
    add("--model", help="the only one served by default")
    add("--dialect", default=DEFAULT)
    add("--sessions", type=_numbers, metavar="N,N", help="the levels")
    add("--seconds", type=float, help="measured at each level, after a quarter of it to warm up")
    add("--think-scale", type=float, default=1.0, help="stretches every think-time")
    add("--viewport", type=_size, default=MODEL_VIEWPORT, metavar="WxH")
    add("--max-tokens", type=int, default=150, help="of a reply")
    add("--temperature", type=float, default=0.8)
    add("--free", action="store_true", help="without a schema for replies")
    add("--ignore-eos", action="store_true", help="vLLM: every reply takes all its tokens")
    add("--plot", type=Path, metavar="FILE.png")
    add("--keep", metavar="NAME", help="keep the figures as bench/results/NAME.json")
    args = parser.parse_args()
    own = args.url is None
    args.sessions = args.sessions or (SHORT_LEVELS if own else LEVELS)
    args.seconds = args.seconds or (SHORT_SECONDS if own else SECONDS)
    return args


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


def main() -> int:
    """Run the benchmark; the exit status says whether every line is held."""
    try:
        return 0 if asyncio.run(run(_arguments())) else 1
    except StepmillError as error:
        sys.stderr.write(f"{error}\n")
        return REFUSED if isinstance(error, Refusal) else 1


if __name__ == "__main__":
    sys.exit(main())
