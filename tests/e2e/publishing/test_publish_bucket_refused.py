"""Buckets on the Hub that are somebody else's, tokens that may not, names that cannot be: clear words."""

from collections.abc import Callable

import pytest
from hub.publishing import BUCKET, TO_BUCKET, place_on, published_to
from hub.server import TOKEN, LocalHub
from hub.state import Account
from huggingface_hub import HfApi
from support.runs.memory_run import STORAGE, MemorySnapshot, small_run

from flows.job.publish_job import check_destination
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import Gate, PublishSection, RunSection
from schemas.errors import BadConfig, OtherRun, Refusal, Unfinished, Unwritable
from storage.publish.destinations.hub.bucket import BucketDestination
from storage.publish.publish import open_destination

_OTHER = "hf_anothertokenofthetests"
_THEIRS = "f" * 32


def _snapshot() -> MemorySnapshot:
    return small_run(alike=True).seal()


def _knowing(hub: LocalHub, account: Account, patch: pytest.MonkeyPatch) -> None:
    hub.state.accounts[_OTHER] = account
    patch.setenv("HF_TOKEN", _OTHER)


def _holding(hub: LocalHub, path: str, data: bytes, *, private: bool = True) -> None:
    """Make a bucket with a file of somebody else."""
    hub.state.create_bucket(BUCKET, hub.state.accounts[TOKEN], private=private)
    HfApi(endpoint=hub.url).batch_bucket_files(BUCKET, add=[(data, f"demo/{path}")])


def _public(hub: LocalHub) -> None:
    hub.state.create_bucket(BUCKET, hub.state.accounts[TOKEN], private=False)


def _other_run(hub: LocalHub) -> None:
    published_to(hub, _snapshot(), to=TO_BUCKET, run_id=_THEIRS)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (
            lambda hub: _holding(hub, "thesis.txt", b"precious"),
            Unwritable,
            r"is not empty .*thesis\.txt",
        ),
        (
            lambda hub: _holding(hub, "manifest.json", b'{"name": "a web app"}'),
            Unwritable,
            r"is not a manifest of a dataset",
        ),
        (
            lambda hub: _holding(hub, ".publishing", _THEIRS.encode()),
            OtherRun,
            rf"another run \({_THEIRS}",
        ),
        (_other_run, OtherRun, rf"another run \({_THEIRS}"),
        (_public, BadConfig, r"is public, and publish\.private is true; make the bucket private"),
    ],
    ids=["foreign", "manifest", "began", "other run", "public"],
)
def test_a_bucket_that_is_something_else_is_left_alone(
    hub: LocalHub, make: Callable[[LocalHub], None], kind: type[Refusal], message: str
) -> None:
    make(hub)
    before = dict(hub.bucket(BUCKET).files)

    with pytest.raises(kind, match=message) as raised:
        published_to(hub, _snapshot(), to=TO_BUCKET)

    assert TO_BUCKET in str(raised.value)
    assert hub.bucket(BUCKET).files == before


def test_a_public_bucket_is_made_and_taken_where_that_is_wanted(hub: LocalHub) -> None:
    published_to(hub, _snapshot(), to=TO_BUCKET, terms=PublishSection(private=False))

    assert not hub.bucket(BUCKET).private


def test_a_gate_that_a_bucket_does_not_have_is_refused() -> None:
    with pytest.raises(BadConfig, match=r"publish\.gated is manual; unset it, or publish to hf:"):
        BucketDestination(TO_BUCKET, PublishSection(gated=Gate.MANUAL))


@pytest.mark.parametrize(
    ("account", "message"),
    [
        (Account("else", orgs=("other",)), r"the token is else's, who does not belong to org"),
        (Account("tester", orgs=("org",), role="read"), r"the token can only read"),
        (
            Account("tester", orgs=("org",), role="fineGrained", writes=("datasets/org/store",)),
            r"grant it write access to the contents of org's repositories, or of org/store",
        ),
    ],
    ids=["other", "read", "fine-grained"],
)
async def test_a_token_that_cannot_write_is_refused_before_any_work(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch, account: Account, message: str
) -> None:
    _knowing(hub, account, monkeypatch)

    with pytest.raises(BadConfig, match=message):
        await place_on(hub.url, TO_BUCKET).probe()


