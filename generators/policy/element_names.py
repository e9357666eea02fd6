"""The names of a page's elements: the words on them, their labels and attributes, and the words beside fields."""

import re
from collections.abc import Iterator

from generators.browser.protocol import Node

NAMING = ("aria-label", "placeholder", "title", "alt", "name")
"""Attributes that name a thing, the more visible ones first."""

ACTIVE = {"a", "button", "input", "select", "textarea", "summary", "option", "label"}
"""Tags that people act on."""

ACTING_ROLES = {
    *(
        "button",
        "checkbox",
        "combobox",
        "link",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "option",
    ),
    *("radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox"),
}
"""Roles of things that people act on, whatever their tag."""

FIELDS = {"input", "select", "textarea"}
"""Tags that hold a value; a label stands for one of them."""

_EDITABLE = {"", "true", "plaintext-only"}
"""Values of `contenteditable` with which people write into an element."""

_BUTTONS = {"submit", "button", "reset"}

_PRESSED = {"a", "button"}
"""Tags of buttons and links."""

_PRESSED_ROLES = {"button", "link"}

_POINT_PX = 1
"""The side of an element that is there for readers of the document alone, px."""

_DIRECT = 3
"""The rank of an element whose name is only the words directly in it, beside an icon or a count."""

_BESIDE = 3
"""The rank of a field whose name is only the words before it."""

ROWS = frozenset({"li", "tr", "article"})
"""The elements that lists have for a row."""


def is_active(node: Node) -> bool:
    """Return whether people act on an element of this kind."""
    return node.tag in ACTIVE or node.attrs.get("role") in ACTING_ROLES


def is_field(node: Node) -> bool:
    """Return whether an element holds a value or is written into."""
    return node.tag in FIELDS or node.attrs.get("contenteditable") in _EDITABLE


def is_button_or_link(node: Node) -> bool:
    """Return whether an element is a button or a link."""
    is_button = node.tag == "input" and node.attrs.get("type") in {*_BUTTONS, "image"}
    return is_button or node.tag in _PRESSED or node.attrs.get("role") in _PRESSED_ROLES


def is_tiny(node: Node) -> bool:
    """Return whether an element is made as small as a point, as the field is for which another thing stands."""
    return min(node.box[2:]) <= _POINT_PX


def words(text: str) -> str:
    """Return a text with its white space collapsed."""
    return " ".join(text.split())


def names(goal: str, name: str) -> bool:
    """Return whether a goal has a name as words of its own, whatever its capital letters.

    Writing of East Asia puts no blanks between words, so that its letters end a name of others, and its names have no end.
    """
    before = "" if _is_eastern(name[:1]) else r"(?<![^\W\u2e80-\uffff])"
    behind = "" if _is_eastern(name[-1:]) else r"(?![^\W\u2e80-\uffff])"
    return re.search(f"{before}{re.escape(name)}{behind}", goal, re.IGNORECASE) is not None


def _is_eastern(letter: str) -> bool:
    return "\u2e80" <= letter <= "\uffff"


