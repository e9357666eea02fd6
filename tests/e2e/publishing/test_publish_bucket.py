"""A run in a bucket on the Hub: the difference only, files that the Hub does not take, and who else is there."""

import asyncio
from pathlib import Path

import pytest
from hub.faults import Fault
from hub.publishing import BUCKET, TO_BUCKET, place_on, published_to
from hub.server import LocalHub
from huggingface_hub import HfApi
from support.runs.memory_run import MemorySnapshot, contents, published, small_run, two_versions

from schemas.backoff import Backoff
from schemas.configuration.sections import PublishSection
from schemas.errors import Conflict, OtherRun, Unfinished
from storage.publish.destinations.hub import bucket_files, errors
from storage.publish.verify import verify_published

THEIRS = "f" * 32


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = Backoff(first_seconds=0.01, max_seconds=0.01, tries=4)
    monkeypatch.setattr(errors, "_BACKOFF", quick)
    monkeypatch.setattr(bucket_files, "_TRIES", quick)


def _snapshot() -> MemorySnapshot:
    return small_run(alike=True).seal()


def _text(hub: LocalHub, path: str) -> bytes:
    return asyncio.run(place_on(hub.url, TO_BUCKET).read(path))


def _write(hub: LocalHub, path: str, data: bytes) -> None:
    """Write as somebody else."""
    HfApi(endpoint=hub.url).batch_bucket_files(BUCKET, add=[(data, f"demo/{path}")])


def _assert_whole(hub: LocalHub) -> None:
    proof = asyncio.run(verify_published(place_on(hub.url, TO_BUCKET), deep=True))
    assert (proof.findings, proof.leftovers) == ((), ())


def test_a_first_publication_makes_a_private_bucket_with_the_files_of_a_folder(
    hub: LocalHub, tmp_path: Path
) -> None:
    report = published_to(hub, _snapshot(), to=TO_BUCKET)
    published(_snapshot(), tmp_path / "to")

    there = {path.removeprefix("demo/") for path in hub.objects(BUCKET)}
    assert hub.bucket(BUCKET).private
    assert there == contents(tmp_path / "to").keys()
    assert (report.put, report.destination) == (len(there), TO_BUCKET)
    assert hub.requests["POST batch"] + hub.requests["GET xet-write-token"] < 2 * len(there)
    assert report.link == "https://huggingface.co/buckets/org/store/tree/demo"
    _assert_whole(hub)


def test_at_the_top_of_a_bucket_it_is_the_same(hub: LocalHub) -> None:
    published_to(hub, _snapshot(), to=TO_BUCKET)
    below = hub.objects(BUCKET)

    report = published_to(hub, _snapshot(), to="hf://buckets/org/top")

    assert {f"demo/{path}" for path in hub.objects("org/top")} == below.keys()
    assert report.link == "https://huggingface.co/buckets/org/top"


def test_the_same_version_again_only_reads(hub: LocalHub) -> None:
    published_to(hub, _snapshot(), to=TO_BUCKET)
    before = dict(hub.bucket(BUCKET).files)
    hub.requests.clear()

    report = published_to(hub, _snapshot(), to=TO_BUCKET)

    assert (report.put, report.deleted) == (0, 0)
    assert hub.bucket(BUCKET).files == before
    assert {name.split()[0] for name in hub.requests} == {"GET"}
    assert hub.requests.total() <= 20


def test_a_later_version_writes_only_the_difference(hub: LocalHub) -> None:
    before, after = two_versions()
    published_to(hub, before, to=TO_BUCKET)
    old = hub.objects(BUCKET)

    report = published_to(hub, after, to=TO_BUCKET)

    new = hub.objects(BUCKET)
    assert report.put == len({path for path in new if new[path] != old.get(path)})
    assert report.deleted == len(old.keys() - new.keys()) > 0
    _assert_whole(hub)
    hub.state.buckets.clear()
    published_to(hub, after, to=TO_BUCKET)
    assert hub.objects(BUCKET) == new


def test_what_somebody_else_put_beside_it_stays(hub: LocalHub) -> None:
    before, after = two_versions()
    published_to(hub, before, to=TO_BUCKET)
    HfApi(endpoint=hub.url).batch_bucket_files(
        BUCKET, add=[(b"theirs", path) for path in ("demo-of-others/notes.txt", "demo.txt")]
    )
    _write(hub, "LICENSE", b"theirs")

    published_to(hub, after, to=TO_BUCKET)

    assert {"demo-of-others/notes.txt", "demo.txt", "demo/LICENSE"} < hub.objects(BUCKET).keys()
    listing = asyncio.run(place_on(hub.url, TO_BUCKET).listing())
    assert not [path for path in listing.sizes if path.startswith(("demo", "-", ".txt"))]


@pytest.mark.parametrize("word", ["data/steps/", "README.md", "manifest.json", ".publishing"])
def test_files_that_the_hub_does_not_take_at_first_are_sent_again(hub: LocalHub, word: str) -> None:
    published_to(hub, _snapshot(), to=TO_BUCKET)
    whole = hub.objects(BUCKET)
    hub.bucket(BUCKET).files.clear()
    hub.bucket(BUCKET).failing[word] = 2

    published_to(hub, _snapshot(), to=TO_BUCKET)

    assert hub.bucket(BUCKET).failing[word] == 0
    assert hub.objects(BUCKET) == whole
    _assert_whole(hub)


