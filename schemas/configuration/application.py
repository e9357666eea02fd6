"""A web application that tasks run on, described by one file: an entry of a run's `[sites]`.

The file gives the address of the application's pages, how its server is started and reset to the state
of a seed, how its state is read, and the differences allowed between equal visits. Texts may hold
placeholders: `{seed}`, the task's seed; `{template}`, its template; `{port}` and `{folder}`, those of
one server, and `{port.NAME}`, a further port of it; `{session}`, the id of one visit where several share a
server; `{user.KEY}`, a value of the task's user; `{found.NAME}`, what an earlier step found; `{python}`,
the Python that Stepmill runs in. In the `data` of a request the text `{parameters}` stands for the task's parameters, as
JSON. Secrets are stated as `$NAME`, a variable of the environment or one of `start.secrets`. Nothing
here starts or asks anything.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, JsonValue, field_validator, model_validator

from schemas.base import Record
from schemas.configuration.application_parts import (
    Clock,
    Login,
    Reset,
    SharedVisits,
    Start,
    StateSource,
    is_name,
    is_origin,
    is_unset,
)
from schemas.configuration.masks import Masks
from schemas.configuration.requests import PLAIN_NAME, Request
from schemas.page_facts import NO_FACTS, PageFacts, says_nothing

PLACEHOLDERS = ("seed", "template", "port", "folder", "session", "python")
"""The placeholders in a text; other braces stay as they are."""

SECRET = re.compile(r"\$([A-Z][A-Z0-9_]*)")
"""The form of a variable's name in a text."""

GROUPS = ("port", "user", "found")
"""The groups of placeholders, each of which is written with a name, as `{user.name}`."""

NAMED_PLACEHOLDER = re.compile(rf"\{{({'|'.join(GROUPS)})\.([A-Za-z0-9_]+)\}}")
"""A placeholder of a group: the group and the name in it."""

_SECRET_NAME = re.compile(r"(?i)authorization|cookie|token|secret|password|passwd|api.?key|session")
_SECRET_VARIABLE = re.compile(r"(?i)(token|secret|passw(or)?d|key|credentials?)$")
_OWN_PORT = re.compile(r"http://127\.0\.0\.1:\{port(\.[a-z][a-z0-9_]*)?\}")