class Names:
    """The names of a page's elements."""

    def __init__(self, root: Node) -> None:
        self.are_exact = False
        """Whether a name that has the wanted words among others is none."""
        self._labels: dict[int, str] = {}
        self._match(root)

    def _match(self, node: Node) -> tuple[dict[str, str], dict[str, Node]]:
        """Note what labels the fields in an element; return its labels and ids that are not matched in it.

        A label is that of the nearest field of its id, because each shadow root has ids of its own.
        """
        labels, fields = dict[str, str](), dict[str, Node]()
        for child in node.children:
            inner, named = self._match(child)
            labels |= {key: text for key, text in inner.items() if key not in labels}
            fields |= {key: one for key, one in named.items() if key not in fields}
        if node.tag == "label" and "for" in node.attrs:
            labels[node.attrs["for"]] = words(node.text)
        if "id" in node.attrs:
            fields[node.attrs["id"]] = node
        for key in labels.keys() & fields.keys():
            self._labels[id(fields.pop(key))] = labels.pop(key)
        return labels, fields

    def rank(self, wanted: str, node: Node) -> int | None:
        """Return how well an element has the wanted name, 0 the best; None: it does not have it."""
        names = list(self.of(node))
        if wanted in names:
            return 0
        small = wanted.casefold()
        if small in map(str.casefold, names):
            return 1
        if not self.are_exact and is_active(node) and any(has_words(one, small) for one in names):
            return 2
        is_direct = bool(small) and not is_field(node) and words(node.own_text).casefold() == small
        return _DIRECT if is_direct else None

    def is_of_placeholder(self, wanted: str, node: Node) -> bool:
        """Return whether a field has the wanted name, in any case, by its placeholder and by nothing else."""
        small = wanted.casefold()
        named = [name for name in self.of(node) if name.casefold() == small]
        placeholder = words(node.attrs.get("placeholder", "")).casefold()
        return is_field(node) and len(named) == 1 and placeholder == small

    def of(self, node: Node) -> Iterator[str]:
        """Yield the names of an element."""
        if not is_field(node):
            yield words(node.text)
        if label := self._labels.get(id(node)):
            yield label
        if node.attrs.get("type") in _BUTTONS and "value" in node.attrs:
            yield words(node.attrs["value"])
        for name in NAMING:
            if name in node.attrs:
                yield words(node.attrs[name])


class FieldNames(Names):
    """The names of a page's fields: also what encloses one, what it names as its label, and the words beside it."""

    def __init__(self, root: Node) -> None:
        super().__init__(root)
        self._ids = {node.attrs["id"]: node for node in root.walk() if "id" in node.attrs}
        self._around: dict[int, str] = {}
        self._beside: dict[int, str] = {}
        self._walk(root, "", "")

    def _walk(self, node: Node, label: str, before: str) -> str:
        """Note what names the fields in an element, and return the words that a next one has beside it."""
        if is_field(node):
            self._around[id(node)], self._beside[id(node)] = label, before
            return ""
        if node.tag == "label":
            label = words(_text_outside_fields(node))
        before = words(node.own_text) or before
        for child in node.children:
            before = self._walk(child, label, before)
        return before

    def of(self, node: Node) -> Iterator[str]:
        """Yield the names of an element, and what a field has as its label without saying so to the browser."""
        yield from super().of(node)
        for name in node.attrs.get("aria-labelledby", "").split():
            if name in self._ids:
                yield words(self._ids[name].text)
        if label := self._around.get(id(node)):
            yield label

    def rank(self, wanted: str, node: Node) -> int | None:
        """Return how well an element has the wanted name, last of all by the words beside it; None: it does not."""
        rank = super().rank(wanted, node)
        if rank is not None:
            return rank
        beside = self._beside.get(id(node), "").rstrip(" :*").casefold()
        return _BESIDE if wanted and beside == wanted.rstrip(" :*").casefold() else None


def has_words(name: str, wanted: str) -> bool:
    """Return whether a name has words in it, given in small letters, and not as the end or the beginning of a longer word.

    Scripts without capital letters write words together, so that they may begin and end anywhere.
    """
    name = name.casefold()
    starts = (found.start() for found in re.finditer(re.escape(wanted), name))
    return any(not _is_inside(name, at) and not _is_inside(name, at + len(wanted)) for at in starts)


def _is_inside(text: str, at: int) -> bool:
    """Return whether a place in a text is between two letters of one word, or two digits of one number."""
    beside = text[at - 1 : at + 1] if at else ""
    is_word = all(one.lower() != one.upper() for one in beside)
    return len(beside) > 1 and (is_word or all(map(str.isdigit, beside)))


def _text_outside_fields(node: Node) -> str:
    return " ".join(
        (node.own_text, *(_text_outside_fields(one) for one in node.children if not is_field(one)))
    )
