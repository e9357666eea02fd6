"""A web application that tasks run on, described by one file: an entry of a run's `[sites]`.

The file gives the address of the application's pages, how its server is started and reset to the state
of a seed, how its state is read, and the differences allowed between equal visits. Texts may hold
placeholders: `{seed}`, the task's seed; `{template}`, its template; `{port}` and `{folder}`, those of
one server; `{session}`, the id of one visit where several share a server; `{python}`, the Python that
Stepmill runs in. In the `data` of a request the text `{parameters}` stands for the task's parameters, as
JSON. Secrets are stated as `$NAME`, a variable of the environment or one of `start.secrets`. Nothing
here starts or asks anything.
"""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import AwareDatetime, Field, JsonValue, field_validator, model_validator

from schemas.base import Record
from schemas.configuration.masks import Masks
from schemas.json_pointer import Pointer
from schemas.page_facts import NO_FACTS, PageFacts, says_nothing

PLACEHOLDERS = ("seed", "template", "port", "folder", "session", "python")
"""The placeholders in a text; other braces stay as they are."""

SECRET = re.compile(r"\$([A-Z][A-Z0-9_]*)")
"""The form of a variable's name in a text."""

_SECRET_NAME = re.compile(r"(?i)authorization|cookie|token|secret|password|passwd|api.?key|session")
_SECRET_VARIABLE = re.compile(r"(?i)(token|secret|passw(or)?d|key|credentials?)$")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


class Request(Record):
    """A request to a server of the application."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    """Its method."""
    path: str = Field(pattern="^/")
    """Path and query, as `/reset?seed={seed}`."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Header fields."""
    data: JsonValue = None
    """The body, sent as JSON; None: no body, or a `form`."""
    form: dict[str, str] | None = None
    """The body as the fields of a form; None: the body is not a form."""
    origin: str | None = None
    """Another server that it is sent to, as `http://127.0.0.1:8101`; None: the application's own."""

    @model_validator(mode="after")
    def _check(self) -> "Request":
        if self.data is not None and self.form is not None:
            raise ValueError("a request has 'data' or a 'form', not both")
        if self.method == "GET" and (self.data is not None or self.form is not None):
            raise ValueError("a GET has no body")
        return self


class Start(Record):
    """The start of a server of the application, or the address of a running one."""

    command: tuple[str, ...] = ()
    """Program and arguments, run in the folder of the application's file; empty: one runs at `url`."""
    url: str | None = None
    """The address of a server that runs already, as `http://127.0.0.1:8000`; None: `command` starts it."""
    seconds: float = Field(default=30.0, gt=0, le=600)
    """Maximum seconds from the start until the server answers."""
    environment: dict[str, str] = Field(default_factory=dict)
    """Environment variables for the command, in addition to those that any program gets."""
    secrets: tuple[str, ...] = ()
    """Environment variables for the command whose values are drawn at random for each server."""

    @model_validator(mode="after")
    def _check(self) -> "Start":
        if bool(self.command) is (self.url is not None):
            raise ValueError(
                "state either a command that starts a server, or the url of one that runs"
            )
        if self.url is not None and not _is_origin(self.url):
            raise ValueError(f"url = {self.url!r}: expected http://HOST:PORT")
        if self.url is not None and (self.environment or self.secrets):
            raise ValueError("a server that runs already gets no environment and no secrets")
        return self


class Reset(Record):
    """The reset of a server to the state of a seed."""

    request: Request | None = None
    """The request; None: reset without a request."""
    command: tuple[str, ...] = ()
    """Program and arguments, run like the server's own command; empty: reset without a command."""
    files: str | None = None
    """A folder, as `worlds/{seed}`, whose files replace those in `{folder}`, each by one rename, for a
    server that opens them anew for each request; None: reset without files."""

    @model_validator(mode="after")
    def _check(self) -> "Reset":
        if sum(map(bool, (self.request, self.command, self.files))) != 1:
            raise ValueError("state one of request, command and files")
        return self


class Login(Record):
    """The login of the tasks' user in a session."""

    request: Request | None = None
    """A request whose answer sets the cookies; None: no request."""
    cookies: dict[str, str] = Field(default_factory=dict)
    """Cookies by name; their values are `$NAME`."""
    storage: dict[str, str] = Field(default_factory=dict)
    """The entries of `localStorage`, by key."""
    seeded: bool = False
    """The login belongs to the state of a seed and opens only servers that Stepmill starts for one visit:
    its values are no secrets, and may be written out."""


class StateSource(Record):
    """The source of the server's state."""

    request: Request | None = None
    """A request that is answered with JSON."""
    requests: dict[str, Request] = Field(default_factory=dict)
    """Several such requests by name: the state has the answer of each under its name."""
    pointer: Pointer = ""
    """The part of each answer that is the state, as a JSON pointer; empty: all of it."""
    sqlite: str | None = None
    """The path of a SQLite file, as `{folder}/shop.db`: its tables are the state."""
    folder: str | None = None
    """The path of a folder: its files' digests are the state."""
    command: tuple[str, ...] = ()
    """A command that writes JSON."""
    leave_out: tuple[str, ...] = ()
    """Names of tables, or globs of files, that are no part of it."""
    views: dict[str, str] = Field(default_factory=dict)
    """For `sqlite`: a SELECT for each table of the state, in place of the file's own tables; the function
    `inflate` unpacks zlib streams. Empty: the file's own tables."""

    @model_validator(mode="after")
    def _check(self) -> "StateSource":
        stated = [self.request, self.requests, self.sqlite, self.folder, self.command]
        if sum(map(bool, stated)) != 1:
            raise ValueError("state one of request, requests, sqlite, folder and command")
        if self.leave_out and not (self.sqlite or self.folder):
            raise ValueError(
                "leave_out is for sqlite and folder; mask parts of JSON by masks.state"
            )
        if self.views and not self.sqlite:
            raise ValueError("views are of a SQLite file")
        return self


