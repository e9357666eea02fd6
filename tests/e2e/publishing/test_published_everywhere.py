"""One run, published to a folder, a bucket and the Hub at once, to a bucket there too, and read from each with everything.

The pages are real ones and a scripted engine acts, so that every config has rows and pictures are
pictures. Every reader must find the same value in every column of every row, wherever it reads: in
`make test` each reader in one place, and somebody in each, in `make test-full` each in all of them.
What the pages of the documentation say about loading is run as it stands there.
"""

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from conftest import ROOT
from effort import THOROUGH
from hub.server import TOKEN, USER, LocalHub
from hub.state import Account
from support.runs.commands import SECONDS, environment, stepmill
from support.runs.library import Kept, RunLibrary, generating
from support.servers.seaweedfs import Weed
from support.stores.dataset_readers import (
    BUCKET,
    HUB,
    HUB_BUCKET,
    KEYS,
    READERS,
    Found,
    digest,
)

pytestmark = pytest.mark.browser

FOLDER, REPO = "demo-dataset", "ORG/NAME"
PLACES = (FOLDER, f"{BUCKET}bucket/{FOLDER}", f"{HUB}{REPO}", f"{HUB_BUCKET}{REPO}")
"""As the pages of the documentation call them."""

SMALL = {
    ("datasets", PLACES[0]),
    ("datasets-streamed", PLACES[2]),
    ("datasets-streamed", PLACES[3]),
    ("polars", PLACES[1]),
    ("duckdb", PLACES[2]),
    ("stepmill", PLACES[1]),
    ("stepmill", PLACES[2]),
}
"""Each reader in one place, and each place with a reader."""

_BLOCK = re.compile(r"^```python no-run\n(.*?)^```", re.MULTILINE | re.DOTALL)
SNIPPETS = {
    f"{page.stem}-{number}": found[1]
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for number, found in enumerate(_BLOCK.finditer(page.read_text(encoding="utf-8")))
}

_READ_AND_RUN = """
import json, os, sys, traceback
from support.stores import dataset_readers

dataset_readers.open_buckets()
found = {}
for reader, place in json.loads(sys.argv[1]):
    try:
        found[f"{reader} {place}"] = dataset_readers.everything(reader, place)
    except Exception as error:
        found[f"{reader} {place}"] = f"{type(error).__name__}: {error}"
went = {}
for name, code in json.loads(sys.argv[2]).items():
    try:
        exec(compile(code, name, "exec"), {"__name__": "__main__"})
    except Exception:
        went[name] = traceback.format_exc()
    else:
        went[name] = ""
print(json.dumps({"found": found, "went": went}), flush=True)
os._exit(0)
"""
"""Reads with each reader in a place, and runs every snippet as it stands, each with names of its own.

To load the readers takes seconds, so one process does both.
"""

READINGS = [
    (reader, place)
    for reader in READERS
    for place in PLACES
    if THOROUGH or (reader, place) in SMALL
]


