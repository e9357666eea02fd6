"""The server of worlds over ASGI: what each address shows, and to whom."""

import re

import httpx2
import pytest
from support.worlds.made_world import SHOP
from support.worlds.world_visits import Names, visiting

from generators.worlds.serving.server import WorldServer


async def test_every_page_has_the_title_and_the_navigation_and_says_where_it_is() -> None:
    async with visiting() as hands:
        pages = {
            path: await hands.see(path)
            for path in ("/", "/products", "/purchase/1", "/purchase/new", "/product/1/edit")
        }
        pages["/none"] = await hands.see("/none", 404)

    for page in pages.values():
        links = Names(page).links
        assert {name: links[name] for name in ("Home", "Products", "Customers", "Orders")} == {
            "Home": "/",
            "Products": "/products",
            "Customers": "/customers",
            "Orders": "/orders",
        }
        assert "Harbour Supplies</p>" in page
        assert "Mia Berg" in page
    current = {
        path: re.findall(r'aria-current="page">([^<]+)', page) for path, page in pages.items()
    }
    assert current == {
        "/": ["Home"],
        "/products": ["Products"],
        "/purchase/1": ["Orders"],
        "/purchase/new": ["Orders"],
        "/product/1/edit": ["Products"],
        "/none": [],
    }


async def test_all_that_a_page_needs_is_its_own_and_no_other_script_may_run() -> None:
    async with visiting() as hands:
        answer = await hands.http.get("/products")
        style = await hands.http.get("/_/style.css")

    assert re.findall(r'(?:src|rel="stylesheet" href)="([^"]*)"', answer.text) == [
        "/_/style.css",
        "/_/own/world.css",
        "/_/own/widgets.css",
        "/_/words.js",
        "/_/own/widgets.js",
        "/_/own/inputs.js",
        "/_/own/world.js",
    ]
    assert "default-src 'none'; script-src 'self';" in answer.headers["content-security-policy"]
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert "--ground: #f6f8fa;" in style.text


async def test_a_view_lists_rows_by_id_a_page_at_a_time() -> None:
    async with visiting() as hands:
        first = await hands.names("/products")
        last = await hands.names("/products?page=3")
        after = await hands.see("/products?page=99")
        nonsense = await hands.see("/products?page=x")

    assert first.links["Lamp, small"] == "/product/1"
    assert "Kettle, oak" not in first.links
    assert first.links["Next"] == "/products?page=2"
    assert "Previous" not in first.links
    assert last.links["Kettle, oak"] == "/product/11"
    assert last.links["Previous"] == "/products?page=2"
    assert "Next" not in last.links
    assert "Kettle, oak" in after
    assert "Lamp, small" in nonsense


async def test_a_page_says_nowhere_how_many_rows_there_are() -> None:
    async with visiting() as hands:
        page = await hands.see("/customers")

    assert "Gus Hale" in page
    assert re.findall(r">[^<]*\b8\b[^<]*<", page) == []


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("q=LAMP", ["Lamp, small", "Lamp, large", "Lamp, grey", "Lamp, oak"]),
        ("q=%25", []),
        ("category=Textiles&q=oak", ["Blanket, oak"]),
        ("category=Elsewhere&q=oak", ["Lamp, oak", "Kettle, oak", "Blanket, oak"]),
        ("category=Kitchen&sort=-price", ["Kettle, oak", "Kettle, grey", "Kettle, large", "Kettle, small"]),
        ("category=Kitchen&sort=stock", ["Kettle, small", "Kettle, large", "Kettle, grey", "Kettle, oak"]),
        ("category=Kitchen&sort=listed", ["Kettle, small", "Kettle, large", "Kettle, grey", "Kettle, oak"]),
        ("sort=name", ["Blanket, grey", "Blanket, large", "Blanket, oak", "Blanket, small", "Kettle, grey"]),
    ],
)  # fmt: skip
async def test_a_view_is_searched_filtered_and_sorted(query: str, titles: list[str]) -> None:
    async with visiting() as hands:
        links = (await hands.names(f"/products?{query}")).links

    assert [name for name, href in links.items() if re.search(r"/product/\d+$", href)] == titles


