"""The stream: episodes as they are committed, in one order for every reader, and the groups that they complete.

An episode's place is its number in the order of commits, which never changes; so a cursor is the number of episodes that a
reader has had, and a reader that comes again with it misses none and gets none twice. Within a unit they follow each other
as they ended. A group is complete with its last attempt; one that lacks some is said to be incomplete, and a failed attempt
has no reward, which is not zero.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from aiohttp import web
from pydantic import Field, ValidationError

from flows.serving.episode_answer import answer_of, trace_answer, weights_answer
from flows.serving.seating import Seats
from flows.serving.versions import VersionLine
from generators.seats.actions import mistakes_in
from schemas.base import JsonObject, Record
from schemas.ids import SERVED_ATTEMPTS
from schemas.tables.tables import Row
from storage.lake.lake import Lake
from storage.lake.unit_order import UnitOrder
from storage.objects.protocol import ObjectStore

PATH = "/episodes"
"""Where the door is."""

POLL_SECONDS = 0.5
"""Between two looks for new episodes."""

MAX_ITEMS = 256
"""The maximum number of episodes, or of complete groups, in an answer."""

_COLUMNS = (
    "episode_id",
    "unit_id",
    "task_id",
    "attempt",
    "group_id",
    "asked_group",
    "asked_group_size",
    "weights_version",
    "ended_at",
)


class BadCursor(ValueError):
    """A cursor is not one of this run; the text says what was expected."""


class StreamOptions(Record):
    """What a reader wants of each episode."""

    groups: bool = False
    """Whether complete groups are read, and not single episodes."""
    trace: bool = False
    """Whether each has its `TrainingTrace`."""
    pictures: bool = False
    """Whether each has the pictures that its trace names."""
    max_staleness: int | None = Field(default=None, ge=0)
    """How many versions of the weights an episode may be behind the newest one that was committed with it or before; an
    older one is said to be stale, and its masks are 0. None: any."""


@dataclass(frozen=True, slots=True)
class _Head:
    """An episode's place in the stream."""

    episode_id: str
    unit_id: str
    group: str
    group_id: str
    asked_group: str | None
    size: int | None
    versions: tuple[str, ...]
    newest: str | None
    """The newest version that was committed with it or before."""


@dataclass(slots=True)
class _Group:
    places: list[int] = field(default_factory=list)
    size: int | None = None


class EpisodeStream:
    """The episodes of one run in the order of their commits."""

    def __init__(self, store: ObjectStore, lake: Lake, *, attempts: int) -> None:
        """`attempts` is how many the run's plan makes at each task."""
        self._lake, self._attempts = lake, attempts
        self._order = UnitOrder(store)
        self._line = VersionLine()
        self._heads: list[_Head] = []
        self._place: dict[str, int] = {}
        self._groups: defaultdict[str, _Group] = defaultdict(_Group)
        self._refreshing = asyncio.Lock()
        self._looked_at = float("-inf")

    @property
    def count(self) -> int:
        """How many episodes are known."""
        return len(self._heads)

    async def refresh(self) -> None:
        """Read what was committed since, unless that was just done.

        Raises:
            Damaged: the log or a row cannot be read.
        """
        loop = asyncio.get_running_loop()
        async with self._refreshing:
            if loop.time() - self._looked_at < POLL_SECONDS / 2:
                return
            units = await self._order.refresh()
            if units:
                rows = await self._lake.heads(set(units), _COLUMNS)
                place = {unit_id: number for number, unit_id in enumerate(units)}
                rows.sort(
                    key=lambda row: (place[row["unit_id"]], row["ended_at"], row["episode_id"])
                )
                for row in rows:
                    self._add(row)
            self._looked_at = loop.time()

    def _add(self, row: Row) -> None:
        versions = (
            tuple((row["weights_version"] or "").split(", ")) if row["weights_version"] else ()
        )
        self._line.note(versions)
        planned = row["attempt"] < SERVED_ATTEMPTS
        asked = row["asked_group"]
        head = _Head(
            episode_id=row["episode_id"],
            unit_id=row["unit_id"],
            group=f"{row['group_id']} {asked or ''}",
            group_id=row["group_id"],
            asked_group=asked,
            size=self._attempts if planned else row["asked_group_size"],
            versions=versions,
            newest=self._line.newest,
        )
        group = self._groups[head.group]
        group.places.append(len(self._heads))
        group.size = group.size or head.size
        self._place[head.episode_id] = len(self._heads)
        self._heads.append(head)

    def check(self, cursor: int) -> None:
        """Refuse a cursor of another run, once the run was read.

        Raises:
            BadCursor: the run has fewer episodes.
        """
        if cursor > self.count:
            raise BadCursor(
                f"cursor: expected at most {self.count}, as many episodes as the run has; got {cursor}, which is of "
                "another run"
            )

    async def episodes(
        self, cursor: int, options: StreamOptions, *, limit: int = MAX_ITEMS
    ) -> AsyncIterator[JsonObject]:
        """Yield the known episodes after the first `cursor`, at most `limit`."""
        for place in range(cursor, min(self.count, cursor + limit)):
            yield {"cursor": place + 1, **await self._item(place, options)}

    async def episode(self, episode_id: str, options: StreamOptions) -> AsyncIterator[JsonObject]:
        """Yield the episode of an id if it is known."""
        if (place := self._place.get(episode_id)) is not None:
            yield {"cursor": place + 1, **await self._item(place, options)}

    async def groups(
        self, cursor: int, options: StreamOptions, *, limit: int = MAX_ITEMS
    ) -> AsyncIterator[JsonObject]:
        """Yield the groups that the known episodes after the first `cursor` complete, at most `limit`.

        A group with a stale episode is refused: its line has no episodes.
        """
        found = 0
        for place in range(cursor, self.count):
            head = self._heads[place]
            members = self._members(head.group, place)
            if len(members) != head.size:
                continue
            items = [await self._item(one, options, newest=head.newest) for one in members]
            stale = any(_is_stale(one) for one in items)
            yield {
                "cursor": place + 1,
                **self._group_answer(head, members),
                "stale": stale,
                "episodes": None if stale else [*items],
            }
            found += 1
            if found == limit:
                return

    def incomplete(self) -> list[JsonObject]:
        """Return the groups that lack attempts, or whose size nobody told, as far as the episodes are known."""
        last = [(group.places[-1], group) for group in self._groups.values()]
        return [
            self._group_answer(self._heads[place], group.places)
            for place, group in sorted(last, key=lambda one: one[0])
            if group.size is None or len(group.places) < group.size
        ]

    def _members(self, group: str, place: int) -> list[int]:
        return [one for one in self._groups[group].places if one <= place]

    def _group_answer(self, head: _Head, members: Sequence[int]) -> JsonObject:
        size = self._groups[head.group].size
        return {
            "group": {
                "id": head.group_id,
                "name": head.asked_group,
                "size": size,
                "have": len(members),
                "complete": len(members) == size,
                "episode_ids": [self._heads[one].episode_id for one in members],
            }
        }

    async def _item(
        self, place: int, options: StreamOptions, *, newest: str | None = None
    ) -> JsonObject:
        head = self._heads[place]
        task, episode = await self._lake.episode_of(head.unit_id, head.episode_id)
        weights, stale = weights_answer(
            head.versions, self._line, options.max_staleness, newest=newest or head.newest
        )
        item = {
            **answer_of(task, episode),
            **self._group_answer(head, self._members(head.group, place)),
            "weights": weights,
        }
        if options.trace:
            learnt = episode.trainable and not stale
            item |= trace_answer(episode, learnt=learnt, pictures=options.pictures)
        return item


