"""The bookshop's database and pages, without the server that shows them.

A page is a function from rows to HTML. Every form carries a `csrf_token` that differs on each page, as
those of Flask do; the rest of a page depends on the database alone.
"""

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from html import escape
from pathlib import Path
from random import Random

from sites.tasks import State

TABLES: Mapping[str, str] = {
    "users": "email TEXT, password TEXT, name TEXT",
    "books": "title TEXT, author TEXT, year INTEGER, price_cents INTEGER, stock INTEGER",
    "basket": "user_id INTEGER, book_id INTEGER, quantity INTEGER",
    "wishlist": "user_id INTEGER, book_id INTEGER",
    "orders": "user_id INTEGER, placed_at TEXT, status TEXT, total_cents INTEGER",
    "order_lines": "order_id INTEGER, book_id INTEGER, quantity INTEGER, price_cents INTEGER",
    "reviews": "user_id INTEGER, book_id INTEGER, stars INTEGER, text TEXT",
}
"""Each table's columns beside `id`."""

USERS = (("alice.j@test.com", "Alice Jones"), ("bob.c@test.com", "Bob Chen"))
PASSWORD = "TestPass123"  # noqa: S105 (it stands in the tasks)
AUTHORS = ("I. Marsh", "J. Okoye", "K. Lindqvist", "L. Ferrante")
FIRST = ("Silent", "Copper", "Winter", "Paper", "Distant", "Hollow", "Amber", "Northern")
SECOND = ("Harbour", "Garden", "Orchard", "Lantern", "Bridge", "Meadow", "Station", "Window")
PER_PAGE = 6

STYLE = """
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.3 sans-serif; color: #222 }
nav { display: flex; gap: 14px; align-items: center; height: 40px; padding: 0 10px; background: #f3ead9 }
main { padding: 6px 10px }
h1 { margin: 6px 0; font-size: 18px }
a { color: #1a4fa0 }
table { width: 100%; border-collapse: collapse }
td { height: 38px; border-bottom: 1px solid #ddd }
form { display: inline }
button { font: inherit; height: 34px; padding: 0 10px; border: 1px solid #b98; border-radius: 5px; background: #fff }
input:not([type=radio]) { height: 34px; padding: 4px 6px; font: inherit; border: 1px solid #b98; border-radius: 5px }
p.field { margin: 6px 0 } p.field label { display: inline-block; width: 90px; padding: 8px 0 }
p.stars label { width: auto; margin-right: 14px }
[role=status] { padding: 6px 10px; background: #fff3c4 }
"""


def hashed(password: str) -> str:
    return hashlib.sha256(password.encode()).hexdigest()


def build(path: Path, seed: int) -> None:
    """Write the database; the same bytes for the same seed."""
    random = Random(seed)
    titles = zip(random.sample(FIRST, 8), random.sample(SECOND, 8), strict=True)
    books = [
        (
            f"{one} {other}",
            AUTHORS[number % 4],
            1950 + random.randrange(70),
            random.randrange(500, 2900, 5),
            random.randint(3, 20),
        )
        for number, (one, other) in enumerate(titles)
    ]
    users = [(email, hashed(PASSWORD), name) for email, name in USERS]
    placed = [
        (1, "2026-03-02T09:15:00", "sent", books[6][3]),
        (1, "2026-03-20T17:40:00", "open", books[7][3]),
    ]
    lines = [(1, 7, 1, books[6][3]), (2, 8, 1, books[7][3])]
    reviews = [(2, 1, 4, "A calm book.")]
    with closing(sqlite3.connect(path)) as database, database:
        for table, columns in TABLES.items():
            database.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {columns})")
        filled: Mapping[str, Sequence[Sequence[object]]] = {
            "users": users,
            "books": books,
            "basket": [(1, 5, 1), (2, 3, 2)],
            "wishlist": [(1, 3), (1, 4)],
            "orders": placed,
            "order_lines": lines,
            "reviews": reviews,
        }
        for table, rows in filled.items():
            insert(database, table, rows)


