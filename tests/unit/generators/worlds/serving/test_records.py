"""What worlds write down about their own rows: procedures in words, and past changes that fit to what rows hold."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

import pytest
from pydantic import ValidationError
from support.worlds.drawn import whole
from support.worlds.world_visits import visiting

from generators.tasks.worlds.ground.mentions import RowsSaid, TermSaid
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds.procedures import procedure, undo
from generators.tasks.worlds.kinds.scheduling import schedule
from generators.worlds.drawing.draw import FAMILIES
from generators.worlds.drawing.histories import tracked_fields
from generators.worlds.state.database import Rows
from generators.worlds.state.display import show
from generators.worlds.words.catalogue import catalogue
from schemas.base import JsonObject
from schemas.worlds.world import World


def _drawn() -> Iterator[tuple[World, Rows]]:
    return (whole(family, seed) for family in FAMILIES for seed in (0, 1))


def _manuals() -> list[tuple[World, Rows]]:
    return [each for each in _drawn() if each[0].manual is not None]


def _histories() -> list[tuple[World, Rows]]:
    return [each for each in _drawn() if each[0].history is not None]


def test_a_procedure_says_all_that_is_done_and_its_title_says_nothing_of_it() -> None:
    for world, rows in _manuals():
        manual = world.manual
        assert manual is not None
        for row, one in zip(rows[manual.entity], manual.procedures, strict=True):
            text, entity = str(row[manual.text]), world.entity(one.entity)
            for put in one.puts:
                shown = show(world, entity.name, put.field, put.value, {})
                assert catalogue(world.language).quote([shown]) in text
                assert entity.field(put.field).label in text
            assert one.message in text
            assert row["title"] == one.title


def test_past_changes_lead_to_what_rows_hold_and_each_to_the_next() -> None:
    for world, rows in _histories():
        history = world.history
        assert history is not None
        entity = world.entity(history.entity)
        fields = {field.label: field for field in tracked_fields(world, entity)}
        found = dict[tuple[object, object], object]()
        for change in rows[history.changes]:
            key = change[history.link], change[history.field]
            assert found.get(key, change[history.before]) == change[history.before]
            assert str(change[history.day]) < world.at.date().isoformat()
            found[key] = change[history.after]
        for (number, label), after in found.items():
            field = fields[str(label)]
            row = rows[entity.name][int(str(number)) - 1]
            assert show(world, entity.name, field.name, row[field.name], {}) == after


async def test_the_page_of_a_row_shows_its_past_changes_by_day() -> None:
    world, rows = _histories()[0]
    history = world.history
    assert history is not None
    last = rows[history.changes][-1]
    mine = [one for one in rows[history.changes] if one[history.link] == last[history.link]]
    async with visiting(world=world, rows=rows) as hands:
        page = await hands.see(f"/{history.entity}/{last[history.link]}")

    titles = re.findall(rf'href="/{history.changes}/(\d+)"', page)
    assert [int(one) for one in titles] == [one["id"] for one in mine]


def test_tasks_on_what_is_written_state_no_value_that_is_read() -> None:
    for kind, drawn in ((procedure, _manuals()), (undo, _histories())):
        drafts = [
            draft
            for world, rows in drawn
            if (draft := kind(Setting(world, rows), Random("a draw"))) is not None
        ]
        assert drafts
        for draft in drafts:
            assert not {"stated", "value", "field"} & draft.words.keys()


def test_a_day_that_is_asked_for_is_the_first_that_is_free() -> None:
    world, rows = whole("library", 0)
    setting = Setting(world, rows)
    drafts = [schedule(setting, Random(f"draw {number}")) for number in range(8)]
    found = [draft for draft in drafts if draft is not None]

    assert found
    for draft in found:
        (rule,) = draft.expect.added
        day = date.fromisoformat(str(rule.where["day"]))
        without, which = draft.words["without"], draft.words["which"]
        assert isinstance(without, RowsSaid)
        assert isinstance(which, TermSaid)
        alike = {test.field.name for test in without.tests}
        taken = {
            str(row["day"])
            for row in rows["booking"]
            if all(row[name] == rule.where[name] for name in alike)
        }
        step = 1 if which.name == "day" else 7
        assert day.isoformat() not in taken
        assert (day - timedelta(days=step)).isoformat() in taken


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"text": "title"}, "has no long_text 'title'"),
        ({"puts": "nothing"}, "has no field 'nothing'"),
        ({"step": "fly"}, "has no step 'fly'"),
        ({"rows": 1}, "1 rows for"),
    ],
)
def test_a_manual_of_what_is_not_there_is_refused(change: JsonObject, problem: str) -> None:
    made = _manuals()[0][0].model_dump()
    first = made["manual"]["procedures"][0]
    first["step"] = change.get("step", first["step"])
    first["puts"][0]["field"] = change.get("puts", first["puts"][0]["field"])
    made["manual"]["text"] = change.get("text", "text")
    for entity in made["entities"]:
        if entity["name"] == made["manual"]["entity"]:
            entity["rows"] = change.get("rows", entity["rows"])
    with pytest.raises(ValidationError, match=problem):
        World.model_validate(made)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"before": "day"}, "has no text 'day'"),
        ({"entity": "past_change"}, "does not lead to 'past_change'"),
    ],
)
def test_a_history_of_what_is_not_there_is_refused(change: JsonObject, problem: str) -> None:
    made = _histories()[0][0].model_dump()
    made["history"] |= change
    with pytest.raises(ValidationError, match=problem):
        World.model_validate(made)
