"""The plots beside the card, as SVG: the same rows always give the same bytes.

One shows the status of each template's episodes, the other the lengths of the published episodes.
Names of templates are foreign text and are escaped; there is no other foreign text in a plot.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate

from schemas.acceptance import AcceptanceStatus
from storage.publish.card.escape import visible
from storage.publish.plan.selection import Selection

MAX_BARS = 40
"""The maximum number of templates drawn, the lowest yield first."""

MAX_LENGTHS = 40
"""The last bar of the lengths' plot; it also counts longer episodes."""

_COLOURS = {
    AcceptanceStatus.ACCEPTED: "#2a7f62",
    AcceptanceStatus.REJECTED: "#c8553d",
    AcceptanceStatus.UNJUDGED: "#9aa0a6",
}
_WIDTH, _LEFT, _ROW, _TOP = 720, 220, 18, 56
_HEIGHT, _BASE = 220, 180
_NAME_CHARS = 32


def yield_plot(selection: Selection) -> bytes:
    """Return the plot of the status of each template's episodes, the lowest yield first."""
    worst = selection.statuses_by_template()[:MAX_BARS]
    title = "Episodes by template, the lowest yield first"
    body: list[str] = []
    for place, (status, colour) in enumerate(_COLOURS.items()):
        left = _LEFT + place * 110
        body += [_box(left, 32, 10, 10, colour), _text(left + 15, 41, status.value)]
    for row, (template, counts) in enumerate(worst):
        body += _bar(row, template, counts)
    return _drawing(title, body, height=_TOP + _ROW * len(worst) + 12)


def length_plot(selection: Selection) -> bytes:
    """Return the plot of the published episodes by number of actions."""
    counts = Counter(min(item.n_steps, MAX_LENGTHS) for item in selection.published)
    highest = max(counts.values(), default=1)
    width = (_WIDTH - 80) / (MAX_LENGTHS + 1)
    body = [_text(_WIDTH / 2, _HEIGHT - 8, "actions", anchor="middle")]
    for actions in range(MAX_LENGTHS + 1):
        left, height = 50 + actions * width, (_BASE - _TOP) * counts[actions] / highest
        body.append(
            _box(left, _BASE - height, width - 2, height, _COLOURS[AcceptanceStatus.ACCEPTED])
        )
        if actions % 5 == 0:
            label = f"{actions}+" if actions == MAX_LENGTHS else str(actions)
            body.append(_text(left + width / 2, _BASE + 16, label, anchor="middle"))
    body.append(_text(44, _TOP + 8, f"{highest:,}", anchor="end"))
    return _drawing("Published episodes by number of actions", body, height=_HEIGHT)


def _bar(row: int, template: str, counts: Counter[AcceptanceStatus]) -> Iterator[str]:
    """Yield one template's name, its bar in parts, and its yield."""
    top, room = _TOP + row * _ROW, _WIDTH - _LEFT - 60
    name = visible(template)
    shown = name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…"
    yield _text(_LEFT - 8, top + 11, shown, anchor="end")
    widths = [room * counts[status] / counts.total() for status in _COLOURS]
    for left, width, colour in zip(
        accumulate(widths, initial=0.0), widths, _COLOURS.values(), strict=False
    ):
        if width:
            yield _box(_LEFT + left, top, width, _ROW - 5, colour)
    share = counts[AcceptanceStatus.ACCEPTED] / counts.total()
    yield _text(_LEFT + room + 8, top + 11, f"{share:.0%}")


def _box(left: float, top: float, width: float, height: float, colour: str) -> str:
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{colour}"/>'
    )


def _text(left: float, base: float, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{left:.1f}" y="{base:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _drawing(title: str, body: Sequence[str], *, height: int) -> bytes:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="12" '
        'fill="#202124" role="img">'
    )
    lines = [
        head,
        f"<title>{escape(title)}</title>",
        _box(0, 0, _WIDTH, height, "#ffffff"),
        f'<text x="12" y="20" font-size="14">{escape(title)}</text>',
        *body,
        "</svg>",
        "",
    ]
    return "\n".join(lines).encode()
