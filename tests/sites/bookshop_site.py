"""The bookshop's routes: who is logged in, what each form does, and which page answers.

A customer is known by the signed cookie `session`. Every POST asks for the `csrf_token` of a form that
was made for that customer; a form's answer is a redirect, as after any form.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from sites.bookshop import (
    book_link,
    book_list,
    book_page,
    button,
    euros,
    field,
    form,
    hashed,
    insert,
    review_form,
    table,
)
from sites.bookshop_visit import NOBODY, Visit, check_token, session_cookie
from sites.serving import Answer, Request, Route, redirect

Handler = Callable[..., Answer]


class Shop:
    """The site on its database file, which is opened for each request and closed after it."""

    def __init__(self, path: Path, *, leaks: bool = False) -> None:
        self._path = path
        self._leaks = leaks
        self._remembered: list[tuple[object, ...]] = []
        both: Mapping[str, tuple[Handler, Handler]] = {
            "/login": (login_page, log_in),
            "/account": (account, rename),
            "/book/([0-9]+)/review": (review_page, review),
        }
        get: Mapping[str, Handler] = {
            "/": search,
            "/search": search,
            "/book/([0-9]+)": book,
            "/basket": basket,
            "/wishlist": wishlist,
            "/orders": orders,
        }
        post: Mapping[str, Handler] = {
            "/logout": log_out,
            "/book/([0-9]+)/(basket|wishlist)": put,
            "/basket/([0-9]+)/(more|less|drop)": adjust,
            "/basket/order": order,
            "/wishlist/([0-9]+)/(drop|move)": unwish,
            "/orders/([0-9]+)/cancel": cancel,
        }
        shown = {**get, **{path: pair[0] for path, pair in both.items()}}
        sent = {**post, **{path: pair[1] for path, pair in both.items()}}
        self.routes = [
            *(Route("GET", path, self._open(handler)) for path, handler in shown.items()),
            *(Route("POST", path, self._open(handler)) for path, handler in sent.items()),
        ]

    def _open(self, handler: Handler) -> Handler:
        def answer(request: Request, *parts: str) -> Answer:
            with self._visit(request) as visit:
                if request.method == "POST":
                    check_token(visit.user, request.form().get("csrf_token", ""))
                if visit.user == NOBODY and handler in PRIVATE:
                    return redirect(f"/login?next={quote(request.path)}")
                return handler(visit, *parts)

        return answer

    @contextmanager
    def _visit(self, request: Request) -> Iterator[Visit]:
        with closing(sqlite3.connect(self._path)) as database, database:
            database.row_factory = sqlite3.Row
            if self._leaks:
                database.executemany(
                    "INSERT OR IGNORE INTO basket VALUES (?, ?, ?, ?)", self._remembered
                )
            yield Visit(request, database)
            self._remembered = [tuple(row) for row in database.execute("SELECT * FROM basket")]


def search(visit: Visit) -> Answer:
    query = visit.request.query.get("q", "")
    page = visit.request.query.get("page", "0")
    like = f"%{query}%"
    found = visit.rows("SELECT * FROM books WHERE title LIKE ? OR author LIKE ?", like, like)
    return visit.page("Books", book_list(found, query, int(page) if page.isdigit() else 0))


def book(visit: Visit, number: str) -> Answer:
    one = visit.row("SELECT * FROM books WHERE id = ?", number)
    said = visit.rows(
        "SELECT name, stars, text FROM reviews JOIN users ON users.id = user_id WHERE book_id = ?",
        number,
    )
    return visit.page(one["title"], book_page(one, said, visit.token()))


def put(visit: Visit, number: str, where: str) -> Answer:
    visit.row("SELECT * FROM books WHERE id = ?", number)
    owned = f"SELECT * FROM {where} WHERE user_id = ? AND book_id = ?"  # noqa: S608
    if visit.rows(owned, visit.user, number):
        more = "UPDATE basket SET quantity = quantity + 1 WHERE user_id = ? AND book_id = ?"
        if where == "basket":
            visit.do(more, visit.user, number)
    else:
        row = (visit.user, int(number), 1) if where == "basket" else (visit.user, int(number))
        insert(visit.database, where, [row])
    return redirect(f"/{where}")


def basket(visit: Visit) -> Answer:
    rows = visit.rows(
        "SELECT basket.id, book_id, title, quantity, price_cents FROM basket"
        " JOIN books ON books.id = book_id WHERE user_id = ?",
        visit.user,
    )
    token = visit.token()
    shown = [
        (
            book_link(row, number="book_id"),
            f"{row['quantity']} ×",
            euros(row["price_cents"]),
            *(
                button(f"/basket/{row['id']}/{verb}", token, f"{verb}-{row['id']}", label)
                for verb, label in (("more", "More"), ("less", "Less"), ("drop", "Remove"))
            ),
        )
        for row in rows
    ]
    total = sum(row["quantity"] * row["price_cents"] for row in rows)
    pay = f"<p>Total {euros(total)} {button('/basket/order', token, 'order', 'Place order')}</p>"
    return visit.page("Basket", table(shown) + (pay if rows else ""))


def adjust(visit: Visit, number: str, verb: str) -> Answer:
    row = visit.row("SELECT * FROM basket WHERE id = ? AND user_id = ?", number, visit.user)
    quantity = {"more": row["quantity"] + 1, "less": row["quantity"] - 1, "drop": 0}[verb]
    if quantity:
        visit.do("UPDATE basket SET quantity = ? WHERE id = ?", quantity, number)
    else:
        visit.do("DELETE FROM basket WHERE id = ?", number)
    return redirect("/basket")


def order(visit: Visit) -> Answer:
    rows = visit.rows(
        "SELECT book_id, quantity, price_cents FROM basket"
        " JOIN books ON books.id = book_id WHERE user_id = ?",
        visit.user,
    )
    if not rows:
        return redirect("/basket")
    total = sum(row["quantity"] * row["price_cents"] for row in rows)
    placed = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    insert(visit.database, "orders", [(visit.user, placed, "open", total)])
    number = visit.row("SELECT last_insert_rowid() AS id")["id"]
    for row in rows:
        insert(visit.database, "order_lines", [(number, *row)])
        visit.do("UPDATE books SET stock = stock - ? WHERE id = ?", row["quantity"], row["book_id"])
    visit.do("DELETE FROM basket WHERE user_id = ?", visit.user)
    return redirect("/orders")


def orders(visit: Visit) -> Answer:
    rows = visit.rows("SELECT * FROM orders WHERE user_id = ? ORDER BY id DESC", visit.user)
    lines = visit.rows("SELECT * FROM order_lines JOIN books ON books.id = book_id")
    token = visit.token()
    shown = [
        (
            f"No. {row['id']}",
            ", ".join(
                f"{line['quantity']} × {line['title']}"
                for line in lines
                if line["order_id"] == row["id"]
            ),
            euros(row["total_cents"]),
            button(f"/orders/{row['id']}/cancel", token, f"cancel-{row['id']}", "Cancel")
            if row["status"] == "open"
            else row["status"],
        )
        for row in rows
    ]
    return visit.page("Orders", table(shown))


def cancel(visit: Visit, number: str) -> Answer:
    mine = "SELECT * FROM orders WHERE id = ? AND user_id = ? AND status = 'open'"
    visit.row(mine, number, visit.user)
    visit.do("UPDATE orders SET status = 'cancelled' WHERE id = ?", number)
    return redirect("/orders")


def wishlist(visit: Visit) -> Answer:
    rows = visit.rows(
        "SELECT wishlist.id, book_id, title FROM wishlist"
        " JOIN books ON books.id = book_id WHERE user_id = ?",
        visit.user,
    )
    token = visit.token()
    shown = [
        (
            book_link(row, number="book_id"),
            button(f"/wishlist/{row['id']}/move", token, f"move-{row['id']}", "Move to basket"),
            button(f"/wishlist/{row['id']}/drop", token, f"drop-{row['id']}", "Remove"),
        )
        for row in rows
    ]
    return visit.page("Wishlist", table(shown))


def unwish(visit: Visit, number: str, verb: str) -> Answer:
    row = visit.row("SELECT * FROM wishlist WHERE id = ? AND user_id = ?", number, visit.user)
    visit.do("DELETE FROM wishlist WHERE id = ?", number)
    return put(visit, str(row["book_id"]), "basket") if verb == "move" else redirect("/wishlist")


def review_page(visit: Visit, number: str) -> Answer:
    one = visit.row("SELECT * FROM books WHERE id = ?", number)
    return visit.page(f"Review of {one['title']}", review_form(one, visit.token()))


def review(visit: Visit, number: str) -> Answer:
    sent = visit.request.form()
    one = visit.row("SELECT * FROM books WHERE id = ?", number)
    if sent.get("stars", "") not in set("12345"):
        return visit.page(one["title"], review_form(one, visit.token()), said="Choose the stars.")
    row = (visit.user, int(number), int(sent["stars"]), sent.get("text", "").strip())
    insert(visit.database, "reviews", [row])
    return redirect(f"/book/{number}")


def login_page(visit: Visit, said: str = "") -> Answer:
    path = visit.request.query.get("next", "/")
    fields = field("email", "Email") + field("password", "Password", "password")
    inside = f'{fields}<button id="enter">Log in</button>'
    return visit.page(
        "Log in", form(f"/login?next={quote(path)}", visit.token(), inside), said=said
    )


def log_in(visit: Visit) -> Answer:
    sent = visit.request.form()
    given = (sent.get("email", "").strip(), hashed(sent.get("password", "")))
    known = visit.rows("SELECT id FROM users WHERE email = ? AND password = ?", *given)
    if not known:
        return login_page(visit, "Email or password is wrong.")
    path = visit.request.query.get("next", "/")
    inside = path if path.startswith("/") and not path.startswith("//") else "/"
    cookie = f"session={session_cookie(known[0]['id'])}; Path=/; HttpOnly; SameSite=Lax"
    return redirect(inside, Set_Cookie=cookie)


def log_out(visit: Visit) -> Answer:
    del visit
    return redirect("/", Set_Cookie="session=; Path=/; Max-Age=0")


def account(visit: Visit) -> Answer:
    known = visit.row("SELECT * FROM users WHERE id = ?", visit.user)
    inside = f'{field("name", "New name")}<button id="rename">Change name</button>'
    shown = f"<p>{known['email']}</p>{form('/account', visit.token(), inside)}"
    return visit.page("Account", shown + button("/logout", visit.token(), "logout", "Log out"))


def rename(visit: Visit) -> Answer:
    name = visit.request.form().get("name", "").strip()
    if name:
        visit.do("UPDATE users SET name = ? WHERE id = ?", name, visit.user)
    return redirect("/account")


PRIVATE = (
    put,
    basket,
    adjust,
    order,
    orders,
    cancel,
    wishlist,
    unwish,
    review_page,
    review,
    account,
    rename,
)
"""What only a customer may do who has logged in."""
