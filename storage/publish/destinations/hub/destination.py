"""A dataset repository on the Hugging Face Hub as a destination.

Files are uploaded as they are built and become visible by commits of at most a hundred of them. The
last commit holds the card, the manifest and the removals, so readers of the branch pass from one
version to the next in one step; then the version gets a tag, which is never moved. A killed
publication leaves uploads that are not visible, or data files that no card names, and the next one
continues from there.

Every commit names its parent. If its response is lost, or another writer was faster, the branch is
read again: it shows whether the commit was made, and whether the other commit changed files of ours.
If it did not, ours goes on top of it; if it did, nothing of theirs is overwritten.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from typing_extensions import override

from schemas.base import sha256_hex
from schemas.configuration.sections import PublishSection
from schemas.errors import BadConfig, Conflict, Damaged, NotFound, Unwritable
from storage.objects.temp_object import Draft, Source
from storage.publish.card.loading import DatasetName
from storage.publish.destinations.hub.checks import MAIN, parse_url, refuse_read_only
from storage.publish.destinations.hub.errors import Busy, pauses, wait
from storage.publish.destinations.hub.repository import Repository, RepoState
from storage.publish.destinations.hub.transfers import Addition, RemoteFile
from storage.publish.destinations.ownership import MARK, Listing, OwnedListing, check_owner
from storage.publish.destinations.protocol import Destination, is_published_path
from storage.publish.plan.manifest import COLLECTION, MANIFEST, TEXTS

COMMIT_FILES = 100
"""The maximum of files per commit: larger ones are slow to check, smaller ones use up the quota."""

_MADE_BY_THE_HUB = ".gitattributes"


class HubDestination(Destination):
    """A `Destination` in a dataset repository, which is created with the first file."""

    def __init__(self, url: str, terms: PublishSection, *, endpoint: str | None = None) -> None:
        self._repository_name, self._branch = parse_url(url)
        branch = None if self._branch == MAIN else self._branch
        self._dataset_name = DatasetName(self._repository_name, branch=branch, is_repository=True)
        self._terms = terms
        self._repository = Repository(
            self._repository_name, self._branch, address=self.address, endpoint=endpoint
        )
        self._run_id = ""
        self._state: RepoState | None = None
        self._content: Listing | None = None
        self._entries: dict[str, RemoteFile] = {}
        self._manifest = b""
        self._additions: dict[str, Addition] = {}
        self._committed: dict[str, Addition] = {}
        self._deletions: set[str] = set()

    @property
    def address(self) -> str:
        """The repository's URL, with the branch where it is not the main one."""
        branch = "" if self._branch == MAIN else f"@{self._branch}"
        return f"hf://datasets/{self._repository_name}{branch}"

    @property
    def name(self) -> DatasetName:
        """The repository's name."""
        return self._dataset_name

    @property
    def has_tags(self) -> bool:
        """Yes: each version has a tag."""
        return True

    @override
    async def listing(self) -> Listing:
        # The files of a commit are read once.
        previous, self._state = self._state, await self._repository.state()
        if self._state is None:
            return Listing()
        if self._terms.private and not self._state.private:
            raise BadConfig(
                f"{self.address}: is public, and publish.private is true; make the repository "
                "private, or set publish.private = false"
            )
        if self._state.head is None:
            return Listing()
        if self._content is None or previous is None or previous.head != self._state.head:
            self._content = await self._read(self._state.head)
        return self._content

    @override
    async def digest(self, path: str) -> str | None:
        # Of the commit that `listing` read.
        try:
            return await self._repository.digest(path, self._branch_state().head or "")
        except NotFound:
            return None

    @override
    async def read(self, path: str) -> bytes:
        # Of the commit that `listing` read.
        try:
            return await self._repository.read(path, self._branch_state().head or "")
        except NotFound:
            raise Damaged(
                f"{self.address}: {path} is missing; publish its run again to restore it"
            ) from None

    @override
    async def owned_listing(self, run_id: str) -> OwnedListing:
        self._run_id = run_id
        owned = check_owner(self.address, run_id, await self.listing())
        self._refuse_edits(owned)
        self._manifest = owned.texts.get(MANIFEST, b"")
        return owned

    async def _read(self, head: str) -> Listing:
        """Return the files of a commit."""
        self._entries = await self._repository.tree(head)
        wanted = [path for path in (*TEXTS, MARK) if path in self._entries]
        texts = {path: await self._repository.read(path, head) for path in wanted}
        digests = {path: e.digest for path, e in self._entries.items() if e.large}
        return Listing(
            sizes={path: e.size for path, e in self._entries.items() if path != _MADE_BY_THE_HUB},
            digests=digests | {path: sha256_hex(text) for path, text in texts.items()},
            texts=texts,
        )

    @asynccontextmanager
    @override
    async def hold(self, *, wait: bool = False) -> AsyncIterator[None]:
        del wait
        # Nothing is locked: each commit shows whether another writer was faster.
        if self._state is None:
            await self._repository.create(private=self._terms.private)
        await self._gate()
        missing = self._state is None or self._state.head is None
        if missing and self._branch != MAIN:
            await self._repository.create_branch()
        self._additions, self._committed, self._deletions = {}, {}, set()
        yield

    @override
    def draft(self, folder: str) -> Draft:
        del folder
        return Draft.nameless()

    @override
    async def put(self, path: str, data: Source) -> None:
        # It becomes visible with a later commit.
        if len(self._additions) >= COMMIT_FILES and path not in TEXTS:
            await self._commit(f"Add {len(self._additions)} files")
        if path == MANIFEST:
            self._manifest = data[:]
        self._additions[path] = await self._repository.upload(path, data)

    @override
    async def claim(self, path: str, data: bytes) -> bool:
        # The commit names its parent: if somebody else is faster, it is not made.
        await self.put(path, data)
        return True

    @override
    async def delete(self, paths: Sequence[str]) -> None:
        # They are removed with the last commit.
        for path in paths:
            self._additions.pop(path, None)
            if path in self._entries or path in self._committed:
                self._deletions.add(path)

    @override
    async def finish(self, version: int) -> None:
        if self._additions or self._deletions:
            of = "" if self._run_id == COLLECTION else f" of run {self._run_id}"
            await self._commit(f"Publish version {version}{of}")
        await self._gate()
        await self._tag(version)

    @override
    async def probe(self) -> None:
        # Nothing is written: the Hub says what the token allows.
        refuse_read_only(await self._repository.token_owner(), self._repository_name, self.address)

    async def _gate(self) -> None:
        wanted, state = self._terms.gated, self._state
        if wanted is not None and (state is None or state.gated != wanted.value):
            await self._repository.gate(wanted)
            if state is not None:
                self._state = replace(state, gated=wanted.value)

    async def _commit(self, message: str) -> None:
        """Commit the pending operations exactly once, even if a response is lost."""
        head: str | None = None
        for pause in pauses():
            state = self._branch_state()
            try:
                head = await self._repository.commit(
                    list(self._additions.values()),
                    sorted(self._deletions),
                    parent=state.head or "",
                    message=message,
                )
            except (Busy, Conflict) as error:
                await wait(error, pause)
                head = await self._pending_commit()
            if head is not None:
                break
        self._state = replace(self._branch_state(), head=head)
        self._committed |= self._additions
        self._entries = {p: e for p, e in self._entries.items() if p not in self._deletions}
        self._content, self._additions, self._deletions = None, {}, set()

    async def _pending_commit(self) -> str | None:
        """Return the head if it has all pending operations; None if they must be committed again.

        Raises:
            Conflict: another writer's commit changed files of ours.
        """
        state = await self._repository.state()
        if state is None or state.head is None:
            raise NotFound(f"{self.address}: was removed while it was being published to")
        if state.head == self._branch_state().head:
            return None
        tree = await self._repository.tree(state.head)
        added = all(addition.is_at(tree.get(path)) for path, addition in self._additions.items())
        if added and not self._deletions & tree.keys():
            return state.head
        self._refuse_foreign_changes(tree, state.head)
        self._state, self._entries = state, tree
        self._deletions &= tree.keys()
        return None

    def _branch_state(self) -> RepoState:
        if self._state is None or self._state.head is None:
            raise Unwritable(f"{self.address}: was created and is gone; run this again")
        return self._state

    def _refuse_foreign_changes(self, tree: Mapping[str, RemoteFile], head: str) -> None:
        """Refuse another writer's commit that changed files of ours.

        Raises:
            Conflict: it did; the error names a file.
        """
        mine = {path for path in self._entries.keys() | tree.keys() if is_published_path(path)}
        touched = sorted(path for path in mine if not self._is_unchanged(path, tree.get(path)))
        if touched:
            raise Conflict(
                f"{self.address}: another writer changed {touched[0]} meanwhile "
                f"(commit {head[:12]}); run this again, nothing of theirs was overwritten"
            )

    def _is_unchanged(self, path: str, entry: RemoteFile | None) -> bool:
        """Return whether a file is as this publication read it, wrote it, or is about to write it."""
        added = self._additions.get(path) or self._committed.get(path)
        if added is not None and added.is_at(entry):
            return True
        gone = entry is None and path in self._deletions
        return gone or (path not in self._committed and entry == self._entries.get(path))

    def _refuse_edits(self, owned: OwnedListing) -> None:
        """Refuse a dataset that was changed since it was published.

        Raises:
            Conflict: a file is not the one published; deleted ones are restored.
        """
        for file in owned.manifest.files if owned.manifest else ():
            size = owned.sizes.get(file.path, file.bytes)
            if (size, owned.digests.get(file.path, file.sha256)) != (file.bytes, file.sha256):
                raise Conflict(
                    f"{self.address}: {file.path} was changed since it was published; "
                    "revert that commit, or delete the file to have it written again"
                )

    async def _tag(self, version: int) -> None:
        """Tag the commit with the version, unless a tag of the version has the same dataset."""
        tags = await self._repository.tags()
        first = f"v{version}" if self._branch == MAIN else f"{self._branch}-v{version}"
        for name in (first, *(f"{first}.{number}" for number in range(1, len(tags) + 1))):
            if name not in tags:
                await self._repository.tag(name, self._branch_state().head or "")
                return
            if await self._is_published(tags[name]):
                return

    async def _is_published(self, commit: str) -> bool:
        """Return whether a commit has the dataset that was just published."""
        try:
            return (
                commit == self._branch_state().head
                or await self._repository.read(MANIFEST, commit) == self._manifest
            )
        except NotFound:
            return False
