"""Readers of a collection to which nights are being added: each read is of one whole version.

In a folder the list of the newest version, which `manifest.json` names, is read with DuckDB and Polars by turns, and the
card, by which `datasets` opens a folder. A repository is read by `datasets` itself.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import duckdb
import polars as pl
import pytest
import yaml
from effort import THOROUGH
from hub.publishing import DATASET, TO
from hub.server import TOKEN, LocalHub
from support.runs.commands import SECONDS, environment
from support.stores.nights import ATTEMPTS, TRAJECTORIES, add_to, night

from schemas.configuration.sections import PublishSection
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.destinations.store import FolderDestination

NIGHTS, READS = (10, 100) if THOROUGH else (4, 20)
"""Nights that are added at least, and reads meanwhile; nights are added until there were as many reads."""

_READ = """
import json, os, sys
from pathlib import Path
from datasets import disable_progress_bars, load_dataset
disable_progress_bars()
counts = []
while True:
    ends = Path(sys.argv[1]).exists()
    parts = load_dataset("org/data", "trajectories", streaming=True)
    counts.append(sum(1 for rows in parts.values() for _ in rows.select_columns("episode_id")))
    print(json.dumps(counts), flush=True)
    if ends:
        os._exit(0)
"""


def _newest(place: Path) -> tuple[int, dict[str, list[str]]]:
    """Return the newest version, and the files that its list names, by config."""
    version: int = json.loads((place / "manifest.json").read_bytes())["version"]
    told = json.loads((place / f"versions/{version:06d}.json").read_bytes())["configs"]
    return version, {
        config: [str(place / path) for paths in splits.values() for path in paths]
        for config, splits in told.items()
    }


def _of_the_card(place: Path) -> dict[str, list[str]]:
    """Return the files that the card names, by config."""
    head = yaml.safe_load((place / "README.md").read_text().split("---\n")[1])
    found: dict[str, list[str]] = {}
    for config in head["configs"]:
        for split in config["data_files"]:
            paths = split["path"] if isinstance(split["path"], list) else [split["path"]]
            found.setdefault(config["config_name"], []).extend(str(place / path) for path in paths)
    return found


def _ids(reader: str, paths: list[str]) -> list[str]:
    """Return the episodes of some files, as a reader finds them."""
    if reader == "duckdb":
        with duckdb.connect() as connection:
            rows = connection.read_parquet(paths).project("episode_id").fetchall()
            return [row[0] for row in rows]
    return pl.scan_parquet(paths).select("episode_id").collect()["episode_id"].to_list()


def _read(place: Path, ends: Event, versions: list[int]) -> None:
    """Note the version that each read found whole, until nothing is added any more."""
    while not ends.is_set():
        for reader in ("duckdb", "polars"):
            version, named = _newest(place)
            attempts, trajectories = (
                _ids(reader, named[one]) for one in ("attempts", "trajectories")
            )
            assert len(attempts) == len({*attempts}) == version * ATTEMPTS
            assert len(trajectories) == len({*trajectories}) == version * TRAJECTORIES
            assert {*trajectories} < {*attempts}
            named = _of_the_card(place)
            nights, rest = divmod(len(_ids(reader, named["attempts"])), ATTEMPTS)
            assert (rest, len(_ids(reader, named["trajectories"]))) == (0, nights * TRAJECTORIES)
            versions.append(version)


def test_a_reader_of_a_folder_has_one_whole_version_all_the_time(tmp_path: Path) -> None:
    place, ends, versions = tmp_path / "nights", Event(), list[int]()

    def added(number: int) -> None:
        snapshot = night(number, alike=True)
        add_to(lambda: FolderDestination(place), snapshot, number)

    added(1)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(_read, place, ends, versions)
        number = 1
        try:
            while not reading.done() and (number < NIGHTS or len(versions) < READS):
                number += 1
                added(number)
        finally:
            ends.set()
        reading.result()

    assert number >= NIGHTS
    assert len(versions) >= READS
    assert versions == sorted(versions)
    assert len({*versions}) > 2


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:Use 'content=<...>':DeprecationWarning")  # of the Hub's client
def test_a_reader_of_a_repository_has_one_whole_version_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    # The local Hub's folder of chunks takes one process at a time.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    ends, terms = tmp_path / "ends", PublishSection(append=True)

    def added(hub: LocalHub, number: int) -> None:
        snapshot = night(number, alike=True)
        add_to(lambda: HubDestination(TO, terms, endpoint=hub.url), snapshot, number)

    with LocalHub(tmp_path / "hub", xet=False) as hub:
        added(hub, 1)
        own = {"HF_ENDPOINT": hub.url, "HF_HOME": f"{tmp_path}/home", "HF_HUB_DISABLE_XET": "1"}
        with subprocess.Popen(
            [sys.executable, "-c", _READ, str(ends)],
            env=environment(own),
            stdout=subprocess.PIPE,
            text=True,
        ) as reader:
            try:
                for number in range(2, NIGHTS + 1):
                    added(hub, number)
            finally:
                ends.touch()
            said, _ = reader.communicate(timeout=SECONDS)
        assert list(hub.repo(DATASET).tags) == [f"v{n}" for n in range(1, NIGHTS + 1)]

    counts: list[int] = json.loads(said.splitlines()[-1])
    assert reader.returncode == 0
    assert counts == sorted(counts)
    assert {count % TRAJECTORIES for count in counts} == {0}
    assert counts[-1] == NIGHTS * TRAJECTORIES
