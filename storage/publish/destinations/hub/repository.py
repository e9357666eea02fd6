"""A dataset repository on the Hugging Face Hub: the few requests that a publication makes.

Uploads and trees are retried by the client itself, everything else here. A commit is not retried, because
only its caller (`destination`) can find out whether it was made before its response was lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationCopy,
    CommitOperationDelete,
    hf_hub_url,
)
from huggingface_hub.hf_api import RepoFile
from pyarrow import fs

from schemas.configuration.sections import Gate
from storage.objects.temp_object import Source
from storage.publish.destinations.hub.client import HubClient
from storage.publish.destinations.hub.errors import NoBranch, RepositoryMissing
from storage.publish.destinations.hub.transfers import Addition, RemoteFile, addition_of

_KIND = "dataset"


@dataclass(frozen=True, slots=True)
class RepoState:
    """The state of a repository."""

    head: str | None
    """The branch's last commit; None: the branch does not exist."""
    private: bool
    """Whether only its owners see it."""
    gated: str | None
    """How readers get access to its files; None: they need no permission."""


class Repository(HubClient):
    """A dataset repository, which need not exist yet."""

    def __init__(self, name: str, branch: str, *, address: str, endpoint: str | None) -> None:
        super().__init__(address=address, endpoint=endpoint)
        self._name = name
        self._branch = branch

    async def state(self) -> RepoState | None:
        """Return the state of the repository; None if it does not exist."""
        try:
            return await self._retry(lambda: self._read_state(self._branch))
        except RepositoryMissing:
            return None
        except NoBranch:
            main = await self._retry(lambda: self._read_state(None))
            return RepoState(head=None, private=main.private, gated=main.gated)

    async def tree(self, revision: str) -> dict[str, RemoteFile]:
        """Return every file of a revision, by path."""
        return await self._once(lambda: self._tree(revision))

    async def read(self, path: str, revision: str) -> bytes:
        """Return a file's bytes."""
        return await self._download(self._url(path, revision))

    async def digest(self, path: str, revision: str) -> str:
        """Return the SHA-256 of a file's bytes; a broken download is resumed, not restarted."""
        return await self._digest(self._url(path, revision))

    def filesystem(self, revision: str) -> fs.FileSystem:
        """Return the files of a revision, for reading parts of them."""
        return self._filesystem(f"datasets/{self._name}@{revision}")

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
        return await self._send(path, lambda: self._upload(path, data))

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
