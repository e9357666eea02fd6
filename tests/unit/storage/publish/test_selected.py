"""A selection in what is published: fewer trajectories, every attempt, and the words on the card."""

import json
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from support.runs.exports import Parrot, exported
from support.runs.memory_run import TRAIN, contents, findings, published, small_run
from support.stores.memory_store import MemoryStore
from support.stores.nights import add, manifest_of, night, objects, rows_of, take_out

from schemas.configuration.select_section import SelectSection
from schemas.errors import BadConfig
from storage.export.chat import Chat
from storage.export.registry import MessageShape, Pictures
from storage.publish.plan.manifest import read_manifest

WORDS = f"template_id = '{TRAIN}' OR n_steps > 1000"
SECTION = SelectSection(where=WORDS, max_per_template=2)


def _rows(folder: Path, config: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = ds.dataset(folder / "data" / config).to_table().to_pylist()
    return rows


def _templates(place: MemoryStore) -> list[str]:
    """Return the template of each trajectory in a collection."""
    of = {row["episode_id"]: row["template_id"] for row in rows_of(place, "attempts")}
    return [of[row["episode_id"]] for row in rows_of(place, "trajectories")]


def test_trajectories_are_selected_and_every_attempt_says_what_left_it_out(tmp_path: Path) -> None:
    report = published(small_run().seal(), tmp_path, section=SECTION, renderer=Parrot())

    attempts = _rows(tmp_path, "attempts")
    ids = {row["episode_id"] for row in _rows(tmp_path, "trajectories")}
    assert len(attempts) == 12
    assert len(ids) == 2
    for row in attempts:
        is_here = row["episode_id"] in ids
        assert is_here == (row["accepted"] and row["left_out_by"] is None)
        assert row["accepted"] == (row["status"] == "accepted")
    told = [row["left_out_by"] for row in attempts]
    assert {why: told.count(why) for why in told} == {None: 4, "where": 7, "max_per_template": 1}
    assert report.left_out == {"where": 7, "max_per_template": 1}
    for config in ("steps", "sft"):
        assert {row["episode_id"] for row in _rows(tmp_path, config)} == ids
    assert findings(tmp_path) == []


def test_card_and_manifest_say_the_words_and_what_they_left_out(tmp_path: Path) -> None:
    published(small_run().seal(), tmp_path, section=SECTION)

    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    manifest = read_manifest((tmp_path / "manifest.json").read_bytes(), "")
    assert "Of 10 episodes that might have trajectories here 2 were selected:" in card
    assert f"\n    select.where = {WORDS}\n    select.max_per_template = 2\n" in card
    assert "| `where` | 7 |\n| `max_per_template` | 1 |" in card
    assert manifest.select == {"where": WORDS, "max_per_template": 2}
    assert (manifest.counts.accepted, manifest.counts.trajectories) == (10, 2)


def test_words_on_a_card_are_literal_text(tmp_path: Path) -> None:
    words = "template_id <> '\n# A heading\n```'"
    published(small_run().seal(), tmp_path, section=SelectSection(where=words))

    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "\n    select.where = template_id <> ' # A heading ```'\n" in card
    assert "\n# A heading" not in card


def test_the_same_words_give_the_same_bytes_and_none_those_of_before(tmp_path: Path) -> None:
    for name in ("one", "other"):
        published(small_run().seal(), tmp_path / name / "to", section=SECTION)
    assert contents(tmp_path / "one" / "to") == contents(tmp_path / "other" / "to")

    report = published(small_run().seal(), tmp_path / "one" / "to", section=SECTION)
    assert (report.put, report.deleted) == (0, 0)
    for name, section in (("plain", None), ("empty", SelectSection())):
        published(small_run().seal(), tmp_path / name / "to", section=section)
    assert contents(tmp_path / "plain" / "to") == contents(tmp_path / "empty" / "to")


@pytest.mark.parametrize("where", ["site = 'shop'", "lenght < 3"])
def test_nothing_is_written_where_nothing_is_selected(where: str, tmp_path: Path) -> None:
    to = tmp_path / "to"
    with pytest.raises(BadConfig, match=r"select\.where"):
        published(small_run().seal(), to, section=SelectSection(where=where))

    assert not to.exists() or contents(to) == {}


def test_an_export_selects_alike_and_another_selection_is_another_export(tmp_path: Path) -> None:
    format_ = Chat(Parrot(), shape=MessageShape.OPENAI, pictures=Pictures.FILES)

    report = exported(small_run().seal(), format_, tmp_path / "to", section=SECTION)

    assert (report.episodes, report.left_out) == (2, {"where": 7, "max_per_template": 1})
    told = json.loads((tmp_path / "to" / "manifest.json").read_text())
    assert told["made_of"]["select"] == {"where": WORDS, "max_per_template": 2}
    assert not exported(small_run().seal(), format_, tmp_path / "to", section=SECTION).written


def test_a_cap_holds_over_the_nights_of_a_collection_together() -> None:
    place, section = MemoryStore(), SelectSection(max_per_template=4)
    nights = {number: night(number) for number in (1, 2)}

    for number, snapshot in nights.items():
        add(snapshot, place, number, section=section)

    templates = _templates(place)
    assert {name: templates.count(name) for name in templates} == dict.fromkeys(templates, 4)
    assert len(rows_of(place, "attempts")) == 16
    second = manifest_of(place).nights[1]
    assert second.published == 1
    assert second.left_out == {"max_per_template": 6}
    assert second.select == {"max_per_template": 4}
    card = objects(place)["README.md"].decode()
    assert "might have trajectories here 6 were left out by a\nselection" in card
    assert "\n    select.max_per_template = 4\n" in card

    before = objects(place)
    for number, snapshot in nights.items():
        assert add(snapshot, place, number, section=section).put == 0
    assert objects(place) == before


def test_what_is_withdrawn_makes_room_and_is_counted_no_more() -> None:
    place, section = MemoryStore(), SelectSection(max_per_template=2)
    add(night(1), place, 1, section=section)
    left_out = next(r for r in rows_of(place, "attempts") if r["left_out_by"])
    taken = next(
        row
        for row in rows_of(place, "attempts")
        if row["accepted"]
        and not row["left_out_by"]
        and row["template_id"] == left_out["template_id"]
    )

    take_out(place, left_out["episode_id"], taken["episode_id"])

    (first,) = manifest_of(place).nights
    assert sum(first.left_out.values()) == sum(
        bool(row["left_out_by"]) for row in rows_of(place, "attempts")
    )
    assert first.capped[taken["template_id"]] == 1
    add(night(2), place, 2, section=section)
    templates = _templates(place)
    assert templates.count(taken["template_id"]) == 2


def test_a_night_is_mixed_by_its_shares_and_the_caps_count_what_they_left_out() -> None:
    place = MemoryStore()
    section = SelectSection(shares={"miniwob": 1.0}, max_per_template=3)

    add(night(1), place, 1, section=section)

    (first,) = manifest_of(place).nights
    assert sum(first.capped.values()) == first.published == 6