class Application(Record):
    """One application."""

    origin: str
    """Where its pages are for browsers, tasks and rows: a scheme and a name, the same everywhere, as
    `http://shop.localhost`."""
    version: str | None = None
    """The version of its code or contents, for the rows of its tasks; None: not stated."""
    origins: dict[str, str] = Field(default_factory=dict, exclude_if=is_unset)
    """Its further origins, as an API's `http://api.shop.localhost`, each with the address of its server: of one that
    Stepmill starts `http://127.0.0.1:{port}`, or `{port.NAME}`, a further port. Empty: it has one origin."""
    start: Start
    """How one of its servers is started or reached."""
    reset: Reset | None = None
    """The reset of a server to the state of a seed; None: a new server is in that state."""
    login: Login | None = None
    """The login of the tasks' user in a session; None: the application has no users."""
    users: dict[str, dict[str, str]] = Field(default_factory=dict, exclude_if=is_unset)
    """Its users by name, each with values that `login` writes as `{user.KEY}`. A task names its `user`; one that names
    none has the first. Empty: there is one user, whom `login` describes."""
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
        if not is_name(origin):
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
        self._check_secrets()
        self._check_users()
        self._check_origins()
        return self

    def _check_origins(self) -> None:
        for origin, address in self.origins.items():
            if not is_name(origin) or urlsplit(origin).hostname == urlsplit(self.origin).hostname:
                raise ValueError(
                    f"origins.'{origin}': expected http:// or https:// and another name without a port, as "
                    "http://api.shop.localhost"
                )
            if self.start.command and not _OWN_PORT.fullmatch(address):
                raise ValueError(
                    f"origins.'{origin}' = '{address}': a server that Stepmill starts is at http://127.0.0.1:{{port}} "
                    "or at a further port of its own, as http://127.0.0.1:{port.api}"
                )
            if self.start.url and (
                not is_origin(address)
                or urlsplit(address).hostname != urlsplit(self.start.url).hostname
            ):
                raise ValueError(
                    f"origins.'{origin}' = '{address}': expected http://HOST:PORT with the host of start.url"
                )

    def _check_users(self) -> None:
        stated = set[str]()
        for name, values in self.users.items():
            for key in (name, *values):
                if not PLAIN_NAME.fullmatch(key):
                    raise ValueError(
                        f"users.{name}: '{key}': expected small letters, digits and '_'"
                    )
            same = next((other for other in self.users if self.users[other] == values), name)
            if same != name:
                raise ValueError(
                    f"users.{name} and users.{same} are one user: their values are equal"
                )
            stated |= values.keys()
        login = "" if self.login is None else self.login.model_dump_json()
        for group, key in NAMED_PLACEHOLDER.findall(login):
            lacking = [name for name in self.users if key not in self.users[name]]
            if group == "user" and (lacking or not self.users):
                where = f"users.{lacking[0]}" if lacking else "users"
                raise ValueError(f"login writes {{user.{key}}}, but {where} has no '{key}'")
        if self.users and not any(group == "user" for group, _ in NAMED_PLACEHOLDER.findall(login)):
            raise ValueError(
                "users are stated, but login writes no {user.KEY}: all would be one user"
            )

    def _check_secrets(self) -> None:
        if self.login is not None and self.login.seeded:
            return
        for where, name, text in self._secrets_stated():
            if text and not SECRET.search(text) and not NAMED_PLACEHOLDER.search(text):
                raise ValueError(
                    f"{where}.{name} is written into the file; name a variable of the environment, "
                    "as '$SHOP_TOKEN', or one of start.secrets"
                )

    def _requests(self) -> Iterator[tuple[str, Request]]:
        """Yield every request of the file, and where it stands."""
        login, reset, state = self.login, self.reset, self.state
        for where, part in (("reset", reset), ("login", login), ("state", state)):
            if part is not None and part.request is not None:
                yield f"{where}.request", part.request
        for where, steps in (("reset", reset), ("login", login)):
            for number, step in enumerate(steps.steps if steps is not None else ()):
                yield f"{where}.steps.{number}", step
        for name, request in state.requests.items():
            yield f"state.requests.{name}", request

    def _secrets_stated(self) -> Iterator[tuple[str, str, str]]:
        """Yield every text that would be a secret if it were written out: where, its name, the text."""
        login = self.login
        texts: dict[str, JsonValue] = {"login.storage": dict(login.storage) if login else {}}
        for where, request in self._requests():
            texts[f"{where}.headers"] = dict(request.headers)
            texts[f"{where}.form"] = dict(request.form or {})
            texts[f"{where}.data"] = request.data
            texts[f"{where}.path"] = dict(parse_qsl(urlsplit(request.path).query))
        for name, values in self.users.items():
            texts[f"users.{name}"] = dict(values)
        for where, named in texts.items():
            for name, text in (named if isinstance(named, dict) else {}).items():
                if _SECRET_NAME.search(name) and isinstance(text, str) and "{session}" not in text:
                    yield where, name, text
        for name, text in self.start.environment.items():
            if _SECRET_VARIABLE.search(name):
                yield "start.environment", name, text
        for name, text in (login.cookies if login else {}).items():
            yield "login.cookies", name, text
        if login is not None and login.basic is not None:
            yield "login.basic", "password", login.basic.password

    @property
    def all_origins(self) -> tuple[str, ...]:
        """Its own origin and the further ones."""
        return (self.origin, *self.origins)

    @property
    def ports(self) -> list[str]:
        """The names of the further ports of a server that Stepmill starts."""
        found = NAMED_PLACEHOLDER.findall(" ".join((*self.start.command, *self.origins.values())))
        return sorted({name for group, name in found if group == "port"})

    @property
    def identity(self) -> JsonValue:
        """The keys that decide a run's episodes: all but the server's address and the limit of its start."""
        left_out: Mapping[str, object] = {
            "home": True,
            "start": {"url", "seconds", "environment", "ready", "certificate"},
        }
        return self.model_dump(mode="json", exclude=left_out)  # type: ignore[arg-type]
