"""A real S3 server for tests: SeaweedFS on loopback, with everything in a folder that is thrown away.

It is one program that is several servers, each with a port and a second one for its own kind;
all of them are given here, so that nothing else on the machine is met or found. Ready is when a
bucket has been made and an object put, not when a port is open.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from support.servers.http_servers import free_ports

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

ACCESS_KEY = "AKIATESTTESTTESTTEST"
SECRET_KEY = "planted-secret-of-the-test-server"  # noqa: S105 - of a server that lives for a test
REGION = "us-east-1"

READER_KEY = "AKIAREADREADREADREAD"
READER_SECRET = "planted-secret-of-one-who-only-reads"  # noqa: S105 - the same

NOBODY_KEY = "AKIANOTHINGNOTHING00"
UNLISTING_KEY = "AKIAUNLISTUNLISTUN00"
LATER_KEY = "AKIALATERLATERLATER0"

RIGHTS = {
    LATER_KEY: ("planted-secret-that-comes-later", ("Admin", "Read", "List", "Tagging", "Write")),
    READER_KEY: (READER_SECRET, ("Read", "List")),
    NOBODY_KEY: ("planted-secret-of-one-who-may-nothing", ()),
    UNLISTING_KEY: ("planted-secret-of-one-who-may-not-list", ("Read", "Write")),
}
"""Who else it knows: the secret of a key, and what its owner may do."""

_SERVERS = ("master", "volume", "filer", "s3")
_START_SECONDS = 90
_STARTS = 3
"""How often it is started: between two looks another program may have taken one of its ports."""


# AWS's client reads a megabyte of what AWS says of its services each time there is a new one.
botocore.session.create_loader = cache(botocore.session.create_loader)


class _Ended(Exception):
    """It does not serve, and why."""


class Weed:
    """A SeaweedFS in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = free_ports(2 * len(_SERVERS))
        self._process: subprocess.Popen[bytes] | None = None
        self._shared: str | None = None

    @property
    def endpoint(self) -> str:
        """Where its S3 is."""
        return f"http://127.0.0.1:{self._ports[2 * _SERVERS.index('s3')]}"

    @property
    def environment(self) -> dict[str, str]:
        """What makes a program of this machine use it, in the standard places."""
        return credentials(self.endpoint)

    def client(self) -> "S3Client":
        """Return a client of it that never asks twice."""
        return boto3.session.Session(
            aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY, region_name=REGION
        ).client(
            "s3",
            endpoint_url=self.endpoint,
            config=Config(retries={"total_max_attempts": 1}, read_timeout=60),
        )

    def start(self) -> None:
        """Start it, and wait until it serves."""
        for _ in range(_STARTS - 1):
            with contextlib.suppress(_Ended):
                self._start()
                return
            self._ports = free_ports(2 * len(_SERVERS))
        self._start()

    def _start(self) -> None:
        config = self._folder / "s3.json"
        config.write_text(json.dumps({"identities": _IDENTITIES}))
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._program(), "server", *self._arguments(config)],
                cwd=self._folder,
                env={"PATH": os.environ["PATH"], "HOME": str(self._folder)},
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._serves():
            ended = self._process.poll()
            if ended is not None or time.monotonic() > deadline:
                self.kill()
                said = (self._folder / "log").read_text(errors="replace")[-2_000:]
                raise _Ended(f"SeaweedFS does not serve (exit code {ended}):\n{said}")
            threading.Event().wait(0.2)

    def kill(self) -> None:
        """End it at once: asked politely it takes a quarter of a minute."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        for server, port in zip(_SERVERS, self._ports[1::2], strict=True):
            Path(f"/tmp/seaweedfs-{server}-grpc-{port}.sock").unlink(missing_ok=True)  # noqa: S108 - its choice

    def place(self) -> str:
        """Return the URL of a place where nobody wrote, in a bucket that all tests share."""
        if self._shared is None:
            self._shared = self.bucket()
        return f"s3://{self._shared}/{uuid.uuid4().hex[:12]}"

    def bucket(self) -> str:
        """Return the name of a new bucket."""
        name = f"test-{uuid.uuid4().hex[:20]}"
        self.client().create_bucket(Bucket=name)
        return name

    def _serves(self) -> bool:
        try:
            self.client().put_object(Bucket=self.bucket(), Key="ready", Body=b"1")
        except (BotoCoreError, ClientError):
            return False
        return True

    @staticmethod
    def _program() -> str:
        return str(Path(sys.executable).with_name("weed"))

    def _arguments(self, config: Path) -> list[str]:
        ports = iter(self._ports)
        each = [
            f"-{server}.{kind}={next(ports)}"
            for server in _SERVERS
            for kind in ("port", "port.grpc")
        ]
        return [
            *each,
            f"-dir={self._folder}",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            "-filer",
            "-s3",
            f"-s3.config={config}",
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-s3.autoCreateBucket=false",
            "-s3.iam=false",
            "-master.telemetry=false",
            "-master.volumeSizeLimitMB=64",
            "-volume.max=10000",
            "-volume.preStopSeconds=0",
            f"-filer.localSocket={self._folder.name}-f.sock",
            f"-s3.localSocket={self._folder.name}-s.sock",
        ]


_IDENTITIES = [
    {
        "name": "writer",
        "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
        "actions": ["Admin", "Read", "List", "Tagging", "Write"],
    },
    *(
        {
            "name": key,
            "credentials": [{"accessKey": key, "secretKey": secret}],
            "actions": actions,
        }
        for key, (secret, actions) in RIGHTS.items()
    ),
]


def credentials(
    endpoint: str, *, key: str = ACCESS_KEY, secret: str = SECRET_KEY
) -> dict[str, str]:
    """Return the environment of somebody who may use the store at `endpoint`."""
    return {
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
    }