def _is_stale(item: JsonObject) -> bool:
    weights = item["weights"]
    return isinstance(weights, dict) and weights["stale"] is True


class StreamQuery(StreamOptions):
    """The query of a request."""

    cursor: int = Field(default=0, ge=0)
    """How many episodes the reader has had."""
    limit: int = Field(default=64, ge=1, le=MAX_ITEMS)
    """How many it takes now at most."""
    wait: float = Field(default=0.0, ge=0, le=60)
    """How many seconds it waits for one."""
    episode: str | None = Field(default=None, max_length=100)
    """The id of the only episode that it wants, wherever that stands; None: all after the cursor."""


def add_routes(app: web.Application, seats: Seats) -> None:
    """Add the door to an application."""
    stream = EpisodeStream(
        seats.keeper.store, seats.keeper.lake, attempts=seats.config.tasks.attempts
    )

    async def episodes(request: web.Request) -> web.Response:
        try:
            asked = StreamQuery.model_validate_strings(dict(request.query))
        except ValidationError as error:
            return web.json_response({"error": mistakes_in(error)[0]}, status=400)
        if asked.max_staleness is None:
            asked = asked.model_copy(update={"max_staleness": seats.config.seats.max_staleness})
        try:
            return web.json_response(await answer_to(stream, asked))
        except BadCursor as error:
            return web.json_response({"error": str(error)}, status=400)

    app.router.add_get(PATH, episodes)


async def answer_to(stream: EpisodeStream, asked: StreamQuery) -> JsonObject:
    """Return the answer to a reader, once there is something for it, or its wait is over.

    Raises:
        BadCursor: the cursor is of another run.
    """
    deadline = asyncio.get_running_loop().time() + asked.wait
    while True:
        await stream.refresh()
        stream.check(asked.cursor)
        items = [one async for one in _read(stream, asked)]
        if items or asyncio.get_running_loop().time() >= deadline:
            break
        await asyncio.sleep(POLL_SECONDS)
    if asked.episode is not None:
        return {"items": [*items], "cursor": asked.cursor, "more": False}
    full = len(items) == asked.limit
    cursor = items[-1]["cursor"] if full or (items and not asked.groups) else stream.count
    answer: JsonObject = {"items": [*items], "cursor": cursor, "more": full}
    if asked.groups:
        answer["incomplete"] = [*stream.incomplete()[-MAX_ITEMS:]]
    return answer


def _read(stream: EpisodeStream, asked: StreamQuery) -> AsyncIterator[JsonObject]:
    if asked.episode is not None:
        return stream.episode(asked.episode, asked)
    read = stream.groups if asked.groups else stream.episodes
    return read(asked.cursor, asked, limit=asked.limit)