@dataclass(frozen=True)
class Published:
    """A run that was published to all of them."""

    base: Path
    """Where the folder is."""
    env: dict[str, str]
    """Of whoever may read it."""
    hub: LocalHub
    weed: Weed

    def python(self, *argv: str) -> str:
        """Run Python as a reader does; return what it printed."""
        done = subprocess.run(
            [sys.executable, *argv],
            cwd=self.base,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def folder(self) -> dict[str, str]:
        """Return the SHA-256 of each file of the folder."""
        at = self.base / FOLDER
        return {
            path.relative_to(at).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in at.rglob("*")
            if path.is_file()
        }

    def bucket(self) -> dict[str, str]:
        """Return the SHA-256 of each object of the dataset in the bucket."""
        client, prefix = self.weed.client(), f"{FOLDER}/"
        listed = client.list_objects_v2(Bucket="bucket", Prefix=prefix)["Contents"]
        objects = {
            item["Key"]: client.get_object(Bucket="bucket", Key=item["Key"]) for item in listed
        }
        return {
            key.removeprefix(prefix): hashlib.sha256(answer["Body"].read()).hexdigest()
            for key, answer in objects.items()
        }


@contextmanager
def _bucket(weed: Weed) -> Iterator[None]:
    """Have the bucket that the pages speak of, and afterwards none, for it may be made again."""
    client = weed.client()
    client.create_bucket(Bucket="bucket")
    yield
    for item in client.list_objects_v2(Bucket="bucket")["Contents"]:
        client.delete_object(Bucket="bucket", Key=item["Key"])
    client.delete_bucket(Bucket="bucket")


@pytest.fixture(scope="module")
def published(
    weed: Weed, run_library: RunLibrary, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Published]:
    """Publish a finished run of models and the clumsy one to all of them in one command."""
    base: Path = tmp_path_factory.mktemp("everywhere")
    kept = run_library.copy(Kept.MODEL, base)
    (base / "runs").mkdir()
    (base / "runs" / "demo").symlink_to(kept.run)
    with _bucket(weed), LocalHub(base / "hub") as hub:
        hub.state.accounts[TOKEN] = Account(USER, orgs=("ORG",))
        clients = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(base / "home")}
        env = environment({**weed.environment, **clients})
        env["PYTHONPATH"] += f":{ROOT / 'tests'}"
        done = stepmill(
            *generating(kept.run, kept.settings, *PLACES),
            "--set=publish.private=false",
            cwd=base,
            env=env,
        )
        assert done.code == 0, done.err
        assert done.answer["rolled_out"] == 0
        places = done.answer["published"]
        assert isinstance(places, list)
        assert [str(place).rpartition("/")[2] for place in places] == [
            place.rpartition("/")[2] for place in PLACES
        ]
        lance = stepmill(
            *("export", "runs/demo", "--format=lance", "--to=demo-lance"), cwd=base, env=env
        )
        assert lance.code == 0, lance.err
        yield Published(base, env, hub, weed)


@pytest.fixture(scope="module")
def expected(published: Published) -> Found:
    """What lies in the folder, read without any of the readers."""
    tables = {
        config: ds.dataset(published.base / FOLDER / "data" / config).to_table() for config in KEYS
    }
    return {
        config: {"rows": table.num_rows, "sha256": digest(config, table)}
        for config, table in tables.items()
    }


@pytest.fixture(scope="module")
def read(published: Published) -> dict[str, Any]:
    """What readers found, by reader and place (`found`), and how the pages' snippets went (`went`)."""
    asked = (json.dumps(READINGS), json.dumps(SNIPPETS))
    told: dict[str, Any] = json.loads(
        published.python("-c", _READ_AND_RUN, *asked).splitlines()[-1]
    )
    return told


def test_the_places_hold_the_same_bytes(published: Published) -> None:
    folder, bucket, hub = published.folder(), published.bucket(), published.hub.files(REPO)
    card, manifest = "README.md", "manifest.json"

    assert folder.keys() == bucket.keys() == hub.keys() == published.hub.objects(REPO).keys()
    data = folder.keys() - {card, manifest}
    assert {path: folder[path] for path in data} == {path: bucket[path] for path in data}
    assert {path: folder[path] for path in data} == {path: hub[path] for path in data}


def test_a_reader_finds_every_row_and_picture_where_it_is_published(
    read: dict[str, Any], expected: Found, subtests: pytest.Subtests
) -> None:
    found = read["found"]

    assert all(told["rows"] for told in expected.values())
    assert {reader for reader, _ in READINGS} == READERS.keys()
    for reader, place in READINGS:
        with subtests.test(msg=f"{reader} in {place}"):
            assert found[f"{reader} {place}"] == expected


def test_what_the_pages_say_about_loading_works(
    read: dict[str, Any], subtests: pytest.Subtests
) -> None:
    went: dict[str, str] = read["went"]

    assert went.keys() == SNIPPETS.keys() != set()
    for name, fault in went.items():
        with subtests.test(msg=name):
            assert not fault, fault
