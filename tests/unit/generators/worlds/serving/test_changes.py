"""The forms and buttons of worlds over ASGI: what each changes, and what none does."""

import re

import pytest
from support.worlds.made_world import SHOP
from support.worlds.world_visits import visiting

from generators.worlds.serving.visit import MAX_BODY_BYTES

PRODUCT = {
    "name": "Stool, oak",
    "category": "Textiles",
    "price": "$124.50",
    "stock": "5",
    "listed": "1",
    "description": "Four legs.\r\nOne seat.",
}

ORDER = {
    "number": "A-2000",
    "customer": "3",
    "quantity": "4",
    "placed": "2026-03-01",
    "channel": "Web",
}


@pytest.mark.parametrize("path", ["/purchase/new", "/product/2/edit"])
async def test_a_form_takes_no_field_from_the_query_of_its_address(path: str) -> None:
    async with visiting() as hands:
        form = await hands.names(path)
        asked = await hands.names(f"{path}?number=A-2000&customer=3&quantity=4&name=Made+up")

    assert asked.fields == form.fields


async def test_a_row_is_added_under_the_next_id_with_what_no_form_asks_for() -> None:
    async with visiting() as hands:
        form = await hands.names("/purchase/new")
        answer = await hands.send("/purchase/new", **ORDER)
        made = hands.row("purchase", 15)

    assert set(form.fields) == {"number", "customer", "product", "quantity", "placed", "channel"}
    assert set(form.fields.values()) == {""}
    assert (answer.status_code, answer.headers["location"]) == (303, "/purchase/15")
    assert made == {
        "id": 15,
        "number": "A-2000",
        "customer": 3,
        "product": None,
        "quantity": 4,
        "placed": "2026-03-01",
        "status": "Open",
        "channel": "Web",
        "points": 0,
    }


async def test_a_row_is_changed_as_its_form_says_and_in_nothing_else() -> None:
    async with visiting() as hands:
        before = hands.table("product")
        answer = await hands.send("/product/4/edit", **PRODUCT)
        after = hands.table("product")

    assert answer.headers["location"] == "/product/4"
    assert [row for row in after if row["id"] != 4] == [row for row in before if row["id"] != 4]
    assert after[3] == {
        "id": 4,
        "name": "Stool, oak",
        "category": "Textiles",
        "price": 12_450,
        "stock": 5,
        "listed": 1,
        "description": "Four legs.\nOne seat.",
    }


@pytest.mark.parametrize("row", [1, 2, 3, 4])
@pytest.mark.parametrize("entity", ["product", "customer", "purchase"])
async def test_a_form_that_is_sent_as_it_came_changes_nothing(entity: str, row: int) -> None:
    async with visiting() as hands:
        before = hands.server.state("one")
        page = await hands.see(f"/{entity}/{row}/edit")
        form = dict(re.findall(r'<input type="text"[^>]*name="(\w+)" value="([^"]*)"', page))
        form |= dict(re.findall(r'name="(\w+)" value="([^"]*)" checked', page))
        form |= dict(re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>\n([^<]*)</textarea>', page))
        for name, options in re.findall(
            r'<select[^>]*name="(\w+)">(.*?)</select>', page, re.DOTALL
        ):
            form[name] = "".join(re.findall(r'value="([^"]*)" selected', options))
        answer = await hands.send(f"/{entity}/{row}/edit", **form)

        assert answer.status_code == 303
        assert hands.server.state("one") == before


async def test_a_row_whose_title_stays_is_no_other_row_of_that_title() -> None:
    async with visiting() as hands:
        stays = await hands.send("/product/1/edit", **PRODUCT | {"name": "Lamp, small"})
        taken = await hands.send("/product/1/edit", **PRODUCT | {"name": "Kettle, small"})
        taken_anew = await hands.send("/product/new", **PRODUCT | {"name": "Kettle, small"})

    assert stays.status_code == 303
    for refused in (taken, taken_anew):
        assert refused.status_code == 422
        assert "Another Product has this Name." in refused.text


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("name", "  ", "Name is required."),
        ("category", "", "Category is required."),
        ("category", "Elsewhere", "Choose one of the list."),
        ("price", "12.345", "Enter an amount, as 12.50."),
        ("price", "1,24", "Enter an amount, as 12.50."),
        ("price", "0.99", "Enter an amount from $1.00 to $999.00."),
        ("price", "", "Price is required."),
        ("stock", "five", "Enter a whole number."),
        ("stock", "1.5", "Enter a whole number."),
        ("stock", "9" * 40, "Enter a whole number."),
        ("stock", "501", "Enter a number from 0 to 500."),
    ],
)
@pytest.mark.parametrize("path", ["/product/new", "/product/2/edit"])
async def test_what_a_field_cannot_hold_is_said_beside_it_and_changes_nothing(
    path: str, field: str, text: str, message: str
) -> None:
    async with visiting() as hands:
        before = hands.server.state("one")
        answer = await hands.send(path, **PRODUCT | {field: text})
        after = hands.server.state("one")

    assert answer.status_code == 422
    assert re.findall(r'id="m-(\w+)">([^<]*)', answer.text) == [(field, message)]
    assert 'value="Stool, oak"' in answer.text or field == "name"
    assert after == before


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("placed", "03/09/2026", "Enter a date as 2026-03-09."),
        ("placed", "2026-02-30", "Enter a date as 2026-03-09."),
        ("placed", "20260301", "Enter a date as 2026-03-09."),
        ("customer", "99", "Choose one of the list."),
        ("product", "x", "Choose one of the list."),
    ],
)
async def test_a_date_or_a_link_that_is_none_is_refused(
    field: str, text: str, message: str
) -> None:
    async with visiting() as hands:
        answer = await hands.send("/purchase/new", **ORDER | {field: text})
        assert len(hands.table("purchase")) == 14

    assert re.findall(r'id="m-(\w+)">([^<]*)', answer.text) == [(field, message)]


