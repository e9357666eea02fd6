"""Sessions go on while a verifier decodes an episode's pictures or compares its texts."""

import asyncio

import pytest
from support.episodes.altered_episodes import won
from support.episodes.factories import make_task

from generators.verify.protocol import Verifier
from generators.verify.seen import Seen
from generators.verify.structure import Structure
from schemas.episodes.episode import Episode


@pytest.mark.parametrize("verifier", [Structure(), Seen()], ids=lambda one: one.name)
def test_others_have_their_turn_while_it_looks(verifier: Verifier) -> None:
    order = list[str]()

    async def look(episode: Episode) -> None:
        await verifier.examine(make_task(), episode)
        order.append("looked")

    async def step() -> None:
        order.append("stepped")

    async def both() -> None:
        episode = await won()
        async with asyncio.TaskGroup() as group:
            group.create_task(look(episode))
            group.create_task(step())

    asyncio.run(both())
    assert order == ["stepped", "looked"]
