"""Real vLLM keeps what the program relies on, and what is left when it does not: nothing.

The tests are in an order: those at the end kill the server that the ones before them asked.
"""

import asyncio
import io
import json
import math
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import psutil
import pytest
from PIL import Image, ImageDraw
from source_tree import ROOT
from support.runs.commands import until
from support.servers.engine_serve import Serving
from tokenizers import Tokenizer

from flows.job.config_loader import Sources, load
from generators.endpoint_check.capabilities import check_usage_details
from generators.endpoint_check.endpoint import CheckedEndpoint
from generators.endpoint_check.result import Fitness
from generators.engine.client.client import OpenAIEngine
from generators.engine.client.metrics import EngineMetrics, read_metrics
from generators.engine.protocol import EnginePrompt, Message, Picture, Reply, Role, Sampling
from generators.engine.vllm.command import LOCAL_VLLM, serve_command
from generators.engine.vllm.flags import installed_version, known_spellings
from generators.policy.dialects.registry import make_dialect
from schemas.base import Record
from schemas.configuration.sections import EngineKind, EngineSection
from schemas.episodes.call import StructuredMode

REPLIES = 50
LOAD = 150
"""Requests at once that keep the server busy for some seconds."""

ENDS = 2
"""Tokens that enclose a picture, which vLLM counts as the picture's."""

ENDLESS = 15_000
"""Tokens of a reply that takes longer than anybody waits."""

pytestmark = pytest.mark.timeout(1_200)  # a start takes half a minute, on a busy machine several


class _Click(Record):
    tool: Literal["click"]
    x: int
    y: int


class _Write(Record):
    tool: Literal["write"]
    content: str
    enter: bool


class _Turn(Record):
    note: str | None
    thought: str
    call: _Click | _Write


def _picture(size: int = 128) -> Picture:
    image = Image.new("RGB", (size, size), "white")
    ImageDraw.Draw(image).rectangle((9, 20, 60, 80), fill="red")
    data = io.BytesIO()
    image.save(data, "JPEG")
    return Picture(jpeg=data.getvalue(), step=0, width=size, height=size)


def _prompt(text: str = "Click the red box.", *, schema: bool = True) -> EnginePrompt:
    return EnginePrompt(
        messages=(
            Message(role=Role.SYSTEM, parts=("You operate a browser.",)),
            Message(role=Role.USER, parts=(text, _picture())),
        ),
        reply_schema=_Turn.model_json_schema() if schema else None,
    )


def _sampling(seed: int, **more: object) -> Sampling:
    drawn = Sampling(temperature=1.0, seed=seed, max_tokens=1_000, logprobs=True)
    return drawn.model_copy(update=more)


async def _replies(engine: OpenAIEngine, count: int) -> list[Reply]:
    async with asyncio.TaskGroup() as group:
        asked = [
            group.create_task(engine.reply(_prompt(), _sampling(seed), session=str(seed)))
            for seed in range(count)
        ]
    return [task.result() for task in asked]


async def _metrics(engine: OpenAIEngine) -> EngineMetrics:
    (metrics,) = (await engine.metrics()).values()
    assert metrics is not None
    return metrics


async def test_a_server_says_what_it_serves(engine: OpenAIEngine, serving: Serving) -> None:
    card = engine.card

    assert (card.model, card.product, card.context_tokens) == ("models/tiny", "vllm", 16_384)
    assert card.version is not None
    assert card.version.startswith("0.32")
    for phase in ("starting the engine", "loading weights", "ready at"):
        assert phase in serving


async def test_every_reply_follows_its_schema(engine: OpenAIEngine) -> None:
    replies = await _replies(engine, REPLIES)

    assert [reply.finish_reason for reply in replies] == ["stop"] * REPLIES
    turns = [_Turn.model_validate_json(reply.text) for reply in replies]
    assert len({reply.text for reply in replies}) > REPLIES // 2
    assert {turn.call.tool for turn in turns} == {"click", "write"}


async def test_a_reply_comes_with_its_tokens_and_their_log_probabilities(
    engine: OpenAIEngine, tokenizer_file: Path
) -> None:
    tokenizer = Tokenizer.from_file(str(tokenizer_file))

    reply = await engine.reply(_prompt(), _sampling(7), session="a")

    ids, logprobs = reply.completion_token_ids, reply.completion_logprobs
    assert reply.prompt_token_ids is not None
    assert ids is not None
    assert logprobs is not None
    assert tokenizer.decode(ids) == reply.text
    assert reply.prompt_tokens == len(reply.prompt_token_ids)
    assert reply.completion_tokens == len(ids) == len(logprobs)
    assert all(math.isfinite(one) and one <= 0 for one in logprobs)
    assert reply.logprobs_mode == "processed"
    assert reply.structured
    image = tokenizer.token_to_id("<image>")
    assert reply.prompt_token_ids.count(image) == 16


