"""The parts of the engine's load bench: figures, think-times, sessions, the streaming client."""

import asyncio
import io
import itertools
import statistics
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from PIL import Image

from bench.loading.episodes import TEN_TOOLS, Session, Shape, draw, first_prompt, fit_budget
from bench.loading.figures import Answer, level, spread
from bench.loading.plot import plot, round_step
from bench.loading.streaming import STREAMED, StreamingClient
from bench.loading.thinking import SECONDS, think_seconds
from generators.engine.client.metrics import EngineMetrics
from generators.engine.protocol import EnginePrompt, Message, Picture, Role, Sampling
from generators.engine.simulator.faults import Fault, FaultKind
from generators.engine.simulator.server import SimulatorServer
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.registry import make_dialect
from generators.policy.dialects.shared.json_dialect import JsonDialect
from generators.policy.model.context_window import Budget

SIDE = 64
FRAME = Frame(
    viewport_width=SIDE,
    viewport_height=SIDE,
    picture_width=SIDE,
    picture_height=SIDE,
    sent_width=SIDE,
    sent_height=SIDE,
)


def _shape() -> Shape:
    dialect = make_dialect("holotron", {"leave_out": list(TEN_TOOLS)})
    budget = Budget(keep_images=1, slack_images=2, tokens=None)
    return Shape(dialect, FRAME, budget, dialect.reply_schema(FRAME), think_scale=0.0)


async def _prompts(count: int, *, seed: str = "s") -> list[tuple[EnginePrompt, str]]:
    """Return the first prompts of a session that is answered at once."""
    seen: list[tuple[EnginePrompt, str]] = []
    enough = asyncio.Event()

    async def ask(prompt: EnginePrompt, session: str) -> Answer:
        seen.append((prompt, session))
        if len(seen) == count:
            enough.set()
        return Answer(ended=0.0, total=0.1, text="no JSON")

    talking = asyncio.create_task(Session(_shape(), ask, seed=seed).run(lambda _: None))
    async with asyncio.timeout(60):
        await enough.wait()
    talking.cancel()
    await asyncio.wait({talking})
    return seen[:count]


def _pictures(prompt: EnginePrompt) -> list[Picture]:
    return [part for m in prompt.messages for part in m.parts if isinstance(part, Picture)]


async def test_prompts_of_an_episode_grow_and_hold_one_to_three_pictures() -> None:
    prompts = await _prompts(60)

    grown = 0
    for (before, session), (after, same) in itertools.pairwise(prompts):
        if session == same:
            old, new = before.messages, after.messages
            grown += new[: len(old)] == old
    shown = [len(_pictures(prompt)) for prompt, _ in prompts]
    assert set(shown) <= {1, 2, 3}
    assert statistics.mean(shown) > 1.5
    assert grown > 25
    episodes = {session for _, session in prompts}
    assert len({prompt.messages[0] for prompt, _ in prompts}) == 1
    assert len(episodes) < 30


async def test_no_picture_comes_twice_and_each_request_has_a_new_one() -> None:
    prompts = await _prompts(30)

    last = [_pictures(prompt)[-1].jpeg for prompt, _ in prompts]
    assert len(set(last)) == len(last)
    assert all(picture.jpeg for prompt, _ in prompts for picture in _pictures(prompt))


async def test_a_first_episode_begins_in_its_middle() -> None:
    firsts = [(await _prompts(1, seed=f"s{number}"))[0][0] for number in range(8)]

    assert max(len(prompt.messages) for prompt in firsts) > 8


def test_a_budget_shrinks_where_a_prompt_takes_more_tokens_than_reckoned() -> None:
    shape = _shape()
    limited = replace(shape, budget=replace(shape.budget, tokens=10_000))
    texts = [part for m in first_prompt(shape).messages for part in m.parts]
    chars = sum(len(part) for part in texts if isinstance(part, str))

    tight, loose = fit_budget(limited, chars + 256), fit_budget(limited, 100)

    assert tight.budget.tokens is not None
    assert 3_000 < tight.budget.tokens < 5_000
    assert loose.budget.tokens == 10_000
    assert fit_budget(limited, None) is limited
    assert fit_budget(shape, 100) is shape


def test_ten_tools_are_left() -> None:
    dialect = make_dialect("holotron", {"leave_out": list(TEN_TOOLS)})

    assert isinstance(dialect, JsonDialect)
    assert len(dialect.tools) == 10


def test_pages_differ_by_their_seed_alone() -> None:
    assert draw((80, 60), 0.1) == draw((80, 60), 0.1)
    assert draw((80, 60), 0.1) != draw((80, 60), 0.2)
    with Image.open(io.BytesIO(draw((80, 60), 0.1))) as picture:
        assert picture.size == (80, 60)


