"""A dataset repository on the Hugging Face Hub: the few requests that a publication makes.

Every call runs in a thread, `errors` translates its failures, and each is retried in one layer:
uploads and trees by the client itself, everything else here. A commit is not retried, because only
its caller (`destination`) can find out whether it was made before its response was lost.
The token comes from `HF_TOKEN` or from where `hf auth login` keeps it, and goes nowhere else.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from os import environ
from typing import TypeVar

import httpx2
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationCopy,
    CommitOperationDelete,
    HfApi,
    HfFileSystem,
    get_session,
    get_token,
    hf_hub_url,
    hf_raise_for_status,
    set_client_factory,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.tqdm import disable_progress_bars
from pyarrow import fs

from schemas.configuration.sections import Gate
from schemas.errors import BadConfig, Unwritable
from storage.objects.temp_object import Source
from storage.publish.destinations.hub.errors import (
    Busy,
    NoBranch,
    RepositoryMissing,
    pauses,
    translated_errors,
    wait,
)
from storage.publish.destinations.hub.transfers import (
    Addition,
    RemoteFile,
    RemoteHash,
    addition_of,
    headers,
)

T = TypeVar("T")

_KIND = "dataset"
_TRUE = {"1", "ON", "YES", "TRUE"}
_READ_AHEAD = 65_536
"""Bytes that a read of a part of a file takes with it; the client's own 5 MB would be mostly pictures."""

_SECONDS = httpx2.Timeout(20.0, read=180.0, write=180.0)


@dataclass(frozen=True, slots=True)
class RepoState:
    """The state of a repository."""

    head: str | None
    """The branch's last commit; None: the branch does not exist."""
    private: bool
    """Whether only its owners see it."""
    gated: str | None
    """How readers get access to its files; None: they need no permission."""