async def test_a_reply_says_what_it_took(engine: OpenAIEngine, tokenizer_file: Path) -> None:
    image = Tokenizer.from_file(str(tokenizer_file)).token_to_id("<image>")

    reply = await engine.reply(_prompt(), _sampling(7), session="a")

    assert reply.prompt_token_ids is not None
    assert reply.prompt_token_ids.count(image) == 16
    assert reply.image_tokens == 16 + ENDS
    assert reply.cached_tokens == 0  # no prefix cache works on a CPU: that it is none is said
    assert reply.queue_ms is not None
    assert reply.ttft_ms is not None
    assert 0 <= reply.queue_ms < reply.ttft_ms <= reply.total_ms
    assert reply.structured_mode is StructuredMode.JSON_SCHEMA


async def test_who_waits_for_its_turn_is_told_how_long(engine: OpenAIEngine) -> None:
    replies = await _replies(engine, LOAD)
    waits = [reply.queue_ms for reply in replies if reply.queue_ms is not None]
    first = min(reply.ttft_ms for reply in replies if reply.ttft_ms is not None)

    assert len(waits) == LOAD
    assert max(waits) > first  # 16 at once are worked on: the last ones wait for eight rounds
    assert all((reply.ttft_ms or 0) > (reply.queue_ms or 0) for reply in replies)


async def test_an_endpoint_that_was_started_so_is_fit_to_say_it(engine: OpenAIEngine) -> None:
    endpoint = CheckedEndpoint(engine, make_dialect("holotron"))
    endpoint.max_images = 3

    lines = await check_usage_details(endpoint)

    assert {line.name: line.fitness for line in lines} == {
        "token details": Fitness.FIT,
        "times": Fitness.FIT,
    }


async def test_a_longer_conversation_begins_with_the_tokens_of_the_shorter(
    engine: OpenAIEngine, tokenizer_file: Path
) -> None:
    first = await engine.reply(_prompt(), _sampling(1), session="a")
    reply = Message(role=Role.ASSISTANT, parts=(first.text,))
    turn = Message(role=Role.USER, parts=("Again.", _picture(256)))
    longer = (*_prompt().messages, reply, turn)

    second = await engine.reply(EnginePrompt(messages=longer), _sampling(1), session="a")

    suffix = Tokenizer.from_file(str(tokenizer_file)).encode("<SPECIAL_11>Assistant\n").ids
    assert first.prompt_token_ids is not None
    assert second.prompt_token_ids is not None
    assert list(first.prompt_token_ids[-len(suffix) :]) == suffix
    stable = first.prompt_token_ids[: -len(suffix)]
    assert second.prompt_token_ids[: len(stable)] == stable


async def test_the_same_seed_draws_the_same_reply(engine: OpenAIEngine) -> None:
    one, again, other = [
        await engine.reply(_prompt(), _sampling(seed), session="a") for seed in (3, 3, 4)
    ]

    assert one.text == again.text
    assert one.text != other.text


async def test_the_metrics_count_what_was_asked(engine: OpenAIEngine) -> None:
    before = await _metrics(engine)
    reply = await engine.reply(_prompt(), _sampling(5), session="a")
    after = await _metrics(engine)

    counted = {
        "prompt_tokens": reply.prompt_tokens,
        "cached_prompt_tokens": reply.cached_tokens,
        "generation_tokens": reply.completion_tokens,
        "finished": 1,
        "picture_queries": 1,
    }
    for name, expected in counted.items():
        assert getattr(after, name) - getattr(before, name) == expected, name
    assert (after.running, after.waiting, after.preemptions) == (0, 0, 0)
    assert after.kv_usage is not None
    assert after.first_token is not None
    assert after.first_token.count >= 1


async def test_a_request_that_is_cancelled_ends_at_the_server(engine: OpenAIEngine) -> None:
    before = (await _metrics(engine)).generation_tokens
    endless = Sampling(temperature=1.0, max_tokens=ENDLESS, extra={"ignore_eos": True})
    asking = asyncio.create_task(engine.reply(_prompt(schema=False), endless, session="a"))
    await _until_running(engine, 1)

    asking.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asking
    await _until_running(engine, 0)
    after = (await _metrics(engine)).generation_tokens
    assert before is not None
    assert after is not None
    assert after - before < ENDLESS


