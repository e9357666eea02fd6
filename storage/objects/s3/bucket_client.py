"""The client of a bucket, created from the standard settings when it is first needed.

AWS's client finds credentials, region and endpoint (environment, AWS files, the machine's role) and
renews credentials. It does not retry: only `storage.objects.s3.retry` does. `options` returns the
same settings for Delta's client, which does not look for them itself.
"""

import threading
from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from botocore.loaders import Loader, create_loader
from botocore.session import get_session

from schemas.configuration.sections import StorageSection
from storage.objects.s3.address import Address, check_endpoint
from storage.objects.s3.errors import FAILURES, READ, request_error, settings_error

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

CONCURRENCY = 32
"""The maximum of concurrent requests, and of connections."""

CONNECT_SECONDS = 10.0
"""Time-out of a connection."""

READ_SECONDS = 60.0
"""Time-out of a response; the loser of a race of writers may wait for seconds."""

_DELTA_OPTIONS = {
    "aws_conditional_put": "etag",
    "connect_timeout": f"{CONNECT_SECONDS:.0f}s",
    "timeout": f"{READ_SECONDS:.0f}s",
    "max_retries": "8",
    "retry_timeout": "60s",
}
"""Options of Delta's client, which has retries of its own; by default it would try for minutes."""

_AWS = (".amazonaws.com", ".amazonaws.com.cn")
_DEFAULT_REGION = "us-east-1"
"""The region for stores other than AWS, unless one is set."""


class Connection:
    """A client of one bucket, to be shared by threads."""

    def __init__(self, address: Address, storage: StorageSection) -> None:
        """Store the settings; nothing is looked up yet.

        Raises:
            BadConfig: `storage.endpoint_url` is not an endpoint.
        """
        self.address = address
        self._endpoint = check_endpoint(storage.endpoint_url)
        self._region = storage.region
        self._lock = threading.RLock()

    def client(self) -> "S3Client":
        """Return the client.

        Raises:
            BadConfig: the AWS files or variables make no client.
        """
        with self._lock:
            return self._client

    def options(self) -> dict[str, str]:
        """Return the options of Delta's client, with the credentials of this moment.

        Raises:
            Unwritable: there are no credentials, or they cannot be obtained.
            BadConfig: the AWS files or variables make no client.
        """
        with self._lock:
            self.client()
            try:
                credentials = self._session.get_credentials()
                if credentials is None:
                    raise NoCredentialsError
                keys = credentials.get_frozen_credentials()
            except FAILURES as error:
                raise request_error(error, self.address.url, doing=READ) from None
            options = {
                "AWS_ACCESS_KEY_ID": keys.access_key,
                "AWS_SECRET_ACCESS_KEY": keys.secret_key,
                "AWS_SESSION_TOKEN": keys.token,
            }
            return {**self._place, **{name: value for name, value in options.items() if value}}

    @cached_property
    def _session(self) -> boto3.session.Session:
        settings = get_session()
        loader = _loader(settings.get_config_variable("data_path"))
        settings.register_component("data_loader", loader)
        session = boto3.session.Session(botocore_session=settings)
        loader.search_paths[:] = dict.fromkeys(
            loader.search_paths
        )  # each session adds one of its own
        return session

    @cached_property
    def _client(self) -> "S3Client":
        config = Config(
            max_pool_connections=CONCURRENCY,
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": 1},
            tcp_keepalive=True,
            user_agent_extra="stepmill",
        )
        try:
            return self._session.client(
                "s3",
                region_name=self._region or self._session.region_name or _DEFAULT_REGION,
                endpoint_url=self._endpoint,
                config=config,
            )
        except (BotoCoreError, ValueError) as error:
            raise settings_error(error, self.address.url) from None

    @cached_property
    def _place(self) -> Mapping[str, str]:
        """The options of Delta's client but for the credentials."""
        client = self.client()
        place = {**_DELTA_OPTIONS, "AWS_REGION": self._bucket_region(client)}
        endpoint = urlsplit(client.meta.endpoint_url)
        if str(endpoint.hostname).endswith(_AWS):
            return place
        if endpoint.scheme == "http":
            place["AWS_ALLOW_HTTP"] = "true"
        return {**place, "AWS_ENDPOINT_URL": client.meta.endpoint_url}

    def _bucket_region(self, client: "S3Client") -> str:
        """Return the bucket's own region: Delta's client follows no redirect."""
        own = client.meta.region_name
        try:
            headers = client.head_bucket(Bucket=self.address.bucket)["ResponseMetadata"][
                "HTTPHeaders"
            ]
        except ClientError as error:
            headers = error.response["ResponseMetadata"]["HTTPHeaders"]
        except FAILURES:
            return own
        return headers.get("x-amz-bucket-region") or own


@cache
def _loader(search_path: str | None) -> Loader:
    """Return the descriptions of AWS's services, which are read once: that takes ten times as long as a client."""
    return create_loader(search_path)