class Repository:
    """A dataset repository, which need not exist yet."""

    def __init__(self, name: str, branch: str, *, address: str, endpoint: str | None) -> None:
        self._name = name
        self._branch = branch
        self._address = address
        if environ.get("HF_HUB_OFFLINE", "").upper() in _TRUE:
            raise BadConfig(f"{address}: HF_HUB_OFFLINE is set; unset it to publish there")
        _set_client_timeouts()
        disable_progress_bars()
        self._api = HfApi(endpoint=endpoint)

    async def state(self) -> RepoState | None:
        """Return the state of the repository; None if it does not exist."""
        try:
            return await self._retry(lambda: self._read_state(self._branch))
        except RepositoryMissing:
            return None
        except NoBranch:
            main = await self._retry(lambda: self._read_state(None))
            return RepoState(head=None, private=main.private, gated=main.gated)

    async def token_owner(self) -> dict[str, object]:
        """Return the Hub's description of the token and its owner.

        Raises:
            BadConfig: there is no token, or the Hub does not know it.
        """
        if get_token() is None:
            raise BadConfig(
                f"{self._address}: there is no token; set HF_TOKEN, or run `hf auth login`"
            )
        return await self._retry(lambda: dict(self._api.whoami()))

    async def tree(self, revision: str) -> dict[str, RemoteFile]:
        """Return every file of a revision, by path."""
        return await self._once(lambda: self._tree(revision))

    async def read(self, path: str, revision: str) -> bytes:
        """Return a file's bytes."""
        return await self._retry(lambda: self._read(path, revision))

    async def digest(self, path: str, revision: str) -> str:
        """Return the SHA-256 of a file's bytes; a broken download is resumed, not restarted."""
        reading = RemoteHash(self._url(path, revision))
        await self._retry(reading.read)
        return reading.hash.hexdigest()

    def filesystem(self, revision: str) -> fs.FileSystem:
        """Return the files of a revision, for reading parts of them."""
        hub = HfFileSystem(endpoint=self._api.endpoint, block_size=_READ_AHEAD)
        root = f"datasets/{self._name}@{revision}"
        handler = fs.FSSpecHandler(hub)  # type: ignore[abstract] # its stub forgets what it has
        return fs.SubTreeFileSystem(root, fs.PyFileSystem(handler))

    async def create(self, *, private: bool) -> None:
        """Create the repository unless it exists."""
        await self._retry(
            lambda: self._api.create_repo(
                self._name, repo_type=_KIND, private=private, exist_ok=True
            )
        )

    async def create_branch(self) -> None:
        """Create the branch unless it exists, from the repository's first commit."""
        commits = await self._once(lambda: self._api.list_repo_commits(self._name, repo_type=_KIND))
        await self._retry(
            lambda: self._api.create_branch(
                self._name,
                branch=self._branch,
                revision=commits[-1].commit_id,
                repo_type=_KIND,
                exist_ok=True,
            )
        )

    async def gate(self, kind: Gate) -> None:
        """Require readers to request access to the files."""
        await self._retry(
            lambda: self._api.update_repo_settings(self._name, repo_type=_KIND, gated=kind.value)
        )

    async def upload(self, path: str, data: Source) -> Addition:
        """Upload a file, ready for a commit; the Hub does not take the same file twice.

        The caller may close a draft when this returns.
        """
        try:
            return await self._once(lambda: self._upload(path, data))
        except (Busy, RuntimeError, OSError) as error:
            raise Unwritable(
                f"{self._address}: {path} could not be uploaded: {str(error)[:300]}; "
                "run the same command again, what was uploaded is not lost"
            ) from error

    async def commit(
        self, additions: Sequence[Addition], deletions: Sequence[str], *, parent: str, message: str
    ) -> str:
        """Commit files on top of `parent` and return the commit; never retried.

        Raises:
            Conflict: the branch has a newer commit.
            Busy: the commit may or may not have been made.
        """
        operations: list[CommitOperationAdd | CommitOperationCopy | CommitOperationDelete] = [
            *(addition.operation for addition in additions),
            *(CommitOperationDelete(path_in_repo=path) for path in deletions),
        ]
        return await self._once(
            lambda: (
                self._api.create_commit(
                    self._name,
                    operations,
                    commit_message=message,
                    repo_type=_KIND,
                    revision=self._branch,
                    parent_commit=parent,
                ).oid
            )
        )

    async def tags(self) -> dict[str, str]:
        """Return every tag with its commit."""
        refs = await self._retry(lambda: self._api.list_repo_refs(self._name, repo_type=_KIND))
        return {tag.name: tag.target_commit for tag in refs.tags}

    async def tag(self, name: str, commit: str) -> None:
        """Tag a commit, unless the tag exists."""
        await self._retry(
            lambda: self._api.create_tag(
                self._name, tag=name, revision=commit, repo_type=_KIND, exist_ok=True
            )
        )

    def _read_state(self, branch: str | None) -> RepoState:
        info = self._api.dataset_info(self._name, revision=branch)
        gated = info.gated if isinstance(info.gated, str) else None
        return RepoState(head=info.sha, private=bool(info.private), gated=gated)

    def _tree(self, revision: str) -> dict[str, RemoteFile]:
        items = self._api.list_repo_tree(
            self._name, recursive=True, revision=revision, repo_type=_KIND
        )
        return {
            item.path: RemoteFile(
                size=item.size,
                digest=item.blob_id if item.lfs is None else item.lfs.sha256,
                large=item.lfs is not None,
            )
            for item in items
            if isinstance(item, RepoFile)
        }

    def _read(self, path: str, revision: str) -> bytes:
        answer = get_session().get(self._url(path, revision), headers=headers())
        hf_raise_for_status(answer)
        return answer.content

    def _url(self, path: str, revision: str) -> str:
        return hf_hub_url(
            self._name, path, repo_type=_KIND, revision=revision, endpoint=self._api.endpoint
        )

    def _upload(self, path: str, data: Source) -> Addition:
        addition = addition_of(path, data)
        operation = addition.operation
        # With a `.gitignore` in the repository the client would silently leave files out.
        self._api.preupload_lfs_files(
            self._name, [operation], repo_type=_KIND, revision=self._branch, gitignore_content=""
        )
        if isinstance(operation.path_or_fileobj, str):  # small enough to go up with the commit
            operation.path_or_fileobj = data[:]
        return addition

    async def _once(self, work: Callable[[], T]) -> T:
        with translated_errors(self._address):
            return await asyncio.to_thread(work)

    async def _retry(self, work: Callable[[], T]) -> T:
        for pause in pauses():
            try:
                return await self._once(work)
            except Busy as busy:
                await wait(busy, pause)
        raise AssertionError("the last try returns or raises")


@cache
def _set_client_timeouts() -> None:
    """Give the library's HTTP client a time-out, once: doing it again closes connections in use."""
    set_client_factory(lambda: httpx2.Client(follow_redirects=True, timeout=_SECONDS))
