"""The Hub's client, as repositories and buckets use it.

Every call runs in a thread, `errors` translates its failures, and each is retried in one layer: by the client itself
where it does so, else here. The token comes from `HF_TOKEN` or from where `hf auth login` keeps it, and goes nowhere
else.
"""

import asyncio
from collections.abc import Callable
from functools import cache
from os import environ
from typing import TypeVar

import httpx2
from huggingface_hub import (
    HfApi,
    HfFileSystem,
    get_session,
    get_token,
    hf_raise_for_status,
    set_client_factory,
)
from huggingface_hub.utils.tqdm import disable_progress_bars
from pyarrow import fs

from schemas.errors import BadConfig, Unwritable
from storage.publish.destinations.hub.errors import Busy, pauses, translated_errors, wait
from storage.publish.destinations.hub.transfers import RemoteHash, headers

T = TypeVar("T")

_TRUE = {"1", "ON", "YES", "TRUE"}
_READ_AHEAD = 65_536
"""Bytes that a read of a part of a file takes with it; the client's own 5 MB would be mostly pictures."""

_SECONDS = httpx2.Timeout(20.0, read=180.0, write=180.0)


class HubClient:
    """The requests that a repository and a bucket have in common."""

    def __init__(self, *, address: str, endpoint: str | None) -> None:
        self._address = address
        if environ.get("HF_HUB_OFFLINE", "").upper() in _TRUE:
            raise BadConfig(f"{address}: HF_HUB_OFFLINE is set; unset it to publish there")
        _set_client_timeouts()
        disable_progress_bars()
        self._api = HfApi(endpoint=endpoint)

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

    def _filesystem(self, root: str) -> fs.FileSystem:
        """Return the files below a path of the Hub, for reading parts of them."""
        hub = HfFileSystem(
            endpoint=self._api.endpoint,
            block_size=_READ_AHEAD,
            skip_instance_cache=True,  # the one of before remembers what was in a bucket
        )
        handler = fs.FSSpecHandler(hub)  # type: ignore[abstract] # its stub forgets what it has
        return fs.SubTreeFileSystem(root, fs.PyFileSystem(handler))

    async def _download(self, url: str) -> bytes:
        """Return the bytes of a small file."""
        return await self._retry(lambda: _get(url))

    async def _digest(self, url: str) -> str:
        """Return the SHA-256 of a file; a broken download is resumed, not restarted."""
        reading = RemoteHash(url)
        await self._retry(reading.read)
        return reading.hash.hexdigest()

    async def _send(self, what: str, work: Callable[[], T]) -> T:
        """Upload, which the client retries by itself.

        Raises:
            Unwritable: it could not be uploaded.
        """
        try:
            return await self._once(work)
        except (Busy, RuntimeError, OSError) as error:
            raise Unwritable(
                f"{self._address}: {what} could not be uploaded: {str(error)[:300]}; "
                "run the same command again, what was uploaded is not lost"
            ) from error

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


def _get(url: str) -> bytes:
    answer = get_session().get(url, headers=headers())
    hf_raise_for_status(answer)
    return answer.content


@cache
def _set_client_timeouts() -> None:
    """Give the library's HTTP client a time-out, once: doing it again closes connections in use."""
    set_client_factory(lambda: httpx2.Client(follow_redirects=True, timeout=_SECONDS))
