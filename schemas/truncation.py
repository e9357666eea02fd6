"""Makes text of pages fit for a record: well-formed Unicode, and no longer than its bound.

A page decides what its goal, title, URL, dialogs and error messages are. A string of JavaScript may have
half a surrogate pair, which no table can hold, and may be hundreds of megabytes long. Every such text
passes through `truncate` once, where it enters. `truncate` leaves a text within its bound unchanged,
control characters included. Of a longer text it keeps the beginning and adds a mark with the number of
missing bytes and the CRC-32 of the whole, so that two long texts stay different. Bounds count bytes of
UTF-8, the mark included, so truncating again changes nothing.

`page.js` truncates in the page in the same way, before anything crosses the socket.
"""

import zlib

GOAL_BYTES = 20_000
"""The bound of a task's goal, and of each text that a privileged policy reads from a document."""

URL_BYTES = 8_000
"""The bound of the address of a page or a frame."""

DIALOG_BYTES = 2_000
"""The bound of the text of all dialogs during one action together."""

MESSAGE_BYTES = 2_000
"""The bound of the message of a failure."""

TITLE_BYTES = 1_000
"""The bound of a document's title."""

LABEL_BYTES = 1_000
"""The bound of an element's tag, role, name, value or text; `page.js` shortens most of them further."""

MARK_BYTES = 64
"""Bytes reserved for the mark of a truncated text: its longest form and a few more."""


def to_well_formed(text: str) -> str:
    """Return `text` with each half of a surrogate pair replaced; halves that meet become a pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def truncate(text: str, max_bytes: int) -> str:
    """Return `text` well-formed and, cut with a mark where it exceeds `max_bytes` of UTF-8."""
    if text.isascii() and len(text) <= max_bytes:
        return text
    text = to_well_formed(text)
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    keep = max_bytes - MARK_BYTES
    while data[keep] & 0xC0 == 0x80:  # noqa: PLR2004 - in the middle of a character
        keep -= 1
    mark = f"…[cut: {len(data) - keep:,} more bytes, crc32 {zlib.crc32(data):08x}]"
    return data[:keep].decode() + mark
