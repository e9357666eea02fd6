"""A supervised server that has requests and computes nothing for them is started again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.servers.fake_supervised import (
    QUICK,
    Heard,
    fake_section,
    fake_server,
    happens,
    restarted,
)

from schemas.configuration.sections import EngineSection

ENOUGH_LOOKS = 30
"""At the counters, after which a server that stood still would have been ended several times over."""

STANDING = QUICK.model_copy(update={"progress_seconds": 0.02})


def _section(page: Path, *, seconds: float = 0.2) -> EngineSection:
    section = fake_section("--metrics", str(page))
    return section.model_copy(update={"wedged_seconds": seconds})


def _page(prompt: int, generation: int, *, running: int = 2) -> str:
    return (
        f"vllm:prompt_tokens_total {prompt}\nvllm:generation_tokens_total {generation}\n"
        f"vllm:num_requests_running {running}\n"
    )


def _looks(heard: Heard) -> int:
    """Return how often the counters were asked for, by the server's log."""
    return heard.log.read_text().count("GET /metrics")


@pytest.fixture
async def heard(tmp_path: Path) -> AsyncIterator[Heard]:
    """Hear a server out, and see to it that nothing of it is left."""
    heard = Heard(tmp_path / "vllm.log")
    yield heard
    assert heard.processes == set()


@pytest.mark.parametrize("told_by_client", [False, True])
async def test_a_server_that_computes_nothing_for_its_requests_is_started_again(
    heard: Heard, tmp_path: Path, *, told_by_client: bool
) -> None:
    page, busy = tmp_path / "metrics", [int(told_by_client)]
    page.write_text(_page(7, 5, running=0 if told_by_client else 2))
    server = fake_server(_section(page), heard, STANDING)
    if told_by_client:
        server.count_requests(lambda: busy[0])
    async with server:
        await happens(lambda: "computed nothing for its requests" in heard)
        page.write_text(_page(0, 0, running=0))
        busy[0] = 0
        await restarted(server, 1)
        assert server.is_ready
    assert "vLLM answers, and has computed nothing for its requests for" in heard
    assert "starting it again" in heard


@pytest.mark.parametrize(
    "page",
    [
        "",  # no metrics at all
        "vllm:num_requests_running 2\nvllm:prompt_tokens_total 7\n",  # one counter alone
        "sglang:prompt_tokens_total 7\nsglang:generation_tokens_total 5\nsglang:num_running_reqs 2\n",
        "vllm:prompt_tokens_total 7\nvllm:generation_tokens_total 5\nvllm:num_requests_running 0\n",
    ],
)
async def test_a_server_without_requests_or_without_counters_may_stand_still(
    heard: Heard, tmp_path: Path, page: str
) -> None:
    file = tmp_path / "metrics"
    file.write_text(page)
    async with fake_server(_section(file), heard, STANDING) as server:
        await happens(lambda: _looks(heard) >= ENOUGH_LOOKS)
        assert server.restarts == 0


async def test_a_server_whose_counters_move_is_left_alone(heard: Heard, tmp_path: Path) -> None:
    file = tmp_path / "metrics"
    file.write_text(_page(7, 5))
    async with fake_server(_section(file, seconds=3.0), heard, STANDING) as server:
        for token in range(40):
            looks = _looks(heard)
            file.with_suffix(".new").write_text(_page(7, 5 + token))
            file.with_suffix(".new").replace(file)
            await happens(lambda looks=looks: _looks(heard) > looks)  # type: ignore[misc]
            await asyncio.sleep(0.1)
        assert server.restarts == 0
