"""What a bucket's URL and an endpoint may be, before anything is asked of them."""

import pytest

from schemas.configuration.sections import StorageSection
from schemas.errors import BadConfig
from storage.lake.file_access import table_url
from storage.objects.urls import open_store


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://bucket", "s3://bucket"),
        ("s3://bucket/", "s3://bucket"),
        ("S3://my.bucket-1/a/b", "s3://my.bucket-1/a/b"),
        ("s3://bucket/a/run=3,x@y+z/", "s3://bucket/a/run=3,x@y+z"),
    ],
)
def test_a_place_in_a_bucket_is_its_bucket_and_prefix(url: str, shown: str) -> None:
    assert open_store(url, StorageSection()).url == shown
    assert table_url(url, "steps") == f"{shown}/tables/steps"


@pytest.mark.parametrize(
    "url",
    [
        "s3://",
        "s3:///x",
        "s3://ab/x",
        "s3://Bucket/x",
        "s3://under_score/x",
        "s3://bucket/a//b",
        "s3://bucket/../b",
        "s3://bucket/a b",
        "s3://bucket/a%20b",
        "s3://bucket/a?versionId=1",
        "s3://bucket/a#b",
        "s3://bucket/ü",
        f"s3://bucket/{'a/' * 400}x",
    ],
)
def test_what_clients_would_read_differently_is_refused(url: str) -> None:
    with pytest.raises(BadConfig, match=r"names no bucket|invalid prefix of a run or dataset"):
        open_store(url, StorageSection())


def test_credentials_in_a_url_are_refused_and_not_repeated() -> None:
    with pytest.raises(BadConfig, match=r"s3://\*\*\*@bucket/x: holds credentials") as refused:
        open_store("s3://AKIAHUNTER:hunter2@bucket/x", StorageSection())

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "endpoint",
    [
        "minio:9000",
        "ftp://host",
        "https://",
        "http://host:0",
        "http://host:99999",
        "https://host/path",
        "https://host?x=1",
        "https://me:hunter2@host",
    ],
)
def test_what_is_no_endpoint_is_refused_and_no_secret_repeated(endpoint: str) -> None:
    with pytest.raises(
        BadConfig, match=r"storage\.endpoint_url: .*: is not an endpoint"
    ) as refused:
        open_store("s3://bucket/x", StorageSection(endpoint_url=endpoint))

    assert "hunter2" not in str(refused.value)
