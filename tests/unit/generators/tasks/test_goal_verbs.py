"""Goals speak in the verbs that fields have, and in nouns or labels where a field has none."""

import re
from random import Random

import pytest
from support.worlds import drawn
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.ground.field_words import FieldWords
from generators.tasks.worlds.ground.grammar import grammar
from generators.tasks.worlds.ground.mentions import (
    FieldSaid,
    Mention,
    PathSaid,
    RowSaid,
    RowsSaid,
    ValueSaid,
    ValuesSaid,
)
from generators.tasks.worlds.ground.speech import Speaker
from generators.tasks.worlds.ground.wording import word
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds import KINDS
from schemas.worlds.field import DataField
from schemas.worlds.language import Language
from schemas.worlds.spoken import Ranks

RULES = grammar(Language.ENGLISH)
SETTING = Setting(SHOP, shop_rows())
ORDER, CUSTOMER = SHOP.entity("purchase"), SHOP.entity("customer")
RANKS = Ranks(more="came later", less="came sooner", most="came last", least="came first")
BUYER = ORDER.field("customer").model_copy(
    update={
        "said": ("buyer",),
        "does": ("was bought by {value}",),
        "asks": ("who bought {row}",),
        "leads": ("the buyer of {row}",),
    }
)
MARKS = re.compile("[\ue000-\ue003]")
SEEDS = range(60)


def _row() -> RowSaid:
    row = SETTING.rows_of(ORDER)[0]
    return RowSaid(ORDER, SETTING.title(ORDER, row), row)


def _said(mention: Mention, form: str = "", *, is_precise: bool = False) -> set[str]:
    """Return all that is said for a mention."""
    speakers = (Speaker(SETTING, RULES, Random(seed), is_precise=is_precise) for seed in SEEDS)
    return {MARKS.sub("", one.say(mention, form)) for one in speakers}


def _with(field: DataField, **words: object) -> DataField:
    return field.model_copy(update=words)


def _day(**words: object) -> DataField:
    """Return the day of orders with words."""
    field = next(one for one in ORDER.fields if one.kind == "date")
    return _with(field, **words)


def test_a_field_is_asked_for_in_its_verb_and_by_its_noun_without_one() -> None:
    title = _row().title

    asked = _said(FieldSaid((BUYER,), _row()), "asks")
    plain = _said(FieldSaid((_with(BUYER, asks=()),), _row()), "asks")
    precise = _said(FieldSaid((BUYER,), _row()), "asks", is_precise=True)

    assert all(one.startswith("who bought ") and title in one for one in asked)
    assert any(one.endswith(f"({BUYER.label})") for one in asked)
    assert all("buyer" in one and "bought" not in one for one in plain)
    assert all(BUYER.label in one and "bought" not in one for one in precise)


def test_what_a_link_leads_to_is_said_in_its_noun_and_it_has_its_own() -> None:
    title = _row().title

    assert all(
        re.fullmatch(rf"the buyer of .*{title}", one)
        for one in _said(PathSaid((BUYER,), _row()), "leads")
    )
    assert _said(PathSaid((BUYER,)), "walk") == {"its buyer"}
    there = _said(
        FieldSaid((_with(CUSTOMER.fields[1], asks=("where is {row}",)),), _row(), (BUYER,)), "there"
    )
    assert any(one == f"where is that {CUSTOMER.one.lower()}" for one in there)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("later", "came later"),
        ("earlier", "came sooner"),
        ("latest", "came last"),
        ("earliest", "came first"),
    ],
)
def test_rows_compare_in_the_verb_of_a_field(word: str, told: str) -> None:
    compared = _said(FieldSaid((_day(ranks=RANKS),), word=word), "ranks")
    without = _said(FieldSaid((_day(ranks=None),), word=word), "ranks")

    assert told in compared
    assert all(one.startswith(told) for one in compared)
    assert all(one.startswith(f"has the {word} ") for one in without)


@pytest.mark.parametrize("over", ["after", "before"])
def test_a_bound_of_days_takes_the_place_of_on(over: str) -> None:
    field = _day(that=("due on {value}", "{value} due"), does=("is due on {value}",))
    bound = ValueSaid(ORDER, field, "2026-04-07", over)

    assert all(re.match(rf"is due {over} \D*\d", one) for one in _said(bound, "does"))
    told = _said(RowsSaid(ORDER, (bound,)))
    assert any(f" due {over} " in one for one in told)
    assert not any("due on" in one or one.endswith(" due") for one in told)


def test_a_flag_that_is_off_and_a_new_name_are_said_in_no_verb() -> None:
    flag = next(one for one in SHOP.entity("product").fields if one.kind == "flag")
    product = SHOP.entity("product")
    off = ValueSaid(product, _with(flag, does=("is listed",)), 0)

    assert not any("is listed" in one for one in _said(off, "does"))
    renamed = ValuesSaid(CUSTOMER, {CUSTOMER.title.name: "Ada Weber"})
    assert all(one.startswith("should have ") for one in _said(renamed, "does"))


