"""The rows of a world fit its specification and each other."""

import re
from collections import Counter
from collections.abc import Container
from datetime import date

import pytest
from effort import THOROUGH
from support.worlds import drawn

from generators.worlds.drawing.dates import earlier_of, holder_of
from generators.worlds.drawing.draw import FAMILIES
from generators.worlds.drawing.locales import locales_of
from generators.worlds.drawing.rows import draw_rows
from generators.worlds.drawing.text_recipes import draw_text, make_faker
from generators.worlds.state.database import Row, Rows
from schemas.errors import BadTasks
from schemas.worlds.field import DataField, Kind, tags_of
from schemas.worlds.look import Amounts
from schemas.worlds.world import Entity, World

SEEDS = range(25 if THOROUGH else 3)
"""The worlds of each family whose rows are looked at."""

_FURTHER = {"permissions": None, "manual": None, "history": None, "cart": None}
ONE = drawn.specification("shop", 0).model_copy(update=_FURTHER)


def titles_of(world: World, rows: Rows) -> dict[str, dict[int, str]]:
    return {
        entity.name: {
            number: str(row[entity.title.name])
            for number, row in enumerate(rows[entity.name], start=1)
        }
        for entity in world.entities
    }


def _drawn(family: str) -> list[tuple[World, Rows]]:
    return [drawn.whole(family, seed) for seed in SEEDS]


def test_the_worlds_looked_at_have_all_locales() -> None:
    worlds = [drawn.world(family, seed) for family in FAMILIES for seed in SEEDS]
    spoken = {world.language for world in worlds}
    assert {one.locale for one in worlds} == {name for one in spoken for name in locales_of(one)}


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_hold_what_their_fields_say(family: str) -> None:
    for world, rows in _drawn(family):
        assert list(rows) == [entity.name for entity in world.entities]
        for entity in world.entities:
            mine = rows[entity.name]
            columns = ["id", *(field.name for field in entity.fields)]
            assert [row["id"] for row in mine] == list(range(1, entity.rows + 1))
            assert all(list(row) == columns for row in mine)
            assert len({str(row[entity.title.name]).casefold() for row in mine}) == len(mine)
            for field in entity.fields:
                wrong = [row for row in mine if not _fits(world, field, row[field.name])]
                assert wrong == [], (world.seed, field)


def _fits(world: World, field: DataField, value: str | int | None) -> bool:
    if value is None:
        return not field.required
    known: Container[str | int | None] = range(field.min, field.max + 1)
    match field.kind:
        case Kind.TEXT | Kind.LONG_TEXT:
            known = {" ".join(str(value).split()) or None}
        case Kind.TAGS:
            tags = tags_of(value)
            return bool(tags) and [one for one in field.choices if one in tags] == [*tags]
        case Kind.CHOICE:
            known = field.choices
        case Kind.FLAG:
            known = (0, 1)
        case Kind.LINK:
            known = range(1, world.entity(field.target or "").rows + 1)
        case Kind.DATE:
            value = (date.fromisoformat(str(value)) - world.at.date()).days
    return value in known


@pytest.mark.parametrize("family", FAMILIES)
def test_no_date_lies_before_the_one_that_it_follows(family: str) -> None:
    followed = Counter[str]()
    for world, rows in _drawn(family):
        for entity in world.entities:
            for field in entity.fields:
                for first, then in _pairs(world, rows, entity, field):
                    followed[f"{entity.name}.{field.name}"] += 1
                    assert first <= then, (world.seed, entity.name, field.name)

    assert len(followed) >= 2, followed


def _pairs(world: World, rows: Rows, entity: Entity, field: DataField) -> list[tuple[str, str]]:
    """Return each date of a field with the one that it does not lie before, where there are both."""
    earlier = earlier_of(field) if field.kind is Kind.DATE else None
    if earlier is None:
        return []
    holder, out = holder_of(world, entity, earlier), []
    for row in rows[entity.name]:
        held: Row | None = row
        if earlier.link is not None:
            number = row[earlier.link]
            held = None if number is None else rows[holder.name][int(number) - 1]
        if held is not None and held[earlier.field] is not None and row[field.name] is not None:
            out.append((str(held[earlier.field]), str(row[field.name])))
    return out