def insert(database: sqlite3.Connection, table: str, rows: Sequence[Sequence[object]]) -> None:
    """Add rows that have no id yet."""
    for row in rows:
        marks = ", ".join("?" for _ in row)
        database.execute(f"INSERT INTO {table} VALUES (NULL, {marks})", tuple(row))  # noqa: S608


def read(path: Path) -> State:
    """All rows of all tables."""
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        return {
            table: [dict(row) for row in database.execute(f"SELECT * FROM {table} ORDER BY id")]  # noqa: S608
            for table in TABLES
        }


def euros(cents: int) -> str:
    return f"€ {cents // 100}.{cents % 100:02d}"


def layout(title: str, inside: str, *, name: str | None, said: str = "") -> str:
    """A whole page; `name` is the customer's, None before the login."""
    customer = (
        f'<a id="account" href="/account">{escape(name)}</a>'
        if name
        else '<a id="login" href="/login">Log in</a>'
    )
    return (
        f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style>"
        '<nav><a id="home" href="/"><b>Bookshop</b></a><a id="nav-basket" href="/basket">Basket</a>'
        '<a id="nav-orders" href="/orders">Orders</a>'
        f'<a id="nav-wishlist" href="/wishlist">Wishlist</a>{customer}</nav>'
        + (f'<div role="status">{escape(said)}</div>' if said else "")
        + f"<main><h1>{escape(title)}</h1>{inside}</main></html>"
    )


def form(action: str, token: str, inside: str) -> str:
    return (
        f'<form method="post" action="{action}">'
        f'<input type="hidden" name="csrf_token" value="{token}">{inside}</form>'
    )


def button(action: str, token: str, marked: str, label: str) -> str:
    """A form of nothing but a button."""
    return form(action, token, f'<button id="{marked}">{label}</button>')


def field(name: str, label: str, kind: str = "text") -> str:
    return (
        f'<p class="field"><label for="{name}">{label}</label>'
        f'<input id="{name}" name="{name}" type="{kind}" autocomplete="off"></p>'
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """Cells that are HTML already."""
    shown = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{shown}</table>" if rows else "<p>There is nothing here.</p>"


def book_link(row: sqlite3.Row, *, number: str = "id") -> str:
    return f'<a id="book-{row[number]}" href="/book/{row[number]}">{escape(row["title"])}</a>'


def book_list(rows: Sequence[sqlite3.Row], query: str, page: int) -> str:
    """Six books with the search above and the way to the next six below."""
    start = page * PER_PAGE
    shown = [
        (book_link(row), escape(row["author"]), euros(row["price_cents"]))
        for row in rows[start : start + PER_PAGE]
    ]
    more = f'<p><a id="next" href="/search?q={escape(query)}&amp;page={page + 1}">Next page</a></p>'
    return (
        f'<form action="/search"><input id="q" name="q" value="{escape(query)}" placeholder="Title or author">'
        f' <button id="search">Search</button></form>{table(shown)}'
        + (more if len(rows) > start + PER_PAGE else "")
    )


def book_page(book: sqlite3.Row, reviews: Sequence[sqlite3.Row], token: str) -> str:
    said = [(escape(row["name"]), "★" * row["stars"], escape(row["text"])) for row in reviews]
    at = f"/book/{book['id']}"
    return (
        f"<p>{escape(book['author'])}, {book['year']}. {euros(book['price_cents'])}, "
        f"{book['stock']} in stock.</p>"
        + button(f"{at}/basket", token, "add", "Add to basket")
        + " "
        + button(f"{at}/wishlist", token, "wish", "Add to wishlist")
        + f' <a id="write" href="{at}/review">Write a review</a>'
        + f"<h1>Reviews</h1>{table(said)}"
    )


def review_form(book: sqlite3.Row, token: str) -> str:
    stars = "".join(
        f'<label><input type="radio" name="stars" id="stars-{n}" value="{n}"> {n}</label>'
        for n in range(1, 6)
    )
    inside = f'<p class="field stars">{stars}</p>{field("text", "Review")}'
    return form(
        f"/book/{book['id']}/review", token, f'{inside}<button id="rate">Send review</button>'
    )
