"""The faults of a world's server: each happens once, changes nothing of its own, and lets itself be mended."""

import pytest
from support.worlds.made_world import SHOP
from support.worlds.world_visits import Hands, visiting

from generators.worlds.serving.faults import OtherChange, Trouble
from schemas.worlds.behaviour import Delivery
from schemas.worlds.fault import Fault

EDIT = "/customer/1/edit"
NOT_SAVED = "This could not be saved just now (error 503). Please try again."
NOT_DONE = "This could not be done just now (error 503). Please try again."
NOT_LOADED = "This page could not be loaded. Please try again in a moment."
SINGLE_PAGE = SHOP.model_copy(
    update={"behaviour": SHOP.behaviour.model_copy(update={"delivery": Delivery.SINGLE_PAGE})}
)


async def _form(hands: Hands) -> dict[str, str]:
    return (await hands.names(EDIT)).fields


async def _rename(hands: Hands, name: str, status: int) -> str:
    answer = await hands.send(EDIT, **{**await _form(hands), "name": name})
    assert answer.status_code == status, answer.text
    return answer.text


async def test_a_save_fails_once_and_keeps_what_was_entered() -> None:
    async with visiting(trouble=Trouble(Fault.SAVE_FAILS)) as hands:
        before = hands.row("customer", 1)
        page = await _rename(hands, "Ada New", 503)
        assert NOT_SAVED in page
        assert 'value="Ada New"' in page
        assert hands.row("customer", 1) == before
        await _rename(hands, "Ada New", 303)
        assert hands.row("customer", 1)["name"] == "Ada New"


async def test_a_form_that_is_refused_anyway_does_not_use_the_fault_up() -> None:
    async with visiting(trouble=Trouble(Fault.SAVE_FAILS)) as hands:
        await _rename(hands, "", 422)
        await _rename(hands, "Ada New", 503)


async def test_a_step_and_a_deletion_fail_once_too() -> None:
    async with visiting(trouble=Trouble(Fault.SAVE_FAILS)) as hands:
        flow = SHOP.workflows[0]
        row = next(
            one for one in hands.table(flow.entity) if one[flow.field] in flow.transitions[0].before
        )
        path = f"/{flow.entity}/{row['id']}/do/{flow.transitions[0].name}"
        failed = await hands.send(path)
        assert (failed.status_code, NOT_DONE in failed.text) == (503, True)
        assert hands.row(flow.entity, int(str(row["id"]))) == row
        assert (await hands.send(path)).status_code == 303


@pytest.mark.parametrize(
    ("referer", "way"),
    [
        ("http://shop.localhost/purchase/new?placed=2026-03-01", "/purchase/new?placed=2026-03-01"),
        ("http://shop.localhost/purchases?page=2", "/purchase/new"),
        (None, "/purchase/new"),
    ],
)
async def test_the_way_back_to_a_form_keeps_what_its_address_has_filled_in(
    referer: str | None, way: str
) -> None:
    async with visiting(trouble=Trouble(Fault.SESSION_ENDS)) as hands:
        form = (await hands.names("/purchase/new")).fields
        filled = {**form, "number": "A-2000", "customer": "3", "quantity": "4", "channel": "Web"}
        filled["placed"] = "2026-03-01"
        headers = {} if referer is None else {"Referer": referer}
        answer = await hands.http.post("/purchase/new", data=filled, headers=headers)
        assert (answer.status_code, answer.headers["location"]) == (302, way)


async def test_a_session_ends_as_a_form_is_sent_and_goes_on_by_the_users_name() -> None:
    async with visiting(trouble=Trouble(Fault.SESSION_ENDS)) as hands:
        before = hands.row("customer", 1)
        answer = await hands.send(EDIT, **{**await _form(hands), "name": "Ada New"})
        assert (answer.status_code, answer.headers["location"]) == (302, EDIT)
        asked = await hands.see(EDIT)
        assert f"You were signed in as <strong>{SHOP.user}</strong>: enter" in asked
        assert "Ada New" not in asked
        await hands.send(f"/_/answers/name?back={EDIT}", name="Somebody")
        assert "This is another name." in await hands.see(EDIT)
        await hands.send(f"/_/answers/name?back={EDIT}", name=SHOP.user)
        assert "Your session has ended" not in await hands.see(EDIT)
        assert hands.row("customer", 1) == before
        await _rename(hands, "Ada New", 303)


async def test_a_row_that_somebody_else_changes_has_to_be_entered_again() -> None:
    other = OtherChange("product", 1, "stock", 77)
    async with visiting(trouble=Trouble(Fault.STALE_ROW, other)) as hands:
        fields = (await hands.names("/product/2/edit")).fields
        assert (await hands.send("/product/2/edit", **fields)).status_code == 303
        before = hands.row("product", 1)
        assert before["stock"] != other.value
        fields = (await hands.names("/product/1/edit")).fields
        stale = await hands.send("/product/1/edit", **{**fields, "name": "Lamp, new"})
        assert stale.status_code == 409
        assert "at the same time (error 409). Your changes were not saved" in stale.text
        assert 'value="77"' in stale.text
        assert "Lamp, new" not in stale.text
        assert hands.row("product", 1) == {**before, "stock": other.value}


async def test_the_rows_of_the_first_list_come_late() -> None:
    async with visiting(trouble=Trouble(Fault.SLOW_PAGE)) as hands:
        assert 'data-late="3000"' in await hands.see("/products")
        assert "data-late" not in await hands.see("/products")


@pytest.mark.parametrize("world", [SHOP, SINGLE_PAGE], ids=["server", "single page"])
async def test_the_first_view_fails_to_load_and_then_loads(world: object) -> None:
    trouble = Trouble(Fault.PAGE_FAILS)
    async with visiting(world=world, trouble=trouble) as hands:  # type: ignore[arg-type]
        await hands.see("/")
        shell = {"Accept": "text/html"}
        if world is SINGLE_PAGE:
            assert (await hands.http.get("/products", headers=shell)).status_code == 200
        failed = await hands.http.get("/products", headers={"Part": "page"})
        assert (failed.status_code, NOT_LOADED in failed.text) == (503, True)
        assert "Lamp, small" in (await hands.http.get("/products", headers={"Part": "page"})).text


async def test_a_window_opens_over_the_second_page_until_it_is_closed() -> None:
    async with visiting(trouble=Trouble(Fault.DIALOG)) as hands:
        assert "/_/answers/hint" not in await hands.see("/")
        assert "/_/answers/hint" in await hands.see("/products")
        assert "/_/answers/hint" in await hands.see("/orders")
        await hands.send("/_/answers/hint?back=/orders")
        assert "/_/answers/hint" not in await hands.see("/orders")


@pytest.mark.parametrize("fault", Fault)
async def test_a_visit_without_a_fault_has_none_of_it(fault: Fault) -> None:
    trouble = Trouble(fault, is_over=True) if fault is not Fault.DIALOG else None
    async with visiting(trouble=trouble) as hands:
        await hands.see("/")
        page = await hands.see("/products")
        assert "data-late" not in page
        assert "/_/answers/hint" not in page
        await _rename(hands, "Ada New", 303)