@pytest.mark.parametrize("family", FAMILIES)
def test_many_rows_are_nearly_like_another(family: str) -> None:
    """Half of the titles of the largest entity share all words but one with another title."""
    shares = []
    for world, rows in _drawn(family)[:5]:
        longest = max(titles_of(world, rows).values(), key=_words)
        titles = [frozenset(title.split()) for title in longest.values()]
        near = sum(any(len(one ^ two) == 2 for two in titles) for one in titles)
        shares.append(near / len(titles))

    assert min(shares) >= 0.5, shares


def _words(titles: dict[int, str]) -> int:
    return sum(len(title.split()) for title in titles.values())


def test_a_field_more_or_less_leaves_the_other_fields_as_they_are() -> None:
    product = ONE.entity("product")
    fewer = product.model_copy(update={"fields": product.fields[:2]})
    others = tuple(one for one in ONE.entities if one is not product)

    rows = draw_rows(ONE.model_copy(update={"entities": (fewer, *others)}))

    kept = ["id", *(field.name for field in fewer.fields)]
    assert rows["product"] == [
        {name: row[name] for name in kept} for row in draw_rows(ONE)["product"]
    ]


def test_titles_are_those_of_the_rows() -> None:
    rows = draw_rows(ONE)

    titles = titles_of(ONE, rows)

    assert list(titles) == list(rows)
    assert titles["customer"][3] == rows["customer"][2]["name"]


@pytest.mark.parametrize("locale", ["en_GB", "de_DE", "fr_FR", "es_ES", "ja_JP", "ar_DZ"])
def test_people_have_names_of_the_locale(locale: str) -> None:
    american, other = (ONE.model_copy(update={"locale": one}) for one in ("en_US", locale))
    names = titles_of(ONE, draw_rows(american))["customer"]
    others = titles_of(ONE, draw_rows(other))["customer"]

    assert len(set(names.values()) & set(others.values())) < 3


@pytest.mark.parametrize(
    ("locale", "letters", "mail"),
    [
        ("de_DE", r"[\x00-\u017f\u2019]+", r"[a-z.-]+@.*"),
        ("ja_JP", r"[\u3000-\u9fff 々]+", r"[a-z]+\.[a-z]+@.*"),
        ("ar_DZ", r"[\u0600-\u06ff ]+", r"user\d{4}@.*"),
    ],
)
def test_contents_are_in_the_letters_of_the_locale(locale: str, letters: str, mail: str) -> None:
    world = drawn.specification("library", 0).model_copy(update={"locale": locale})
    rows = draw_rows(world)

    people = [*rows["author"], *rows["member"]]
    names = [str(row[name]) for row in people for name in ("name", "country") if name in row]
    assert [name for name in names if not re.fullmatch(letters, name)] == []
    mails = [str(row["email"]) for row in rows["member"] if "email" in row]
    assert [each for each in mails if not re.fullmatch(mail, each)] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_amounts_end_as_prices_do(family: str) -> None:
    for world, rows in _drawn(family):
        for entity in world.entities:
            for field in (one for one in entity.fields if one.kind is Kind.MONEY):
                values = [int(row[field.name] or 0) for row in rows[entity.name]]
                ends = {value % 100 for value in values} - {field.min % 100, field.max % 100}
                assert len(ends) <= 4, (world.seed, field.name)
                if world.amounts is Amounts.WHOLE:
                    assert ends == set()


def _world(*fields: DataField, rows: int = 5) -> World:
    thing = Entity(name="thing", one="Thing", many="Things", fields=fields, rows=rows)
    view = ONE.views[0].model_copy(
        update={"entity": "thing", "columns": ("name",), "filters": (), "sorts": ()}
    )
    update = {"entities": (thing,), "views": (view,), "workflows": ()}
    loose = dict.fromkeys(("permissions", "manual", "history", "cart"))
    return World.model_validate(ONE.model_copy(update=update | loose).model_dump())


NAME = DataField(name="name", label="Name", kind=Kind.TEXT)


def _name(content: str) -> DataField:
    return NAME.model_copy(update={"content": content})


def _day(name: str, content: str, most: int = 100) -> DataField:
    return DataField(name=name, label=name, kind=Kind.DATE, content=content, max=most)


def test_fields_without_a_recipe_have_one_of_their_kind() -> None:
    story = DataField(name="story", label="Story", kind=Kind.LONG_TEXT)

    rows = draw_rows(_world(NAME, story))["thing"]

    stories, names = ([str(row[name]) for row in rows] for name in ("story", "name"))
    assert min(map(len, names)) > 5
    assert len("".join(stories)) > 2 * len("".join(names))


