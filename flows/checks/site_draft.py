"""Looks at a running application and says what its file needs: its login form, where its state is, what differs.

The draft is a first file to correct. It says what was found and what was not, and guesses nothing in silence.
"""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from flows.checks.sites import SiteTrial
from flows.checks.suggested_masks import SuggestedMask, page_masks
from flows.resources.browsers import open_browsers
from generators.sites.application.server_handle import Server
from generators.sites.application.steps import Answer, FormField
from schemas.configuration.application import Application
from schemas.configuration.config import RunConfig
from schemas.configuration.requests import Request
from schemas.errors import RolloutFailure
from schemas.tasks.expectation import parse_expectation
from schemas.tasks.task import Task

MAX_REDIRECTS = 5
"""Redirects that are followed from the start page."""

_SQLITE = b"SQLite format 3\x00"
_LOGIN_LINK = re.compile(r'<a[^>]*href="([^"]+)"[^>]*>[^<]*(?:log ?in|sign ?in)', re.IGNORECASE)
_TOKEN = re.compile(r"(?i)csrf|token|nonce|authenticity")
_NO_STATE = ("echo", "{}")


@dataclass(frozen=True, slots=True)
class LoginForm:
    """A form that asks for a password."""

    page: str
    """The path of its page."""
    action: str
    """The path that it is sent to."""
    user: str | None
    """The name of its field for the user; None: it has none."""
    password: str
    """The name of its field for the password."""
    tokens: tuple[str, ...]
    """The names of its hidden fields that differ from visit to visit, or are called tokens."""
    fixed: tuple[tuple[str, str], ...]
    """Its other hidden fields, each with its value."""
    form: str | None
    """What names the form where another one has a field of the same name; None: none has."""


@dataclass(slots=True)
class Draft:
    """What looking has found."""

    login: LoginForm | None = None
    """The login form; None: no page that was looked at asks for a password."""
    databases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """SQLite files, as the file writes their paths, each with its tables."""
    masks: list[SuggestedMask] = field(default_factory=list)
    """What differs between two visits of the start page, as masks."""
    notes: list[str] = field(default_factory=list)
    """What was not found, or could not be looked at, in sentences."""


async def look(name: str, application: Application, *, start: str = "/") -> Draft:
    """Start the application, or reach it, and look at it from its page `start` on.

    Raises:
        RolloutFailure: it does not start, or does not answer.
    """
    draft = Draft()
    server = Server(name, application)
    try:
        await server.start()
        draft.login = await _find_login(server, *await _follow(server, start))
        draft.databases = _databases(server.folder, Path(application.home))
    finally:
        await server.stop()
    await _compare(name, application, draft, start=start)
    return draft


async def _ask(server: Server, path: str) -> Answer:
    return await server.ask(Request(method="GET", path=path), server.values, "looking")


async def _follow(server: Server, path: str) -> tuple[str, Answer]:
    """Return the page that a path leads to, and its own path."""
    answer = await _ask(server, path)
    for _ in range(MAX_REDIRECTS):
        to = {key.lower(): value for key, value in answer.headers.items()}.get("location")
        if to is None:
            return path, answer
        path = _path(urljoin(path, to))
        answer = await _ask(server, path)
    return path, answer


def _path(url: str) -> str:
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


async def _find_login(server: Server, path: str, answer: Answer) -> LoginForm | None:
    """Return the login form of the start page, or of the page that it leads to for that."""
    if not any(one.kind == "password" for one in answer.fields):
        link = _LOGIN_LINK.search(answer.text)
        if link is None:
            return None
        path, answer = await _follow(server, _path(urljoin(path, link[1])))
    passwords = [one for one in answer.fields if one.kind == "password"]
    if not passwords:
        return None
    again = await _ask(server, path)
    return _read_form(path, passwords[0], answer.fields, again.fields)


def _read_form(
    path: str, password: FormField, fields: Sequence[FormField], again: Sequence[FormField]
) -> LoginForm:
    own = [one for one in fields if one.form == password.form]
    names = [one.name for one in own if one.kind in {"text", "email"}]
    later = {one.name: one.value for one in again if one.kind == "hidden"}
    hidden = [one for one in own if one.kind == "hidden"]
    tokens = [
        one.name for one in hidden if later.get(one.name) != one.value or _TOKEN.search(one.name)
    ]
    shared = any(one.name in tokens and one.form != password.form for one in fields)
    named = next(
        (password.form[key] for key in ("id", "name", "action") if password.form.get(key)), None
    )
    return LoginForm(
        page=path,
        action=_path(urljoin(path, password.form.get("action", ""))),
        user=names[0] if names else None,
        password=password.name,
        tokens=tuple(tokens),
        fixed=tuple((one.name, one.value) for one in hidden if one.name not in tokens),
        form=named if shared else None,
    )


def _databases(folder: Path | None, home: Path) -> dict[str, tuple[str, ...]]:
    """Return the SQLite files of a server's folder, or else beside the application's file, with their tables."""
    places = [(home, "")] if folder is None else [(folder, "{folder}/"), (home, "")]
    for above, written in places:
        files = (path for path in sorted(above.rglob("*")) if path.is_file() and _is_sqlite(path))
        if found := {
            f"{written}{path.relative_to(above).as_posix()}" if written else str(path): _tables(
                path
            )
            for path in files
        }:
            return found
    return {}


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def _tables(path: Path) -> tuple[str, ...]:
    query = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return tuple(str(name) for (name,) in database.execute(query))
    except sqlite3.Error:
        return ()


async def _compare(name: str, application: Application, draft: Draft, *, start: str) -> None:
    """Look at the start page twice in a browser, and note what differs."""
    state = application.state.model_copy(update={"request": None, "command": _NO_STATE})
    seen = application.model_copy(update={"state": state})
    config = RunConfig(sites={name: seen})
    task = Task(
        task_id="look",
        template_id="look",
        source="look",
        site=name,
        start_url=application.origin + start,
        instruction="Look.",
        expect=parse_expectation({"answer": {"equals": "nothing"}}, "look"),
    )
    async with open_browsers(config.sites, needed={name}) as browsers:
        trial = SiteTrial(config, browsers)
        try:
            one, other = await trial.look(task), await trial.look(task)
            draft.masks += page_masks(one.page, other.page)
        except RolloutFailure as failure:
            draft.notes.append(f"the start page could not be looked at: {failure.message}")
