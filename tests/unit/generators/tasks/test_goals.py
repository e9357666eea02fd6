"""Goals of worlds: each is said in many ways and means one thing."""

import re
from collections import Counter
from random import Random

import pytest
from support.worlds import drawn
from support.worlds.made_world import SHOP, shop_rows

from generators.sites.judging.answers import answer_matches
from generators.tasks.worlds.ground.describing import describe, is_clear, short_title
from generators.tasks.worlds.ground.grammar import grammar, spread
from generators.tasks.worlds.ground.mentions import FieldSaid, RowSaid, Said, rows_in
from generators.tasks.worlds.ground.new_values import is_near_title
from generators.tasks.worlds.ground.wording import Goal, word
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds import KINDS
from generators.worlds.drawing.draw import FAMILIES, FOLDER, language_of, read_family
from schemas.tasks.expectation import Matches
from schemas.worlds.field import Kind
from schemas.worlds.language import Language

SETTING = Setting(SHOP, shop_rows())
RULES = grammar(Language.ENGLISH)
UNFIT = re.compile(
    r"(?i)\b(on|at|by|in|to|for|with|from|of|until|under)$|^(may|owes|lives|seen|is|was)\b"
)
"""Labels of which no sentence can say "the …": they end in a preposition or begin with a verb."""


def _goals(kind: str, count: int = 300, setting: Setting = SETTING) -> list[Goal]:
    """Return goals of a kind that are made of parts."""
    found = list[Goal]()
    for seed in range(count):
        draft = KINDS[kind].draw(setting, Random(seed))
        if draft is not None:
            random = Random(f"goal {seed}")
            goal = word(setting, KINDS[kind], draft.words, random, rules=RULES, whole=0)
            found += [] if goal is None else [goal]
    return found


def test_most_goals_quote_nothing_and_a_precise_one_quotes_what_pages_show() -> None:
    goals = _goals("edit", setting=Setting(*drawn.whole("crm", 3)))

    plain = [goal for goal in goals if "plain" in goal.manners]
    quiet = [goal for goal in goals if not re.search(r"""(?<!\w)["'](?!impossible)""", goal.text)]
    assert len(quiet) >= 0.6 * len(goals)
    assert len(plain) < len(goals)
    for goal in goals:
        if "precise" in goal.manners:
            assert all(re.search(rf"""(["']){title}\1""", goal.text) for title in goal.names)


def test_no_mark_and_no_bracket_is_left_in_a_goal() -> None:
    for kind in sorted(KINDS.keys() - {"impossible"}):
        for goal in _goals(kind, 12):
            assert not re.search(r"[{}\[\]|\ue000-\ue003]|  ", goal.text), goal.text


def test_goals_are_made_in_every_manner() -> None:
    setting = Setting(*drawn.whole("crm", 3))
    goals = _goals("delete", 600, setting)
    manners = Counter(manner for goal in goals for manner in goal.manners)

    assert manners.keys() >= {"described", "short", "polite", "reason", "lower", "typo", "refusal"}
    assert manners["described"] <= 0.2 * len(goals)
    assert manners["person"] <= 0.25 * len(goals)


def test_a_wrong_letter_is_in_a_word_of_ours_and_never_in_a_name() -> None:
    wrong = [goal for goal in _goals("delete", 900) if "typo" in goal.manners]

    assert wrong
    for goal in wrong:
        text = goal.text.casefold()
        assert all(name.casefold() in text for name in goal.names.values())


def _as_said(value: object) -> object:
    """Return a value as goals may say it: a day without its year, and words in whatever case."""
    is_day = isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None
    if isinstance(value, str):
        return value[5:] if is_day else value.casefold()
    return value


