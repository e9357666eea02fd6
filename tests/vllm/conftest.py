"""One real vLLM for all tests: `stepmill engine serve` with the configuration for a laptop."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from source_tree import ROOT
from support.servers.engine_serve import Serving

from generators.engine.client.client import OpenAIEngine
from generators.engine.vllm.command import LOCAL_VLLM

MODEL = ROOT / "models" / "tiny"


@pytest.fixture(scope="session")
def serving() -> Iterator[Serving]:
    """A server that no test has ended yet."""
    for path in (ROOT / LOCAL_VLLM, MODEL / "config.json"):
        assert path.exists(), f"{path.relative_to(ROOT)} is missing: `make engine-cpu`"
    running = Serving()
    try:
        yield running
    finally:
        running.end()


@pytest.fixture(scope="session")
def url(serving: Serving) -> str:
    """Where it serves."""
    return serving.url()


@pytest.fixture
async def engine(url: str) -> AsyncIterator[OpenAIEngine]:
    """A client of it."""
    async with OpenAIEngine([url], logprobs_mode="processed") as engine:
        yield engine


@pytest.fixture(scope="session")
def tokenizer_file() -> Path:
    """The tokenizer of the model that is served."""
    return MODEL / "tokenizer.json"
