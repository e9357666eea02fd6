"""`stepmill view`: what it refuses before a window is opened, and what it forgets."""

import asyncio
import os
import socket
from pathlib import Path

import pytest
from conftest import CopyRun
from support.episodes.factories import MadeRun, make_run
from support.runs.commands import called

from flows.viewing.opening import open_for_view
from schemas.errors import Damaged
from storage.reading.lookup import Lookup, cache_folder, lookup_folder, make_lookup


@pytest.fixture
def run(copy_run: CopyRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeRun:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return copy_run(tmp_path / "run", units=1)


def _look_up(run: MadeRun) -> Lookup:
    opened = asyncio.run(open_for_view(run.url, dict(os.environ)))
    folder = lookup_folder(cache_folder(os.environ), opened)
    make_lookup(opened, folder, lambda _share: None)
    return Lookup(opened, folder)


def test_a_port_that_is_taken_is_refused(run: MadeRun) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        said = called("view", run.url, f"--port={port}")

    assert said.code == 2
    assert f"--port {port}: 127.0.0.1 does not let it be served there" in said.err


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "example.org"])  # noqa: S104 - refused
def test_a_window_is_served_to_this_machine_alone(run: MadeRun, host: str) -> None:
    said = called("view", run.url, f"--host={host}")

    assert said.code == 2
    assert "is served to this machine alone" in said.err


def test_a_place_that_holds_nothing_is_refused(run: MadeRun, tmp_path: Path) -> None:
    said = called("view", run.url, str(tmp_path / "nothing"))

    assert said.code == 2
    assert "expected a run (run.json) or a published dataset (manifest.json)" in said.err


def test_what_was_kept_is_forgotten(run: MadeRun) -> None:
    _look_up(run)

    first = called("view", "--forget", run.url)
    second = called("view", "--forget", run.url)

    assert (first.code, second.code) == (0, 0)
    assert first.out.strip() == f"{run.url}: forgotten"
    assert second.out.strip() == f"{run.url}: nothing was kept of it"


def test_a_run_without_an_episode_has_no_heads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = asyncio.run(make_run(tmp_path / "run"))

    lookup = _look_up(run)

    assert lookup.is_whole
    assert lookup.heads.num_rows == 0
    assert lookup.words.find("anything") == []


def test_a_torn_shard_is_named(run: MadeRun) -> None:
    torn = next((run.folder / "tables" / "episodes").glob("*.parquet"))
    torn.write_bytes(torn.read_bytes()[:-40])

    with pytest.raises(Damaged, match="cannot be read"):
        _look_up(run)
