"""Text of pages made fit for a record: well-formed Unicode, and no longer than its bound.

A page decides what its goal, title, URL, dialogs and error messages are. JavaScript's strings may
hold half a surrogate pair, which no table can, and may be hundreds of megabytes long. Every such
text passes through `truncate` where it enters, once. A text within its bound is kept as it is, control
characters included; of a longer one the beginning is kept, and a mark says how many bytes are
missing and what the CRC-32 of the whole was, so that two long texts are equal only if they are.
Bounds count bytes of UTF-8, the mark included, so cutting again changes nothing.

`page.js` cuts in the page in the same way, before anything crosses the socket.
"""

import zlib

GOAL_BYTES = 20_000
"""The most of a task's goal, and of any one text that a privileged policy reads of a document."""

URL_BYTES = 8_000
"""The most of an address, of a page or of a frame."""

DIALOG_BYTES = 2_000
"""The most of what the dialogs said that were shown during one action, all of them together."""

MESSAGE_BYTES = 2_000
"""The most of why something failed."""

TITLE_BYTES = 1_000
"""The most of a document's title."""

LABEL_BYTES = 1_000
"""The most of a tag, role, name, value or text of an element; `page.js` shortens them before."""

MARK_BYTES = 64
"""What is left for the mark of a text that is cut: as many bytes as its longest form, and a few."""


def well_formed(text: str) -> str:
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
    text = well_formed(text)
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    keep = max_bytes - MARK_BYTES
    while data[keep] & 0xC0 == 0x80:  # noqa: PLR2004 - in the middle of a character
        keep -= 1
    mark = f"…[cut: {len(data) - keep:,} more bytes, crc32 {zlib.crc32(data):08x}]"
    return data[:keep].decode() + mark
