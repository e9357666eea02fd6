"""The `grounding` export of a run on real pages: what a row asks for is in its picture, and at its point."""

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import UNREPLAYED, called
from exports import lines

from flows.job.config_loader import Sources
from flows.job.stored_run import open_stored_run
from generators.verify.shown import Picture
from schemas.episode import Episode
from schemas.observation import Box

pytestmark = pytest.mark.browser

TEMPLATES = (
    *("click-checkboxes", "click-dialog-2", "click-menu-2", "click-option", "click-tab-2"),
    *("email-inbox-delete", "find-greatest", "form-sequence-2", "login-user", "search-engine"),
)
BESIDE = 160
"""How far from a control its label may stand, CSS px."""

Row = dict[str, Any]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Row], dict[str, Episode]]:
    """Return the rows of a run with mistakes, its rejected episodes too, and its episodes by id."""
    folder = tmp_path_factory.mktemp("grounding")
    run, to = f"{folder}/run", f"{folder}/to"
    include = ",".join(f"'{name}'" for name in TEMPLATES)
    made = called(
        *("generate", "--json", "--no-prefect", f"--run={run}", "--set=browser.sessions=4"),
        *("--set=policy.name=clumsy", f"--set=tasks.include=[{include}]"),
        *("--set=tasks.seeds=[0,1]", *UNREPLAYED),
    )
    assert made.code == 0, made.err
    said = called("export", run, "--format=grounding", f"--to={to}", "--include-rejected", "--json")
    assert said.code == 0, said.err
    episodes = asyncio.run(_episodes(run))
    return list(lines(Path(to))), {one.episode_id: one for one in episodes}


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
    picture = Picture(step, scale=episode.device_scale_factor)
    scale = step.width / episode.viewport_width
    left, top, right, bottom = row["box"]
    x, y = row["point"]
    if not (left <= x <= right and top <= y <= bottom):
        yield "its point is not in its box"
    asked = re.fullmatch(r'\S+(?: \S+)* the \S+ "(.*)"', row["instruction"], re.DOTALL)
    assert asked is not None, row["instruction"]
    box = (left / scale, top / scale, (right - left) / scale, (bottom - top) / scale)
    if not _stands_at(picture, asked[1], box, control=row["role"] in ("checkbox", "radio")):
        yield f"{asked[1]!r} is not in sight there"
    for other in row["negatives"]:
        left, top, right, bottom = other["box"]
        if left <= x <= right and top <= y <= bottom:
            yield f"its negative {other} is where it points"
        if (other["name"], other["role"]) == (asked[1], row["role"]):
            yield f"its negative {other} is what it asks for"
        if any(word not in picture.words.raw for word in (other["name"] or "").split()):
            yield f"the name of its negative {other} is not in sight"


def _stands_at(picture: Picture, asked: str, box: Box, *, control: bool) -> bool:
    """Return whether words stand in a box, or right of it where it is a box to tick."""
    around = (box[0], box[1], box[2] + BESIDE, box[3]) if control else box
    shown = " ".join(one.text for one in picture.within(around))
    return asked.strip() != "" and asked in shown


def test_every_row_asks_for_what_is_in_sight_where_it_points(
    exported: tuple[list[Row], dict[str, Episode]],
) -> None:
    rows, episodes = exported
    found = {row["id"]: [*wrong(row, episodes[row["episode_id"]])] for row in rows}

    assert {name: what for name, what in found.items() if what} == {}
    assert len(rows) >= 2 * len(TEMPLATES)
    assert {row["role"] for row in rows} >= {"button", "checkbox", "radio", "link"}
    assert sum(len(row["negatives"]) for row in rows) >= 3 * len(rows)


def altered(row: Row, **changes: object) -> Row:
    """Return a row with other fields."""
    return {**row, **changes}


@pytest.mark.parametrize("said", ["not in its box", "not in sight there", "where it points"])
def test_a_row_that_asks_for_something_else_is_told(
    exported: tuple[list[Row], dict[str, Episode]], said: str
) -> None:
    rows, episodes = exported
    row = next(one for one in rows if one["role"] == "button" and one["negatives"])
    other = row["negatives"][0]
    lie = {
        "not in its box": altered(row, point=[1.0, 1.0], negatives=[]),
        "not in sight there": altered(row, instruction='Click the button "Nothing"'),
        "where it points": altered(row, negatives=[{**other, "box": row["box"]}]),
    }[said]

    [told] = wrong(lie, episodes[row["episode_id"]])
    assert said in told


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("what it asks for", {"name": "Submit", "role": "button"}),
        ("of its negative", {"name": "Xx"}),
    ],
)
def test_a_negative_that_is_meant_or_hidden_is_told(
    exported: tuple[list[Row], dict[str, Episode]], said: str, changes: Row
) -> None:
    rows, episodes = exported
    row = next(one for one in rows if one["instruction"] == 'Click the button "Submit"')
    lie = altered(row, negatives=[{**row["negatives"][0], **changes}])

    [told] = wrong(lie, episodes[row["episode_id"]])
    assert said in told