def test_think_times_follow_the_recorded_ones_and_stretch() -> None:
    drawn = sorted(think_seconds(Random(number)) for number in range(2_000))
    stretched = think_seconds(Random(5), scale=3.0)

    assert SECONDS[0][1] <= drawn[0]
    assert drawn[-1] <= SECONDS[-1][1]
    assert statistics.median(drawn) == pytest.approx(0.569, rel=0.1)
    assert statistics.mean(drawn) == pytest.approx(0.72, rel=0.1)
    assert stretched == pytest.approx(3 * think_seconds(Random(5)))


def test_figures_of_a_level_are_of_whole_replies_and_differences_of_metrics() -> None:
    answers = [
        Answer(ended=1.0, total=0.5, first=0.1, prompt_tokens=900, completion_tokens=100),
        Answer(ended=2.0, total=1.5, first=0.3, prompt_tokens=1_100, completion_tokens=100),
        Answer(ended=2.0, total=9.0, error="HTTP 500: told to fail"),
    ]
    before = EngineMetrics(prefix_queries=100.0, prefix_hits=50.0, preemptions=1.0)
    after = EngineMetrics(prefix_queries=300.0, prefix_hits=200.0, preemptions=4.0)

    one = level(answers, sessions=3, seconds=4.0, before=before, after=after, client_cpu=0.123)

    assert one.requests == 2
    assert one.requests_per_second == 0.5
    assert one.total_tokens_per_second == 550.0
    assert one.prompt_tokens == 1_000.0
    assert one.prefix_hit_rate == 0.75
    assert one.preemptions == 3.0
    assert one.cached_share is None
    assert one.errors == {"HTTP 500: told to fail": 1}
    assert one.ttft_ms is not None
    assert one.ttft_ms.p50 == 300.0


def test_what_a_server_does_not_say_is_unknown_and_a_level_without_replies_has_no_times() -> None:
    one = level([], sessions=1, seconds=1.0, before=None, after=None, client_cpu=0.0)

    assert one.requests == 0
    assert (one.latency_ms, one.ttft_ms, one.prefix_hit_rate) == (None, None, None)
    assert (one.total_tokens_per_second, one.preemptions) == (None, None)
    assert spread([]) is None


def test_one_reply_without_usage_makes_the_tokens_unknown() -> None:
    answers = [Answer(ended=1, total=1, prompt_tokens=5, completion_tokens=5), Answer(1, 1)]

    one = level(answers, sessions=1, seconds=1.0, before=None, after=None, client_cpu=0.0)

    assert one.total_tokens_per_second is None
    assert one.requests == 2


@pytest.mark.parametrize(("most", "step"), [(5, 1), (5.1, 2), (24, 5), (1_480, 500), (0.9, 0.2)])
def test_an_axis_has_round_steps(most: float, step: float) -> None:
    assert round_step(most) == pytest.approx(step)


def test_levels_are_drawn_with_and_without_figures(tmp_path: Path) -> None:
    some = level(
        [Answer(ended=1, total=1, first=0.5, prompt_tokens=5, completion_tokens=5)],
        sessions=1,
        seconds=1.0,
        before=None,
        after=None,
        client_cpu=0.0,
    )
    none = level([], sessions=8, seconds=1.0, before=None, after=None, client_cpu=0.0)

    plot([some, none], tmp_path / "load.png", title="an engine")

    with Image.open(tmp_path / "load.png") as picture:
        colours = picture.convert("RGB").getcolors(maxcolors=1 << 20)
    assert colours is not None
    assert (0xD0, 0x60, 0x1F) in {colour for _, colour in colours}


def _prompt() -> EnginePrompt:
    return EnginePrompt(messages=(Message(role=Role.USER, parts=("What is a browser?",)),))


async def _streamed(*faults: Fault) -> Answer:
    sampling = Sampling(max_tokens=40, extra=STREAMED)
    async with (
        SimulatorServer(faults=faults) as server,
        StreamingClient(server.url, model="scripted", sampling=sampling, api_key=None) as client,
    ):
        return await client.ask(_prompt(), session="s")


async def test_a_streamed_reply_has_its_text_its_usage_and_its_first_token() -> None:
    answer = await _streamed()

    assert answer.error is None
    assert answer.text
    assert answer.prompt_tokens
    assert answer.completion_tokens
    assert answer.first is not None
    assert 0 < answer.first <= answer.total


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (FaultKind.HTTP_503, "HTTP 503: told to fail"),
        (FaultKind.CUT, ""),
        (FaultKind.STREAM_ERROR, ""),
    ],
)
async def test_a_reply_that_is_not_whole_is_an_answer_with_its_error(
    kind: FaultKind, error: str
) -> None:
    answer = await _streamed(Fault(kind=kind, times=-1))

    assert answer.error is not None
    assert answer.error.startswith(error)