@pytest.mark.parametrize("family", FAMILIES[:6])
def test_a_description_fits_one_row_and_others_miss_it_by_one_condition(family: str) -> None:
    seed = next(seed for seed in range(3, 99) if language_of(family, seed) is Language.ENGLISH)
    setting, found = Setting(*drawn.whole(family, seed)), 0
    for view, entity in setting.places(Random(1)):
        rows = setting.rows_of(entity)
        for row in rows[:6]:
            tests = describe(setting, Random(2), view, entity, row)
            wanted = [_as_said(test.value) for test in tests]
            said = [[_as_said(one[test.field.name]) for test in tests] for one in rows]
            held = [[a == b for a, b in zip(one, wanted, strict=True)] for one in said]
            assert not tests or sum(map(all, held)) == 1
            assert not tests or sum(one.count(False) == 1 for one in held) >= 2
            assert all(test.field.name in view.columns for test in tests)
            found += bool(tests)
    assert found


def test_a_description_says_nothing_of_what_the_goal_asks_for() -> None:
    setting, described = Setting(*drawn.whole("crm", 3)), 0
    for seed in range(200):
        draft = KINDS["conditional"].draw(setting, Random(seed))
        if draft is None:
            continue
        goal = word(setting, KINDS["conditional"], draft.words, Random(seed), rules=RULES, whole=0)
        fact = draft.words["fact"]
        assert goal is not None
        assert isinstance(fact, FieldSaid)
        assert fact.fields[0].name not in {name for _, name, _ in goal.facts}
        described += bool(goal.facts)
    assert described


def test_a_row_that_a_sentence_speaks_of_twice_is_called_by_its_title() -> None:
    setting = Setting(*drawn.whole("crm", 3))
    rules = RULES._replace(
        acts={}, requests={"swap": ["{first} should have the {field} of {second}, not {first}."]}
    )
    drafts = [KINDS["swap"].draw(setting, Random(seed)) for seed in range(60)]

    for seed, draft in enumerate(one for one in drafts if one is not None):
        goal = word(setting, KINDS["swap"], draft.words, Random(seed), rules=rules, whole=0)
        assert goal is not None
        (first,) = rows_in([draft.words["first"]])
        assert goal.names[first.title] == first.title


def test_a_part_of_a_title_is_one_that_no_other_title_has() -> None:
    entity = SHOP.entity("purchase")
    titles = SETTING.titles(entity)

    parts = {title: short_title(SETTING, Random(1), entity, title) for title in titles}
    assert any(parts.values())
    for title, part in parts.items():
        assert part is None or [one for one in titles if part in one] == [title]


def test_a_title_that_is_part_of_another_or_ends_a_sentence_stays_in_quotation_marks() -> None:
    rows = shop_rows()
    names = ["Lamp", "Lamp small", "Kettle, oak", "Where to sit?", "Mug"]
    products = [{**row, "name": name} for row, name in zip(rows["product"], names, strict=False)]
    setting = Setting(SHOP, {**rows, "product": products})
    entity = SHOP.entity("product")

    clear = [name for name in names if is_clear(setting, entity, name)]

    assert clear == ["Lamp small", "Mug"]


@pytest.mark.parametrize(
    "title",
    [
        "Print the flowers colour",
        "Print the flowers in color",
        "print THE flowers in colour again",
        "C-3187",
        "C-3179",
        "Ines Dal",
    ],
)
def test_a_name_near_an_existing_one_names_nothing_impossible(title: str) -> None:
    assert is_near_title(title, ["Print the flowers in colour", "C-3178", "Ines Dahl"])


@pytest.mark.parametrize("title", ["Wrap the glasses in paper", "C-9945", "Ines Weber", "Ada Dahl"])
def test_a_name_of_its_own_is_near_none(title: str) -> None:
    assert not is_near_title(title, ["Print the flowers in colour", "C-3178", "Ines Dahl"])


def test_no_impossible_goal_names_a_row_that_nearly_exists() -> None:
    for seed in range(200):
        draft = KINDS["impossible"].draw(SETTING, Random(seed))
        row = None if draft is None else draft.words.get("row")
        if isinstance(row, RowSaid) and row.row is None:
            assert not is_near_title(row.title, SETTING.titles(row.entity))


def test_a_chain_changes_no_name_of_what_it_leads_to() -> None:
    for seed in range(120):
        draft = KINDS["chain"].draw(SETTING, Random(seed))
        for rule in draft.expect.changed if draft is not None else ():
            assert SHOP.entity(rule.table).title.name not in rule.set


REFUSES = Matches(matches=RULES.refusals)


