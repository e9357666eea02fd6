"""Tasks for the bookshop: one of each template, about what its database holds before a visit."""

from collections.abc import Callable, Sequence
from functools import partial

from sites.bookshop import PASSWORD, euros
from sites.tasks import (
    Action,
    Change,
    Row,
    SiteTask,
    State,
    added,
    changed,
    click,
    fill,
    press,
    removed,
)

USER = 1
EMAIL = "alice.j@test.com"
KNOWN = f"You are {EMAIL}, your password is {PASSWORD}."
LOGIN = (
    click("#login"),
    fill("#email", EMAIL),
    fill("#password", PASSWORD),
    click("#enter"),
)

Make = Callable[..., SiteTask]


def tasks(seed: int, state: State) -> Sequence[SiteTask]:
    """Fourteen tasks on `state`, which is the one of `seed`; all but two need the login of one user."""
    task = partial(SiteTask, seed=seed, start="/")
    return [
        *_basket(task, state),
        *_orders(task, state),
        *_wishes(task, state),
        *_reading(task, state["books"]),
        *_writing(task, state["books"]),
    ]


def _find(book: Row) -> Sequence[Action]:
    """From any page to the book's, by its title."""
    return (
        click("#home"),
        fill("#q", str(book["title"])),
        press("Enter"),
        click(f"#book-{book['id']}"),
    )


def _mine(task: Make, template: str, instruction: str, outcome: str, *changes: Change) -> Make:
    """A task of the user who logs in first; it is called with the actions after that."""

    def make(*actions: Action) -> SiteTask:
        return task(
            template,
            instruction=f"{instruction} {KNOWN}",
            outcome=outcome,
            changes=changes,
            reference=(*LOGIN, *actions),
        )

    return make


def _basket(task: Make, state: State) -> Sequence[SiteTask]:
    one, two = state["books"][0], state["books"][7]
    held = state["basket"][0]
    new = added("basket", user_id=USER, book_id=one["id"], quantity=1)
    return [
        _mine(
            task, "add", f"Put “{one['title']}” into the basket.", "it is in the basket once", new
        )(*_find(one), click("#add")),
        _mine(
            task,
            "add-two",
            f"Put two copies of “{two['title']}” into the basket.",
            "it is in the basket twice",
            added("basket", user_id=USER, book_id=two["id"], quantity=2),
        )(*_find(two), click("#add"), click("#more-3")),
        _mine(
            task,
            "more",
            "Raise what is in the basket to three copies.",
            "the book that was in the basket is in it three times",
            changed("basket", {"id": held["id"]}, quantity=3),
        )(click("#nav-basket"), click("#more-1"), click("#more-1")),
        _mine(
            task,
            "empty",
            "Empty the basket.",
            "the basket is empty",
            removed("basket", user_id=USER),
        )(click("#nav-basket"), click("#drop-1")),
    ]


def _ordered(rows: Sequence[Row]) -> Sequence[Change]:
    """What an order of one copy of each of these books changes."""
    cents = [int(row["price_cents"] or 0) for row in rows]
    return (
        added("orders", user_id=USER, status="open", total_cents=sum(cents)),
        *(
            added("order_lines", order_id=3, book_id=row["id"], quantity=1, price_cents=each)
            for row, each in zip(rows, cents, strict=True)
        ),
        *(changed("books", {"id": row["id"]}, stock=int(row["stock"] or 0) - 1) for row in rows),
    )


def _orders(task: Make, state: State) -> Sequence[SiteTask]:
    held, more = state["books"][4], state["books"][1]
    gone = removed("basket", user_id=USER)
    return [
        _mine(
            task, "order", "Order what is in the basket.", "it is ordered", gone, *_ordered([held])
        )(click("#nav-basket"), click("#order")),
        _mine(
            task,
            "order-more",
            f"Order what is in the basket and one copy of “{more['title']}”, together.",
            "both books are in one new order",
            gone,
            *_ordered([held, more]),
        )(*_find(more), click("#add"), click("#order")),
        _mine(
            task,
            "cancel",
            "Cancel the order that is still open.",
            "that order is cancelled",
            changed("orders", {"id": 2}, status="cancelled"),
        )(click("#nav-orders"), click("#cancel-2")),
    ]


def _wishes(task: Make, state: State) -> Sequence[SiteTask]:
    new, old = state["books"][5], state["books"][2]
    return [
        _mine(
            task,
            "wish",
            f"Put “{new['title']}” on the wishlist.",
            "it is on the wishlist",
            added("wishlist", user_id=USER, book_id=new["id"]),
        )(*_find(new), click("#wish")),
        _mine(
            task,
            "unwish",
            f"Take “{old['title']}” off the wishlist.",
            "it is no longer on the wishlist",
            removed("wishlist", user_id=USER, book_id=old["id"]),
        )(click("#nav-wishlist"), click("#drop-1")),
        _mine(
            task,
            "move",
            f"Move “{old['title']}” from the wishlist to the basket.",
            "it is in the basket and no longer on the wishlist",
            removed("wishlist", user_id=USER, book_id=old["id"]),
            added("basket", user_id=USER, book_id=old["id"], quantity=1),
        )(click("#nav-wishlist"), click("#move-1")),
    ]


def _reading(task: Make, books: Sequence[Row]) -> Sequence[SiteTask]:
    priced, dated = books[6], books[3]

    def ask(template: str, book: Row, question: str, answer: str) -> SiteTask:
        return task(
            template,
            instruction=question,
            outcome="nothing has changed; the answer is right",
            changes=(),
            reference=_find(book),
            answer=answer,
        )

    cents = int(priced["price_cents"] or 0)
    return [
        ask("price", priced, f"What does “{priced['title']}” cost?", euros(cents)),
        ask("year", dated, f"In which year did “{dated['title']}” appear?", str(dated["year"])),
    ]


def _writing(task: Make, books: Sequence[Row]) -> Sequence[SiteTask]:
    book = books[1]
    return [
        _mine(
            task,
            "review",
            f"Give “{book['title']}” four stars and the review: Worth reading twice.",
            "there is one such review more",
            added(
                "reviews", user_id=USER, book_id=book["id"], stars=4, text="Worth reading twice."
            ),
        )(
            *_find(book),
            click("#write"),
            click("#stars-4"),
            fill("#text", "Worth reading twice."),
            click("#rate"),
        ),
        _mine(
            task,
            "rename",
            "Change the name of the account to Alice Smith.",
            "the user has that name",
            changed("users", {"id": USER}, name="Alice Smith"),
        )(click("#account"), fill("#name", "Alice Smith"), click("#rename")),
    ]
