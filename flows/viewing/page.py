"""What all pages have in common: the templates, and the frame around what a page shows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from aiohttp import web
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from flows.viewing.shown import Shown
from schemas.proportion import wilson
from storage.publish.card.escape import visible

PLACES: web.AppKey[Sequence[Shown]] = web.AppKey("places", Sequence[Shown])
"""What the window shows, in the order in which it was named."""

REVIEWER: web.AppKey[str] = web.AppKey("reviewer", str)
"""Who gives the reviews."""

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Tab:
    """A page of a place, as the navigation names it."""

    name: str
    """In the address."""
    label: str
    """For people."""


TABS = (
    Tab("overview", "Overview"),
    Tab("episodes", "Episodes"),
    Tab("compare", "Compare"),
    Tab("review", "Review"),
)


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "share": show_share,
        "number": show_number,
        "span": show_seconds,
        "plain": show_text,
        "lines": show_lines,
        "query": urlencode,
        "part": lambda text: quote(str(text), safe=""),
    }
    return found


def show_text(text: object) -> str:
    """Return a text of strangers with its control and direction characters shown as such; the page escapes the rest."""
    return "" if text is None else visible(str(text))


def show_lines(text: object) -> str:
    """Return a text as `show_text` does, with its lines and their indents."""
    lines = "" if text is None else str(text).expandtabs(2)
    return "\n".join(
        line[: len(line) - len(line.lstrip(" "))] + visible(line) for line in lines.split("\n")
    )


def show_share(count: float, of: float) -> str:
    """Return a share in percent; a dash of nothing."""
    return f"{100 * count / of:.0f} %" if of else "–"


def show_number(value: float | None) -> str:
    """Return a number as people write it; a dash for None."""
    if value is None or math.isnan(value):
        return "–"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.3g}" if abs(value) < 1 else f"{value:,.1f}"


def show_seconds(value: float | None) -> str:
    """Return a time in the unit that suits it; a dash for None."""
    if value is None:
        return "–"
    for limit, unit in ((90.0, "s"), (90.0 * 60, "min"), (36.0 * 3_600, "h")):
        if value < limit:
            size = {"s": 1.0, "min": 60.0, "h": 3_600.0}[unit]
            return f"{value / size:.1f} {unit}"
    return f"{value / 86_400:.1f} days"


def interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share, in percent; 0 to 100 of nothing."""
    low, high = wilson(successes, trials) if trials else (0.0, 1.0)
    return 100 * low, 100 * high


def place_of(request: web.Request) -> tuple[int, Shown]:
    """Return the place that an address names, and its number.

    Raises:
        web.HTTPNotFound: the window shows no such place.
    """
    text, places = request.match_info["place"], request.app[PLACES]
    if not text.isdecimal() or int(text) >= len(places):
        raise web.HTTPNotFound(text=f"there is no place {text} here")
    return int(text), places[int(text)]


def answer(
    request: web.Request,
    template: str,
    given: Mapping[str, Any],
    *,
    tab: str = "",
    title: str = "",
    status: int = 200,
) -> web.Response:
    """Return a page: what a template makes of what is given, in the frame of its place."""
    places: Sequence[Shown] = request.app[PLACES]
    number = int(request.match_info.get("place", "0"))
    frame = {
        "places": places,
        "number": number,
        "place": places[number] if number < len(places) else None,
        "tabs": TABS,
        "tab": tab,
        "title": title,
        "base": f"/{number}",
    }
    text = _templates().get_template(template).render(**frame, **given)
    return web.Response(text=text, content_type="text/html", status=status)