@pytest.mark.parametrize(
    "said",
    [
        *("impossible", "Impossible.", "This task is impossible.", "Not possible, sorry."),
        *("There is no order C-3179.", "I could not find the customer Ines Dahl."),
        *("The project does not exist.", "No such ticket was found.", "It cannot be done."),
        *("The deal has no contact.", "There isn't any order of that number."),
        *("You are not allowed to do that.", "That loan is not listed.", "I did not find it."),
        *("No order with this number exists.", "The order wasn't found.", "I can't find it"),
    ],
)
def test_a_task_that_cannot_be_done_takes_what_people_say_then(said: str) -> None:
    assert answer_matches(REFUSES, said)


@pytest.mark.parametrize(
    "said",
    [
        *("", "no", "yes", "0", "N/A", "done", "OK", "Open", "Ines Dahl", "42", "4 March 2026"),
        *("I changed it to Open.", "The status is Waiting.", "All done, the order is shipped."),
    ],
)
def test_other_answers_are_no_refusal(said: str) -> None:
    assert not answer_matches(REFUSES, said)


@pytest.mark.parametrize("reply", RULES.replies)
def test_every_reply_of_a_reference_is_a_refusal(reply: str) -> None:
    assert all(answer_matches(REFUSES, spread(reply, Random(seed))) for seed in range(20))


@pytest.mark.parametrize("family", FAMILIES)
def test_fields_have_nouns_that_mean_no_other_field_of_theirs(family: str) -> None:
    for entity in read_family(FOLDER / f"{family}.toml").entities.values():
        owners = Counter(
            name
            for field in entity.fields.values()
            for name in {each.casefold() for each in (*field.said, *field.label)}
        )
        assert [name for name, count in owners.items() if count > 1] == []
        for name, field in entity.fields.items():
            assert field.said or not any(map(UNFIT.search, field.label)), name
            assert not any(map(UNFIT.search, field.said)), name
            assert all(("{value}" in that) is (field.kind is not Kind.FLAG) for that in field.that)


MEASURED = {Kind.INTEGER, Kind.MONEY, Kind.DATE}
"""Kinds of fields by which rows have an order."""
VOICED = [
    family
    for family in FAMILIES
    if any(
        field.asks
        for entity in read_family(FOLDER / f"{family}.toml").entities.values()
        for field in entity.fields.values()
    )
]
"""Families whose fields have verbs; where one field has them, all have."""


@pytest.mark.parametrize("family", VOICED)
def test_what_fields_hold_is_said_in_verbs_that_mean_no_other_field_of_theirs(family: str) -> None:
    for entity in read_family(FOLDER / f"{family}.toml").entities.values():
        phrases = Counter[str]()
        for name, field in entity.fields.items():
            ranks = () if field.ranks is None else tuple(dict(field.ranks).values())
            assert field.does, name
            assert field.asks, name
            assert bool(field.leads) is (field.kind is Kind.LINK), name
            assert bool(ranks) is (field.kind in MEASURED), name
            for does in field.does:
                assert ("{value}" in does) is (field.kind is not Kind.FLAG), does
            phrases.update((*field.that, *field.does, *field.asks, *field.leads, *ranks))
        assert [phrase for phrase, count in phrases.items() if count > 1] == []


def test_words_of_a_field_are_those_of_its_family() -> None:
    field = SHOP.entity("purchase").field("customer").model_copy(update={"said": ("buyer",)})
    words: dict[str, Said] = {**SETTING.names(SHOP.views[0], SHOP.entity("purchase"))}
    words["field"] = FieldSaid((field,))
    row = SETTING.rows_of(SHOP.entity("purchase"))[0]
    words["row"] = RowSaid(SHOP.entity("purchase"), str(row["number"]), row)

    said = [word(SETTING, KINDS["find"], words, Random(seed), rules=RULES) for seed in range(60)]
    told = [goal for goal in said if goal is not None]
    plain = [goal.text.casefold() for goal in told if "plain" in goal.manners]
    assert all("buyer" in text or field.label.casefold() in text for text in plain)
    assert any("buyer" in text for text in plain)
    assert all(field.label in goal.text for goal in told if "precise" in goal.manners)
