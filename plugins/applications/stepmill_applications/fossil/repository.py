"""A repository of fossil, made from seeded content: the artifacts first, then fossil's own tables from them.

Fossil keeps everything as *artifacts*, texts of lines that each begin with a letter, and rebuilds all
its other tables from these. So the content is written as artifacts, in order, and `fossil rebuild` does the
rest, within a second. What fossil draws at random when it makes a repository (its project code,
passwords) is set to fixed values, and so the same content gives the same rows.
"""

import hashlib
import sqlite3
import struct
import subprocess
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path

from schemas.errors import Unfinished
from stepmill_applications.fossil.contents import (
    BEGIN,
    PEOPLE,
    SeededContent,
    Thread,
    Ticket,
)

PROJECT_NAME = "Harbour"
"""The project's name, and that of the wiki's first page."""

PROJECT = "f" * 40
"""The project's code; the name of the login cookie begins with `fossil-` and its first 16 digits."""

SESSION = "A" * 48
"""The secret half of the login cookie, of a repository that only this machine's browser reaches."""

COOKIE = (f"fossil-{PROJECT[:16]}", f"{SESSION}/{PROJECT[:16]}/{PEOPLE[0]}")
"""Name and value of the cookie by which a browser is logged in as the first person."""

MADE_AT = "2025-01-01 00:00:00"
"""When the repository was made, UTC."""

CAPABILITIES = "befghijkmnpqrtuwz2345"
"""What everyone who is logged in may do: read and write tickets, the wiki and the forum; not delete,
and not set the project up."""

_SETTINGS = {
    "backoffice-disable": "1",  # it would write process numbers and times
    "search-tkt": "1",
    "search-wiki": "1",
    "search-forum": "1",
    "search-doc": "0",
    "admin-log": "0",
    "access-log": "0",
    "forum-title": "Forum",
    "index-page": "/home",
    # Its own says how long a page took; and the name of a new ticket, which is drawn at random, is in no picture.
    "footer": '<div class="footer">Harbour</div>\n<style>#hash-tk{display:none}</style>\n',
}

_MENU = (
    "Tickets /reportlist * {}",
    "Wiki /wcontent * {}",
    "Forum /forum * {}",
    "Timeline /timeline * {}",
    "Search /search * {}",
)

_HOME = """The harbour's notes: faults are filed as [tickets](/reportlist), what is known about each thing
is in the [wiki](/wcontent), and questions go to the [forum](/forum)."""

_QUEUE_SQL = (
    "SELECT '#f2dcdc' AS 'bgcolor', substr(tkt_uuid,1,10) AS '#', status, severity, priority, title "
    "FROM ticket WHERE status='Open' ORDER BY severity, title"
)


def make_repository(
    content: SeededContent, file: Path, *, fossil: Path, environment: Mapping[str, str]
) -> None:
    """Write the repository of `content` to `file`, which must not exist.

    `environment` is fossil's: it needs a HOME that can be written to, USER, and the clock.

    Raises:
        Unfinished: fossil failed; its last line says how.
    """

    def run(*arguments: str) -> None:
        done = subprocess.run(  # noqa: S603 - the program that was found
            [fossil, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
            raise Unfinished(f"fossil {arguments[0]} failed: {lines[-1]}")

    run(
        "init", "-A", "admin", "--project-name", PROJECT_NAME, "--date-override", MADE_AT, str(file)
    )
    with closing(sqlite3.connect(file)) as database, database:
        _settle(database)
        for artifact, moment in _artifacts(content):
            _add(database, artifact, moment)
    run("rebuild", "--quiet", str(file))
    with closing(sqlite3.connect(file)) as database:
        database.execute("DELETE FROM config WHERE name = 'rebuilt'")
        database.commit()
        database.execute("VACUUM")


def _settle(database: sqlite3.Connection) -> None:
    """Replace what was drawn at random, log the people in and set the project up."""
    settings = dict(_SETTINGS, mainmenu="\n".join(_MENU))
    settings["project-code"] = settings["server-code"] = PROJECT
    database.executemany(
        "INSERT OR REPLACE INTO config(name, value, mtime) VALUES (?, ?, 0)", settings.items()
    )
    database.execute("UPDATE user SET pw = 'none', mtime = 0")
    database.execute("UPDATE user SET cap = 'hjorwz2' WHERE login IN ('nobody', 'anonymous')")
    for person in PEOPLE:
        database.execute(
            "INSERT INTO user(login, pw, cap, info, mtime) VALUES (?, 'none', ?, ?, 0)",
            (person, CAPABILITIES, person.title()),
        )
    database.execute(
        "UPDATE user SET cookie = ?, cexpire = julianday('2040-01-01') WHERE login = ?",
        (SESSION, PEOPLE[0]),
    )
    database.execute(
        "INSERT INTO reportfmt(owner, title, mtime, cols, sqlcode) VALUES (?, ?, 0, '', ?)",
        ("admin", "Open Tickets", _QUEUE_SQL),
    )


def _artifacts(content: SeededContent) -> Iterator[tuple[str, datetime]]:
    yield _page_artifact(PROJECT_NAME, _HOME, PEOPLE[1], BEGIN), BEGIN
    for ticket in content.tickets:
        yield _ticket_artifact(ticket), ticket.at
    for page in content.pages:
        yield _page_artifact(page.name, page.text, page.author, page.at), page.at
    for thread in content.threads:
        yield _thread_artifact(thread), thread.at


def _ticket_artifact(ticket: Ticket) -> str:
    fields = {
        "icomment": ticket.remark,
        "login": ticket.author,
        "mimetype": "text/plain",
        "priority": ticket.priority,
        "resolution": "Open",  # what the form shows, and so what any edit would set
        "severity": ticket.severity,
        "status": ticket.status,
        "title": ticket.title,
        "type": ticket.kind,
    }
    lines = [_date(ticket.at), *(f"J {name} {_escape(text)}" for name, text in fields.items())]
    return "\n".join((*lines, f"K {ticket.key}", f"U {ticket.author}", ""))


def _page_artifact(name: str, text: str, author: str, at: datetime) -> str:
    lines = (_date(at), f"L {_escape(name)}", "N text/x-markdown", f"U {author}")
    return "\n".join((*lines, _body(text)))


def _thread_artifact(thread: Thread) -> str:
    lines = (_date(thread.at), f"H {_escape(thread.title)}", "N text/x-markdown")
    return "\n".join((*lines, f"U {thread.author}", _body(thread.text)))


def _date(moment: datetime) -> str:
    return f"D {moment:%Y-%m-%dT%H:%M:%S}.000"


def _body(text: str) -> str:
    return f"W {len(text.encode())}\n{text}\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace(" ", "\\s").replace("\n", "\\n")


def _add(database: sqlite3.Connection, artifact: str, moment: datetime) -> None:
    """Store one artifact as received at `moment`; its last line is the MD5 of all before."""
    data = artifact.encode()
    data += f"Z {hashlib.md5(data, usedforsecurity=False).hexdigest()}\n".encode()
    received = database.execute(
        "INSERT INTO rcvfrom(uid, mtime) VALUES (1, julianday(?))", (f"{moment:%Y-%m-%d %H:%M:%S}",)
    ).lastrowid
    database.execute(
        "INSERT INTO blob(rcvid, size, uuid, content) VALUES (?, ?, ?, ?)",
        (
            received,
            len(data),
            hashlib.sha3_256(data).hexdigest(),
            struct.pack(">I", len(data)) + zlib.compress(data),
        ),
    )
