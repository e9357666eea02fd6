"""Whole messages of the bank: each names what a family has, can be filled, and means one thing."""

import re
from collections.abc import Iterator
from random import Random

import pytest
from support.worlds import drawn

from generators.tasks.messages.bank import EVERY, SLOT, Bank, bank
from generators.tasks.resolver.agreement import agrees
from generators.tasks.resolver.phrasebook import Phrasebook
from generators.tasks.resolver.reading import Reason, Refusal
from generators.tasks.resolver.resolve import Resolver
from generators.tasks.resolver.vocabulary import titles_of
from generators.tasks.resolver.words import words_of
from generators.tasks.worlds.ground.grammar import grammar
from generators.tasks.worlds.ground.messages import draw_message
from generators.tasks.worlds.ground.wording import word
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds import KINDS
from generators.worlds.drawing.draw import FAMILIES, FOLDER, language_of, read_family
from schemas.worlds.language import Language

RULES = grammar(Language.ENGLISH)
PLAIN = words_of("en").plain


def _seed(family: str) -> int:
    return next(seed for seed in range(3, 99) if language_of(family, seed) is Language.ENGLISH)


def _keys(told: Bank) -> Iterator[str]:
    for table in (*told.kinds.values(), told.now, told.tops):
        yield from (key for key in table if not key.startswith(EVERY))


@pytest.mark.parametrize("family", FAMILIES)
def test_messages_are_for_what_a_family_has(family: str) -> None:
    told, known = bank("en", family), read_family(FOLDER / f"{family}.toml")

    assert told.kinds.keys() <= KINDS.keys() & PLAIN.keys()
    for key in _keys(told):
        name, _, rest = key.partition(".")
        what = rest.partition("=")[0].rstrip("<>")
        steps = {
            step for flow in known.workflows.values() for step in getattr(flow, "transitions", ())
        }
        assert name in known.entities, key
        assert not what or what in known.entities[name].fields or what in steps, key


def test_a_language_without_messages_has_none() -> None:
    assert not bank("de", "shop").kinds


@pytest.mark.parametrize("family", ["crm", "library"])
def test_no_mark_and_no_gap_is_left_in_a_message(family: str) -> None:
    setting = Setting(*drawn.whole(family, _seed(family)))
    for kind in sorted(bank("en", family).kinds):
        for seed in range(6):
            draft = KINDS[kind].draw(setting, Random(seed))
            goal = draft and word(setting, KINDS[kind], draft.words, Random(seed), rules=RULES)
            assert not goal or not re.search(r"[{}\[\]\ue000-\ue003]|  ", goal.text), goal


def test_a_message_of_a_bank_that_lacks_a_word_is_not_drawn() -> None:
    setting = Setting(*drawn.whole("crm", _seed("crm")))
    draft = next(filter(None, (KINDS["edit"].draw(setting, Random(seed)) for seed in range(9))))
    lacking = Bank({"edit": {EVERY: ["{row} {news}."]}}, {}, {})
    unknown = Bank({"edit": {EVERY: ["{row} is {nothing}."]}}, {}, {})

    assert draw_message(lacking, "edit", draft.words, Random(1)) is None
    assert draw_message(unknown, "edit", draft.words, Random(1)) is None


def test_what_messages_say_is_read_by_the_resolver() -> None:
    world, rows = drawn.whole("crm", _seed("crm"))
    setting, resolver, told, read = Setting(world, rows), Resolver(world, rows), 0, 0
    for kind in ("edit", "delete", "find", "count", "undo", "swap", "choose"):
        for seed in range(12):
            draft = KINDS[kind].draw(setting, Random(seed))
            goal = draft and word(setting, KINDS[kind], draft.words, Random(seed), rules=RULES)
            if draft is not None and goal and "whole" in goal.manners:
                told += 1
                read += agrees(resolver.read(goal.text), draft.expect, world)
    assert told
    assert read >= 0.85 * told


def test_a_message_is_said_in_plain_words_of_its_row_and_value() -> None:
    world, rows = drawn.whole("library", _seed("library"))
    book = Phrasebook(world, titles_of(world, rows), words_of("en"))
    entity = world.entity("loan")
    title = str(rows["loan"][0][entity.title.name])

    (plain,) = book.plainly(
        f"I scanned the wrong card. {title} should never have been made, delete it please."
    )
    assert plain == f'Delete the {entity.one} "{title}".'
    assert book.plainly("I scanned the wrong card.") == []


def test_a_message_whose_words_are_read_otherwise_has_two_readings() -> None:
    seeds = (seed for seed in range(3, 99) if language_of("library", seed) is Language.ENGLISH)
    worlds = (drawn.whole("library", seed) for seed in seeds)
    world, rows = next(
        one for one in worlds if "Out" in one[0].entity("loan").field("status").choices
    )
    many = world.entity("loan").many.lower()

    told = Resolver(world, rows).read(f"Can you count the out {many} for me?")
    assert isinstance(told, Refusal)
    assert told.reason is Reason.TWO_READINGS


def test_all_slots_are_known() -> None:
    slots = {
        name
        for family in FAMILIES
        for table in bank("en", family).kinds.values()
        for texts in table.values()
        for text in texts
        for name in SLOT.findall(text)
    }
    assert slots == {"news", "top", "deed"}