@pytest.mark.parametrize("writes", ["org", "buckets/org/store"])
def test_a_fine_grained_token_that_can_write_publishes(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch, writes: str
) -> None:
    account = Account("tester", orgs=("org",), role="fineGrained", writes=(writes,))
    _knowing(hub, account, monkeypatch)

    published_to(hub, _snapshot(), to=TO_BUCKET)

    assert "demo/manifest.json" in hub.objects(BUCKET)


async def test_no_token_is_refused_with_where_to_put_one(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")

    with pytest.raises(BadConfig, match=r"there is no token; set HF_TOKEN, or run `hf auth login`"):
        await place_on(hub.url, TO_BUCKET).probe()


@pytest.mark.parametrize("work", ["probe", "publish"])
async def test_a_token_the_hub_does_not_know_is_named_and_not_shown(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_expiredlongago")
    place = place_on(hub.url, TO_BUCKET)

    with pytest.raises(BadConfig, match="the Hub does not know the token") as raised:
        await (place.probe() if work == "probe" else place.owned_listing("0" * 32))

    assert "hf_expired" not in str(raised.value)


def test_no_right_to_make_a_bucket_is_told_by_the_hub(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    _knowing(hub, Account("else"), monkeypatch)

    with pytest.raises(Unwritable, match=r"does not allow it \(403\).* rights to create"):
        published_to(hub, _snapshot(), to=TO_BUCKET)

    assert not hub.state.buckets


def test_a_right_to_write_that_is_missing_is_told_by_the_hub(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    _public(hub)
    _knowing(hub, Account("else"), monkeypatch)

    with pytest.raises(Unfinished, match=r"does not allow it \(403\).* don't have write access"):
        published_to(hub, _snapshot(), to=TO_BUCKET, terms=PublishSection(private=False))

    assert hub.objects(BUCKET) == {}


def test_a_full_storage_is_told_and_what_was_there_stays(hub: LocalHub) -> None:
    published_to(hub, _snapshot(), to=TO_BUCKET)
    before = hub.objects(BUCKET)
    hub.state.quota = sum(entry.size for entry in hub.bucket(BUCKET).files.values())
    everything = PublishSection(include_rejected=True)

    with pytest.raises(Unfinished, match=r"storage limit reached"):
        published_to(hub, _snapshot(), to=TO_BUCKET, terms=everything)

    assert before.items() <= hub.objects(BUCKET).items()
    hub.state.quota = None
    published_to(hub, _snapshot(), to=TO_BUCKET, terms=everything)


@pytest.mark.parametrize(
    "url",
    [
        "hf://buckets/org",
        "hf://buckets/org/",
        "hf://buckets/org/da--ta",
        "hf://buckets/org/-data",
        "hf://buckets/org/data@main",
        "hf://buckets/org/data/a//b",
        "hf://buckets/org/data/../b",
        "hf://buckets/org/data/.hidden",
        "hf://buckets/org/data/a b",
        "hf://buckets/org/data/ä",
        f"hf://buckets/org/{'x' * 97}",
    ],
)
def test_a_url_that_names_no_bucket_is_refused(url: str) -> None:
    with pytest.raises(BadConfig, match="hf://buckets/org"):
        BucketDestination(url, PublishSection())


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("hf://buckets/org/data", "hf://buckets/org/data"),
        ("HF://buckets/org/data/", "hf://buckets/org/data"),
        ("hf://buckets/org/data/nights/2026", "hf://buckets/org/data/nights/2026"),
        ("hf://buckets/org/data/nights/", "hf://buckets/org/data/nights"),
    ],
)
def test_a_url_names_a_bucket_and_a_prefix(url: str, address: str) -> None:
    place = open_destination(url, PublishSection(), STORAGE)

    assert isinstance(place, BucketDestination)
    assert (place.address, place.name.name, place.has_tags) == (address, address, False)


async def test_a_run_does_not_begin_towards_a_url_that_names_no_bucket() -> None:
    config = RunConfig(run=RunSection(url="a-run"), storage=STORAGE)

    with pytest.raises(BadConfig, match="write hf://buckets/OWNER/NAME"):
        await check_destination("hf://buckets/org", config, None)


def test_a_hub_that_must_not_be_asked_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    with pytest.raises(BadConfig, match="HF_HUB_OFFLINE is set"):
        BucketDestination(TO_BUCKET, PublishSection())
