"""The zoo: small pages, one of a kind each, held against what a person sees in plain Chromium.

A page is `pages/NAME/page.html` of at most 60 lines, and `zoo.toml` beside it:

    about = "A transition that a timer starts later"    # the kind, in a few words
    path = "/"                       # where it is opened; "/" is the page itself
    steps = [ { click = "#open" }, { type = "Ada", into = "#name" }, { wait = 2000 } ]

    [files."/data.json"]             # what its server answers beside it: a path, its body or a handler
    body = '{"rows": 3}'             # or: handler = "stream", a function of `servers.py`
    type = "application/json"
    headers = { "X-Frame-Options" = "DENY" }    # `files."/"` has headers of the page itself
    delay = 0.3                      # seconds before the answer

    uploads = { "report.txt" = "its text" }    # the files that a person has at hand

    differs = { picture = "An endless animation stands at its beginning." }    # where plain Chromium is not right, and why

A step is one table with one of the keys of `STEPS`. A place is a CSS selector, `" >> "` between those of a shadow
root's or a frame's host and what is within, or two CSS pixels `[x, y]`.

The page may say what happens in it: it pushes strings to `window.events`.

`truth.json` is what `record.py` has seen on it in plain Chromium with a window, in real time, at a person's pace, and
`N.jpg` the picture after step N (0: when it was opened). Recorded and compared after each step are the
events so far, the visible text, the values of its fields, its address and title, how many tabs there are, the names
of downloads so far, and the picture. While the page asks something, what it asks is recorded and nothing else.
"""

import asyncio
import json
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from aiohttp import web

from zoo import servers

PAGES = Path(__file__).with_name("pages")
VIEWPORT = (500, 400)
MAX_LINES = 60

STEPS = {
    "click": "a place; `count` and `button` as for a mouse",
    "hover": "a place",
    "type": "text, into what has the focus, or `into` a place that is clicked first; `over`: what is there is replaced",
    "key": "a key or a chord, as `Enter` or `Control+a`",
    "drag": "a place; `to` another",
    "scroll": "pixels, down or, if negative, up; `over` a place",
    "choose": "a label, of the list `of` a place",
    "upload": "the name of one of the page's `uploads`, into the field `into` a place",
    "wait": "milliseconds",
    "back": "true",
    "answer": "`accept`, `dismiss` or a text, for what the page asks",
    "tab": "the number of the tab that is shown from now on; `close`: it is closed",
}
"""What a person does, by the key of a step."""

# What is seen of a page, through open shadow roots and frames of the same origin.
LOOK = (Path(__file__).parent / "look.js").read_text("utf-8")

ASPECTS = ("events", "text", "values", "url", "title", "tabs", "downloads", "dialog", "picture")


@dataclass(frozen=True)
class Animal:
    """A page of the zoo."""

    name: str
    about: str
    steps: tuple[dict[str, Any], ...]
    path: str = "/"
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    uploads: dict[str, str] = field(default_factory=dict)
    differs: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Return its folder."""
        return PAGES / self.name

    @property
    def record(self) -> Path:
        """Return the file of what was recorded."""
        return self.folder / "truth.json"

    @cached_property
    def page(self) -> str:
        """Return the page's source."""
        return (self.folder / "page.html").read_text("utf-8")

    @cached_property
    def truth(self) -> list[dict[str, Any]]:
        """Return what plain Chromium has shown: one look when it was opened, and one after each step."""
        looks: list[dict[str, Any]] = json.loads(self.record.read_text("utf-8"))
        return looks

    def picture(self, step: int) -> Path:
        """Return the recorded picture after a step."""
        return self.folder / f"{step}.jpg"


def read(path: Path) -> Animal:
    """Return the page whose TOML this is."""
    said = tomllib.loads(path.read_text("utf-8"))
    steps = tuple(said.pop("steps"))
    for step in steps:
        if len([key for key in step if key in STEPS]) != 1:
            raise ValueError(
                f"{path.parent.name}: a step has one of {', '.join(STEPS)}, got {step}"
            )
    return Animal(name=path.parent.name, steps=steps, **said)


def zoo() -> list[Animal]:
    """Return all pages, in the order of their names."""
    return [read(path) for path in sorted(PAGES.glob("*/zoo.toml"))]


async def answer(animal: Animal, request: web.BaseRequest) -> web.StreamResponse:
    """Answer as the page's server."""
    said = animal.files.get(request.path, {})
    if "delay" in said:
        await asyncio.sleep(said["delay"])
    headers = said.get("headers", {})
    if "handler" in said:
        response: web.StreamResponse = await getattr(servers, said["handler"])(request)
        return response
    if request.path == "/":
        return web.Response(
            text=animal.page, content_type="text/html", charset="utf-8", headers=headers
        )
    if not said:
        return web.Response(status=404, text="nothing is here")
    kind = said.get("type", "text/html")
    return web.Response(
        text=said.get("body", ""), content_type=kind, charset="utf-8", headers=headers
    )
