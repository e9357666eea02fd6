"""Reads a login that Playwright's `context.storage_state` wrote: cookies, and `localStorage` by origin.

The form of the file: https://playwright.dev/python/docs/api/class-browsercontext#browser-context-storage-state.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from generators.browser.protocol import Cookie
from schemas.configuration.application import Application
from schemas.errors import FailureKind, RolloutFailure


@dataclass(frozen=True, slots=True)
class StorageState:
    """What such a file holds for an application."""

    cookies: tuple[Cookie, ...] = ()
    """The cookies."""
    storage: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The entries of `localStorage`, by origin."""


class _Stated(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _StoredCookie(_Stated):
    name: str
    value: str
    domain: str
    expires: float = -1
    http_only: bool = Field(default=False, alias="httpOnly")


class _Entry(_Stated):
    name: str
    value: str


class _Origin(_Stated):
    origin: str
    local_storage: tuple[_Entry, ...] = Field(default=(), alias="localStorage")


class _File(_Stated):
    cookies: tuple[_StoredCookie, ...] = ()
    origins: tuple[_Origin, ...] = ()


def read_storage_state(application: Application, name: str) -> StorageState:
    """Return the cookies and the storage that the file `name`, beside the application's, holds for its origins.

    Raises:
        RolloutFailure: it cannot be read, is no such file, holds nothing for the application, or has expired.
    """
    about = f"login.storage_state = '{name}'"
    try:
        stated = _File.model_validate_json(Path(application.home, name).read_bytes())
    except OSError as error:
        raise _refuse(f"{about}: {error.strerror or error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise _refuse(
            f"{about}: {where}: {first['msg']}; expected what Playwright's storage_state writes"
        ) from None
    cookies = list(_cookies(application, stated, about))
    storage = {
        one.origin: {entry.name: entry.value for entry in one.local_storage}
        for one in stated.origins
        if one.origin in application.all_origins and one.local_storage
    }
    if not cookies and not storage:
        others = {one.domain for one in stated.cookies} | {one.origin for one in stated.origins}
        raise _refuse(
            f"{about}: it holds nothing for {', '.join(application.all_origins)}, but for: "
            f"{', '.join(sorted(others)) or 'nothing'}"
        )
    return StorageState(tuple(cookies), storage)


def _cookies(application: Application, stated: _File, about: str) -> Iterator[Cookie]:
    for one in stated.cookies:
        domain = one.domain.lstrip(".").lower()
        own = [
            origin
            for origin in application.all_origins
            if (host := urlsplit(origin).hostname or "") == domain
            or (one.domain.startswith(".") and host.endswith(f".{domain}"))
        ]
        if not own:
            continue
        if 0 < one.expires < time.time():
            day = time.strftime("%Y-%m-%d", time.gmtime(one.expires))
            raise _refuse(
                f"{about}: the cookie '{one.name}' expired on {day}; log in once more and write the file anew"
            )
        yield Cookie(
            url=own[0],
            name=one.name,
            value=one.value,
            http_only=one.http_only,
            domain=domain if one.domain.startswith(".") else "",
        )


def _refuse(problem: str) -> RolloutFailure:
    return RolloutFailure(FailureKind.SITE, problem)
