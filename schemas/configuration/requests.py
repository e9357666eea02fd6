"""Requests of an application's file: one alone, or several steps that pass values on, as a form with a CSRF token needs.

Texts may hold the placeholders that `schemas/configuration/application.py` lists. Nothing here asks anything.
"""

import re
from typing import Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from schemas.base import Record
from schemas.json_pointer import Pointer

PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]*")
"""The form of the names of values, of users and of ports."""


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


class Find(Record):
    """Where the answer to a step holds a value for later steps."""

    field: str | None = None
    """The value of the form field with this name in the answer's HTML; None: another rule says where."""
    form: str | None = None
    """For `field`: the id, name or action of its form; None: any form."""
    pattern: str | None = None
    """A regular expression over the answer's text; the value is its first group, or all of it without one. None:
    another rule says where."""
    pointer: Pointer | None = None
    """A JSON pointer into the answer; None: another rule says where."""
    header: str | None = None
    """The header field with this name; None: another rule says where."""
    cookie: str | None = None
    """The cookie with this name, set by this or an earlier step; None: another rule says where."""

    @field_validator("pattern")
    @classmethod
    def _check_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"is no regular expression: {error}") from None
        return pattern

    @model_validator(mode="after")
    def _check(self) -> "Find":
        rules = (self.field, self.pattern, self.pointer, self.header, self.cookie)
        if sum(rule is not None for rule in rules) != 1:
            raise ValueError("state one of field, pattern, pointer, header and cookie")
        if self.form is not None and self.field is None:
            raise ValueError("a form is where a field is looked for; state the field")
        return self


class RequestStep(Request):
    """A request of several, which has the cookies of the answers before it."""

    find: dict[str, Find] = Field(default_factory=dict)
    """Values of its answer by name; later steps write one as `{found.NAME}`."""

    @field_validator("find")
    @classmethod
    def _check_find(cls, find: dict[str, Find]) -> dict[str, Find]:
        for name in find:
            if not PLAIN_NAME.fullmatch(name):
                raise ValueError(f"'{name}': expected small letters, digits and '_'")
        return find
