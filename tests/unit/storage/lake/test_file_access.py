"""Delta's client is opened anew when there are other credentials, and reads go on."""

import re
from pathlib import Path

import boto3
import pytest
from deltalake.exceptions import CommitFailedError, DeltaError
from support.episodes.factories import MadeRun, make_run, make_whole_run
from support.servers.seaweedfs import Weed
from support.stores.faulty_lake import NeverCommits, commit, swap

from schemas.configuration.sections import StorageSection
from schemas.errors import Unwritable
from storage.lake.delta_table import DeltaHandle, dataset_at
from storage.lake.file_access import BucketAccess, access_to, table_url
from storage.maintenance.compact import compact
from storage.objects.error_messages import is_access_error, one_line
from storage.objects.s3 import Address, Connection
from storage.objects.urls import open_store


class Renewing(Connection):
    """Hands out other credentials at every tenth question: the same, by another name."""

    asked = 0

    def options(self) -> dict[str, str]:
        self.asked += 1
        return {**super().options(), "STEPMILL_ROUND": str(self.asked // 10)}


@pytest.fixture
async def run(bucket_url: str) -> MadeRun:
    return await make_whole_run(bucket_url)


async def test_a_handle_is_opened_anew_with_other_credentials(run: MadeRun) -> None:
    connection = Renewing(Address.parse(run.url), StorageSection())
    handle = DeltaHandle("steps", table_url(run.url, "steps"), BucketAccess(connection))

    tables = [handle.refresh() for _ in range(25)]

    assert len({id(table) for table in tables if table is not None}) == 3
    assert {table.version() for table in tables if table is not None} == {2}


async def test_a_dataset_is_read_across_a_change_of_credentials(run: MadeRun) -> None:
    connection = Renewing(Address.parse(run.url), StorageSection())
    dataset = dataset_at(table_url(run.url, "steps"), 2, BucketAccess(connection))

    counted = [dataset.to_table(columns=["step"]).num_rows for _ in range(12)]

    assert set(counted) == {24}
    assert connection.asked > 20  # each of two files was opened with those of its own moment


async def test_a_command_makes_one_client_of_a_bucket(
    run: MadeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = boto3.session.Session.client

    def counted(session: boto3.session.Session, name: str, **options: object) -> object:
        made.append(name)
        return make(session, name, **options)  # type: ignore[call-overload] # passed on as it is

    monkeypatch.setattr(boto3.session.Session, "client", counted)
    store = open_store(run.url, StorageSection())

    await compact(run.url, store, StorageSection())

    assert made == ["s3"]


async def test_a_store_is_told_to_deltas_client_as_it_is(bucket_url: str, weed: Weed) -> None:
    told = access_to(open_store(bucket_url, StorageSection(region="eu-west-3"))).options()

    assert told is not None
    assert told["AWS_ENDPOINT_URL"] == weed.endpoint
    assert told["AWS_ALLOW_HTTP"] == "true"
    assert told["aws_conditional_put"] == "etag"
    assert "AWS_SESSION_TOKEN" not in told


def test_aws_itself_is_told_by_region_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setattr(Connection, "_bucket_region", lambda *_: "eu-west-3")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAX")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")

    told = access_to(open_store("s3://bucket/x", StorageSection(region="eu-west-3"))).options()

    assert told is not None
    assert told["AWS_REGION"] == "eu-west-3"
    assert not {"AWS_ENDPOINT_URL", "AWS_ALLOW_HTTP"} & told.keys()


REFUSED = (
    "Generic S3 error: Error performing PUT x: 400 Bad Request: <Error><Code>{}</Code></Error>"
)


class Refused(NeverCommits):
    """Is told by the store that it may not, each time it commits."""

    code = "ExpiredToken"
    tries = 0

    def write(self, *_: object) -> None:
        Refused.tries += 1
        raise CommitFailedError(REFUSED.format(self.code))


async def test_what_a_store_refuses_for_good_is_not_asked_again_and_is_no_damage(
    tmp_path: Path,
) -> None:
    run = await make_run(tmp_path)
    lake = run.lake()
    swap(lake, "steps", Refused)

    with pytest.raises(Unwritable, match=r"tables/steps: cannot commit: the credentials have exp"):
        await commit(lake, run.unit(0))

    assert Refused.tries == 1
    await lake.close()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (REFUSED.format("SlowDown"), r"the store keeps failing; run the same command again later"),
        (REFUSED.format("PermanentRedirect"), r"another region; set storage\.region to its region"),
        (
            f"{REFUSED.format('AuthorizationHeaderMalformed')}<Region>eu-west-3</Region>",
            r'another region; set storage\.region = "eu-west-3"',
        ),
        ("Generic S3 error: redirect without LOCATION", r"set storage\.region to its region"),
        ("error sending request", r"the store does not answer; check storage\.endpoint_url"),
    ],
)
def test_deltas_errors_are_told_in_our_words(text: str, words: str) -> None:
    assert re.search(words, one_line(DeltaError(text)))
    assert is_access_error(DeltaError(text))


def test_a_commit_that_lost_a_race_is_nobodys_refusal() -> None:
    for text in ("Transaction failed: another writer was first", REFUSED.format("Conflict")):
        assert not is_access_error(CommitFailedError(text))
