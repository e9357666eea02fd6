"""A store that cannot be used says so in our words, with what to do, and without a secret."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from support.runs.commands import SMALL, called
from support.servers.http_servers import Canned, Forgetful
from support.servers.raw_server import RawServer, http
from support.servers.seaweedfs import READER_KEY, READER_SECRET, Weed, credentials

from schemas.backoff import Backoff
from schemas.configuration.sections import StorageSection
from schemas.errors import BadConfig, NotFound, Refusal, Unwritable
from storage.lake.delta_table import AsyncDeltaTable, DeltaHandle
from storage.lake.file_access import access_to, table_url
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store

PLANTED = "planted"
"""Is in every secret here, and may be in no message."""

TOKEN = "planted-session-token"  # noqa: S105 - planted, to be searched for


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "storage.objects.s3.retry.BACKOFF", Backoff(first_seconds=0.1, max_seconds=0.1, tries=2)
    )
    monkeypatch.setattr(
        "storage.lake.file_access._BACKOFF", Backoff(first_seconds=0.1, max_seconds=0.1, tries=1)
    )


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def given(environ: pytest.MonkeyPatch, variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        environ.setenv(name, value)


async def refusals(store: ObjectStore, url: str) -> list[str]:
    """Return what reading, writing and Delta's client say."""
    table = AsyncDeltaTable(
        DeltaHandle("steps", table_url(url, "steps"), access_to(open_store(url, StorageSection())))
    )
    said: list[str] = []
    for attempt in (store.get("a"), store.put_new("a", b"1"), store.probe(), table.version()):
        with pytest.raises(Refusal) as refused:
            await attempt
        said.append(str(refused.value))
        assert PLANTED not in said[-1]
        assert "<" not in said[-1]
    table.close()
    return said


@pytest.mark.parametrize(
    ("key", "secret", "words"),
    [
        ("AKIAUNKNOWNUNKNOWN00", "planted", "does not know these credentials"),
        ("AKIATESTTESTTESTTEST", "planted", "the secret key is not the access key's"),
    ],
)
async def test_wrong_credentials_are_told_apart(
    weed: Weed, environ: pytest.MonkeyPatch, key: str, secret: str, words: str
) -> None:
    given(environ, credentials(weed.endpoint, key=key, secret=secret))
    place = weed.place()

    for said in await refusals(open_store(place, StorageSection()), place):
        assert words in said


async def test_a_bucket_that_is_not_there_is_named(weed: Weed, environ: pytest.MonkeyPatch) -> None:
    given(environ, weed.environment)
    store = open_store("s3://no-such-bucket/x", StorageSection())

    with pytest.raises(NotFound, match=r"s3://no-such-bucket.*there is no such bucket; create it"):
        await store.get("a")
    with pytest.raises(NotFound, match="there is no such bucket"):
        assert [item async for item in store.list()]
    with pytest.raises(Unwritable, match="there is no such bucket; create it"):
        await store.put_new("a", b"1")
    with pytest.raises(Unwritable, match="there is no such bucket"):
        await store.probe()


async def test_who_may_only_read_reads_and_is_told_what_writing_takes(
    weed: Weed, environ: pytest.MonkeyPatch
) -> None:
    given(environ, weed.environment)
    place = weed.place()
    await open_store(place, StorageSection()).put("a", b"1")
    given(environ, credentials(weed.endpoint, key=READER_KEY, secret=READER_SECRET))
    store = open_store(place, StorageSection())

    assert await store.get("a") == b"1"
    assert [item.key async for item in store.list()] == ["a"]
    for attempt in (store.put("a", b"2"), store.probe(), store.delete(["a"])):
        with pytest.raises(Unwritable, match="the credentials do not allow it; see `A run in a"):
            await attempt
    assert await store.get("a") == b"1"


async def test_without_credentials_the_places_for_them_are_named(
    weed: Weed, environ: pytest.MonkeyPatch
) -> None:
    given(environ, weed.environment)
    environ.delenv("AWS_ACCESS_KEY_ID")
    environ.delenv("AWS_SECRET_ACCESS_KEY")
    place = weed.place()

    for said in await refusals(open_store(place, StorageSection()), place):
        assert "there are no credentials; set AWS_ACCESS_KEY_ID" in said


async def test_an_unknown_profile_is_named(environ: pytest.MonkeyPatch) -> None:
    environ.setenv("AWS_PROFILE", "nobody")

    with pytest.raises(BadConfig, match="AWS_PROFILE names a profile that is not in"):
        await open_store("s3://bucket/x", StorageSection()).get("a")


