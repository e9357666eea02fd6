"""What a page and its dialogs say, on its way into our records: the one place where it is cut.

`page.js` has cut most of it already, so that it need not be sent; nothing here relies on that.
Only hashes are taken over the whole. An address that was cut is a record of where the page stood
and is never gone to or compared with an origin: the browser and the action hold the whole one.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from schemas.base import sha256_hex
from schemas.observation import Element, PageState, Target
from schemas.truncation import DIALOG_BYTES, LABEL_BYTES, TITLE_BYTES, URL_BYTES, cut

_SAID = "The page said: "
_ELEMENTS = TypeAdapter(tuple[Element, ...])


def page_state(state: dict[str, Any]) -> PageState:
    """Return where a page stands, from what `stepmill.observe` gave."""
    return PageState(
        url=cut(state["url"], URL_BYTES),
        title=cut(state["title"], TITLE_BYTES),
        form_sha256=_hash(state["form"]),
        focus=_label("focus", state["focus"]),
        scroll_x=state["scrollX"],
        scroll_y=state["scrollY"],
        dom_sha256=_hash(state["dom"]),
    )


def elements(found: Sequence[dict[str, Any]]) -> tuple[Element, ...]:
    """Return what is on a page, from what `stepmill.observe` gave."""
    return _ELEMENTS.validate_python([_labels(element) for element in found])


def target(found: dict[str, Any] | None) -> Target | None:
    """Return what lies under a point, from what `stepmill.target` gave; None if nothing does."""
    return Target.model_validate(_labels(found)) if found else None


def dialog(message: str) -> str:
    """Return what a dialog said, as it is kept until the action is over."""
    return cut(message, DIALOG_BYTES - len(_SAID))


def result_text(dialogs: Sequence[str]) -> str | None:
    """Return what is told of the dialogs that an action brought up; None without any words."""
    said = "; ".join(dialogs)
    return cut(_SAID + said, DIALOG_BYTES) if said else None


def _labels(found: dict[str, Any]) -> dict[str, Any]:
    return {name: _label(name, value) for name, value in found.items()}


def _label(name: str, value: Any) -> Any:
    """Return a text of an element, cut; what is no text as it is."""
    if not isinstance(value, str):
        return value
    return cut(value, URL_BYTES if name == "frame" else LABEL_BYTES)


def _hash(text: str) -> str:
    return sha256_hex(text.encode("utf-8", "surrogatepass"))
