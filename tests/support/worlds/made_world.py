"""A small world written by hand: a shop with products, customers, and orders that have a workflow."""

from datetime import UTC, date, datetime, timedelta

from schemas.base import JsonObject
from schemas.tasks.expectation import parse_expectation
from schemas.tasks.task import Task
from schemas.worlds.field import DataField, Kind, Widget
from schemas.worlds.look import Layout, Listing, Look
from schemas.worlds.world import Entity, Picture, Transition, View, Workflow, World

_PRODUCT = Entity(
    name="product",
    one="Product",
    many="Products",
    fields=(
        DataField(name="name", label="Name", kind=Kind.TEXT),
        DataField(
            name="category",
            label="Category",
            kind=Kind.CHOICE,
            choices=("Lighting", "Kitchen", "Textiles"),
            widget=Widget.RADIOS,
        ),
        DataField(name="price", label="Price", kind=Kind.MONEY, min=100, max=99_900),
        DataField(name="stock", label="In stock", kind=Kind.INTEGER, max=500),
        DataField(name="listed", label="Listed online", kind=Kind.FLAG, widget=Widget.CHECKBOX),
        DataField(
            name="description",
            label="Description",
            kind=Kind.LONG_TEXT,
            required=False,
            widget=Widget.TEXTAREA,
        ),
    ),
    rows=12,
    picture=Picture.THING,
)

_CUSTOMER = Entity(
    name="customer",
    one="Customer",
    many="Customers",
    fields=(
        DataField(name="name", label="Full name", kind=Kind.TEXT),
        DataField(name="email", label="E-mail", kind=Kind.TEXT),
        DataField(name="city", label="City", kind=Kind.TEXT, required=False),
        DataField(name="joined", label="Customer since", kind=Kind.DATE, min=-900, max=-30),
    ),
    rows=8,
    can_delete=True,
)

_ORDER = Entity(
    name="purchase",
    one="Order",
    many="Orders",
    fields=(
        DataField(name="number", label="Order number", kind=Kind.TEXT),
        DataField(
            name="customer",
            label="Customer",
            kind=Kind.LINK,
            target="customer",
            widget=Widget.SELECT,
        ),
        DataField(
            name="product",
            label="Product",
            kind=Kind.LINK,
            target="product",
            required=False,
            widget=Widget.SELECT,
        ),
        DataField(name="quantity", label="Quantity", kind=Kind.INTEGER, min=1, max=40),
        DataField(name="placed", label="Placed on", kind=Kind.DATE, min=-29, max=0),
        DataField(
            name="status",
            label="Status",
            kind=Kind.CHOICE,
            choices=("Open", "Packed", "Shipped", "Cancelled"),
        ),
        DataField(
            name="channel",
            label="Channel",
            kind=Kind.CHOICE,
            choices=("Web", "Phone"),
            widget=Widget.SELECT,
        ),
        DataField(name="points", label="Points", kind=Kind.INTEGER, editable=False),
    ),
    rows=14,
)

SHOP = World(
    family="made",
    seed=0,
    title="Harbour Supplies",
    host="harbour-supplies.localhost",
    at=datetime(2026, 3, 9, 10, 30, tzinfo=UTC),
    user="Mia Berg",
    entities=(_PRODUCT, _CUSTOMER, _ORDER),
    workflows=(
        Workflow(
            entity="purchase",
            field="status",
            transitions=(
                Transition(name="pack", label="Mark as packed", before=("Open",), after="Packed"),
                Transition(name="ship", label="Ship", before=("Packed",), after="Shipped"),
                Transition(
                    name="cancel",
                    label="Cancel order",
                    before=("Open", "Packed"),
                    after="Cancelled",
                ),
            ),
        ),
    ),
    views=(
        View(
            name="products",
            label="Products",
            entity="product",
            columns=("name", "category", "price", "stock"),
            filters=("category",),
            sorts=("name", "price", "stock"),
            page_size=5,
        ),
        View(
            name="customers",
            label="Customers",
            entity="customer",
            columns=("name", "email", "city"),
            sorts=("name", "joined"),
        ),
        View(
            name="orders",
            label="Orders",
            entity="purchase",
            columns=("number", "customer", "product", "placed", "status"),
            filters=("status", "channel"),
            sorts=("placed", "quantity"),
        ),
    ),
    look=Look(
        kit="plain",
        layout=Layout.TOP,
        listing=Listing.TABLE,
        accent="#1f6feb",
        surface="#f6f8fa",
        font="sans-serif",
        radius=6,
    ),
)
"""The specification."""

_THINGS = ("Lamp", "Kettle", "Blanket")
_SORTS = ("small", "large", "grey", "oak")
_NAMES = (
    "Ada Lind",
    "Ada Lund",
    "Bo Ek",
    "Cleo Ray",
    "Dana Fox",
    "Eli Marsh",
    "Fay Orr",
    "Gus Hale",
)
_CITIES = ("Bergen", "Oslo", None, "Malmö")


def _day(offset: int) -> str:
    return (date(2026, 3, 9) + timedelta(days=offset)).isoformat()


def shop_rows() -> dict[str, list[dict[str, str | int | None]]]:
    """Return the shop's rows by entity: 12 products, 8 customers, of whom the last has no order, and 14 orders."""
    products: list[dict[str, str | int | None]] = [
        {
            "id": n + 1,
            "name": f"{_THINGS[n % 3]}, {_SORTS[n // 3]}",
            "category": _PRODUCT.field("category").choices[n % 3],
            "price": 1_295 + n * 1_731,
            "stock": (n * 37) % 101,
            "listed": int(n % 4 != 0),
            "description": "Made to last.\nReturns within 30 days." if n % 2 else "",
        }
        for n in range(12)
    ]
    customers: list[dict[str, str | int | None]] = [
        {
            "id": n + 1,
            "name": name,
            "email": f"{name.lower().replace(' ', '.')}@example.org",
            "city": _CITIES[n % 4],
            "joined": _day(-800 + 90 * n),
        }
        for n, name in enumerate(_NAMES)
    ]
    orders: list[dict[str, str | int | None]] = [
        {
            "id": n + 1,
            "number": f"A-{1_040 + 7 * n}",
            "customer": n % 7 + 1,
            "product": (n * 5) % 11 + 1 if n % 6 else None,
            "quantity": (n * 3) % 17 + 1,
            "placed": _day(-2 * n),
            "status": _ORDER.field("status").choices[n % 4],
            "channel": _ORDER.field("channel").choices[n % 2],
            "points": 10 * n,
        }
        for n in range(14)
    ]
    return {"product": products, "customer": customers, "purchase": orders}


def shop_task(world: World = SHOP) -> Task:
    """Return a task: to mark the first order as packed."""
    rule: JsonObject = {"table": "purchase", "where": {"id": 1}, "set": {"status": "Packed"}}
    return Task(
        task_id="pack",
        template_id="made/transition",
        source="test",
        site="worlds",
        start_url=f"{world.origin}/",
        instruction="Mark the order A-1040 as packed.",
        parameters={"family": world.family, "world": world.seed},
        expect=parse_expectation({"changed": [rule]}, "a test"),
    )
