"""A publication to a bucket on the Hub that ends at any write, and the one that completes it.

Every batch is the last one that gets through in turn: the next is refused, as it never comes after a kill. Two kills are
real, before a batch and after it.
"""

import asyncio
import gc
import json

import pytest
from effort import THOROUGH
from hub.faults import Fault
from hub.publishing import BUCKET, TO_BUCKET, Moment, killed, place_on, published_to
from hub.server import TOKEN, LocalHub
from support.runs.memory_run import two_versions

from schemas.errors import BadConfig, Unfinished
from storage.publish.verify import verify_published

STRIDE = 1 if THOROUGH else 5
"""From one batch at which a publication ends to the next."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the files of a publication that nothing happened to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_TOKEN", TOKEN)
        with LocalHub(tmp_path_factory.mktemp("whole") / "hub") as hub:
            published_to(hub, two_versions()[1], to=TO_BUCKET)
            return hub.objects(BUCKET)


def _ended_after(hub: LocalHub, batches: int) -> bool:
    """Publish the second version with so many batches; tell whether more were wanted."""
    dead = Fault("/batch", status=401, spare=batches, times=99)
    hub.faults.append(dead)
    try:
        published_to(hub, two_versions()[1], to=TO_BUCKET)
    except (BadConfig, Unfinished):
        return True
    finally:
        hub.faults.remove(dead)
        gc.collect()  # what an error holds keeps the folder of chunks
    return False


def _assert_loads(hub: LocalHub) -> None:
    """Hold the files that the manifest lists against what is there; texts may be newer than it."""
    files = hub.objects(BUCKET)
    if "demo/manifest.json" not in files:
        assert "demo/.publishing" in files or not files
        return
    there = asyncio.run(place_on(hub.url, TO_BUCKET).read("manifest.json"))
    listed = {f"demo/{file['path']}" for file in json.loads(there)["files"]}
    assert {path for path in listed if "/data/" in path} <= files.keys()


def _assert_completed(hub: LocalHub, whole: dict[str, str]) -> None:
    published_to(hub, two_versions()[1], to=TO_BUCKET)
    assert hub.objects(BUCKET) == whole
    proof = asyncio.run(verify_published(place_on(hub.url, TO_BUCKET), deep=True))
    assert (proof.findings, proof.leftovers) == ((), ())


@pytest.mark.parametrize("start", [0, 1], ids=["first", "update"])
def test_ended_at_any_batch_and_run_again_it_ends_in_the_same_files(
    hub: LocalHub, whole: dict[str, str], start: int
) -> None:
    batches = 0
    while True:
        hub.state.buckets.clear()
        if start:
            published_to(hub, two_versions()[0], to=TO_BUCKET)
        if not _ended_after(hub, batches):
            break
        _assert_loads(hub)
        _assert_completed(hub, whole)
        batches += STRIDE

    assert hub.objects(BUCKET) == whole
    assert batches >= 10


@pytest.mark.parametrize(
    "moment",
    [
        Moment("/batch", body="README.md", after=True),
        pytest.param(Moment("/batch", body="data/steps/"), marks=pytest.mark.full),
        pytest.param(Moment("/batch", body="manifest.json"), marks=pytest.mark.full),
        pytest.param(Moment("/batch", body="manifest.json", after=True), marks=pytest.mark.full),
        pytest.param(Moment("/batch", body="deleteFile", after=True), marks=pytest.mark.full),
    ],
    ids=str,
)
def test_killed_for_real_it_leaves_a_version_and_is_completed(
    hub: LocalHub, whole: dict[str, str], moment: Moment
) -> None:
    published_to(hub, two_versions()[0], to=TO_BUCKET)

    assert killed(hub, 2, moment, to=TO_BUCKET)

    _assert_loads(hub)
    _assert_completed(hub, whole)
