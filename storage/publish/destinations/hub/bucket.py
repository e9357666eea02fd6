"""A Storage Bucket on the Hugging Face Hub as a destination.

Data files are named by their content and go up one by one; the plots and the card follow in one batch, and the manifest
comes last, alone. A killed publication leaves files that no manifest names, and the next one continues from there.

The Hub cannot be told to write only what nobody else has written, so a bucket takes one writer at a time. Another one is
looked for all the same: the manifest is read again before the card is replaced, before the manifest is, and before
anything is removed. If it is not the one that this publication knows, this publication ends, and what the other one
wrote stays.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from typing_extensions import override

from schemas.base import sha256_hex
from schemas.configuration.sections import PublishSection
from schemas.errors import BadConfig, Conflict, Damaged, OtherRun
from storage.objects.temp_object import Draft, Source
from storage.publish.card.loading import DatasetName
from storage.publish.destinations.hub.bucket_files import BucketFiles
from storage.publish.destinations.hub.checks import parse_bucket_url, refuse_read_only
from storage.publish.destinations.ownership import MARK, Listing
from storage.publish.destinations.protocol import ONE_WRITER, Destination
from storage.publish.plan.manifest import MANIFEST, TEXTS


class BucketDestination(Destination):
    """A `Destination` in a bucket on the Hub, which is created with the first file."""

    def __init__(self, url: str, terms: PublishSection, *, endpoint: str | None = None) -> None:
        self._bucket, self._prefix = parse_bucket_url(url)
        if terms.gated is not None:
            raise BadConfig(
                f"{url}: a bucket cannot ask its readers for anything, and publish.gated is "
                f"{terms.gated.value}; unset it, or publish to hf://datasets/ORG/NAME"
            )
        self._terms = terms
        self._files = BucketFiles(
            self._bucket, self._prefix, address=self.address, endpoint=endpoint
        )
        self._exists = False
        self._manifest: bytes | None = None
        self._mark: bytes | None = None
        self._texts: dict[str, Source] = {}
        self._ended = False

    @property
    def address(self) -> str:
        """The bucket's URL, with the prefix."""
        return f"hf://buckets/{self._bucket}" + (f"/{self._prefix}" if self._prefix else "")

    @property
    def name(self) -> DatasetName:
        """The bucket's URL, which readers give in full."""
        return DatasetName(self.address, by_file=True)

    @property
    @override
    def one_writer(self) -> bool:
        return True

    @override
    async def listing(self) -> Listing:
        private = await self._files.is_private()
        self._exists = private is not None
        self._manifest = self._mark = None
        if private is None:
            return Listing()
        if self._terms.private and not private:
            raise BadConfig(
                f"{self.address}: is public, and publish.private is true; make the bucket private, or "
                "set publish.private = false"
            )
        sizes = await self._files.sizes()
        texts = {path: await self._files.read(path) for path in (*TEXTS, MARK) if path in sizes}
        there = {path: text for path, text in texts.items() if text is not None}
        self._manifest, self._mark = there.get(MANIFEST), there.get(MARK)
        return Listing(
            sizes=sizes,
            digests={path: sha256_hex(text) for path, text in there.items()},
            texts=there,
        )

    @override
    async def digest(self, path: str) -> str | None:
        return await self._files.digest(path)

    @override
    async def read(self, path: str) -> bytes:
        data = await self._files.read(path)
        if data is None:
            raise Damaged(f"{self.address}: {path} is missing; publish its run again to restore it")
        return data

    @asynccontextmanager
    @override
    async def hold(self, *, wait: bool = False) -> AsyncIterator[None]:
        del wait
        # Nothing can be locked: `_refuse_second_writer` looks for another publication.
        if not self._exists:
            await self._files.create(private=self._terms.private)
        self._texts, self._ended = {}, False
        yield

    @override
    def draft(self, folder: str) -> Draft:
        del folder
        return Draft.nameless()

    @override
    async def put(self, path: str, data: Source) -> None:
        if path == MANIFEST:
            await self._end(data[:])
        elif path in TEXTS:
            self._texts[path] = data[:]  # they go up together, before the manifest
        elif path == MARK:
            await self._begin(data[:])
        else:
            await self._files.put({path: data})

    @override
    async def claim(self, path: str, data: bytes) -> bool:
        if await self._files.read(path) is None:
            await self._files.put({path: data})
        return await self._files.read(path) == data

    @override
    async def delete(self, paths: Sequence[str]) -> None:
        if paths:
            await self._refuse_second_writer()
            await self._files.delete(paths)

    @override
    async def finish(self, version: int) -> None:
        """Look for another writer once more; every file is visible once it is put."""
        if self._ended:
            await self._refuse_second_writer()

    @override
    async def probe(self) -> None:
        # Nothing is written: the Hub says what the token allows.
        who = await self._files.token_owner()
        refuse_read_only(who, self._bucket, self.address, kind="buckets")

    async def _begin(self, mark: bytes) -> None:
        """Put the mark, unless another run was first."""
        await self._refuse_second_writer()
        await self._files.put({MARK: mark})
        self._mark = mark

    async def _end(self, manifest: bytes) -> None:
        """Put the texts and then the manifest, which replaces only the one that was read."""
        await self._refuse_second_writer()
        if self._texts:
            await self._files.put(self._texts)
            self._texts = {}
            await self._refuse_second_writer()
        await self._files.put({MANIFEST: manifest})
        self._manifest, self._ended = manifest, True

    async def _refuse_second_writer(self) -> None:
        """Refuse to go on where another publication wrote since.

        Raises:
            OtherRun: another run began to publish here.
            Conflict: another publication ended here.
        """
        if await self._files.read(MANIFEST) != self._manifest:
            raise Conflict(
                f"{self.address}: another publication ended here meanwhile, and {ONE_WRITER}"
            )
        if self._manifest is None and await self._files.read(MARK) != self._mark:
            raise OtherRun(
                f"{self.address}: another run began to publish here at the same time; "
                "publish to another place"
            )
