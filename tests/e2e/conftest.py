"""A Hub of its own for each test that asks for one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hub.server import TOKEN, LocalHub


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """Start a Hub that knows one token, which is in the environment."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with LocalHub(tmp_path / "hub") as started:
        yield started
