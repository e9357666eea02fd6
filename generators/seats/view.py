"""What a client sees, as JSON: the picture in base64, the page's address and title, and elements as text if asked.

Nothing of the task's reference or expectation is in it, and no element is named by what a page keeps to itself.
"""

import base64
from collections.abc import Iterable

from generators.seats.seat import SeatView
from schemas.base import JsonObject
from schemas.episodes.observation import Element, Observation

MAX_ELEMENTS = 200
"""The maximum number of elements that are told as text."""


def observation_of(view: SeatView, *, elements: bool = False, picture: bool = True) -> JsonObject:
    """Return what a client is shown of a view, without reward and end.

    Keys: `instruction`, `step` (the number of the next action), `screenshot` (JPEG or PNG in base64; None without a
    page), `media_type`, `width` and `height` (px of the picture), `viewport` (CSS px, in which actions point), `url`,
    `title`, `tabs`, `action_error`, `result_text`, and `elements` if asked for.
    """
    seen = view.observation
    told: JsonObject = {"instruction": view.instruction, "step": view.number}
    if seen is not None:
        told |= _page_of(seen, picture=picture)
        if elements:
            told["elements"] = [text_of(one) for one in told_elements(seen)]
    last = view.last
    told["action_error"] = None if last is None else last.action_error
    told["result_text"] = None if last is None else last.result_text
    return told


def _page_of(seen: Observation, *, picture: bool) -> JsonObject:
    page: JsonObject = {
        "width": seen.width,
        "height": seen.height,
        "url": seen.page.url,
        "title": seen.page.title,
        "tabs": list(seen.page.tabs or ()),
    }
    if picture:
        page["screenshot"] = base64.b64encode(seen.screenshot.bytes).decode()
        page["media_type"] = media_type(seen.screenshot.bytes)
    return page


def media_type(picture: bytes) -> str:
    """Return the media type of a picture."""
    return "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"


def told_elements(seen: Observation) -> list[Element]:
    """Return the elements that are told as text: those in sight that have a name, a text, a value or a use."""
    return elements_in_sight(seen.elements)


def elements_in_sight(elements: Iterable[Element]) -> list[Element]:
    """Return those of a page's elements that are told as text."""
    shown = [
        one
        for one in elements
        if one.visible > 0 and not one.covered and (one.interactive or one.name or one.text)
    ]
    return shown[:MAX_ELEMENTS]


def text_of(element: Element) -> str:
    """Return an element as one line: role, name, value, and the middle of its box in CSS px."""
    left, top, width, height = element.bbox
    name = element.name or element.text
    value = "" if element.value is None else f' = "{element.value}"'
    return f'{element.role or element.tag} "{name}"{value} at {left + width / 2:.0f},{top + height / 2:.0f}'
