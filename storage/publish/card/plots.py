"""The plots beside the card and in a run's report, as SVG: the same rows always give the same bytes.

One shows the status of the episodes of each template, or of each site or policy, with the 95 % interval of its yield;
another is of columns, as the lengths of the published episodes.
Names of templates are foreign text and are escaped; there is no other foreign text in a plot.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate

from schemas.proportion import wilson
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.publish.card.escape import visible
from storage.publish.card.yields import Yield, percent
from storage.publish.plan.selection import Selection

MAX_BARS = 100
"""The maximum number of templates drawn, the lowest yield first; the title says how many are not."""

MAX_LENGTHS = 40
"""The last bar of the lengths' plot; it also counts longer episodes."""

MIN_LENGTHS = 10
"""The lengths' plot has bars up to here, however short the episodes are."""

_COLOURS = {
    AcceptanceStatus.ACCEPTED: "#2a7f62",
    AcceptanceStatus.REJECTED: "#c8553d",
    AcceptanceStatus.UNJUDGED: "#9aa0a6",
}
_WIDTH, _LEFT, _ROW, _TOP = 720, 220, 18, 56
_HEIGHT, _BASE = 220, 180
_NAME_CHARS = 32


def yield_plot(
    yields: Sequence[tuple[str, Yield]],
    *,
    of: str = "template",
    rest: str = "the card's table goes on",
) -> bytes:
    """Return the plot of the status of the episodes of each template, the lowest yield first.

    Args:
        yields: the names, each with its episodes by status.
        of: what is named.
        rest: where those are that are too many to be drawn.
    """
    worst = yields[:MAX_BARS]
    title = f"Episodes by {of}, the lowest yield first"
    if len(worst) < len(yields):
        title += f": {len(worst):,} of {len(yields):,}, {rest}"
    body: list[str] = []
    for place, (status, colour) in enumerate(_COLOURS.items()):
        left = _LEFT + place * 90
        body += [_box(left, 32, 10, 10, colour), _text(left + 15, 41, status.value)]
    body += [_line(_LEFT + 275, 37, _LEFT + 295, 37), _text(_LEFT + 302, 41, "95 % interval")]
    for row, (template, one) in enumerate(worst):
        body += _bar(row, template, one)
    return _drawing(title, body, height=_TOP + _ROW * len(worst) + 12)


def length_plot(selection: Selection) -> bytes:
    """Return the plot of the published episodes by number of actions."""
    lengths = (item.n_steps for item in selection.published)
    return plot_of_lengths(lengths, title="Published episodes by number of actions")


def plot_of_lengths(lengths: Iterable[int], *, title: str) -> bytes:
    """Return the plot of episodes by number of actions."""
    counts = Counter(min(one, MAX_LENGTHS) for one in lengths)
    last = max(MIN_LENGTHS, *counts, 0)
    every = 5 if last > MIN_LENGTHS else 1
    names = [
        "" if actions % every else f"{actions}+" if actions == MAX_LENGTHS else str(actions)
        for actions in range(last + 1)
    ]
    heights = [counts[actions] for actions in range(last + 1)]
    highest = max(counts.values(), default=1)
    return column_plot(title, heights, names, axis="actions", highest=(highest, f"{highest:,}"))


def column_plot(
    title: str,
    heights: Sequence[float],
    names: Sequence[str],
    *,
    axis: str,
    highest: tuple[float, str],
) -> bytes:
    """Return a plot of columns.

    Args:
        title: what the heights are, with their unit.
        heights: one for each column, from 0.
        names: what stands below each column; an empty one below none.
        axis: what the names are.
        highest: the height that fills the plot, above 0, and how it is written.
    """
    width = (_WIDTH - 80) / len(heights)
    body = [_text(_WIDTH / 2, _HEIGHT - 8, axis, anchor="middle")]
    for place, (one, name) in enumerate(zip(heights, names, strict=True)):
        left, height = 50 + place * width, (_BASE - _TOP) * one / highest[0]
        body.append(
            _box(left, _BASE - height, width - 2, height, _COLOURS[AcceptanceStatus.ACCEPTED])
        )
        if name:
            body.append(_text(left + width / 2, _BASE + 16, name, anchor="middle"))
    body.append(_text(44, _TOP + 8, highest[1], anchor="end"))
    return _drawing(title, body, height=_HEIGHT)


def _bar(row: int, template: str, one: Yield) -> Iterator[str]:
    """Yield one template's name, its bar in parts with the interval over it, and its yield."""
    top, room = _TOP + row * _ROW, _WIDTH - _LEFT - 110
    name = visible(template)
    shown = name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…"
    yield _text(_LEFT - 8, top + 11, shown, anchor="end")
    judged_room = room * one.judged / sum(one)
    widths = [room * number / sum(one) for number in one]
    for left, width, colour in zip(
        accumulate(widths, initial=0.0), widths, _COLOURS.values(), strict=False
    ):
        if width:
            yield _box(_LEFT + left, top, width, _ROW - 5, colour)
    if one.judged:
        low, high = (judged_room * end for end in wilson(one.accepted, one.judged))
        middle = top + (_ROW - 5) / 2
        yield _line(_LEFT + low, middle, _LEFT + high, middle)
        for end in (low, high):
            yield _line(_LEFT + end, middle - 4, _LEFT + end, middle + 4)
    share = f"{percent(one.share)} of {one.judged:,}" if one.judged else "not judged"
    yield _text(_LEFT + room + 8, top + 11, share)


def _line(left: float, top: float, right: float, bottom: float) -> str:
    return (
        f'<line x1="{left:.1f}" y1="{top:.1f}" x2="{right:.1f}" y2="{bottom:.1f}" '
        'stroke="#202124" stroke-width="1.5"/>'
    )


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
