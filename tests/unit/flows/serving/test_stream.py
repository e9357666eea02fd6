"""The stream has one order for every reader, and says which groups are complete and which are stale."""

from pathlib import Path
from typing import Any

import pytest
from support.runs.served_seats import scripted_seats

from flows.serving.seating import Seats
from flows.serving.stream import BadCursor, EpisodeStream, StreamOptions, StreamQuery, answer_to
from generators.seats.actions import read_message
from schemas.tasks.selector import Selector

EAGER = {"commit_seconds": 0.05}
"""Episodes are committed as they end, each in a unit of its own."""


async def play(seats: Seats, index: int, version: str | None = None) -> None:
    """Play an episode whose client tells the version of its weights, and wait for its commit."""
    before = seats.keeper.committed
    lease = await seats.take("trainer", Selector(index=index))
    for x in (5, 6):
        said: dict[str, Any] = {"action": {"type": "click", "x": x, "y": 5}}
        if version is not None:
            said["call"] = {"weights_version": version}
        await lease.step(read_message(said))
    await seats.leave(lease)
    stream = stream_of(seats)
    while seats.keeper.committed == before:
        await answer_to(stream, StreamQuery(cursor=before, wait=1))


def stream_of(seats: Seats, attempts: int = 1) -> EpisodeStream:
    return EpisodeStream(seats.keeper.store, seats.keeper.lake, attempts=attempts)


async def read(stream: EpisodeStream, cursor: int = 0, **options: Any) -> list[dict[str, Any]]:
    await stream.refresh()
    stream.check(cursor)
    wanted = StreamOptions(**options)
    items = stream.groups if wanted.groups else stream.episodes
    return [dict(one) async for one in items(cursor, wanted)]


async def test_every_reader_gets_the_same_order_and_goes_on_where_it_was(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path, seats=EAGER) as seats:
        reader = stream_of(seats)
        assert await read(reader) == []
        for index in (3, 1):
            await play(seats, index)
        first = await read(stream_of(seats))
        await play(seats, 2)
        whole = await read(stream_of(seats))
        rest = await read(stream_of(seats), first[-1]["cursor"])

        with pytest.raises(BadCursor, match="at most 3"):
            await read(stream_of(seats), 4)

    assert [one["task"]["seed"] for one in whole] == [3, 1, 2]
    assert whole == first + rest
    assert [one["cursor"] for one in whole] == [1, 2, 3]
    assert {one["reward"] for one in whole} == {1.0}


async def test_a_failed_attempt_has_no_reward_and_is_a_member_of_its_group(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path, seats=EAGER) as seats:
        lease = await seats.take("trainer", Selector(index=0))
        await seats.leave(lease)
        await play(seats, 0)
        failed, won = await read(stream_of(seats))

    assert (failed["reward"], failed["failure_kind"], failed["trainable"]) == (
        None,
        "client",
        False,
    )
    assert (won["reward"], won["failure_kind"]) == (1.0, None)
    assert won["group"]["episode_ids"] == [failed["episode_id"], won["episode_id"]]


async def test_a_group_whose_size_nobody_told_is_said_to_be_incomplete(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path, seats=EAGER) as seats:
        await play(seats, 0)
        stream = stream_of(seats)
        assert await read(stream, groups=True) == []
        (group,) = stream.incomplete()

    told = group["group"]
    assert isinstance(told, dict)
    assert (told["have"], told["size"], told["complete"]) == (1, None, False)


async def test_an_episode_of_old_weights_is_stale_at_its_place_for_every_reader(
    tmp_path: Path,
) -> None:
    async with scripted_seats(tmp_path, seats=EAGER) as seats:
        for index, version in enumerate(("4", "7", "5")):
            await play(seats, index, version)
        items = await read(stream_of(seats), max_staleness=1)

    assert [one["weights"]["staleness"] for one in items] == [0, 0, 2]
    assert [one["weights"]["stale"] for one in items] == [False, False, True]
    assert items[0]["weights"]["newest"] == "4"


async def test_a_single_episode_is_waited_for_wherever_it_stands(tmp_path: Path) -> None:
    async with scripted_seats(tmp_path, seats=EAGER) as seats:
        for index in (3, 1):
            await play(seats, index)
        whole = await read(stream_of(seats))
        for one in whole:
            asked = StreamQuery(episode=one["episode_id"], groups=True)
            answer = await answer_to(stream_of(seats), asked)
            assert answer == {"items": [one], "cursor": 0, "more": False}
        unknown = await answer_to(stream_of(seats), StreamQuery(episode="f" * 32))
    assert unknown == {"items": [], "cursor": 0, "more": False}
