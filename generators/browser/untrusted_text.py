"""Text of a page and its dialogs on its way into records: the one place where it is truncated.

`page.js` has cut most of it already, so that it need not be sent; nothing here relies on that.
Only hashes are taken over the whole. A truncated address is only a record: nothing opens it or
compares it with an origin, since the browser and the action hold the whole one.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from schemas.base import sha256_hex
from schemas.observation import Element, PageState, Target
from schemas.truncation import DIALOG_BYTES, LABEL_BYTES, TITLE_BYTES, URL_BYTES, truncate

_DIALOG_PREFIX = "The page said: "
_ELEMENTS = TypeAdapter(tuple[Element, ...])


def page_state(state: dict[str, Any]) -> PageState:
    """Return where a page stands, from what `stepmill.observe` gave."""
    return PageState(
        url=truncate(state["url"], URL_BYTES),
        title=truncate(state["title"], TITLE_BYTES),
        form_sha256=_hash(state["form"]),
        focus=_label("focus", state["focus"]),
        scroll_x=state["scrollX"],
        scroll_y=state["scrollY"],
        dom_sha256=_hash(state["dom"]),
    )


def elements(raw: Sequence[dict[str, Any]]) -> tuple[Element, ...]:
    """Return what is on a page, from what `stepmill.observe` gave."""
    return _ELEMENTS.validate_python([_labels(element) for element in raw])


def target(raw: dict[str, Any] | None) -> Target | None:
    """Return the element under a point, from what `stepmill.target` gave; None if there is none."""
    return Target.model_validate(_labels(raw)) if raw else None


def dialog(message: str) -> str:
    """Return the text of a dialog as it is kept until the action is over."""
    return truncate(message, DIALOG_BYTES - len(_DIALOG_PREFIX))


def result_text(dialogs: Sequence[str]) -> str | None:
    """Return what the policy is shown of an action's dialogs; None if they have no text."""
    text = "; ".join(dialogs)
    return truncate(_DIALOG_PREFIX + text, DIALOG_BYTES) if text else None


def _labels(raw: dict[str, Any]) -> dict[str, Any]:
    return {name: _label(name, value) for name, value in raw.items()}


def _label(name: str, value: Any) -> Any:
    """Return a text of an element, truncated; any other value as it is."""
    if not isinstance(value, str):
        return value
    return truncate(value, URL_BYTES if name == "frame" else LABEL_BYTES)


def _hash(text: str) -> str:
    return sha256_hex(text.encode("utf-8", "surrogatepass"))
