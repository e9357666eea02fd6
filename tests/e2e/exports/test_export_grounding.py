"""The `grounding` export of a run on real pages: what a row asks for is in its picture, and at its point."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.episodes.referents import inside, middle, referents
from support.runs.commands import called
from support.runs.exports import lines
from support.runs.library import PAIRED, Kept, RunLibrary

from flows.job.config_loader import Sources
from flows.job.stored_run import open_stored_run
from generators.verify.shown import Picture
from schemas.episodes.episode import Episode, Step

pytestmark = pytest.mark.browser

GOAL_BAR = 50
"""How high the part of a page is that tells the goal, CSS px."""

LINES = "bisect-angle"
"""A template that draws lines, of which `referents` cannot tell that they are no boxes."""

Row = dict[str, Any]


@pytest.fixture(scope="module")
def exported(
    run_library: RunLibrary, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Row], dict[str, Episode]]:
    """Return the rows of a run with mistakes, its rejected episodes too, and its episodes by id."""
    run, to = run_library.read(Kept.PAIRS).url, f"{tmp_path_factory.mktemp('grounding')}/to"
    said = called("export", run, "--format=grounding", f"--to={to}", "--include-rejected", "--json")
    assert said.code == 0, said.err
    episodes = {one.episode_id: one for one in asyncio.run(_episodes(run))}
    rows = [row for row in lines(Path(to)) if LINES not in episodes[row["episode_id"]].start_url]
    return rows, episodes


async def _episodes(url: str) -> list[Episode]:
    stored = await open_stored_run(url, Sources(), os.environ)
    try:
        units = await stored.lake.committed_units()
        return [one for unit in sorted(units) for one in await stored.lake.episodes(unit)]
    finally:
        await stored.lake.close()


def wrong(row: Row, episode: Episode) -> Iterator[str]:
    """Yield what is wrong about a row, by what its step's picture shows."""
    step = episode.steps[row["step"]]
    left, top, right, bottom = row["box"]
    x, y = row["point"]
    if not (left <= x <= right and top <= y <= bottom):
        yield "its point is not in its box"
    if not row["instruction"].endswith(row["expressions"][0]):
        yield "its instruction is none of its expressions"
    for said in row["expressions"]:
        yield from _wrong_words(said, row["box"], step, episode)
    for other in row["negatives"]:
        left, top, right, bottom = other["box"]
        if left <= x <= right and top <= y <= bottom:
            yield f"its negative {other} is where it points"
        if top < GOAL_BAR * step.height / episode.viewport_height:
            yield f"its negative {other} is a part of the goal"
        yield from _wrong_words(other["expression"], other["box"], step, episode)


def _wrong_words(said: str, corners: list[float], step: Step, episode: Episode) -> Iterator[str]:
    """Yield what is wrong about an expression, which should mean what stands between the corners alone."""
    viewport = episode.viewport_width, episode.viewport_height
    scale = step.width / viewport[0]
    left, top, right, bottom = (one / scale for one in corners)
    box = (left - 1, top - 1, right - left + 2, bottom - top + 2)
    picture = Picture(step, scale=episode.device_scale_factor)
    for loose in (False, True):
        places = referents(step, said, viewport, loose=loose)
        if len(places) != 1 or not inside(box, middle(places[0].box)):
            yield f"{said!r} means {places}"
        elif not picture.shows(places[0].box):
            yield f"{said!r} means what does not show"


def test_every_row_asks_for_what_is_in_sight_where_it_points(
    exported: tuple[list[Row], dict[str, Episode]],
) -> None:
    rows, episodes = exported
    found = {row["id"]: [*wrong(row, episodes[row["episode_id"]])] for row in rows}

    assert {name: what for name, what in found.items() if what} == {}
    assert len(rows) >= 2 * len({*PAIRED} - {LINES})
    assert {row["role"] for row in rows} >= {"button", "checkbox", "radio", "link"}
    assert sum(len(row["negatives"]) for row in rows) >= 3 * len(rows)


def altered(row: Row, **changes: object) -> Row:
    """Return a row with other fields."""
    return {**row, **changes}


@pytest.mark.parametrize("said", ["not in its box", "none of its", "where it points", "the goal"])
def test_a_row_that_asks_for_something_else_is_told(
    exported: tuple[list[Row], dict[str, Episode]], said: str
) -> None:
    rows, episodes = exported
    row = next(one for one in rows if one["role"] == "button" and one["negatives"])
    other = row["negatives"][0]
    lie = {
        "not in its box": altered(row, point=[1.0, 1.0], negatives=[]),
        "none of its": altered(row, instruction='Click the button "Nothing"'),
        "where it points": altered(row, negatives=[{**other, "box": row["box"]}]),
        "the goal": altered(row, negatives=[{**other, "box": [0, 0, 9, 9]}]),
    }[said]

    assert said in next(wrong(lie, episodes[row["episode_id"]]))


def test_an_expression_that_means_something_else_is_told(
    exported: tuple[list[Row], dict[str, Episode]],
) -> None:
    rows, episodes = exported
    row = next(one for one in rows if one["role"] == "button" and one["negatives"])
    said = row["negatives"][0]["expression"]
    lie = altered(row, expressions=[said], instruction=f"Click {said}", negatives=[])

    assert f"{said!r} means" in next(wrong(lie, episodes[row["episode_id"]]))
