"""A new kind of task is one registered function: that of the documentation, and what registration refuses."""

import re
from itertools import chain
from pathlib import Path
from random import Random

import pytest
from source_tree import ROOT
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.ground import task_kind as kinds
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.wording import word
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds import KINDS
from schemas.tasks.reference import Do, Purpose

WORDS = "\n".join(f"{language}: {{title}}?" for language in kinds.LANGUAGES)
"""One sentence in each language."""


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

    exec(compile(code, "docs/worlds.md", "exec"), {"__name__": "page"})  # noqa: S102 - ours

    [kind] = registry.values()
    assert kind.name not in KINDS
    assert kind.aside == "one"
    setting = Setting(SHOP, shop_rows())
    drafts = [kind.draw(setting, Random(seed)) for seed in range(20)]
    drawn = [draft for draft in drafts if draft is not None]
    assert drawn
    for draft in drawn:
        goal = word(kind, draft.words, Random(7))
        assert draft.words["title"].strip('"') in goal
        assert not re.search(r"[{}\[\]|⟦⟧]", goal)
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
    kinds.task_kind("mine", words=WORDS)(draws_nothing)

    with pytest.raises(ValueError, match="two kinds of tasks are called 'mine'"):
        kinds.task_kind("mine", words=WORDS)(draws_nothing)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (WORDS.replace("fr: ", "ru: "), "expected a sentence after one of terse, en, de, fr, es"),
        (WORDS + "\nWhich {title}?", "expected a sentence after one of"),
        (WORDS + "\nen: ", "expected a sentence after one of"),
        (WORDS.replace("\nes: {title}?", ""), "has no sentence in 'es'"),
    ],
)
def test_words_without_a_language_or_a_language_without_words_are_refused(
    words: str, told: str
) -> None:
    with pytest.raises(ValueError, match=f"the kind 'mine'.*{told}"):
        kinds.task_kind("mine", words=words)
