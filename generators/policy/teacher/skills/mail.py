"""Skills for a small mail reader and for a stream of posts.

A mail is found by its sender, then answered, forwarded, deleted or starred. Goals are set phrases or
free text, in which a few signs say what to do: quoted words are a reply, two senders mean forwarding,
words such as `trash` mean deleting. A post's buttons are found by its author.
"""

import re
from collections.abc import Generator
from dataclasses import dataclass

from generators.browser.protocol import Node
from generators.policy.protocol import Decision
from generators.policy.teacher.goals import nth, part, parts
from generators.policy.teacher.page import Page, SkillError, say
from generators.policy.teacher.primitives import (
    by_id,
    click,
    fill,
    hover,
    locator,
    submit,
)
from generators.policy.teacher.scrolling import (
    Locator,
    Plan,
    Search,
    can_scroll_down,
    scroll_into_view,
    scroll_on,
)
from schemas.episodes.action import Direction

_FORWARD = r"Find the email by (\w+) and forward that email to (\w+)\."
_DELETE_WORDS = re.compile(
    r"delet|trash|\brid\b|remove|recycling|throw|out of my|don't want|anymore", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class MailRequest:
    """What to do with which mail."""

    kind: str
    """`reply`, `forward`, `delete` or `star`."""
    sender: str
    """The mail's sender."""
    text: str = ""
    """The reply, or the name of the receiver."""


def parse_request(goal: str, senders: list[str]) -> MailRequest:
    """Parse a goal, given the senders in the inbox.

    Raises:
        SkillError: it names none of them.
    """
    match = re.search(_FORWARD, goal)
    if match is not None:
        return MailRequest("forward", match[1], match[2])
    message = max((part.strip() for part in goal.split('"')[1:-1]), key=len, default="")
    rest = goal.replace(message, "") if message else goal
    names = _names_in(rest, senders)
    if not names:
        raise SkillError(f"the goal '{goal}' names nobody who wrote")
    if message:
        return MailRequest("reply", names[0], message)
    if len(names) > 1:
        ranked = sorted(names, key=lambda name: _authorship_score(name, goal), reverse=True)
        return MailRequest("forward", ranked[0], ranked[1])
    return MailRequest("delete" if _DELETE_WORDS.search(goal) else "star", names[0])


def _names_in(text: str, senders: list[str]) -> list[str]:
    """Return the senders that a text names, each once, in the inbox's order; whole words win."""
    names = list(dict.fromkeys(senders))
    whole = [name for name in names if re.search(rf"\b{re.escape(name)}(?:'?s)?\b", text)]
    return whole or [name for name in names if name in text]


def _authorship_score(name: str, goal: str) -> int:
    """Return how strongly the goal suggests that a name is the sender, not the receiver."""
    who = re.escape(name)
    marks = {
        rf"\b(?:from|by) {who}\b": 3,
        rf"\b{who}'?s\b": 2,
        rf"\b{who} (?:sent|wrote)\b": 2,
        rf"\b(?:to|in) {who}\b": -3,
    }
    return sum(weight for mark, weight in marks.items() if re.search(mark, goal, re.IGNORECASE))


def _thread_of(sender: str) -> Locator:
    """Return the locator of a sender's mail in the list."""

    def find(page: Page) -> Node:
        for thread in page.all(cls="email-thread"):
            if page.one(cls="email-sender", within=thread).text == sender:
                return thread
        raise SkillError(f"there is no mail by {sender}")

    return find


def handle_mail(page: Page) -> Plan:
    """Reply to, forward, delete or star a mail, as the goal asks."""
    page, request = yield from _understand(page)
    sender = request.sender
    if request.kind in {"delete", "star"}:
        mark = "trash" if request.kind == "delete" else "star"
        does = "throws it away" if mark == "trash" else "marks it"
        why = say(
            page,
            f"The goal is about the mail by {sender}, so I click its {mark} icon.",
            f"In this line I read {sender}; the {mark} sign on it {does}.",
            f"I see {sender} among the senders, and the {mark} sign beside is what {does}.",
        )
        page = yield from _look_for(page, sender)
        icon: Locator = lambda now: now.one(cls=mark, within=_thread_of(sender)(now))  # noqa: E731 - used once
        return (yield from click(page, icon, why))
    why = say(
        page,
        f"The goal is about the mail by {sender}, so I open it.",
        f"Among the senders I see {sender}, whose mail is meant: I click this line.",
    )
    page = yield from _look_for(page, sender)
    page = yield from click(page, _thread_of(sender), why)
    why = say(
        page,
        f"The mail by {sender} is open; the goal asks me to {request.kind}, so I press that.",
        f"This is what {sender} wrote. Below it I see the sign to {request.kind}, so I click it.",
    )
    page = yield from click(page, locator("span", cls=f"email-{request.kind}"), why)
    if request.kind == "reply":
        why = say(
            page,
            f"The answer to {sender} is to be '{request.text}', so I write that.",
            f"The empty space is for my answer; the goal gives it: '{request.text}'.",
        )
        page = yield from fill(page, by_id("reply-text"), request.text, why)
    else:
        why = say(
            page,
            f"The mail is to go to '{request.text}', so I type that name.",
            f"The line for the receiver is empty; it is '{request.text}'.",
        )
        into = "I see where the receiver's name belongs, so I click there."
        field = locator("input", cls="forward-sender")
        page = yield from fill(page, field, request.text, why, into=into)
    return (
        yield from click(page, by_id(f"send-{request.kind}"), "All is written, so I send it off.")
    )


def _understand(page: Page) -> Generator[Decision, Page, tuple[Page, MailRequest]]:
    """Return what the goal asks for, after a look at who wrote, as far as that is needed to understand it."""
    search = Search()
    while True:
        try:
            senders = [node.text for node in page.all(cls="email-sender")]
            return page, parse_request(page.goal, senders)
        except SkillError:
            page = yield from search.go_on(page, "None of these senders is named in the goal")


def _look_for(page: Page, sender: str) -> Plan:
    """Scroll until a sender's mail is in sight."""
    because = say(
        page,
        f"I do not see {sender} among the senders yet",
        f"These mails are all by others than {sender}",
    )
    return (yield from scroll_into_view(page, _thread_of(sender), because))


_POST_BUTTONS = frozenset({"reply", "retweet", "like", "share"})


def _post_of(author: str, place: int) -> Locator:
    """Return the locator of an author's `place`-th post, from 1."""

    def find(page: Page) -> Node:
        posts = _posts_by(page, author)
        if len(posts) < place:
            raise SkillError(f"there is no {nth(place)} post by {author}")
        return posts[place - 1]

    return find


def _posts_by(page: Page, author: str) -> list[Node]:
    return [
        post
        for post in page.all(cls="media")
        if page.one(cls="username", within=post).text == author
    ]


def _icon_of(author: str, mark: str, place: int = 1) -> Locator:
    return lambda page: page.one(cls=mark, within=_post_of(author, place)(page))


def use_post(page: Page) -> Plan:
    """Press a button of an author's post; one that is not on the post is in its menu."""
    author, name = parts(r'user (@\S+), click on the "(.*?)" button', page.goal)
    if name.lower() in _POST_BUTTONS:
        return (yield from _press_icon(page, author, name.lower()))
    page = yield from _press_icon(page, author, "more")
    item = _post_menu_item(author, name)
    because = f"The menu is open, but I do not see '{name}' in it"
    page = yield from scroll_into_view(page, item, because)
    why = say(
        page,
        f"The menu holds '{name}', so I click it.",
        f"In the menu of the post I read '{name}', which the goal asks for.",
    )
    return (yield from click(page, item, why))


def _press_icon(page: Page, author: str, mark: str) -> Plan:
    """Hover over an icon and then click it: it is redrawn under the pointer, at first empty."""
    icon = _icon_of(author, mark)
    sign = f"sign to {mark}" if mark in _POST_BUTTONS else "three dots for more choices"
    page = yield from scroll_into_view(page, icon, f"I do not see a whole post by {author} yet")
    page = yield from hover(
        page,
        icon,
        say(
            page,
            f"This is the post by {author}, so I point at its {sign}.",
            f"I see {author} above this post, and below it the {sign}, which I point at.",
        ),
    )
    why = f"The pointer is on the {sign} of the post by {author}, so I click."
    return (yield from click(page, icon, why))


def _post_menu_item(author: str, name: str) -> Locator:
    """Return the locator of an item of a post's menu by the start of its text."""

    def find(page: Page) -> Node:
        post = _post_of(author, 1)(page)
        return page.one("li", within=post, where=lambda node: node.text.startswith(name))

    return find


def use_posts(page: Page) -> Plan:
    """Press the same button on all posts of an author, or on as many as the goal says, and submit."""
    name, author = parts(r'"(.*?)" button on .*? by (@\S+) and then', page.goal)
    count = part(r"button on (all|\d+) post", page.goal)
    pressed = 0
    while count == "all" or pressed < int(count):
        icons = [page.one(cls=name.lower(), within=post) for post in _posts_by(page, author)]
        reachable = len(icons) > pressed and icons[pressed].point is not None
        if reachable:
            pressed += 1
            why = say(
                page,
                f"This is the {nth(pressed)} post by {author}, so I click its {name.lower()} sign.",
                f"Another post by {author}, number {pressed}: I click the sign to {name.lower()}."
                if pressed > 1
                else f"The first post by {author} is here: I click the sign to {name.lower()}.",
            )
            page = yield from click(page, _icon_of(author, name.lower(), pressed), why)
            continue
        frame = page.by_id("area")
        if not can_scroll_down(frame):
            break
        why = f"There may be more posts by {author} below"
        page = yield from scroll_on(page, frame, Direction.DOWN, why)
    return (yield from submit(page))
