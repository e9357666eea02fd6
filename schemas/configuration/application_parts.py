"""The parts of an application's file: how its server starts, is reset, logged into and read.

Texts may hold the placeholders that `schemas/configuration/application.py` lists. Nothing here starts or asks anything.
"""

import re
from enum import StrEnum
from urllib.parse import urlsplit

from pydantic import AwareDatetime, Field, model_validator

from schemas.base import Record
from schemas.configuration.requests import Request, RequestStep
from schemas.json_pointer import Pointer

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_IP = re.compile(r"[0-9.]+")


def is_unset(value: object) -> bool:
    """Return whether a key was left out, and then is no part of an application's identity."""
    return not value


def is_origin(url: str) -> bool:
    """Return whether this is a scheme and a host, perhaps with a port, and nothing else."""
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


def is_name(url: str) -> bool:
    """Return whether this is a scheme and a name, without a port."""
    netloc = urlsplit(url).netloc if is_origin(url) else ":"
    return ":" not in netloc and not _IP.fullmatch(netloc)


class Start(Record):
    """The start of a server of the application, or the address of a running one."""

    command: tuple[str, ...] = ()
    """Program and arguments, run in the folder of the application's file; empty: one runs at `url`."""
    url: str | None = None
    """The address of a server that runs already, as `http://127.0.0.1:8000`; None: `command` starts it."""
    seconds: float = Field(default=30.0, gt=0, le=600)
    """Maximum seconds from the start until the server answers."""
    ready: str | None = Field(default=None, pattern="^/", exclude_if=is_unset)
    """A path that a started server answers with a status below 500 once it is ready; None: it is ready once it
    accepts connections."""
    certificate: str | None = Field(default=None, exclude_if=is_unset)
    """A file in PEM, beside the application's, with the certificate or the authority that an `https` server at `url`
    is trusted by; None: as the system trusts."""
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
        if self.url is not None and not is_origin(self.url):
            raise ValueError(f"url = {self.url!r}: expected http://HOST:PORT")
        if self.certificate is not None and not (self.url or "").startswith("https:"):
            raise ValueError("a certificate is for a server that runs already at an https:// url")
        if self.url is not None and (self.environment or self.secrets):
            raise ValueError("a server that runs already gets no environment and no secrets")
        return self


class Reset(Record):
    """The reset of a server to the state of a seed."""

    request: Request | None = None
    """The request; None: reset without a request."""
    steps: tuple[RequestStep, ...] = Field(default=(), exclude_if=is_unset)
    """Several requests in order; empty: reset without steps."""
    command: tuple[str, ...] = ()
    """Program and arguments, run like the server's own command; empty: reset without a command."""
    files: str | None = None
    """A folder, as `worlds/{seed}`, whose files replace those in `{folder}`, each by one rename, for a
    server that opens them anew for each request, and whose folders replace whole ones; None: reset without files."""

    @model_validator(mode="after")
    def _check(self) -> "Reset":
        if sum(map(bool, (self.request, self.steps, self.command, self.files))) != 1:
            raise ValueError("state one of request, steps, command and files")
        return self


class Basic(Record):
    """A user and a password by HTTP's basic scheme, which requests have instead of pages asking for them."""

    user: str
    """The user's name."""
    password: str
    """`$NAME`, or a value of the task's user."""


class Proof(Record):
    """A page that only a user who is logged in sees."""

    path: str = Field(pattern="^/")
    """Its path and query."""
    contains: str = Field(min_length=1)
    """A text of its HTML that nobody else gets."""


class Login(Record):
    """The login of a task's user in a session."""

    request: Request | None = None
    """A request whose answer sets the cookies; None: no request."""
    steps: tuple[RequestStep, ...] = Field(default=(), exclude_if=is_unset)
    """Several requests in order, as a person fills in a form: the page, then its fields with the token found in it.
    Empty: no steps."""
    storage_state: str | None = Field(default=None, exclude_if=is_unset)
    """A file of Playwright's `storage_state`, beside the application's: cookies and `localStorage`; None: no file."""
    basic: Basic | None = Field(default=None, exclude_if=is_unset)
    """The user and password of HTTP basic; None: the server asks for none."""
    cookies: dict[str, str] = Field(default_factory=dict)
    """Cookies by name; their values are `$NAME`."""
    storage: dict[str, str] = Field(default_factory=dict)
    """The entries of `localStorage`, by key."""
    proof: Proof | None = Field(default=None, exclude_if=is_unset)
    """A page that shows that the login worked; None: a form that comes back with its password field shows that it did
    not, and everything else passes."""
    seeded: bool = False
    """The login belongs to the state of a seed and opens only servers that Stepmill starts for one visit:
    its values are no secrets, and may be written out."""

    @model_validator(mode="after")
    def _check(self) -> "Login":
        if self.request is not None and self.steps:
            raise ValueError("state a request or steps, not both")
        return self


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
