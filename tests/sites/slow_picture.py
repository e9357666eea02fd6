"""A site of notes whose first page holds a picture that takes four seconds: `python slow_picture.py PORT`.

`POST /reset` empties the notes, `POST /note` adds one, and `GET /state` gives them as JSON. Whoever
follows the first page's link leaves while the picture loads.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

NOTES: list[dict[str, object]] = []
FRONT = (
    "<!DOCTYPE html><title>front</title><a href=/second>second</a>"
    "<img src=/slow.png width=60 height=60 loading=lazy>"
)
SECOND = (
    "<!DOCTYPE html><title>second</title><form method=post action=/note>"
    "<input name=text placeholder=Remark> <button>Save</button></form>"
)
PIECE, PIECES = bytes(100_000), 40
PAUSE = 0.1
"""Seconds from one piece of the picture to the next."""


class Notes(BaseHTTPRequestHandler):
    """Answers one request."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def answer(self, text: str, kind: str = "text/html", status: int = 200) -> None:
        """Answer with a text."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Location", "/second")
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self) -> None:
        """Show a page, give the state, or give the picture slowly."""
        if self.path == "/slow.png":
            self.give_picture()
        elif self.path == "/state":
            self.answer(json.dumps({"notes": NOTES}), "application/json")
        else:
            self.answer(SECOND if self.path == "/second" else FRONT)

    def give_picture(self) -> None:
        """Give the picture in pieces."""
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(PIECES * len(PIECE)))
        self.end_headers()
        for _ in range(PIECES):
            self.wfile.write(PIECE)
            threading.Event().wait(PAUSE)

    def do_POST(self) -> None:
        """Add a note, or forget all."""
        sent = parse_qs(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())
        if self.path == "/note":
            NOTES.append({"id": len(NOTES) + 1, "text": sent["text"][0]})
        else:
            NOTES.clear()
        self.answer("", status=303 if self.path == "/note" else 200)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Notes).serve_forever()
