"""The controls above a list: its search, its filters and its order, and whether they are set already.

A list is narrowed by a form that only asks, and what was asked for stands in the address of the page.
"""

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlsplit

from generators.browser.protocol import Node
from generators.policy.named_elements import Page
from generators.policy.reference_actions import sends_form
from schemas.tasks.reference import Do, ReferenceStep


def narrows_list(thing: Node, front: Node) -> bool:
    """Return whether an element is the search of what a page lists, or one of the choices that filter or order it.

    `front` is what lies in front, with the form around them. A form in which something is changed is sent by another method.
    """
    if thing.attrs.get("type") == "search":
        return True
    forms = (one for one in front.walk() if one.tag == "form")
    around = (one for one in forms if any(each is thing for each in one.walk()))
    return not sends_form(thing) and any(one.attrs.get("method") == "get" for one in around)


def is_set(steps: Sequence[ReferenceStep], page: Page, url: str) -> bool:
    """Return whether a list is narrowed and ordered by certain steps already, as its address says, and by nothing else."""
    wanted = dict[str, str]()
    for step in steps:
        thing = page.find(step)
        if step.do is Do.WAIT or (thing is not None and sends_form(thing)):
            continue
        if thing is None:
            return False
        field = _field_of(thing, page.front)
        value = field.attrs.get("value") if step.do is Do.CLICK else step.text
        wanted[field.attrs.get("name", "")] = value or ""
    return bool(wanted) and wanted == dict(parse_qsl(urlsplit(url).query))


def _field_of(thing: Node, front: Node) -> Node:
    """Return the field of a label, or the field."""
    named = thing.attrs.get("for") if thing.tag == "label" else None
    fields = (one for one in front.walk() if named and one.attrs.get("id") == named)
    return next(fields, thing)
