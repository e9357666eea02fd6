"""The words by which a reference names the element of a recorder's selector."""

import re
from typing import NamedTuple

_TYPED_INTO = {"textbox", "searchbox", "combobox", "spinbutton", "listbox"}
_MARK = re.compile(r"\s*\*$")


class Words(NamedTuple):
    """What a reference's step says of its element."""

    on: str
    """The words on it or beside it, or `#` and its id."""
    within: str | None = None
    """Words around it; None: none are needed."""


def without_mark(name: str, role: str) -> str:
    """Return a field's name without the asterisk that a style adds to the labels of those that have to be filled in."""
    return (_MARK.sub("", name) or name) if role in _TYPED_INTO else name
