"""Publications to the local Hub, to a repository or a bucket, here or in a process that the Hub kills."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess

from hub.faults import Fault
from hub.server import TOKEN, LocalHub
from support.runs.forks import FORKS
from support.runs.memory_run import RULE, STORAGE, MemorySnapshot, make_run_file, two_versions

from schemas.configuration.sections import PublishSection
from storage.publish.destinations.hub import destination
from storage.publish.destinations.hub.bucket import BucketDestination
from storage.publish.destinations.hub.checks import is_bucket_url
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.destinations.protocol import Destination
from storage.publish.publish import PublishReport, publish_to

DATASET = "org/data"
TO = f"hf://datasets/{DATASET}"
BUCKET = "org/store"
TO_BUCKET = f"hf://buckets/{BUCKET}/demo"
SECONDS = 120
_GLANCE = 0.001


def place_on(url: str, to: str, terms: PublishSection | None = None) -> Destination:
    """Return a place on the Hub at a URL."""
    kind = BucketDestination if is_bucket_url(to) else HubDestination
    return kind(to, terms or PublishSection(), endpoint=url)


def published_to(
    hub: LocalHub,
    snapshot: MemorySnapshot,
    *,
    to: str = TO,
    run_id: str | None = None,
    terms: PublishSection | None = None,
) -> PublishReport:
    """Publish a snapshot to a place on the Hub and wait for it."""
    return asyncio.run(_published(hub.url, snapshot, to, run_id=run_id, terms=terms))


async def _published(
    url: str,
    snapshot: MemorySnapshot,
    to: str,
    *,
    run_id: str | None = None,
    terms: PublishSection | None = None,
) -> PublishReport:
    asked = terms or PublishSection()
    return await publish_to(
        snapshot,
        make_run_file() if run_id is None else make_run_file(run_id),
        RULE,
        place_on(url, to, asked),
        terms=asked,
        shard_mb=STORAGE.shard_mb,
    )


@dataclass(frozen=True)
class Moment:
    """When a publication is killed: at a request, before it is carried out or after."""

    word: str
    method: str = "POST"
    body: str = ""
    spare: int = 0
    after: bool = False

    def __str__(self) -> str:
        when = "after" if self.after else "before"
        return f"{when} {self.method} {self.word.strip('/')} {self.body} {self.spare}"


def killed(
    hub: LocalHub, version: int, moment: Moment, *, commit_files: int = 100, to: str = TO
) -> bool:
    """Publish one of two versions in a process that is killed; tell whether it was."""
    victim = _victim(hub, version, commit_files, to)

    def kill() -> None:
        os.kill(victim.pid or 0, signal.SIGKILL)

    fault = Fault(
        moment.word,
        method=moment.method,
        body=moment.body,
        spare=moment.spare,
        after=moment.after,
        call=kill,
    )
    hub.faults.append(fault)
    victim.join(SECONDS)
    hub.faults.remove(fault)
    return victim.exitcode == -signal.SIGKILL


def killed_uploading(hub: LocalHub, version: int, *, stored: int, commit_files: int) -> bool:
    """The same, killed when the Hub has stored so many blocks of data: no request tells of them.

    The first is no moment to be killed at: what a real Hub does with it is done by the client here.
    """
    victim = _victim(hub, version, commit_files, TO)
    while victim.is_alive() and _blocks(hub) < stored:
        victim.join(_GLANCE)
    victim.kill()
    victim.join(SECONDS)
    return victim.exitcode == -signal.SIGKILL


def _blocks(hub: LocalHub) -> int:
    """Count the blocks; the victim may remove a folder on the way, which `os.walk` passes over."""
    return sum(
        name.startswith("default.") and not name.endswith(".tagset")
        for folder, _, names in os.walk(hub.state.cas.folder)
        if folder.endswith("xorbs")
        for name in names
    )


def _victim(hub: LocalHub, version: int, commit_files: int, to: str) -> ForkServerProcess:
    victim = FORKS.Process(target=_live, args=(hub.url, version, commit_files, to))
    victim.start()
    return victim


def _live(url: str, version: int, commit_files: int, to: str) -> None:
    os.environ["HF_TOKEN"] = TOKEN
    destination.COMMIT_FILES = commit_files
    asyncio.run(_published(url, two_versions()[version - 1], to))


@contextmanager
def commits_of(files: int) -> Iterator[None]:
    """Let commits hold no more than so many files."""
    most = destination.COMMIT_FILES
    destination.COMMIT_FILES = files
    try:
        yield
    finally:
        destination.COMMIT_FILES = most
