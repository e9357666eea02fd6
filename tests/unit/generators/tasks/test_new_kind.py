"""A new kind of task is one registered function: that of the documentation, and what registration refuses."""

import re
import tomllib
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest
from source_tree import ROOT
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.ground import task_kind as kinds
from generators.tasks.worlds.ground.grammar import (
    find_faults,
    grammar,
    languages,
    read_grammar,
)
from generators.tasks.worlds.ground.mentions import RowSaid
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.wording import word
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds import KINDS
from schemas.tasks.reference import Do, Purpose
from schemas.worlds.language import Language


def _without(name: str) -> dict[str, list[str]]:
    """Return the English verbs but one."""
    return {one: told for one, told in grammar(Language.ENGLISH).verbs.items() if one != name}


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, kinds.TaskKind]:
    """A registry without kinds."""
    empty: dict[str, kinds.TaskKind] = {}
    monkeypatch.setattr(kinds, "_REGISTERED", empty)
    return empty


def draws_nothing(_setting: Setting, _random: Random) -> Draft | None:
    return None


def test_the_kind_of_the_page_draws_worded_tasks(registry: dict[str, kinds.TaskKind]) -> None:
    page = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")
    section = page[page.index("## Adding a kind of task") :]
    [code] = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[:1]
    [told] = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)[:1]

    exec(compile(code, "docs/worlds.md", "exec"), {"__name__": "page"})  # noqa: S102 - ours

    [kind] = registry.values()
    assert kind.name not in KINDS
    assert kind.aside == "one"
    rules = grammar(Language.ENGLISH)._replace(asks=tomllib.loads(told)["asks"])
    setting = Setting(SHOP, shop_rows())
    drafts = [kind.draw(setting, Random(seed)) for seed in range(20)]
    drawn = [draft for draft in drafts if draft is not None]
    assert drawn
    for draft in drawn:
        goal = word(setting, kind, draft.words, Random(7), rules=rules)
        assert goal is not None
        row = draft.words["row"]
        assert isinstance(row, RowSaid)
        assert row.title in goal.names
        assert not re.search(r"[{}\[\]|\ue000-\ue003]", goal.text)
        *steps, last = draft.reference
        assert (last.do, last.text) == (Do.ANSWER, draft.expect.answer)
        assert {step.purpose for step in steps} >= {Purpose.VIEW, Purpose.ROW, Purpose.LOOK}
        assert all("purpose" in step.model_dump() for step in draft.reference)


def test_every_shipped_kind_is_found_and_has_its_name() -> None:
    folder = Path(kinds.__file__).parents[1] / "kinds"
    written = [
        re.findall(r'^@task_kind\(\s*"([^"]+)"', path.read_text("utf-8"), re.MULTILINE)
        for path in folder.glob("*.py")
    ]
    assert sorted(KINDS) == sorted(chain.from_iterable(written)) != []
    assert [kind.name for kind in KINDS.values()] == sorted(KINDS)


def test_a_second_kind_of_one_name_is_refused() -> None:
    kinds.task_kind("mine")(draws_nothing)

    with pytest.raises(ValueError, match="two kinds of tasks are called 'mine'"):
        kinds.task_kind("mine")(draws_nothing)


def test_a_kind_without_words_in_a_language_is_not_drawn_in_it() -> None:
    mute = kinds.TaskKind("mute", draws_nothing, None, None)

    assert (
        word(Setting(SHOP, shop_rows()), mute, {}, Random(1), rules=grammar(Language.ENGLISH))
        is None
    )


@pytest.mark.parametrize("language", languages())
def test_every_language_fills_what_english_fills(language: Language) -> None:
    assert not list(find_faults(grammar(language), grammar(Language.ENGLISH)))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"requests": {"find": ["What is {thing}?"]}}, "'find' has unknown placeholders thing"),
        ({"asks": {"find": ["{thing}"]}}, "'find' has unknown placeholders thing"),
        ({"requests": {"fnd": ["What is {field}?"]}}, "no kind of task is called 'fnd'"),
        ({"terms": {"and": "und"}}, r"\[terms\] lacks .*above.*"),
        ({"phrases": {}}, r"\[phrases\] lacks .*row.*"),
        ({"requests": {"count": ["[How many {among}?"]}}, "brackets do not match in .*"),
        (
            {"acts": {"delete": ["take {row} from the list"]}},
            "'delete' has a sentence with two readings: .*",
        ),
        (
            {"requests": {"chain": ["The {path} of {row} is out of date."]}},
            "'chain' has a sentence with two readings: .*",
        ),
    ],
)
def test_words_that_nothing_fills_are_refused(changed: dict[str, Any], told: str) -> None:
    [fault] = find_faults(grammar(Language.ENGLISH)._replace(**changed), grammar(Language.ENGLISH))

    assert re.fullmatch(told, fault)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"verbs": _without("walk")}, "'chain' has forms without phrases: walk"),
        ({"reasons": {"fnd": ["It's late."]}}, r"\[reasons\] has no kinds of tasks: fnd"),
        ({"requests": {"rank": ["{thing}?"]}}, "'rank' has unknown placeholders thing"),
    ],
)
def test_forms_and_reasons_that_nothing_has_are_refused(changed: dict[str, Any], told: str) -> None:
    [fault] = find_faults(grammar(Language.ENGLISH)._replace(**changed), grammar(Language.ENGLISH))

    assert re.fullmatch(told, fault)


def test_a_table_of_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown tables of goals: openings"):
        read_grammar('openings = ["Hello."]')
