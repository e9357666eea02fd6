"""Finished episodes that are not committed yet.

An episode is put here the moment it ends, if it is not here already: from then on it survives
`kill -9` of everything, and whatever is rolled out a second time changes nothing. A unit is built
from what lies here and **not** from what a worker has in its memory, so that two workers who both
finished an episode build the same unit from the one that came first. When a unit is committed its
objects go.
"""

from collections import defaultdict

from pydantic import ValidationError

from schemas.episode import Episode
from schemas.errors import Damaged
from storage.objects.protocol import ObjectStore

PREFIX = "spool/"
"""What every key of the spool begins with."""


class Spool:
    """The spool of one run."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def put(self, episode: Episode) -> bool:
        """Make `episode` durable; return False if one of its id already was.

        Raises:
            Unwritable: the store cannot be written.
        """
        data = episode.model_dump_json().encode()
        return await self._store.put_new(spool_key(episode.unit_id, episode.episode_id), data)

    async def get(self, unit_id: str, episode_id: str) -> Episode:
        """Return a spooled episode.

        Raises:
            Missing: it is not there, perhaps because its unit was committed meanwhile.
            Damaged: what is there is no episode of that id.
        """
        key = spool_key(unit_id, episode_id)
        return read_spooled(await self._store.get(key), key)

    async def listing(self) -> dict[str, set[str]]:
        """Return the episodes there are, by unit, from one flat listing."""
        units: defaultdict[str, set[str]] = defaultdict(set)
        async for found in self._store.list(PREFIX):
            unit_id, _, episode_id = found.key.removeprefix(PREFIX).partition("/")
            if episode_id:
                units[unit_id].add(episode_id)
        return dict(units)

    async def discard(self, unit_id: str) -> None:
        """Remove a unit's episodes; only ever after its commit."""
        keys = [found.key async for found in self._store.list(f"{PREFIX}{unit_id}/")]
        await self._store.delete(keys)


def spool_key(unit_id: str, episode_id: str) -> str:
    """Return the key an episode is spooled under."""
    return f"{PREFIX}{unit_id}/{episode_id}"


def read_spooled(data: bytes, key: str) -> Episode:
    """Return the episode that `data`, found under `key`, holds.

    Raises:
        Damaged: it holds none, or another one.
    """
    try:
        episode = Episode.model_validate_json(data)
    except ValidationError as error:
        raise Damaged(f"{key}: is no episode: {error.errors()[0]['msg']}") from None
    if spool_key(episode.unit_id, episode.episode_id) != key:
        raise Damaged(f"{key}: holds another episode, {episode.episode_id}")
    return episode
