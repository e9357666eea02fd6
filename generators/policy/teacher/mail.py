"""Skills for a small mail reader and for a stream of posts.

A mail is found by its sender, then answered, forwarded, deleted or marked. Goals come in set
sentences and in free words, where a few marks say what to do: quoted words are an answer, two
senders mean forwarding, words of throwing away mean deleting. A post's buttons are found by its
author.
"""

import re
from dataclasses import dataclass

from generators.browser.protocol import Node
from generators.policy.teacher.goals import nth, part, parts
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import (
    Find,
    Plan,
    hover,
    press,
    submit,
    the,
    with_id,
    write,
)

_SET = r"Find the email by (\w+) and forward that email to (\w+)\."
_DELETING = re.compile(
    r"delet|trash|\brid\b|remove|recycling|throw|out of my|don't want|anymore", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be done with which mail."""

    kind: str
    """`reply`, `forward`, `delete` or `star`."""
    sender: str
    """Whose mail."""
    text: str = ""
    """The answer, or who it is forwarded to."""


def understand(goal: str, senders: list[str]) -> Errand:
    """Return the errand a goal describes, given the senders in the inbox.

    Raises:
        Lost: it names nobody who sent a mail.
    """
    set_forward = re.search(_SET, goal)
    if set_forward is not None:
        return Errand("forward", set_forward[1], set_forward[2])
    message = max((part.strip() for part in goal.split('"')[1:-1]), key=len, default="")
    rest = goal.replace(message, "") if message else goal
    named_in_goal = _named(rest, senders)
    if not named_in_goal:
        raise Lost(f"the goal '{goal}' names nobody who wrote")
    if message:
        return Errand("reply", named_in_goal[0], message)
    if len(named_in_goal) > 1:
        ranked = sorted(named_in_goal, key=lambda name: _authorship(name, goal), reverse=True)
        return Errand("forward", ranked[0], ranked[1])
    return Errand("delete" if _DELETING.search(goal) else "star", named_in_goal[0])


def _named(text: str, senders: list[str]) -> list[str]:
    """Return the senders a text names, whole words if it can; each once, in the inbox's order."""
    names = list(dict.fromkeys(senders))
    whole = [name for name in names if re.search(rf"\b{re.escape(name)}(?:'?s)?\b", text)]
    return whole or [name for name in names if name in text]


def _authorship(name: str, goal: str) -> int:
    """Return how much the goal speaks of somebody as the author rather than the receiver."""
    who = re.escape(name)
    marks = {
        rf"\b(?:from|by) {who}\b": 3,
        rf"\b{who}'?s\b": 2,
        rf"\b{who} (?:sent|wrote)\b": 2,
        rf"\b(?:to|in) {who}\b": -3,
    }
    return sum(weight for mark, weight in marks.items() if re.search(mark, goal, re.IGNORECASE))


def _thread_of(sender: str) -> Find:
    """Return how to find a sender's mail in the list."""

    def find(page: Page) -> Node:
        for thread in page.all(cls="email-thread"):
            if page.one(cls="email-sender", within=thread).text == sender:
                return thread
        raise Lost(f"there is no mail by {sender}")

    return find


def _mark_of(sender: str, mark: str) -> Find:
    return lambda page: page.one(cls=mark, within=_thread_of(sender)(page))


def do_errand(page: Page) -> Plan:
    """Do with the mail what the goal asks for."""
    errand = understand(page.goal, [node.text for node in page.all(cls="email-sender")])
    sender = errand.sender
    if errand.kind in {"delete", "star"}:
        mark = "trash" if errand.kind == "delete" else "star"
        why = f"The goal is about the mail by {sender}, so I click its {mark} icon."
        return (yield from press(page, _mark_of(sender, mark), why))
    why = f"The goal is about the mail by {sender}, so I open it."
    page = yield from press(page, _thread_of(sender), why)
    why = f"The mail by {sender} is open; the goal asks me to {errand.kind}."
    page = yield from press(page, the("span", cls=f"email-{errand.kind}"), why)
    if errand.kind == "reply":
        page = yield from write(page, with_id("reply-text"), errand.text, "This is the answer.")
    else:
        why = f"It is to go to {errand.text}."
        page = yield from write(page, the("input", cls="forward-sender"), errand.text, why)
    return (yield from press(page, with_id(f"send-{errand.kind}"), "All is written, so I send it."))


_ON_THE_POST = frozenset({"reply", "retweet", "like", "share"})


def _post_of(author: str, place: int) -> Find:
    """Return how to find an author's `place`-th post, from 1."""

    def find(page: Page) -> Node:
        posts = _posts_by(page, author)
        if len(posts) < place:
            raise Lost(f"there is no {nth(place)} post by {author}")
        return posts[place - 1]

    return find


def _posts_by(page: Page, author: str) -> list[Node]:
    return [
        post
        for post in page.all(cls="media")
        if page.one(cls="username", within=post).text == author
    ]


def _in_post(author: str, mark: str, place: int = 1) -> Find:
    return lambda page: page.one(cls=mark, within=_post_of(author, place)(page))


def use_post(page: Page) -> Plan:
    """Press one button of one author's post, in its menu if it is not on the post itself."""
    author, name = parts(r'user (@\S+), click on the "(.*?)" button', page.goal)
    if name.lower() in _ON_THE_POST:
        return (yield from _press_icon(page, author, name.lower()))
    page = yield from _press_icon(page, author, "more")
    item = _item(author, name)
    return (yield from press(page, item, f"The menu holds '{name}', so I click it."))


def _press_icon(page: Page, author: str, mark: str) -> Plan:
    """Point at an icon and then click it: it is drawn anew under the pointer, at first empty."""
    icon = _in_post(author, mark)
    page = yield from hover(page, icon, f"This is the post by {author}, so I point at '{mark}'.")
    return (yield from press(page, icon, f"The pointer is on '{mark}', so I click."))


def _item(author: str, name: str) -> Find:
    """Return how to find an item of a post's menu by how it begins."""

    def find(page: Page) -> Node:
        post = _post_of(author, 1)(page)
        return page.one("li", within=post, where=lambda node: node.text.startswith(name))

    return find


def use_posts(page: Page) -> Plan:
    """Press the same button on all posts of an author, or on as many as the goal says."""
    name, author = parts(r'"(.*?)" button on .*? by (@\S+) and then', page.goal)
    count = part(r"button on (all|\d+) post", page.goal)
    posts = len(_posts_by(page, author))
    for place in range(1, (posts if count == "all" else int(count)) + 1):
        why = f"This is the {nth(place)} post by {author}, so I click its {name}."
        page = yield from press(page, _in_post(author, name.lower(), place), why)
    return (yield from submit(page))
