"""A published dataset on the Hub, read: its manifest, and parts of its files, of one commit or in a bucket."""

from collections.abc import Mapping

from pyarrow import fs

from schemas.errors import NotFound
from storage.publish.destinations.hub.bucket_files import BucketFiles
from storage.publish.destinations.hub.checks import MAIN, parse_bucket_url, parse_url
from storage.publish.destinations.hub.repository import Repository, RepoState


class HubPlace:
    """A dataset repository at a branch or tag; every read is of the commit that the first one found."""

    def __init__(self, url: str, *, endpoint: str | None = None) -> None:
        name, self._revision = parse_url(url)
        branch = "" if self._revision == MAIN else f"@{self._revision}"
        self._address = f"hf://datasets/{name}{branch}"
        self._repository = Repository(
            name, self._revision, address=self._address, endpoint=endpoint
        )
        self._commit = ""

    @property
    def address(self) -> str:
        """The repository's URL, with the branch or tag where it is not the main branch."""
        return self._address

    async def text(self, path: str) -> bytes | None:
        """Return a small file's bytes."""
        try:
            return await self._repository.read(path, await self._head())
        except NotFound:
            if not self._commit:
                raise
            return None

    async def sizes(self) -> Mapping[str, int]:
        """Return the size of every file, by path."""
        tree = await self._repository.tree(await self._head())
        return {path: file.size for path, file in tree.items()}

    def filesystem(self, sizes: Mapping[str, int]) -> fs.FileSystem:
        """Return the files of the commit; a read asks for few bytes beyond those it wants."""
        del sizes
        return self._repository.filesystem(self._commit)

    async def _head(self) -> str:
        """Return the commit.

        Raises:
            NotFound: there is no such repository, branch or tag.
        """
        if not self._commit:
            state: RepoState | None = await self._repository.state()
            if state is None or state.head is None:
                what = "repository" if state is None else "branch or tag"
                raise NotFound(
                    f"{self._address}: there is no such {what}, or the token may not see it"
                )
            self._commit = state.head
        return self._commit


class BucketPlace:
    """A bucket on the Hub, which has no commits: every read is of what is there then."""

    def __init__(self, url: str, *, endpoint: str | None = None) -> None:
        bucket, prefix = parse_bucket_url(url)
        self._address = f"hf://buckets/{bucket}" + (f"/{prefix}" if prefix else "")
        self._files = BucketFiles(bucket, prefix, address=self._address, endpoint=endpoint)
        self._is_there = False

    @property
    def address(self) -> str:
        """The bucket's URL, with the prefix."""
        return self._address

    async def text(self, path: str) -> bytes | None:
        """Return a small file's bytes."""
        await self._find()
        return await self._files.read(path)

    async def sizes(self) -> Mapping[str, int]:
        """Return the size of every file, by path."""
        await self._find()
        return await self._files.sizes()

    def filesystem(self, sizes: Mapping[str, int]) -> fs.FileSystem:
        """Return the files; a read asks for few bytes beyond those it wants."""
        del sizes
        return self._files.filesystem()

    async def _find(self) -> None:
        """Look for the bucket, once.

        Raises:
            NotFound: there is no such bucket.
        """
        if not self._is_there and await self._files.is_private() is None:
            raise NotFound(f"{self._address}: there is no such bucket, or the token may not see it")
        self._is_there = True
