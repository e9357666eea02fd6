"""Each page does its worst, ends as one named episode, and its innocent neighbours notice nothing."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio
from effort import THOROUGH
from sites.hostile.pages import FAULTS, INNOCENTS
from support.browsers.hostile_attempts import (
    VIEWPORT,
    Arena,
    ending,
    likeness,
    open_arena,
    picture_sizes,
    shorten_deadlines,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(240),
]

QUICK = [name for name, fault in FAULTS.items() if fault.quick]
TRIED = [[name] for name in FAULTS] if THOROUGH else [QUICK]
"""Each by itself, or a few at once where there is little time."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let deadlines pass quickly, unless there is time for those that hold."""
    if not THOROUGH:
        shorten_deadlines(monkeypatch)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def arena() -> AsyncIterator[Arena]:
    """One browser for all pages, as a run has it."""
    async with open_arena() as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def alone(arena: Arena) -> Mapping[str, Mapping[str, Any]]:
    """What the innocent pages come to in a browser that has met no other page."""
    return {name: likeness(await arena.attempt(name)) for name in INNOCENTS}


@pytest.mark.parametrize("names", TRIED, ids=",".join)
async def test_a_page_does_its_worst_and_its_neighbours_notice_nothing(
    names: list[str],
    arena: Arena,
    alone: Mapping[str, Mapping[str, Any]],
    subtests: pytest.Subtests,
) -> None:
    ended, innocents = await arena.beside_innocents(names)

    for name in names:
        with subtests.test(msg=name):
            assert re.match(FAULTS[name].ends, ending(ended[name]), re.DOTALL), ending(ended[name])
            assert ended[name].tries is None, "a page would do again what it did"
            assert picture_sizes(ended[name]) <= {VIEWPORT}
    assert {ending(episode) for episode in innocents} == {"finished 1.0"}
    for episode in innocents:
        assert likeness(episode) == alone[str(episode.capsule["template_id"])]