async def test_a_field_that_no_form_asks_for_is_not_taken_from_one() -> None:
    async with visiting() as hands:
        form = ORDER | {"number": "A-1040", "status": "Shipped", "points": "900", "id": "77"}
        await hands.send("/purchase/1/edit", **form)
        row = hands.row("purchase", 1)

    assert (row["status"], row["points"], row["quantity"]) == ("Open", 0, 4)


async def test_what_somebody_types_is_text_and_never_markup() -> None:
    text = '<script>alert("1")</script>'
    async with visiting() as hands:
        await hands.send("/product/new", **PRODUCT | {"name": text, "description": text})
        pages = [await hands.see("/product/13"), await hands.see("/product/13/edit")]
        pages.append(await hands.see("/products?page=3"))

        assert hands.row("product", 13)["name"] == text
    for page in pages:
        assert "<script>" not in page
        assert "&lt;script&gt;" in page


async def test_a_row_is_deleted_once_it_is_confirmed() -> None:
    async with visiting() as hands:
        asking = await hands.names("/customer/8/delete")
        assert len(hands.table("customer")) == 8
        gone = hands.table("customer")[-1]["name"]
        answer = await hands.send("/customer/8/delete")
        left = [row["id"] for row in hands.table("customer")]
        told, untold = [await hands.see("/customers") for _ in range(2)]
        await hands.see("/customer/8", 404)

    assert asking.buttons == ["Yes, delete"]
    assert asking.links["Cancel"] == "/customer/8"
    assert (answer.status_code, answer.headers["location"]) == (303, "/customers")
    assert left == [1, 2, 3, 4, 5, 6, 7]
    assert [f"Deleted: “{gone}”." in page for page in (told, untold)] == [True, False]


async def test_a_row_that_others_link_to_is_not_deleted() -> None:
    async with visiting() as hands:
        before = hands.server.state("one")
        answer = await hands.send("/customer/1/delete")

        assert answer.status_code == 409
        assert "because others refer to it: Orders." in answer.text
        assert "Deleted:" not in await hands.see("/customers")
        assert hands.server.state("one") == before


async def test_a_workflow_offers_the_steps_that_the_state_allows_and_takes_no_other() -> None:
    async with visiting() as hands:
        first = await hands.names("/purchase/1")
        answer = await hands.send("/purchase/1/do/pack")
        second = await hands.names("/purchase/1")
        again = await hands.send("/purchase/1/do/pack")
        state = hands.row("purchase", 1)["status"]
        await hands.send("/purchase/1/do/ship")
        last = await hands.names("/purchase/1")

        assert hands.row("purchase", 1)["status"] == "Shipped"
    assert first.buttons == ["Mark as packed", "Cancel order"]
    assert (answer.status_code, answer.headers["location"]) == (303, "/purchase/1")
    assert second.buttons == ["Ship", "Cancel order"]
    assert (again.status_code, state) == (409, "Packed")
    assert last.buttons == []


@pytest.mark.parametrize("may", ["can_add", "can_edit", "can_delete"])
async def test_what_an_entity_does_not_allow_is_neither_offered_nor_done(may: str) -> None:
    entities = tuple(one.model_copy(update={may: False}) for one in SHOP.entities)
    path = {"can_add": "/product/new", "can_edit": "/product/2/edit"}.get(may, "/customer/8/delete")
    async with visiting(world=SHOP.model_copy(update={"entities": entities})) as hands:
        offered = (await hands.names("/products")).links | (await hands.names("/product/2")).links
        before = hands.server.state("one")
        statuses = {(await hands.http.get(path)).status_code}
        statuses.add((await hands.send(path, **PRODUCT)).status_code)

        assert statuses == {404}
        assert hands.server.state("one") == before
    left_out = {"can_add": "New Product", "can_edit": "Edit", "can_delete": "Delete"}
    assert {name for name in left_out.values() if name not in offered} == {left_out[may]}


async def test_a_form_has_a_bound() -> None:
    async with visiting() as hands:
        before = hands.server.state("one")
        answer = await hands.http.post("/product/new", content=b"name=" + b"a" * MAX_BODY_BYTES)
        broken = await hands.http.post("/product/new", content=b"name=\xff")

        assert (answer.status_code, broken.status_code) == (413, 400)
        assert hands.server.state("one") == before
