"""The contact sheet beside the card: the first pages of many trajectories on one PNG, no two of them equal.

A rule selects the pages. Every family of worlds gives one in turn, and all other templates together
count as one family. Within a family each template in turn gives the first of its published trajectories
whose address is not on the sheet yet; if room is left, the first whose picture is not. Only the pictures
that are shown are read, and the size is bounded. The same rows and the same Pillow give the same bytes.
"""

import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from PIL import Image, ImageDraw

from storage.publish.card.filmstrip import FRAME, PAPER, draw_shrunk
from storage.publish.plan.config_columns import config_schema
from storage.publish.plan.rows import RowRequest, Tables, check_pictures, read_rows
from storage.publish.plan.selection import Selection

MAX_PAGES = 36
"""The maximum number of pages on the sheet."""

_ACROSS = 6
_WIDTH, _HEIGHT, _GAP = 232, 174, 10
_COLOURS = 256
_COLUMNS = ("episode_id", "step", "screenshot", "screenshot_sha256")


def read_pages(tables: Tables, selection: Selection) -> tuple[bytes, ...]:
    """Return the pictures of the sheet, as recorded; none if no trajectory is published.

    Raises:
        Damaged: a row is missing, or a picture is not the one recorded.
    """
    pages = _first_pages(tables)
    order = [episode for episode in _in_turn(selection) if episode in pages]
    by_url = {pages[episode].url: episode for episode in reversed(order)}
    firsts = set(by_url.values())
    chosen: dict[str, str] = {}
    for episode in sorted(order, key=lambda one: one not in firsts):
        if len(chosen) < MAX_PAGES:
            chosen.setdefault(pages[episode].picture, episode)
    if not chosen:
        return ()
    schema = pa.schema([config_schema("steps").field(name) for name in _COLUMNS])
    ids = tuple(chosen.values())
    size = max(one.picture_bytes * (one.n_steps + 1) for one in selection.published)
    wanted = RowRequest(table="steps", key="episode_id", ids=ids, weigh=lambda _: size)
    found: list[bytes] = []
    for piece in read_rows(tables, wanted, schema):
        first = piece.filter(pc.equal(piece["step"], pa.scalar(0, pa.int32())))
        check_pictures(first)
        found += pc.struct_field(first["screenshot"], "bytes").to_pylist()
    return tuple(found)


class _Page(NamedTuple):
    """The first page of an episode."""

    url: str
    """Its address."""
    picture: str
    """Its picture's hash."""


def _first_pages(tables: Tables) -> dict[str, _Page]:
    """Return the first page of each episode, by episode."""
    steps = tables.datasets.get("steps")
    if steps is None:
        return {}
    columns = ["episode_id", "url", "screenshot_sha256"]
    found = steps.to_table(columns=columns, filter=pc.field("step") == 0)
    rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
    return {episode: _Page(url, picture) for episode, url, picture in rows}


def _in_turn(selection: Selection) -> Iterator[str]:
    """Yield the published episodes: of each family, and of templates without one, one in turn."""
    templates: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in selection.published:
        if one.whole:
            family = one.template_id.rpartition("/")[0]
            templates[family][one.template_id].append(one.episode_id)
    families = [list(_turns(list(own.values()))) for _, own in sorted(templates.items())]
    yield from _turns(families)


def _turns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the first of each row, then the second of each that has one, and so on."""
    for place in range(max(map(len, rows), default=0)):
        yield from (row[place] for row in rows if place < len(row))


def contact_sheet(pages: Sequence[bytes]) -> bytes:
    """Return the sheet of pages as a PNG."""
    across = min(_ACROSS, len(pages))
    down = -(-len(pages) // across)
    size = (_GAP + across * (_WIDTH + _GAP), _GAP + down * (_HEIGHT + _GAP))
    sheet = Image.new("RGB", size, PAPER)
    draw = ImageDraw.Draw(sheet)
    for number, page in enumerate(pages):
        picture = draw_shrunk(page, _WIDTH, _HEIGHT)
        left = _GAP + number % across * (_WIDTH + _GAP) + (_WIDTH - picture.width) // 2
        top = _GAP + number // across * (_HEIGHT + _GAP) + (_HEIGHT - picture.height) // 2
        sheet.paste(picture, (left, top))
        box = (left - 1, top - 1, left + picture.width, top + picture.height)
        draw.rectangle(box, outline=FRAME)
    out = io.BytesIO()
    sheet.quantize(_COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


def sheet_lines(pages: Sequence[bytes], path: str) -> Iterator[str]:
    """Yield the sheet; `path` is where it is."""
    if pages:
        yield ""
        yield f"![First pages of trajectories]({path})"
        yield ""
        yield f"The first pages of {len(pages)} trajectories, no two equal: each family of worlds gives one in turn, and so"
        yield "do all other templates together."
