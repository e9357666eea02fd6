"""Writes a text between quotes, so that it is a text and nothing else wherever it comes from.

Python and TypeScript have the same escapes but for characters beyond 16 bits. What is not printed as itself is
escaped: controls, the characters that turn the direction of writing, halves of pairs, what no font has.
"""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SHORT = 0xFFFF


def quote(text: str, *, long_escape: str) -> str:
    """Return a text between double quotes; `long_escape` writes the number of a character beyond 16 bits."""
    return '"' + "".join(_character(one, long_escape) for one in text) + '"'


def _character(one: str, long_escape: str) -> str:
    if one in _ESCAPES:
        return _ESCAPES[one]
    if one.isprintable():
        return one
    return f"\\u{ord(one):04x}" if ord(one) <= _SHORT else long_escape.format(ord(one))
