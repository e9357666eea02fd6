"""The resolver reads the verbs that a world has for its fields, and still refuses what two fields may mean."""

import pytest
from support.worlds.made_world import SHOP, shop_rows

from generators.tasks.resolver.reading import Reading, Refusal
from generators.tasks.resolver.resolve import Resolver
from schemas.worlds.field import DataField
from schemas.worlds.spoken import Ranks
from schemas.worlds.world import World

SPOKEN: dict[tuple[str, str], dict[str, object]] = {
    ("purchase", "customer"): {
        "does": ("was placed by {value}",),
        "asks": ("who placed {row}",),
        "leads": ("the customer who placed {row}", "{row}'s buyer"),
    },
    ("purchase", "placed"): {
        "does": ("was placed on {value}",),
        "asks": ("when was {row} placed",),
        "ranks": Ranks(
            more="was placed later",
            less="was placed earlier",
            most="was placed last",
            least="was placed first",
        ),
    },
    ("purchase", "channel"): {"does": ("came in by {value}",), "asks": ("how did {row} come in",)},
    ("purchase", "quantity"): {"does": ("has {value} pieces",)},
    ("customer", "city"): {"does": ("lives in {value}",), "asks": ("where does {row} live",)},
    ("product", "listed"): {"does": ("is sold online",), "asks": ("is {row} sold online",)},
}


def _spoken(entity: str, field: DataField) -> DataField:
    return field.model_copy(update=SPOKEN.get((entity, field.name), {}))


def _world() -> World:
    entities = tuple(
        one.model_copy(update={"fields": tuple(_spoken(one.name, f) for f in one.fields)})
        for one in SHOP.entities
    )
    return SHOP.model_copy(update={"entities": entities})


RESOLVER = Resolver(_world(), shop_rows())


@pytest.mark.parametrize(
    ("goal", "answer"),
    [
        ("who placed A-1047?", "Ada Lund"),
        ('Who placed the order "A-1047"?', "Ada Lund"),
        ("When was A-1047 placed?", "2026-03-07"),
        ("Can you tell me when A-1047 was placed", "2026-03-07"),
        ("A-1047: when was it placed?", "2026-03-07"),
        ("how did order A-1054 come in?", "Web"),
        ("Where does the customer who placed A-1047 live?", "Oslo"),
        ("The customer who placed A-1047: what is the E-mail?", "ada.lund@example.org"),
        ("What is the city of A-1047's buyer?", "Oslo"),
        ("Which was placed later, A-1047 or A-1061?", "A-1047"),
        ("which order was placed first?", "A-1131"),
        ("Which of the orders that came in by phone was placed last?", "A-1047"),
        ("How many orders were placed after 1 March 2026 and came in by Web?", "2"),
        ("How many orders that have more than 10 pieces are there?", "5"),
        ("How many orders have fewer than 5 pieces?", "4"),
    ],
)
def test_a_question_in_verbs_has_its_answer(goal: str, answer: str) -> None:
    read = RESOLVER.read(goal)
    assert isinstance(read, Reading), read
    assert read.answer == answer


@pytest.mark.parametrize(
    ("goal", "values"),
    [
        ("A-1047 should be placed by Ada Lind.", {"customer": 1}),
        ("A-1047 came in by Web now, please change it.", {"channel": "Web"}),
        ("Order A-1047 was placed on 5 March 2026 now. Put that in.", {"placed": "2026-03-05"}),
        ("If A-1047 came in by phone, set the Quantity to 9, otherwise to 12.", {"quantity": 9}),
        ("If A-1054 came in by phone, set the Quantity to 9, otherwise to 12.", {"quantity": 12}),
    ],
)
def test_what_is_said_to_be_so_is_put_in(goal: str, values: dict[str, object]) -> None:
    read = RESOLVER.read(goal)
    assert isinstance(read, Reading), read
    (changed,) = read.changed
    assert dict(changed.values) == values


@pytest.mark.parametrize(
    "goal",
    [
        "Which was placed later, A-1047?",
        "When was Ada Lund placed?",
        "Who placed A-9999?",
        "Who placed the order?",
        "Which order was placed last and came in by pigeon on 3 March 2026?",
        "Delete the order that came in by phone.",
        "How many orders were placed on 3 March 2026 or 5 March 2026?",
    ],
)
def test_what_is_not_certain_is_refused(goal: str) -> None:
    assert isinstance(RESOLVER.read(goal), Refusal)


def test_without_its_verbs_a_world_does_not_know_what_is_asked() -> None:
    assert isinstance(Resolver(SHOP, shop_rows()).read("who placed A-1047?"), Refusal)


def test_a_goal_may_be_a_list_of_lines() -> None:
    goal = "New customer:\nFull name: Hal Reed\nE-mail: hal@example.org\nCity: Oslo\nCustomer since: 3 March 2026"
    read = RESOLVER.read(goal)
    assert isinstance(read, Reading), read
    (added,) = read.added
    told = {"name": "Hal Reed", "email": "hal@example.org", "city": "Oslo", "joined": "2026-03-03"}
    assert dict(added.values) == told


def test_a_plain_question_changes_nothing() -> None:
    read = RESOLVER.read("Which order is at Shipped and came in by Web and was placed last?")
    assert isinstance(read, Refusal) or read.answer is not None
