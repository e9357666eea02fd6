"""Requests in order, as a person fills in a form: each has the cookies of the answers before it, and values found in them.

A rule finds exactly one value or fails, and a failure tells the rule and no value.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from http.cookies import CookieError, Morsel, SimpleCookie

from pydantic import JsonValue

from generators.sites.application.values import Values
from generators.sites.judging.state import parse_state
from schemas.configuration.requests import Find, RequestStep
from schemas.errors import BadState, FailureKind, RolloutFailure
from schemas.json_pointer import ABSENT, find


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered to a request."""

    status: int
    """Its status."""
    body: bytes
    """Its body."""
    headers: Mapping[str, str]
    """Its header fields but for cookies; of one name the last."""
    cookies: tuple[str, ...] = ()
    """The `Set-Cookie` fields, in order."""

    @property
    def text(self) -> str:
        """Its body as text."""
        return self.body.decode(errors="replace")

    @property
    def fields(self) -> "list[FormField]":
        """The fields of the forms in its HTML."""
        reading = _Forms()
        reading.feed(self.text)
        return reading.found


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a page's form."""

    name: str
    """Its name."""
    value: str
    """Its value in the document."""
    kind: str
    """Its `type`, as `password`; of others than inputs their tag."""
    form: Mapping[str, str]
    """The attributes of its form; empty: it is in none."""


class Jar:
    """The cookies of the answers so far."""

    def __init__(self) -> None:
        self._cookies: dict[str, Morsel[str]] = {}

    def take(self, headers: Sequence[str]) -> None:
        """Take the cookies of an answer's `Set-Cookie` fields, and give up those that they end."""
        for header in headers:
            try:
                read = SimpleCookie(header)
            except CookieError:
                continue
            for name, cookie in read.items():
                self._cookies.pop(name, None)
                if not _is_over(cookie):
                    self._cookies[name] = cookie

    @property
    def cookies(self) -> list[Morsel[str]]:
        """Them, in the order in which they came."""
        return list(self._cookies.values())

    @property
    def header(self) -> dict[str, str]:
        """The header field that sends them; empty: there are none."""
        pairs = [f"{name}={one.coded_value}" for name, one in self._cookies.items()]
        return {"Cookie": "; ".join(pairs)} if pairs else {}

    def value(self, name: str) -> str | None:
        """Return a cookie's value; None: there is none."""
        one = self._cookies.get(name)
        return None if one is None else one.value


@dataclass(slots=True)
class Findings:
    """What the steps so far have left: cookies, and values by name."""

    jar: Jar = field(default_factory=Jar)
    """The cookies."""
    values: dict[str, str] = field(default_factory=dict)
    """The values that were found."""

    def take(self, step: RequestStep, answer: Answer, values: Values, about: str) -> None:
        """Take what a step's answer holds.

        Raises:
            RolloutFailure: a rule finds nothing, or several different values.
        """
        self.jar.take(answer.cookies)
        for name, rule in step.find.items():
            try:
                found = list(dict.fromkeys(_look(rule, answer, self.jar, values)))
            except BadState as error:
                raise RolloutFailure(FailureKind.SITE, f"{about}: find.{name}: {error}") from None
            if len(found) != 1:
                raise RolloutFailure(
                    FailureKind.SITE,
                    f"{about}: find.{name}: {_tell(rule)} has {_count(found)} in the answer "
                    f"({answer.status}, {len(answer.body):,} bytes); {_remedy(rule, found)}",
                )
            self.values[name] = found[0]


def _look(rule: Find, answer: Answer, jar: Jar, values: Values) -> list[str]:
    """Return the values that a rule finds.

    Raises:
        BadState: the answer is no JSON, and the rule is a pointer into it.
    """
    if rule.cookie is not None:
        value = jar.value(rule.cookie)
        return [] if value is None else [value]
    if rule.header is not None:
        named = [v for k, v in answer.headers.items() if k.lower() == rule.header.lower()]
        return named[-1:]
    if rule.pattern is not None:
        return [match[min(1, match.re.groups)] for match in re.finditer(rule.pattern, answer.text)]
    if rule.pointer is not None:
        state: JsonValue = parse_state(answer.body, "the answer")
        part = find(state, rule.pointer)
        return [] if part is ABSENT or isinstance(part, dict | list) else [str(part)]
    wanted = None if rule.form is None else values.fill(rule.form)
    return [
        one.value
        for one in answer.fields
        if one.name == rule.field
        and (wanted is None or wanted in {one.form.get(key) for key in ("id", "name", "action")})
    ]


def _tell(rule: Find) -> str:
    stated = rule.model_dump(exclude_none=True)
    return " of ".join(f"{kind} '{text}'" for kind, text in stated.items())


def _count(found: Sequence[str]) -> str:
    return f"{len(found)} different values" if found else "no value"


def _remedy(rule: Find, found: Sequence[str]) -> str:
    if found and rule.field is not None:
        return "name the form too: form = its id, name or action"
    return "have the rule find exactly one"


def _is_over(cookie: Morsel[str]) -> bool:
    """Return whether a cookie is one that ends at once, which is how servers remove one."""
    if cookie["max-age"]:
        return not cookie["max-age"].lstrip("-").isdigit() or int(cookie["max-age"]) <= 0
    try:
        return bool(cookie["expires"]) and parsedate_to_datetime(cookie["expires"]).year <= 1970  # noqa: PLR2004 - the year that means never
    except ValueError:
        return False


class _Forms(HTMLParser):
    """Reads the fields of all forms."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[FormField] = []
        self._form: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a form, or a field of one."""
        stated = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = stated
        elif tag in {"input", "textarea", "select", "button"} and "name" in stated:
            kind = stated.get("type", "text") if tag == "input" else tag
            self.found.append(FormField(stated["name"], stated.get("value", ""), kind, self._form))
        elif tag == "meta" and "name" in stated and "content" in stated:
            self.found.append(FormField(stated["name"], stated["content"], tag, {}))

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a form."""
        if tag == "form":
            self._form = {}
