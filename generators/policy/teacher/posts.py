"""Skills for a stream of posts: press a post's buttons, or many posts' buttons, by their author."""

from generators.browser.protocol import Node
from generators.policy.teacher.goals import nth, part, parts
from generators.policy.teacher.page import Lost, Page
from generators.policy.teacher.primitives import Find, Plan, hover, press, submit

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
