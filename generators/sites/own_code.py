"""Restricts a page to the code in its source, so that no code from later content runs.

A page that shows typed text as markup would run code that a policy types, and code in the page can report
the problem as won. So each page is served with a Content-Security-Policy that has the hash of every script,
event handler and `javascript:` address in its source; the browser refuses any other code.
"""

import base64
import hashlib
from collections.abc import Iterable
from html.parser import HTMLParser

_ADDRESSES = ("href", "src", "action", "formaction")
_SCRIPT = "javascript:"


class _Code(HTMLParser):
    """Collects the code in a document's source."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: set[str] = set()
        self._script: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self._script = []
        for name, value in attrs:
            if value is None:
                continue
            if name.startswith("on") or (name in _ADDRESSES and value.startswith(_SCRIPT)):
                self.pieces.add(value)

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self._script.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script" and self._script is not None:
            self.pieces.add("".join(self._script))
            self._script = None


def own_code_policy(document: str, *, handlers: Iterable[str] = (), evaluates: bool = False) -> str:
    """Return the Content-Security-Policy of an HTML document: its own code, and its site's scripts.

    `handlers` are event handlers that the site's scripts write into the document; `evaluates`: these
    scripts also evaluate text.
    """
    code = _Code()
    code.feed(document.replace("\r\n", "\n").replace("\r", "\n"))
    code.close()
    pieces = code.pieces.union(handlers)
    digests = sorted(hashlib.sha256(piece.encode()).digest() for piece in pieces)
    hashes = (f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    evaluating = ("'unsafe-eval'",) if evaluates else ()
    return " ".join(("script-src", "'self'", *evaluating, "'unsafe-hashes'", *hashes))
