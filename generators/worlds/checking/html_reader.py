"""Reads a page's HTML as a browser without scripts does: URLs, forms and texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

from typing_extensions import override

_VOID = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "wbr",
}
_UNSENT = {"button", "reset", "image", "file", "checkbox", "radio"}
"""Types of inputs that send nothing unless they are checked."""

_LOADED = {"src", "poster", "data", "srcset"}
"""Attributes whose URLs a page loads by itself."""


_NAMES = ("aria-label", "placeholder", "title", "alt", "data-tip", "data-remove", "data-drop")
"""Attributes whose words a page shows or says; the last two are those of widgets that scripts make."""


class Chunk(NamedTuple):
    """A text of a page."""

    text: str
    """Its words, with single spaces."""
    tags: tuple[str, ...]
    """The enclosing elements, from the outermost."""


@dataclass
class Form:
    """A form of a page."""

    method: str
    """`get` or `post`."""
    action: str
    """The URL that it is sent to; empty: the page's own."""
    fields: list[tuple[str, str]] = field(default_factory=list)
    """The names and values that it sends when unchanged."""
    buttons: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, value and own URL of each submit button; each may be empty."""


class PageReader(HTMLParser):
    """A parser of pages."""

    def __init__(self, html: str) -> None:
        """Read the whole page."""
        super().__init__()
        self.links: list[str] = []
        """The URLs of its links, without duplicates."""
        self.loaded: list[str] = []
        """The URLs that it loads by itself, without duplicates."""
        self.forms: list[Form] = []
        """Its forms."""
        self.chunks: list[Chunk] = []
        """Its texts in order, without scripts and styles."""
        self.names: list[str] = []
        """What its elements say to readers of names, of hints and of empty fields, in order."""
        self._open: list[tuple[str, dict[str, str]]] = []
        self._select: tuple[str, list[tuple[str, bool]]] | None = None
        self.feed(html)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag not in _VOID:
            self._open.append((tag, found))
        if tag in {"a", "area"} and "href" in found:
            _add(self.links, found["href"])
        elif "href" in found:
            _add(self.loaded, found["href"])
        told = (found[name].replace("{tag}", "") for name in _NAMES if name in found)
        self.names += [" ".join(one.split()) for one in told]
        for name in _LOADED & found.keys():
            _add(self.loaded, found[name])
        if tag == "form":
            self.forms.append(Form(found.get("method", "get").lower(), found.get("action", "")))
        elif self.forms and any(name == "form" for name, _ in self._open):
            self._part(self.forms[-1], tag, found)

    def _part(self, form: Form, tag: str, found: dict[str, str]) -> None:
        """Record the field or button of a form."""
        name, kind = found.get("name", ""), found.get("type", "")
        if (tag == "button" and kind in {"", "submit"}) or (tag == "input" and kind == "submit"):
            form.buttons.append((name, found.get("value", ""), found.get("formaction", "")))
        elif tag == "select" and name:
            self._select = (name, [])
        elif tag == "option" and self._select is not None:
            self._select[1].append((found.get("value", ""), "selected" in found))
        elif tag == "input" and name and (kind not in _UNSENT or "checked" in found):
            form.fields.append((name, found.get("value", "on" if kind == "checkbox" else "")))

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag == "select" and self._select is not None:
            name, options = self._select
            chosen = next((value for value, is_chosen in options if is_chosen), None)
            first = options[0][0] if options else ""
            self.forms[-1].fields.append((name, first if chosen is None else chosen))
            self._select = None
        for number in range(len(self._open) - 1, -1, -1):
            if self._open[number][0] == tag:
                del self._open[number:]
                return

    @override
    def handle_data(self, data: str) -> None:
        tags = tuple(tag for tag, _ in self._open)
        if tags and tags[-1] == "textarea" and self.forms:
            name = self._open[-1][1].get("name", "")
            self.forms[-1].fields.append((name, data.removeprefix("\n")))
        text = " ".join(data.split())
        if text and not {"script", "style"} & set(tags):
            self.chunks.append(Chunk(text, tags))


def _add(addresses: list[str], address: str) -> None:
    if address not in addresses:
        addresses.append(address)
