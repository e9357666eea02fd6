"""A browser without scripts or pictures, for what an application does with forms and links.

It carries out a reference's moves over HTTP: it follows links, fills the fields of forms and sends them
as a browser would. Two things that a page would do by script it does itself, as the script would:
fossil's editor of wiki pages, and MediaWiki's watching by one click.
"""

import http.client
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit

from stepmill_applications.application_task import Move

_SELECTOR = re.compile(
    r"(?P<tag>\w*)(?:#(?P<id>[\w-]+)|\.(?P<class>[\w-]+)|\[name=\"(?P<name>\w+)\"\])?"
)
_VOID = {"input", "br", "img", "link", "meta", "hr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    form: "Element | None" = None
    text: str = ""
    controls: list["Element"] = field(default_factory=list)
    options: list["Element"] = field(default_factory=list)

    def __getitem__(self, name: str) -> str:
        return self.attributes.get(name, "")

    @property
    def label(self) -> str:
        said = self["value"] if self.tag == "input" else self.text
        return " ".join(said.split())

    def matches(self, selector: str) -> bool:
        found = _SELECTOR.fullmatch(selector)
        assert found, f"the test browser knows no selector like {selector}"
        return all(
            not wanted or wanted in had
            for wanted, had in (
                (found["tag"], [self.tag]),
                (found["id"], [self["id"]]),
                (found["class"], self["class"].split()),
                (found["name"], [self["name"]]),
            )
        )


class Page(HTMLParser):
    """The elements of a page, in its order."""

    def __init__(self, url: str, text: str) -> None:
        super().__init__()
        self.url, self.source = url, text
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self._form: Element | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, form=self._form)
        self.elements.append(element)
        if tag == "form":
            self._form = element
        elif tag == "option":
            self._last("select").options.append(element)
        elif tag in ("input", "select", "textarea", "button") and self._form:
            self._form.controls.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        for number in range(len(self._open) - 1, -1, -1):
            if self._open[number].tag == tag:
                del self._open[number:]
                break

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def _last(self, tag: str) -> Element:
        return next(one for one in reversed(self._open) if one.tag == tag)

    def labelled(self, label: str) -> Element:
        can = [
            one
            for one in self.elements
            if one.tag in ("a", "button") or one["type"] in ("submit", "button")
        ]
        for one in can:
            if one.label == label:
                return one
        for one in can:
            if one.label.startswith(label):
                return one
        raise AssertionError(
            f"no link or button says {label!r} on {self.url}: {[one.label for one in can]}"
        )

    def found(self, selector: str) -> Element:
        *above, last = selector.split(" ")
        inside = not above
        for one in self.elements:
            if inside and one.matches(last):
                return one
            inside = inside or one.matches(above[-1])
        raise AssertionError(f"nothing matches {selector!r} on {self.url}")


class FormBrowser:
    """One visit, at an application's port, under its origin."""

    def __init__(self, port: int, origin: str, cookies: dict[str, str]) -> None:
        self.port, self.origin, self.cookies = port, origin, dict(cookies)
        self.page = Page(origin, "")
        self._focus: Element | None = None
        self.answer: str | None = None

    def do(self, moves: Sequence[Move]) -> None:
        for move in moves:
            match move.do:
                case "open":
                    self.get(move.text or "/")
                case "answer":
                    self.answer = move.text
                case "press":
                    pass
                case "click":
                    self._click(self._place(move))
                case "type":
                    self._type(self._place(move), move)
                case "select":
                    self._select(self._place(move), move.text or "")

    def _place(self, move: Move) -> Element:
        return (
            self.page.labelled(move.label) if move.label else self.page.found(move.selector or "")
        )

    def _type(self, place: Element, move: Move) -> None:
        old = "" if move.overwrite else (place.text if place.tag == "textarea" else place["value"])
        if place.tag == "textarea":
            place.text = old + (move.text or "")
        else:
            place.attributes["value"] = old + (move.text or "")
        if move.enter:
            assert place.form
            first = next((one for one in place.form.controls if one["type"] == "submit"), None)
            self._submit(place.form, first)

    def _select(self, place: Element, text: str) -> None:
        assert text in [one.label for one in place.options], f"{text!r} cannot be chosen"
        for one in place.options:
            one.attributes.pop("selected", None)
            if one.label == text:
                one.attributes["selected"] = ""

    def _click(self, place: Element) -> None:
        if place.matches("button.wikiedit-save-close"):
            self._save_in_fossil()
        elif place.tag == "a":
            self.get(place["href"])
            if re.search(r"action=(un)?watch\b", place["href"]):
                self._click(self.page.labelled("OK"))
        elif place.tag == "nav":
            pass  # a menu opens, whose links were there already
        elif place["type"] == "checkbox":
            place.attributes["checked"] = ""
        else:
            assert place.form
            assert "disabled" not in place.attributes, f"{place.label} is disabled"
            self._submit(place.form, place)

    def _save_in_fossil(self) -> None:
        name = urlsplit(self.page.url).query.split("name=")[1].split("&")[0].replace("+", " ")
        text = self.page.found("#wikiedit-content-editor").text
        for new in ("0", "1"):
            form = {"page": name, "mimetype": "text/x-markdown", "isnew": new, "content": text}
            self._ask("POST", "/wikiajax/save", urlencode(form))
            if "error" not in json.loads(self.page.source):
                break
        self.get(f"/wiki?{urlencode({'name': name})}")

    def _submit(self, form: Element, by: Element | None) -> None:
        values = [pair for one in form.controls if (pair := _value(one, by))]
        target = form["action"] or self.page.url
        if form["method"].lower() == "post":
            self._ask("POST", target, urlencode(values))
        else:
            self.get(f"{target.partition('?')[0]}?{urlencode(values)}")

    def get(self, target: str) -> None:
        self._ask("GET", target)

    def _ask(self, method: str, target: str, body: str | None = None) -> None:
        base = next((one["href"] for one in self.page.elements if one.tag == "base"), self.page.url)
        url = urljoin(base, target)
        assert url.startswith(f"{self.origin}/"), f"{url} is elsewhere"
        parts = urlsplit(url)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {
            "Host": urlsplit(self.origin).netloc,
            "Referer": self.page.url,
            "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()),
        }
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, body=body, headers=headers)
        reply = connection.getresponse()
        text = reply.read().decode("utf-8", "replace")
        for header in reply.msg.get_all("Set-Cookie") or ():
            name, _, value = header.partition(";")[0].partition("=")
            self.cookies[name] = value
        connection.close()
        assert reply.status < 500, f"{url} answered {reply.status}: {text[:500]}"
        self.page = Page(url, text)
        if reply.status in (301, 302, 303):
            self.get(reply.headers["Location"])


def _value(control: Element, by: Element | None) -> tuple[str, str] | None:
    """Return what a form sends for a control; None if it sends nothing."""
    name, kind = control["name"], control["type"]
    if not name or "disabled" in control.attributes:
        return None
    if control.tag == "button" or kind in ("submit", "image", "reset", "button"):
        return (name, control["value"]) if control is by else None
    if kind in ("checkbox", "radio"):
        return (name, control["value"] or "on") if "checked" in control.attributes else None
    if control.tag == "textarea":
        text = control.text.removeprefix("\n")
        return name, text.replace("\r\n", "\n").replace("\n", "\r\n")
    if control.tag == "select":
        chosen = [
            one for one in control.options if "selected" in one.attributes
        ] or control.options[:1]
        return (
            (name, chosen[0]["value"] if "value" in chosen[0].attributes else chosen[0].label)
            if chosen
            else None
        )
    return name, control["value"]