@pytest.mark.parametrize(
    ("fields", "rows", "reason"),
    [
        ([_name("{a|b} {c|d}")], 5, r"field 'thing\.name': its recipe makes 4 titles for 5 rows"),
        ([_name("One")], 2, r"its recipe makes 1 titles for 2 rows"),
        ([_name("N-{number}")], 5_000, None),
        ([_name("{a|b}{number}")], 5_000, None),
        ([_name("{slug}@mail.example")], 5, r"'thing\.name': a title cannot be drawn from itself"),
        ([_name("{isbn}")], 5, r"no source 'isbn'; there are number, slug, first_name"),
        ([_name("{a|}")], 5, r"an empty alternative in '{a\|}'"),
        ([_name("{a|b")], 5, r"a brace lacks its other in '{a\|b'"),
        ([_name("{country}")], 5_000, r"'thing\.name': 10,000 draws made \d+ titles for 5000 rows"),
        ([NAME, _day("day", "before x")], 5, r"expected 'after FIELD' or 'after LINK\.FIELD', got"),
        ([NAME, _day("day", "after noon")], 5, r"field 'thing\.day': 'thing' has no date 'noon'"),
        ([NAME, _day("day", "after name")], 5, r"'thing' has no date 'name'"),
        ([NAME, _day("day", "after name.day")], 5, r"'thing' has no link 'name'"),
        ([NAME, _day("day", "after day")], 5, r"in a loop: thing\.day > thing\.day"),
        (
            [NAME, _day("one", "after two"), _day("two", "after one")],
            5,
            r"in a loop: thing\.one > thing\.two > thing\.one",
        ),
        (
            [NAME, _day("one", "after two", most=9), _day("two", "", most=10)],
            5,
            r"'thing\.one': thing\.two is at most 10 days off, and may lie after thing\.one",
        ),
        (
            [NAME, DataField(name="up", label="Up", kind=Kind.LINK, target="thing")],
            5,
            r"required links in a loop: thing > thing",
        ),
        (
            [
                NAME,
                DataField(name="up", label="Up", kind=Kind.LINK, target="thing", required=False),
            ],
            5,
            None,
        ),
        (
            [NAME, DataField(name="n", label="N", kind=Kind.INTEGER, content="{number}")],
            5,
            r"'thing\.n': integer takes no recipe, got '{number}'",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    fields: list[DataField], rows: int, reason: str | None
) -> None:
    world = _world(*fields, rows=rows)

    if reason is None:
        assert len(draw_rows(world)["thing"]) == rows
        return
    with pytest.raises(BadTasks, match=reason) as refused:
        draw_rows(world)
    assert str(refused.value).startswith("world shop/0: ")
    assert "\n" not in str(refused.value)


def test_an_unknown_locale_is_refused() -> None:
    with pytest.raises(BadTasks, match="no contents for the locale 'xx_XX'"):
        draw_rows(ONE.model_copy(update={"locale": "xx_XX"}))


def test_french_cities_are_real_ones() -> None:
    faker = make_faker("fr_FR")

    drawn_cities = {draw_text("{city}", "fr_FR", faker) for _ in range(200)}

    assert {"Lyon", "Rennes"} & drawn_cities
    assert not [city for city in drawn_cities if re.search(r"-la-|-sur-| ", city)]


def test_spanish_names_have_their_accents() -> None:
    faker = make_faker("es_ES")

    names = {draw_text("{first_name} {last_name}", "es_ES", faker) for _ in range(900)}
    words = {word for name in names for word in name.split()}

    assert {"García", "Martínez", "José"} & words
    assert not {"Garcia", "Martinez", "Jose", "Lopez", "Felix"} & words


@pytest.mark.parametrize("locale", ["es_ES", "pt_BR"])
def test_a_company_is_a_trade_and_a_name(locale: str) -> None:
    faker = make_faker(locale)

    drawn_companies = {draw_text("{company}", locale, faker) for _ in range(200)}

    assert len(drawn_companies) > 120
    assert not [name for name in drawn_companies if len(name.split()) < 2 or "." in name]


def test_brazilian_cities_are_real_ones() -> None:
    faker = make_faker("pt_BR")

    assert {"Recife", "São Paulo"} & {draw_text("{city}", "pt_BR", faker) for _ in range(300)}