async def test_an_endpoint_where_nobody_answers_is_told(
    weed: Weed, environ: pytest.MonkeyPatch
) -> None:
    given(environ, credentials("http://127.0.0.1:9"))
    environ.setattr("storage.objects.s3.bucket_client._DELTA_OPTIONS", {"max_retries": "1"})
    place = weed.place()

    for said in await refusals(open_store(place, StorageSection()), place):
        assert "the store does not answer; check storage.endpoint_url" in said


def skewed() -> Canned:
    """Return a store whose clock is an hour ahead."""
    there = datetime.now(UTC) + timedelta(hours=1)
    return Canned(403, "RequestTimeTooSkewed", Date=format_datetime(there, usegmt=True))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            lambda: Canned(400, "ExpiredToken", more=f"<Token-0>{TOKEN}</Token-0>"),
            "the credentials have expired; get new ones",
        ),
        (
            lambda: Canned(301, "PermanentRedirect", x_amz_bucket_region="eu-west-1"),
            "the bucket is in another region; set storage.region",
        ),
        (
            skewed,
            "this machine's clock is",
        ),
        (
            lambda: Canned(403, "AccessDenied", more=f"<Message>{TOKEN}</Message>"),
            "the credentials do not allow it",
        ),
    ],
    ids=["expired", "region", "clock", "denied"],
)
async def test_what_aws_refuses_is_told_in_our_words(
    environ: pytest.MonkeyPatch, answer: Callable[[], Canned], words: str
) -> None:
    with answer() as server:
        given(environ, {**credentials(server.endpoint), "AWS_SESSION_TOKEN": TOKEN})
        store = open_store("s3://bucket/x", StorageSection())

        for said in await refusals(store, "s3://bucket/x"):
            assert words in said, said


async def test_the_right_region_is_named(environ: pytest.MonkeyPatch) -> None:
    with Canned(301, "PermanentRedirect", x_amz_bucket_region="eu-west-1") as server:
        given(environ, credentials(server.endpoint))

        with pytest.raises(Unwritable, match=r'set storage\.region = "eu-west-1"'):
            await open_store("s3://bucket/x", StorageSection()).get("a")


async def test_how_far_the_clock_is_off_is_told(environ: pytest.MonkeyPatch) -> None:
    with skewed() as server:
        given(environ, credentials(server.endpoint))

        with pytest.raises(Unwritable, match=r"clock is 3[56]\d\d s behind the store's; set it"):
            await open_store("s3://bucket/x", StorageSection()).put("a", b"1")


@pytest.mark.parametrize(
    ("ignored", "words"),
    [
        (("If-None-Match", "If-Match"), "the store ignores If-None-Match: two writers"),
        (("If-Match",), "the store ignores If-Match: two writers"),
        ((), "the store drops the metadata of objects"),
    ],
)
async def test_a_store_that_lacks_what_a_run_stands_on_is_refused(
    environ: pytest.MonkeyPatch, ignored: tuple[str, ...], words: str
) -> None:
    with Forgetful(*ignored) as server:
        given(environ, credentials(server.endpoint))

        with pytest.raises(Unwritable, match=words):
            await open_store("s3://bucket/x", StorageSection()).probe()

        assert server.objects == {}


def test_a_command_refuses_it_before_any_work_and_leaves_nothing() -> None:
    with Forgetful("If-None-Match") as server:
        said = called(
            "generate",
            "--no-prefect",
            *SMALL,
            "--run=s3://bucket/x",
            env=credentials(server.endpoint),
        )

        assert server.objects == {}
    assert said.code == 2
    assert "the store ignores If-None-Match" in said.err
    assert PLANTED not in said.err


async def test_a_listing_that_goes_round_is_refused(environ: pytest.MonkeyPatch) -> None:
    again = "<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>"
    page = f"<ListBucketResult>{again}</ListBucketResult>"
    with RawServer(http(page, kind="application/xml")) as server:
        given(environ, credentials(server.url))
        store = open_store("s3://bucket/run", StorageSection())
        with pytest.raises(Unwritable, match=r"/run/: cannot be listed: .*the same page again"):
            _ = [found async for found in store.list()]


@pytest.mark.parametrize("size", ["many", "", "1</Size><Size>"])
async def test_a_listing_that_lacks_what_a_listing_has_is_refused(
    size: str, environ: pytest.MonkeyPatch
) -> None:
    page = f"<ListBucketResult><Contents><Key>run/a</Key><Size>{size}</Size></Contents></ListBucketResult>"
    with RawServer(http(page, kind="application/xml")) as server:
        given(environ, credentials(server.url))
        store = open_store("s3://bucket/run", StorageSection())
        with pytest.raises(
            Unwritable, match=r"cannot be listed: the answer is not that of a store"
        ):
            _ = [found async for found in store.list()]
