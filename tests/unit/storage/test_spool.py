"""The spool: durable once, first come first kept, gone after the commit."""

import pytest
from support.episodes.factories import make_episode, make_task, make_unit
from support.stores.memory_store import MemoryStore

from schemas.errors import Damaged
from storage.objects.protocol import Missing
from storage.spool import Spool, spool_key


async def test_a_spooled_episode_is_read_back_as_it_was() -> None:
    spool = Spool(MemoryStore())
    episode = make_episode()

    assert await spool.put(episode)

    assert await spool.get(episode.unit_id, episode.episode_id) == episode


async def test_the_first_rollout_of_an_attempt_is_the_one_that_counts() -> None:
    spool = Spool(MemoryStore())
    first, second = make_episode(salt=1), make_episode(salt=2)
    assert first != second

    assert await spool.put(first)
    assert not await spool.put(second)

    assert await spool.get(first.unit_id, first.episode_id) == first


async def test_the_listing_says_which_episodes_of_which_unit_are_there() -> None:
    spool = Spool(MemoryStore())
    unit, episodes = make_unit([make_task(1), make_task(2)], attempts=2)
    other, more = make_unit([make_task(3)])
    for episode in [*episodes[:3], *more]:
        await spool.put(episode)

    assert await spool.listing() == {
        unit: {episode.episode_id for episode in episodes[:3]},
        other: {more[0].episode_id},
    }


async def test_a_discarded_unit_is_gone_and_the_others_stay() -> None:
    spool = Spool(MemoryStore())
    unit, episodes = make_unit([make_task(1)], attempts=2)
    other, more = make_unit([make_task(3)])
    for episode in [*episodes, *more]:
        await spool.put(episode)

    await spool.discard(unit)
    await spool.discard("0" * 32)

    assert list(await spool.listing()) == [other]
    with pytest.raises(Missing):
        await spool.get(unit, episodes[0].episode_id)


@pytest.mark.parametrize("keep", [0, 1, 1_000])
async def test_a_torn_spool_object_is_named(keep: int) -> None:
    store = MemoryStore()
    episode = make_episode()
    await Spool(store).put(episode)
    key = spool_key(episode.unit_id, episode.episode_id)
    await store.put(key, (await store.get(key))[:keep])

    with pytest.raises(Damaged, match=key):
        await Spool(store).get(episode.unit_id, episode.episode_id)


async def test_another_episode_under_its_name_is_named() -> None:
    store = MemoryStore()
    episode, other = make_episode(make_task(1)), make_episode(make_task(2))
    key = spool_key(episode.unit_id, episode.episode_id)
    await store.put(key, other.model_dump_json().encode())

    with pytest.raises(Damaged, match=f"{key}: holds another episode"):
        await Spool(store).get(episode.unit_id, episode.episode_id)


@pytest.mark.parametrize("place", [3, 20, 80, -2])
async def test_an_altered_spool_object_is_named(place: int) -> None:
    store = MemoryStore()
    episode = make_episode()
    await Spool(store).put(episode)
    key = spool_key(episode.unit_id, episode.episode_id)
    data = bytearray(await store.get(key))
    data[place] ^= 1
    await store.put(key, bytes(data))

    with pytest.raises(Damaged, match=key):
        await Spool(store).get(episode.unit_id, episode.episode_id)


async def test_a_value_changed_in_the_spool_is_named() -> None:
    store = MemoryStore()
    episode = make_episode()
    await Spool(store).put(episode)
    key = spool_key(episode.unit_id, episode.episode_id)
    told = (await store.get(key)).replace(b'"reward":1.0', b'"reward":0.5')
    await store.put(key, told)

    with pytest.raises(Damaged, match=f"{key}: was altered"):
        await Spool(store).get(episode.unit_id, episode.episode_id)


async def test_an_episode_that_an_earlier_version_spooled_is_read() -> None:
    store = MemoryStore()
    episode = make_episode()
    key = spool_key(episode.unit_id, episode.episode_id)
    await store.put(key, episode.model_dump_json().encode())

    assert await Spool(store).get(episode.unit_id, episode.episode_id) == episode
