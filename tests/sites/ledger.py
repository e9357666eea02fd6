"""A ledger over HTTP for tests of applications: one list of entries a session, and faults on demand.

`python ledger.py PORT FAULT…`: `POST /reset?seed=` empties the entries, `POST /add` adds one, `GET /state`
gives them as JSON and `GET /` shows them. A request with `X-Session` has that session's entries. A fault is always
there, or, as `dies@3`, only in the state of a seed.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PORT, *FAULTS = sys.argv[1:]
SLOW_SECONDS = 1.5
"""What `adds-slowly` takes."""
ENTRIES: dict[str, list[str]] = {}
SEEDS: dict[str, str] = {}
LARGE_BYTES = 62 * 2**20
"""More than a state may have."""
RESETS: list[str] = []
SHADOW = (
    "<div id=shadow></div><script>document.getElementById('shadow').attachShadow({mode: 'open'}).innerHTML ="
    " '<b>Served to number ' + parseInt(URL.createObjectURL(new Blob()).slice(-12), 16) + '</b>'</script>"
)
"""What is drawn into a shadow root, and differs each time; the document around it does not."""


class Ledger(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"

    @property
    def session(self) -> str:
        """The session of the request; where it leaks, one for all."""
        return "" if "leaks" in FAULTS else self.headers.get("X-Session", "")

    def has(self, fault: str) -> bool:
        """Return whether the session's server has a fault."""
        return fault in FAULTS or f"{fault}@{SEEDS.get(self.session)}" in FAULTS

    def do_GET(self) -> None:
        """Show the entries, or give the state."""
        path = urlsplit(self.path).path
        entries = ENTRIES.get(self.session, [])
        if path == "/state":
            self.give_state(entries)
        elif path == "/away":
            self.answer(302, "", Location=f"http://127.0.0.1:{PORT}/")
        elif path != "/":
            self.answer(404, "nothing here")
        elif self.has("page-500"):
            self.answer(500, "the page broke")
        else:
            token = time.time_ns() if self.has("token") else 1
            shown = "".join(f"<li>{entry}" for entry in entries)
            self.answer(
                200,
                f"<h3>Ledger of {self.headers.get('Host')}</h3><ul>{shown}</ul>"
                f"<form method=post action=/add><input type=hidden name=csrf value={token}>"
                "<label>Entry <input name=entry></label><button>Add</button></form>"
                f"<p>{self.headers.get('Cookie', 'no cookie')}</p>{SHADOW if self.has('shadow') else ''}",
            )

    def give_state(self, entries: list[str]) -> None:
        """Give the state, or what the faults make of it."""
        if self.has("hangs"):
            threading.Event().wait(60)
        if self.has("state-500") or (entries and self.has("later-state-500")):
            self.answer(500, "no state today")
        elif self.has("no-json"):
            self.answer(200, "<p>a page</p>")
        elif self.has("large"):
            self.answer(200, json.dumps({"text": "x" * LARGE_BYTES}))
        else:
            state: dict[str, object] = {
                "seed": SEEDS.get(self.session),
                "entries": [{"id": n, "text": text} for n, text in enumerate(entries, start=1)],
            }
            if self.has("counts-resets"):
                state["resets"] = len(RESETS)
            if self.has("clock"):
                state["now"] = time.time_ns()
            self.answer(200, json.dumps(state))

    def do_POST(self) -> None:
        """Reset the entries, log in, or add one."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        url = urlsplit(self.path)
        if url.path == "/reset":
            SEEDS[self.session] = parse_qs(url.query)["seed"][0]
            RESETS.append(self.session)
            if self.has("reset-500"):
                self.answer(500, "cannot reset")
                return
            if not self.has("half-reset"):
                ENTRIES[self.session] = []
            self.note(ENTRIES.get(self.session, []))
            self.answer(200, "{}")
        elif url.path == "/login":
            if self.has("login-500"):
                self.answer(500, "nobody at the desk")
                return
            key = os.environ.get("LEDGER_KEY", "")
            right = parse_qs(body).get("key") == [key]
            self.answer(200 if right else 403, "", **{"Set-Cookie": "user=mia; Path=/"})
        else:
            if self.has("dies"):
                sys.stderr.write("the mast broke\n")
                sys.stderr.flush()
                os._exit(3)
            if self.has("adds-slowly"):
                threading.Event().wait(SLOW_SECONDS)
            if self.has("add-500"):
                self.answer(500, "no ink")
                return
            fields = parse_qs(body, keep_blank_values=True)
            ENTRIES.setdefault(self.session, []).append(fields["entry"][0])
            self.note(ENTRIES[self.session])
            self.answer(303, "", Location="/")

    def note(self, entries: list[str]) -> None:
        """Write what the session's entries are now to the file that `LEDGER_FILE` names, if it does."""
        if path := os.environ.get("LEDGER_FILE"):
            Path(path).write_text(json.dumps(entries))

    def answer(self, status: int, text: str, **headers: str) -> None:
        """Send an answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Write nothing."""


if __name__ == "__main__":
    if "ends" in FAULTS:
        sys.exit("no room in the harbour")
    if "silent" in FAULTS:
        threading.Event().wait()
    ThreadingHTTPServer(("127.0.0.1", int(PORT)), Ledger).serve_forever()
