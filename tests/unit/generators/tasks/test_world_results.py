"""What pages show once a change was made is told by the change: new values, the name of what is new or gone."""

from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.worlds.ground.results import with_results
from generators.tasks.worlds.ground.world_rows import Setting
from schemas.tasks.expectation import Contains, Expectation, RowRule
from schemas.tasks.reference import Do, ReferenceStep

SETTING = Setting(SHOP, shop_rows())


def _shown(*steps: ReferenceStep, **rules: tuple[RowRule, ...]) -> tuple[str, ...]:
    return with_results(SETTING, Expectation.model_validate(rules), steps).shown


def test_a_changed_row_shows_its_new_values_as_pages_do() -> None:
    rule = RowRule(table="product", where={"id": 2}, set={"price": 12_450, "category": "Textiles"})
    assert _shown(changed=(rule, rule.model_copy(update={"where": {"id": 3}}))) == (
        "$124.50",
        "Textiles",
    )


def test_a_new_row_shows_its_title_and_one_that_is_gone_has_shown_it() -> None:
    new = RowRule(table="customer", where={"id": 99, "name": "Ada Lind"})
    gone = RowRule(table="customer", where={"id": 8})
    title = SETTING.title(SHOP.entity("customer"), SETTING.row(SHOP.entity("customer"), 8))
    assert _shown(added=(new,), removed=(gone,)) == ("Ada Lind", title)


def test_a_new_row_shows_what_was_entered_where_its_title_was_not() -> None:
    texts = {"name": "Stool 7", "description": "Four legs."}
    new = RowRule(table="product", where={"id": 99, **texts})
    typed = ReferenceStep(do=Do.TYPE, on="Description", text="Four legs.")
    assert (_shown(typed, added=(new,)), _shown(added=(new,))) == (("Four legs.",), ("Stool 7",))


def test_what_no_text_shows_is_left_out() -> None:
    ticked = RowRule(table="product", where={"id": 2}, set={"listed": 1})
    matched = RowRule(table="product", where={"id": 2}, set={"name": Contains(contains=("Stool",))})
    other = RowRule(table="settings", where={"id": 1}, set={"name": "Ada"})
    linked = RowRule(table="purchase", where={"id": 1}, set={"customer": 99_999})
    emptied = RowRule(table="product", where={"id": 2}, set={"description": ""})
    for rule in (ticked, matched, other, linked, emptied):
        assert _shown(changed=(rule,)) == ()
