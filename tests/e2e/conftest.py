"""A Hub of its own for each test that asks for one, and a browser that a module's tests share."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from html_site import shared_browser
from hub.server import TOKEN, LocalHub


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """Start a Hub that knows one token, which is in the environment."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with LocalHub(tmp_path / "hub") as started:
        yield started


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def one_browser() -> AsyncIterator[None]:
    """Start one browser for all tests of a module, which run in the module's event loop."""
    async with shared_browser():
        yield
