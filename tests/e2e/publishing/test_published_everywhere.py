"""One run, published to a folder, a bucket and the Hub at once, and read from each with everything.

The pages are real ones and a scripted engine acts, so that every config has rows and pictures are
pictures. Every reader must find the same value in every column of every row, wherever it reads.
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

import pyarrow.dataset as ds
import pytest
from conftest import ROOT
from hub.server import TOKEN, USER, LocalHub
from hub.state import Account
from support.runs.commands import SECONDS, environment, stepmill
from support.runs.memory_run import TEST, TRAIN, VALIDATION
from support.servers.seaweedfs import Weed
from support.stores.dataset_readers import BUCKET, KEYS, READERS, Found, digest

from schemas.task import SPLITS

pytestmark = pytest.mark.browser

FOLDER, REPO = "demo-dataset", "ORG/NAME"
PLACES = (FOLDER, f"{BUCKET}bucket/{FOLDER}", f"hf://datasets/{REPO}")
"""As the pages of the documentation call them."""

_BLOCK = re.compile(r"^```python no-run\n(.*?)^```", re.MULTILINE | re.DOTALL)
SNIPPETS = [
    pytest.param(found[1], id=f"{page.stem}-{number}")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for number, found in enumerate(_BLOCK.finditer(page.read_text(encoding="utf-8")))
]


@dataclass(frozen=True)
class Published:
    """A run that was published to all three."""

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
def published(weed: Weed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    """Make six tasks' attempts, a model's and a clumsy one's, and publish them to all three in one command."""
    base: Path = tmp_path_factory.mktemp("everywhere")
    with _bucket(weed), LocalHub(base / "hub") as hub:
        hub.state.accounts[TOKEN] = Account(USER, orgs=("ORG",))
        clients = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(base / "home")}
        env = environment({**weed.environment, **clients})
        env["PYTHONPATH"] += f":{ROOT / 'tests'}"
        rows = [
            {"site": "miniwob", "template_id": template, "seed": seed, "split": split}
            for template, split in zip((TRAIN, VALIDATION, TEST), SPLITS, strict=True)
            for seed in (0, 1)
        ]
        (base / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        done = stepmill(
            "generate",
            "--json",
            "--no-prefect",
            "--run=run",
            '--set=policies=[{name="model"}, {name="clumsy"}]',
            "--set=tasks.attempts=2",
            "--set=publish.include_rejected=true",
            "--set=engine.kind=scripted",
            "--set=engine.args=['--puppet']",
            "--set=browser.viewport=[512,512]",
            "--set=browser.sessions=3",
            "--set=tasks.source=tasks.jsonl",
            "--set=verify.verifiers=['structure','steps','outcome']",
            "--set=accept.passed=['structure','outcome']",
            f"--set=publish.to={json.dumps(PLACES)}",
            "--set=publish.private=false",
            cwd=base,
            env=env,
        )
        assert done.code == 0, done.err
        accepted = done.answer["accepted"]
        assert isinstance(accepted, int)
        assert 6 <= accepted < 12
        assert done.answer["episodes"] == 12
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


def test_the_three_places_hold_the_same_bytes(published: Published) -> None:
    folder, bucket, hub = published.folder(), published.bucket(), published.hub.files(REPO)
    card, manifest = "README.md", "manifest.json"

    assert folder.keys() == bucket.keys() == hub.keys()
    data = folder.keys() - {card, manifest}
    assert {path: folder[path] for path in data} == {path: bucket[path] for path in data}
    assert {path: folder[path] for path in data} == {path: hub[path] for path in data}


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_finds_the_same_rows_and_pictures_in_all_three(
    published: Published, expected: Found, reader: str
) -> None:
    program = str(ROOT / "tests" / "support" / "stores" / "dataset_readers.py")
    said = published.python(program, "everything", reader, *PLACES)
    found: dict[str, Found] = json.loads(said)

    assert all(told["rows"] for told in expected.values())
    assert found == dict.fromkeys(PLACES, expected)


@pytest.mark.parametrize("code", SNIPPETS)
def test_what_the_pages_say_about_loading_works(published: Published, code: str) -> None:
    published.python(
        "-c", f"import dataset_readers, os\ndataset_readers.open_buckets()\n{code}\nos._exit(0)"
    )