class Carrier(StrEnum):
    """The part of a request that carries the visit's id on a shared server."""

    HEADER = "header"
    """A header field."""
    COOKIE = "cookie"
    """A cookie."""
    QUERY = "query"
    """A parameter of the address."""


class SharedVisits(Record):
    """Visits that share a server: each has an id, which all its requests carry."""

    carrier: Carrier
    """The part of the request that carries the id."""
    name: str = Field(min_length=1)
    """The name of the header field, the cookie or the parameter."""


class Clock(Record):
    """The time for the pages, and for the server if Stepmill starts it."""

    at: AwareDatetime
    """The moment at which a visit begins."""
    freeze_server: bool = False
    """Whether the server's time stands still there, by libfaketime; else its time is the real one."""


class Application(Record):
    """One application."""

    origin: str
    """Where its pages are for browsers, tasks and rows: a scheme and a name, the same everywhere, as
    `http://shop.localhost`."""
    version: str | None = None
    """The version of its code or contents, for the rows of its tasks; None: not stated."""
    start: Start
    """How one of its servers is started or reached."""
    reset: Reset | None = None
    """The reset of a server to the state of a seed; None: a new server is in that state."""
    login: Login | None = None
    """The login of the tasks' user in a session; None: the application has no users."""
    state: StateSource
    """Where the server's state is read."""
    masks: Masks = Masks()
    """The differences allowed between equal visits."""
    clock: Clock | None = None
    """The clock; None: the pages' clock begins where that of all sites does, and the server's is real."""
    page: PageFacts = Field(default=NO_FACTS, exclude_if=says_nothing)
    """What its pages find out about their user: language, time zone, colours, place."""
    visits: Literal["one"] | SharedVisits = "one"
    """`one` visit at a time on a server, or several that share it, each with an id."""
    home: str = ""
    """The folder of the file, where commands run; filled in when the file is read."""

    @field_validator("origin")
    @classmethod
    def _check_origin(cls, origin: str) -> str:
        if not _is_origin(origin) or ":" in urlsplit(origin).netloc or origin.startswith("https"):
            raise ValueError("expected http:// and a name without a port, as http://shop.localhost")
        return origin

    @model_validator(mode="after")
    def _check(self) -> "Application":
        if self.reset is None and self.start.url is not None:
            raise ValueError(
                "a server that runs already needs a reset, or visits see what others left"
            )
        if self.reset is None and self.visits != "one":
            raise ValueError("visits that share a server need a reset, given {session}")
        if self.clock is not None and self.clock.freeze_server and self.start.url is not None:
            raise ValueError("only the time of a server that Stepmill starts can be frozen")
        seeded = self.login is not None and self.login.seeded
        if seeded and not self.start.command:
            raise ValueError("login.seeded is for servers that Stepmill starts")
        if self.reset is not None and self.reset.files and not self.start.command:
            raise ValueError("reset.files are put into the folder of a server that Stepmill starts")
        for where, name, text in () if seeded else _secrets_stated(self):
            if text and not SECRET.search(text):
                raise ValueError(
                    f"{where}.{name} is written into the file; name a variable of the environment, "
                    "as '$SHOP_TOKEN', or one of start.secrets"
                )
        return self

    @property
    def identity(self) -> JsonValue:
        """The keys that decide a run's episodes: all but the server's address and the limit of its start."""
        left_out: Mapping[str, object] = {
            "home": True,
            "start": {"url", "seconds", "environment"},
        }
        return self.model_dump(mode="json", exclude=left_out)  # type: ignore[arg-type]


def _is_origin(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    # What cannot be printed is left out by `urlsplit`, and stays in the text.
    plain = url.isprintable() and not (
        parts.path or parts.query or parts.fragment or parts.username
    )
    return (
        parts.scheme in {"http", "https"} and plain and bool(_HOST.fullmatch(parts.hostname or ""))
    )


def _secrets_stated(application: Application) -> Iterator[tuple[str, str, str]]:
    """Yield every text that would be a secret if it were written out: where, its name, the text."""
    login, reset, state = application.login, application.reset, application.state
    requests: dict[str, Request | None] = {
        "reset.request": reset.request if reset else None,
        "login.request": login.request if login else None,
        "state.request": state.request,
        **{f"state.requests.{name}": request for name, request in state.requests.items()},
    }
    texts: dict[str, JsonValue] = {"login.storage": dict(login.storage) if login else {}}
    for where, request in requests.items():
        if request is not None:
            texts[f"{where}.headers"] = dict(request.headers)
            texts[f"{where}.form"] = dict(request.form or {})
            texts[f"{where}.data"] = request.data
            texts[f"{where}.path"] = dict(parse_qsl(urlsplit(request.path).query))
    for where, named in texts.items():
        for name, text in (named if isinstance(named, dict) else {}).items():
            if _SECRET_NAME.search(name) and isinstance(text, str) and "{session}" not in text:
                yield where, name, text
    for name, text in application.start.environment.items():
        if _SECRET_VARIABLE.search(name):
            yield "start.environment", name, text
    for name, text in (login.cookies if login else {}).items():
        yield "login.cookies", name, text
