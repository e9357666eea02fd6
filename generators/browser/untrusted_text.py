"""Converts text of a page and its dialogs for records: the one place where it is truncated.

The results of `page.js` become records here. `page.js` has truncated most texts already, to send less, but
nothing here relies on that. Only hashes are taken over the whole text. A truncated address is never opened
or compared with an origin: the browser and the action have the whole one.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from generators.browser.protocol import Node
from schemas.base import sha256_hex
from schemas.configuration.masks import Masks
from schemas.episodes.observation import DialogKind, Element, OpenDialog, PageState, Sight, Target
from schemas.truncation import (
    DIALOG_BYTES,
    GOAL_BYTES,
    LABEL_BYTES,
    TITLE_BYTES,
    URL_BYTES,
    truncate,
)

_ELEMENTS = TypeAdapter(tuple[Element, ...])
_SIGHTS = TypeAdapter(tuple[Sight, ...])


def page_state(
    state: dict[str, Any], masks: Masks | None = None, *, tab: int, tabs: Sequence[str]
) -> PageState:
    """Return the state of a page from the result of `stepmill.observe`; its hashes exclude masked parts.

    It is the tab `tab`; `tabs` are the titles of all, empty where there is only one.
    """
    hide = masks.hide if masks is not None else str
    return PageState(
        url=truncate(state["url"], URL_BYTES),
        title=truncate(state["title"], TITLE_BYTES),
        form_sha256=_hash(hide(state["form"])),
        focus=_label("focus", state["focus"]),
        scroll_x=state["scrollX"],
        scroll_y=state["scrollY"],
        dom_sha256=_hash(hide(state["dom"])),
        tab=tab,
        tabs=tuple(truncate(title, TITLE_BYTES) for title in tabs),
    )


def empty_page(url: str) -> PageState:
    """Return the state of a page at `url` that shows nothing yet."""
    return PageState(url=truncate(url, URL_BYTES), title="", scroll_x=0, scroll_y=0, tab=0, tabs=())


def elements(raw: Sequence[dict[str, Any]]) -> tuple[Element, ...]:
    """Return the elements of a page from the result of `stepmill.observe`."""
    return _ELEMENTS.validate_python([_labels(element) for element in raw])


def sights(raw: Sequence[dict[str, Any]]) -> tuple[Sight, ...]:
    """Return the sights of a picture from the result of `stepmill.observe`."""
    return _SIGHTS.validate_python([_labels(sight) for sight in raw])


def target(raw: dict[str, Any] | None) -> Target | None:
    """Return the element under a point from the result of `stepmill.target`; None for None."""
    return Target.model_validate(_labels(raw)) if raw else None


def document(raw: dict[str, Any]) -> Node:
    """Return the root of a document from the result of `stepmill.read`.

    A skill may quote any text of it, so all are truncated.
    """
    return _node(raw["root"], [_truncate_texts(styles) for styles in raw["styles"]])


def _node(tree: dict[str, Any], styles: Sequence[dict[str, str]]) -> Node:
    children = [_node(child, styles) for child in tree.pop("children")]
    style = styles[tree.pop("style")]
    box, point, scroll = tree.pop("box"), tree.pop("point"), tree.pop("scroll")
    inner, words = tree.pop("inner"), tree.pop("words")
    return Node(
        **{name: _truncate_texts(value) for name, value in tree.items()},
        style=style,
        box=(box[0], box[1], box[2], box[3]),
        point=(point[0], point[1]) if point else None,
        inner=(inner[0], inner[1]),
        scroll=(scroll[0], scroll[1], scroll[2], scroll[3]) if scroll else None,
        words=tuple(
            (truncate(word, LABEL_BYTES), (at[0], at[1], at[2], at[3])) for word, at in words
        ),
        children=children,
    )


def dialog(kind: DialogKind, *, title: str, message: str, text: str | None) -> OpenDialog:
    """Return an open dialog; `text` is what its field holds, None where it has none."""
    return OpenDialog(
        kind=kind,
        title=truncate(title, TITLE_BYTES),
        message=truncate(message, DIALOG_BYTES),
        text=None if text is None else truncate(text, DIALOG_BYTES),
    )


def result_text(told: Sequence[str]) -> str | None:
    """Return what pages said during an action, for the policy; None if they said nothing."""
    return truncate("; ".join(told), DIALOG_BYTES) if told else None


def _labels(raw: dict[str, Any]) -> dict[str, Any]:
    return {name: _label(name, value) for name, value in raw.items()}


def _label(name: str, value: Any) -> Any:
    """Return a text of an element truncated, and any other value unchanged."""
    if not isinstance(value, str):
        return value
    return truncate(value, URL_BYTES if name == "frame" else LABEL_BYTES)


def _truncate_texts(value: Any) -> Any:
    """Return a text, or a mapping of texts, truncated, and any other value unchanged."""
    if isinstance(value, str):
        return truncate(value, GOAL_BYTES)
    if isinstance(value, dict):
        return {
            truncate(name, LABEL_BYTES): truncate(each, GOAL_BYTES) for name, each in value.items()
        }
    return value


def _hash(text: str) -> str:
    return sha256_hex(text.encode("utf-8", "surrogatepass"))
