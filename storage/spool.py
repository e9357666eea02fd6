"""Finished episodes that are not committed yet.

A worker puts an episode here as soon as it ends, unless it exists already. From then on the episode
survives `kill -9` of every process, and a second rollout of it changes nothing. A unit is built from
the spool and **not** from a worker's memory, so two workers that both finished an episode build the
same unit, from the episode that was put first. When a unit is committed its objects are removed.

An object begins with the digest of its content, so an episode that was altered in the spool is never
committed. Objects of earlier versions have no digest and are accepted without one.
"""

import re
from collections import defaultdict

from pydantic import ValidationError

from schemas.base import sha256_hex
from schemas.episodes.episode import Episode
from schemas.errors import Damaged
from storage.objects.protocol import ObjectStore

PREFIX = "spool/"
"""The prefix of every key of the spool."""

_DIGEST = '{"sha256":"%s",'
_BEGINNING = re.compile((_DIGEST % "([0-9a-f]{64})").encode())


class Spool:
    """The spool of one run."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def put(self, episode: Episode) -> bool:
        """Put `episode`; return False if one of its id exists already.

        Raises:
            Unwritable: the store cannot be written.
        """
        told = episode.model_dump_json().encode().removeprefix(b"{")
        data = (_DIGEST % sha256_hex(told)).encode() + told
        return await self._store.put_new(spool_key(episode.unit_id, episode.episode_id), data)

    async def get(self, unit_id: str, episode_id: str) -> Episode:
        """Return a spooled episode.

        Raises:
            Missing: it does not exist, perhaps because its unit was committed meanwhile.
            Damaged: the object is not the episode of that id.
        """
        key = spool_key(unit_id, episode_id)
        return read_spooled(await self._store.get(key), key)

    async def listing(self) -> dict[str, set[str]]:
        """Return the ids of all spooled episodes, by unit, from one flat listing."""
        units: defaultdict[str, set[str]] = defaultdict(set)
        async for item in self._store.list(PREFIX):
            unit_id, _, episode_id = item.key.removeprefix(PREFIX).partition("/")
            if episode_id:
                units[unit_id].add(episode_id)
        return dict(units)

    async def discard(self, unit_id: str) -> None:
        """Remove a unit's episodes; only ever after its commit."""
        keys = [item.key async for item in self._store.list(f"{PREFIX}{unit_id}/")]
        await self._store.delete(keys)


def spool_key(unit_id: str, episode_id: str) -> str:
    """Return the key an episode is spooled under."""
    return f"{PREFIX}{unit_id}/{episode_id}"


def read_spooled(data: bytes, key: str) -> Episode:
    """Return the episode in `data`, which was read from `key`.

    Raises:
        Damaged: it is not an episode, was altered, or is another one.
    """
    if beginning := _BEGINNING.match(data):
        told = data[beginning.end() :]
        if sha256_hex(told).encode() != beginning[1]:
            raise Damaged(f"{key}: was altered: it does not have the digest that it begins with")
        data = b"{" + told
    try:
        episode = Episode.model_validate_json(data)
    except ValidationError as error:
        raise Damaged(f"{key}: is not an episode: {error.errors()[0]['msg']}") from None
    if spool_key(episode.unit_id, episode.episode_id) != key:
        raise Damaged(f"{key}: holds another episode, {episode.episode_id}")
    return episode
