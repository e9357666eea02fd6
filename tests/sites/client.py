"""HTTP as a test speaks it to a small server: one call, and a customer who follows links and forms."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import quote, urlencode, urljoin, urlsplit

from sites.tasks import Action


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> dict[str, object]:
        read = json.loads(self.body)
        assert isinstance(read, dict)
        return read


def call(
    url: str, method: str = "GET", *, body: object = None, headers: Mapping[str, str] | None = None
) -> Response:
    """One request, without redirects; a body that is not bytes goes as JSON."""
    to = urlsplit(url)
    sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(to.netloc, timeout=200)
    try:
        path = f"{to.path or '/'}?{to.query}" if to.query else to.path or "/"
        connection.request(method, path, sent, dict(headers or {}))
        answer = connection.getresponse()
        return Response(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


class _Page(HTMLParser):
    """The elements of a page that an action can meet, and the hidden fields of each form."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: dict[str, tuple[str, Mapping[str, str], int]] = {}
        self.forms: list[tuple[Mapping[str, str], dict[str, str]]] = []
        self._inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append((known, {}))
            self._inside = True
        if tag == "input" and known.get("type") == "hidden" and self._inside:
            self.forms[-1][1][known["name"]] = known["value"]
        if "id" in known:
            self.elements[known["id"]] = (tag, known, len(self.forms) - 1 if self._inside else -1)

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "form"


class Customer:
    """Does a task's reference on pages without script: by links, forms and one cookie."""

    def __init__(self, url: str, path: str = "/") -> None:
        self._url = url
        self._cookie = ""
        self._typed: dict[str, str] = {}
        self._form = -1
        self.page = _Page("")
        self.text = ""
        self._go("GET", path)

    def do(self, action: Action) -> None:
        """One action of a reference; a selector is the element's id."""
        if action["do"] == "press":
            self._submit(self._form)
            return
        tag, known, form = self.page.elements[action["selector"].removeprefix("#")]
        self._form = form
        if action["do"] == "type":
            self._typed[known["name"]] = known.get("value", "") + action["text"]
        elif tag == "a":
            self._go("GET", known["href"])
        elif known.get("type") == "radio":
            self._typed[known["name"]] = known["value"]
        else:
            self._submit(form)

    def _submit(self, form: int) -> None:
        known, hidden = self.page.forms[form]
        method = known.get("method", "get").upper()
        sent = urlencode({**hidden, **self._typed})
        path = known["action"]
        if method == "GET":
            self._go("GET", f"{path}?{sent}")
        else:
            self._go(method, path, sent.encode())

    def _go(self, method: str, path: str, body: bytes | None = None) -> None:
        url = urljoin(self._url, quote(path, safe="/?=&%+"))
        answer = call(url, method, body=body, headers={"Cookie": self._cookie})
        if "Set-Cookie" in answer.headers:
            self._cookie = answer.headers["Set-Cookie"].partition(";")[0]
        if answer.status == 303:
            self._go("GET", answer.headers["Location"])
            return
        assert answer.status == 200, answer
        self.text, self.page, self._typed = answer.text, _Page(answer.text), {}