def test_what_is_new_is_a_wish_where_it_is_a_flag() -> None:
    product = SHOP.entity("product")
    flag = next(one for one in product.fields if one.kind == "flag")
    listed = ValuesSaid(product, {flag.name: 1})
    named = ValuesSaid(CUSTOMER, {CUSTOMER.fields[1].name: "ada@example.com"})

    assert all(one.startswith("should have ") for one in _said(listed, "has"))
    assert all(one.startswith("has a new ") for one in _said(named, "has"))


@pytest.mark.parametrize(
    ("does", "should"),
    [
        ("is due on {value}", "should be due on 3"),
        ("was sent to {value}", "should be sent to 3"),
        ("has {value} places", "should have 3 places"),
        ("costs {value}", "should cost 3"),
        ("goes to {value}", "should go to 3"),
        ("teaches {value}", "should teach 3"),
        ("carries {value}", "should carry 3"),
        ("came by {value}", ""),
    ],
)
def test_what_should_be_has_the_verb_of_what_is(does: str, should: str) -> None:
    field = next(one for one in SHOP.entity("product").fields if one.kind == "integer")
    value = ValueSaid(SHOP.entity("product"), _with(field, does=(does,)), 3)
    words = FieldWords(SETTING, RULES, Random(1), is_precise=False)

    assert MARKS.sub("", words.wish(value)) == should


def test_a_choice_stands_before_the_noun_if_no_other_field_has_it() -> None:
    field = next(one for one in ORDER.fields if one.kind == "choice")
    word = next(one for one in field.choices if one.isalpha())
    rows = RowsSaid(ORDER, (ValueSaid(ORDER, field, word),))
    other = ORDER.fields[1].model_copy(update={"choices": (word,)})
    fields = (ORDER.fields[0], other, *ORDER.fields[2:])
    doubled = RowsSaid(ORDER.model_copy(update={"fields": fields}), rows.tests)

    before = re.compile(rf"^{word} ", re.IGNORECASE)
    assert any(before.search(one) for one in _said(rows))
    assert not any(before.search(one) for one in _said(rows, is_precise=True))
    assert not any(before.search(one) for one in _said(doubled))


def test_a_new_row_begins_with_its_name() -> None:
    values = ValuesSaid(
        CUSTOMER, {CUSTOMER.title.name: "Ada Weber", CUSTOMER.fields[1].name: "ada@example.com"}
    )

    assert all(re.match(r"""["']?Ada Weber["']?, """, one) for one in _said(values, "new"))


def test_a_message_in_small_letters_is_so_as_a_whole_but_never_what_is_to_be_written() -> None:
    setting, lower = Setting(*drawn.whole("crm", 3)), 0
    for kind in ("delete", "create", "write-message", "compare"):
        for seed in range(120):
            draft = KINDS[kind].draw(setting, Random(seed))
            goal = (
                None
                if draft is None
                else word(setting, KINDS[kind], draft.words, Random(seed), rules=RULES)
            )
            if goal is None or "lower" not in goal.manners:
                continue
            lower += 1
            assert goal.text == goal.text.lower()
            assert kind != "write-message", "its text is to be written word for word"
    assert lower


def test_rows_of_one_goal_have_their_noun_alike() -> None:
    setting = Setting(*drawn.whole("crm", 3))
    rules = RULES._replace(
        acts={}, requests={"swap": ["{first:bare} and {second:bare}: swap the {field}."]}
    )
    for seed in range(60):
        draft = KINDS["swap"].draw(setting, Random(seed))
        if draft is None:
            continue
        first, second = (draft.words[name] for name in ("first", "second"))
        assert isinstance(first, RowSaid)
        assert isinstance(second, RowSaid)
        goal = word(setting, KINDS["swap"], draft.words, Random(seed), rules=rules)
        assert goal is not None
        noun = first.entity.one.casefold()
        named = {one.title.casefold().startswith(noun) for one in (first, second)}
        assert any(named) or f"{noun} {second.title.casefold()}" not in goal.text.casefold()


def test_a_goal_has_all_its_titles_in_quotation_marks_if_one_needs_them() -> None:
    rows = shop_rows()
    names = ["Oak kettle", "Oak kettle with lid", "Tall grey mug"]
    products = [{**row, "name": name} for row, name in zip(rows["product"], names, strict=False)]
    setting = Setting(SHOP, {**rows, "product": products})
    entity = SHOP.entity("product")
    needs, clear, other = (
        RowSaid(entity, name, row) for name, row in zip(names, products, strict=True)
    )

    def said(*told: RowSaid) -> set[bool]:
        """Return whether the last of rows is in quotation marks, for each of many seeds."""
        found = set[bool]()
        for seed in SEEDS:
            speaker = Speaker(setting, RULES, Random(seed), is_precise=False)
            voices = speaker.voices({str(at): one for at, one in enumerate(told)}, repeated=())
            found.add(bool(re.search("[\"']", f"{voices[str(len(told) - 1)]:bare}")))
        return found

    assert said(needs, other) == {True}
    assert said(clear, other) == {True, False}