def test_only_what_failed_of_a_batch_is_sent_again(hub: LocalHub) -> None:
    before, after = two_versions()
    published_to(hub, before, to=TO_BUCKET)
    hub.bucket(BUCKET).failing["README.md"] = 1
    sent = [Fault("/batch", body=word, harmless=True, times=9) for word in ("plots/", "README.md")]
    hub.faults += sent
    published_to(hub, after, to=TO_BUCKET)

    assert [9 - fault.times for fault in sent] == [1, 1]


def test_a_file_that_the_hub_never_takes_is_named_and_nothing_is_lost(hub: LocalHub) -> None:
    before, after = two_versions()
    published_to(hub, before, to=TO_BUCKET)
    manifest = _text(hub, "manifest.json")
    hub.bucket(BUCKET).failing["README.md"] = 99

    with pytest.raises(Unfinished, match=r"did not take README\.md \(injected\); run the same"):
        published_to(hub, after, to=TO_BUCKET)

    assert _text(hub, "manifest.json") == manifest
    hub.bucket(BUCKET).failing.clear()
    published_to(hub, after, to=TO_BUCKET)
    _assert_whole(hub)


def test_a_file_that_the_hub_does_not_remove_is_named_and_removed_by_the_next(
    hub: LocalHub,
) -> None:
    before, after = two_versions()
    published_to(hub, before, to=TO_BUCKET)
    hub.bucket(BUCKET).failing["data/steps/test-"] = 99

    with pytest.raises(Unfinished, match=r"did not take data/steps/test-.* \(injected\)"):
        published_to(hub, after, to=TO_BUCKET)

    hub.bucket(BUCKET).failing.clear()
    published_to(hub, after, to=TO_BUCKET)
    _assert_whole(hub)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("/batch", status=500),
        Fault("/batch", status=500, after=True),
        pytest.param(Fault("/batch", body="deleteFile", after=True), marks=pytest.mark.full),
        Fault("/batch", body="manifest.json", after=True),
        pytest.param(Fault("/batch", body="README.md"), marks=pytest.mark.full),
        Fault("/api/buckets/org/store", method="POST", status=503),
        pytest.param(Fault("/api/buckets/org/store", method="POST", after=True)),
        Fault("/xet-write-token", status=500, spare=2),
        Fault("/resolve/", status=429, headers=(("Retry-After", "1"),)),
        pytest.param(Fault("/tree", status=503), marks=pytest.mark.full),
        pytest.param(Fault("/paths-info", status=503), marks=pytest.mark.full),
    ],
    ids=lambda f: f"{f.word.strip('/')} {f.body} {f.status or 'cut'}{' after' if f.after else ''}",
)
def test_what_goes_wrong_on_the_way_does_not_change_where_it_ends(
    hub: LocalHub, fault: Fault
) -> None:
    before, after = two_versions()
    creates = fault.method == "POST"
    if not creates:
        published_to(hub, before, to=TO_BUCKET)
    hub.faults.append(fault)

    published_to(hub, after, to=TO_BUCKET)

    assert fault.times == 0
    _assert_whole(hub)


OTHERS = "hf://buckets/org/store/other"


def _meanwhile(hub: LocalHub, body: str, *, after: bool = False) -> dict[str, str]:
    """Have another writer end at `demo` when a batch comes; return what it wrote there, by path.

    Its publication, with rejected episodes, is made beside and moved.
    """
    published_to(hub, _snapshot(), to=OTHERS, terms=PublishSection(include_rejected=True))
    files = hub.bucket(BUCKET).files
    theirs = {path: files.pop(path) for path in [*files] if path.startswith("other/")}
    moved = {path.replace("other/", "demo/", 1): entry for path, entry in theirs.items()}
    hub.faults.append(
        Fault("/batch", body=body, harmless=True, after=after, call=lambda: files.update(moved))
    )
    return {path: entry.xet for path, entry in moved.items()}


@pytest.mark.parametrize(
    ("body", "after"),
    [("data/steps/", False), ("manifest.json", True), ("deleteFile", False)],
    ids=["data", "manifest", "removal"],
)
def test_a_second_writer_that_is_seen_is_refused_and_what_it_wrote_stays(
    hub: LocalHub, body: str, *, after: bool
) -> None:
    first, second = two_versions()
    published_to(hub, first, to=TO_BUCKET)
    theirs = _meanwhile(hub, body, after=after)

    with pytest.raises(Conflict, match=r"another publication ended here meanwhile.* one writer"):
        published_to(hub, second, to=TO_BUCKET)

    assert theirs.items() <= hub.objects(BUCKET).items()
    published_to(hub, second, to=TO_BUCKET)
    _assert_whole(hub)


def test_a_second_writer_at_an_empty_place_is_seen_too(hub: LocalHub) -> None:
    published_to(hub, _snapshot(), to="hf://buckets/org/store/first")
    theirs = _meanwhile(hub, "data/steps/")

    with pytest.raises(Conflict, match="another publication ended here meanwhile"):
        published_to(hub, _snapshot(), to=TO_BUCKET)

    assert theirs.items() <= hub.objects(BUCKET).items()


def test_of_two_runs_that_find_the_same_empty_place_one_is_refused(hub: LocalHub) -> None:
    published_to(hub, _snapshot(), to="hf://buckets/org/store/first")
    _write(hub, "mark", THEIRS.encode())
    files = hub.bucket(BUCKET).files
    mark = files.pop("demo/mark")
    hub.faults.append(
        Fault(
            "/batch",
            body="README.md",
            harmless=True,
            call=lambda: files.update({"demo/.publishing": mark}),
        )
    )

    with pytest.raises(OtherRun, match="another run began to publish here at the same time"):
        published_to(hub, _snapshot(), to=TO_BUCKET)

    assert "demo/manifest.json" not in files
    assert files["demo/.publishing"] == mark