async def _until_running(engine: OpenAIEngine, requests: int) -> None:
    """Wait until the server works on so many; its loop may not be held meanwhile."""
    async with asyncio.timeout(60):
        while True:
            if (await _metrics(engine)).running == requests:
                return
            await asyncio.sleep(0.05)


KNOWN = """
import json, sys
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.utils.argparse_utils import FlexibleArgumentParser

parser = make_arg_parser(FlexibleArgumentParser())
for args in json.loads(sys.argv[1]):
    read = parser.parse_args(args)
    validate_parsed_serve_args(read)
    print(json.dumps([read.enable_prompt_tokens_details, read.enable_per_request_metrics]))
"""


def _parsed(sections: Sequence[EngineSection]) -> list[list[bool]]:
    """Have vLLM parse the commands that serve these, and return what it takes of our own flags."""
    commands = [serve_command(section, 7_000).argv for section in sections]
    asked = [argv[argv.index("serve") + 1 :] for argv in commands]
    known = subprocess.run(
        [ROOT / LOCAL_VLLM.parent / "python", "-c", KNOWN, json.dumps(asked)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert known.returncode == 0, known.stderr[-2_000:]
    return [json.loads(line) for line in known.stdout.splitlines() if line.startswith("[")]


def test_every_command_that_serves_a_configuration_is_one_that_vllm_knows() -> None:
    configs = {
        path.stem: load(Sources(config=str(path)), {}).engine
        for path in sorted((ROOT / "configs").glob("*.toml"))
    }
    served = {name: one for name, one in configs.items() if one.kind is EngineKind.VLLM}

    assert served.keys() >= {"holotron-h100", "holo2-h100", "laptop-vllm"}
    assert _parsed([*served.values()]) == [[True, True]] * len(served)


SPELLINGS = """
import json
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser

parser = make_arg_parser(FlexibleArgumentParser())
print(json.dumps(sorted({*parser._option_string_actions} - {"-h", "--help"})))
"""


def test_the_table_of_flags_holds_those_of_the_version_that_is_installed() -> None:
    version = installed_version((str(ROOT / LOCAL_VLLM),))
    known = subprocess.run(
        [ROOT / LOCAL_VLLM.parent / "python", "-c", SPELLINGS],
        capture_output=True,
        text=True,
        check=False,
    )

    assert known.returncode == 0, known.stderr[-2_000:]
    assert str(version) == "0.32"
    assert version is not None
    assert sorted(known_spellings(version)) == json.loads(known.stdout.splitlines()[-1])


def test_a_configuration_can_take_back_what_every_server_is_told() -> None:
    args = ("--no-enable-per-request-metrics", "--disable-log-stats")

    assert _parsed([EngineSection(model="some/model", args=args)]) == [[True, False]]


async def test_a_server_killed_under_load_loses_no_request(
    engine: OpenAIEngine, url: str, serving: Serving
) -> None:
    first = serving.processes()
    asking = asyncio.create_task(_replies(engine, LOAD))
    await asyncio.to_thread(until, lambda: _busy(url))

    (server,) = [one for one in first if "serve" in one.cmdline()[1:3]]
    server.kill()
    replies = await asking

    assert "ended with code 137; starting it again" in serving
    assert [reply.finish_reason for reply in replies] == ["stop"] * LOAD
    assert sum(reply.retries for reply in replies) >= 1
    assert not any(process.is_running() for process in first)


def _busy(url: str) -> bool:
    """Say whether the server works on several requests."""
    metrics = asyncio.run(read_metrics(url))
    return metrics is not None and (metrics.running or 0) > 1


def test_nothing_is_left_of_a_server_that_was_stopped(serving: Serving, url: str) -> None:
    del url  # it serves
    processes = serving.processes()

    serving.process.send_signal(signal.SIGTERM)
    code = serving.process.wait(60)

    assert len(processes) >= 4
    assert (code, psutil.wait_procs(processes, timeout=10)[1]) == (130, [])


def test_nothing_is_left_of_a_server_whose_owner_was_killed() -> None:
    serving = Serving()
    try:
        serving.hears("loading weights")
        processes = serving.processes()
    finally:
        serving.end()

    assert len(processes) >= 4
    assert psutil.wait_procs(processes, timeout=30)[1] == []