async def test_a_view_offers_its_choices_by_words_and_keeps_what_was_chosen() -> None:
    async with visiting() as hands:
        page = await hands.see("/products?q=a&category=Kitchen&sort=-price")
        plain = await hands.names("/customers")
        paged = await hands.names("/products?q=a&sort=-price")

    names = Names(page)
    assert names.labels["Category"] == "by-category"
    assert names.labels["Price, descending"] == "sort-4"
    assert names.options == ["All", "Lighting", "Kitchen", "Textiles"]
    assert names.buttons == ["Apply"]
    assert 'name="q" value="a" aria-label="Search"' in page
    assert re.findall(r'value="([^"]*)" (?:selected|checked)', page) == ["Kitchen", "-price"]
    assert paged.links["Next"] == "/products?q=a&sort=-price&page=2"
    assert plain.links["New Customer"] == "/customer/new"


@pytest.mark.parametrize("query", ["sort=customer", "status=Open&sort=quantity", "channel=Phone"])
async def test_equals_and_links_are_sorted_alike_each_time(query: str) -> None:
    sorts = (*SHOP.views[2].sorts, "customer")
    view = SHOP.views[2].model_copy(update={"sorts": sorts})
    world = SHOP.model_copy(update={"views": (*SHOP.views[:2], view)})
    async with visiting(world=world) as hands:
        rows = re.findall(r'<a href="/purchase/(\d+)"', await hands.see(f"/orders?{query}"))

    expected = {
        "sort=customer": ["1", "8", "2", "9", "3", "10", "4", "11", "5", "12"],
        "status=Open&sort=quantity": ["1", "13", "9", "5"],
        "channel=Phone": ["2", "4", "6", "8", "10", "12", "14"],
    }
    assert rows == expected[query]


async def test_a_rows_page_shows_every_field_where_it_leads_and_what_leads_here() -> None:
    async with visiting() as hands:
        order = await hands.see("/purchase/2")
        customer = await hands.names("/customer/3")
        nobody = await hands.see("/customer/8")

    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", order))
    assert facts == {
        "Order number": "A-1047",
        "Customer": '<a href="/customer/2">Ada Lund</a>',
        "Product": '<a href="/product/6">Blanket, large</a>',
        "Quantity": "4",
        "Placed on": "2026-03-07",
        "Status": '<span class="badge plain">Packed</span>',
        "Channel": "Phone",
        "Points": "10",
    }
    assert customer.links["A-1054"] == "/purchase/3"
    assert customer.links["A-1103"] == "/purchase/10"
    assert customer.links["Edit"] == "/customer/3/edit"
    assert customer.links["Delete"] == "/customer/3/delete"
    assert "<h2>" not in nobody


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/none", 404),
        ("GET", "/product", 404),
        ("GET", "/product/99", 404),
        ("GET", f"/product/{2**63}", 404),
        ("GET", "/product/x", 404),
        ("GET", "/none/1", 404),
        ("GET", "/none/new", 404),
        ("POST", "/purchase/1/do/none", 404),
        ("POST", "/product/1/do/pack", 404),
        ("GET", "/purchase/1/do/pack", 405),
        ("POST", "/", 405),
        ("POST", "/products", 405),
        ("PUT", "/product/1/edit", 405),
        ("DELETE", "/product/1", 405),
    ],
)
async def test_what_is_not_there_is_refused_and_changes_nothing(
    method: str, path: str, status: int
) -> None:
    async with visiting() as hands:
        before = hands.server.state("one")
        answer = await hands.http.request(method, path)

        assert answer.status_code == status
        assert "Harbour Supplies" in answer.text
        assert hands.server.state("one") == before


async def test_visits_have_nothing_in_common_and_a_request_without_one_reaches_nothing() -> None:
    server = WorldServer("visit")
    async with visiting(server) as one, visiting(server, "two") as two:
        before = server.state("two")
        await one.send("/customer/8/delete")
        assert server.state("two") == before
        assert server.state("one") != before
        await two.see("/customer/8")
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(server), base_url=SHOP.origin, cookies={"visit": "one"}
    ) as http:
        answer = await http.get("/")

    assert (answer.status_code, answer.text) == (403, "this session has no visit here")
