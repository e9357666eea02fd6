"""The film strip beside the card: the steps of one real trajectory, side by side, as a PNG.

Each frame is a step's picture with the point of its action drawn on it, and the action in words; the
last one is the final state. A rule selects the trajectory, to prevent hand-picking: of the accepted ones that
fit, those in which something was noted come first, then the longest, and among equals the first. Only its pictures are read. The size is bounded for pictures
of any size. The same rows and the same Pillow give the same bytes.
"""

import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from PIL import Image, ImageDraw, ImageFont

from schemas.episodes.action import ACTION, Action, NoAction, action_columns
from schemas.tables.tables import Row
from storage.publish.card.escape import markdown, visible
from storage.publish.card.survey import Viewport
from storage.publish.plan.candidate import Candidate
from storage.publish.plan.config_columns import config_schema
from storage.publish.plan.rows import RowRequest, Tables, check_pictures, read_rows
from storage.publish.plan.selection import Selection

MAX_FRAMES = 8
"""The maximum number of pictures in the strip."""

MAX_THOUGHT_CHARS = 240
"""The maximum length of a thought on the card."""

MAX_GOAL_CHARS = 400
"""The maximum length of the goal on the card."""

PAPER, FRAME = "#ffffff", "#dadce0"
"""The colours of the background and of the line around pictures."""

_ACROSS = 4
_WIDTH, _HEIGHT, _GAP, _CAPTION = 220, 300, 12, 40
_LETTERS = 13
_LINE_CHARS, _LINES = 34, 2
_INK, _MARK = "#202124", "#d93025"
_MAX_PIXELS = 1 << 25
"""A picture with more pixels than this is not drawn: it would take too much memory."""


class Frame(NamedTuple):
    """One step of the strip."""

    picture: bytes
    """The picture, as recorded."""
    action: Action
    """The action in words; `none` for the final state."""
    thought: str | None
    """The policy's thought; None if it gave none."""
    note: str | None = None
    """What it noted; None: nothing."""


@dataclass(frozen=True, slots=True)
class Film:
    """The trajectory of the strip."""

    episode_id: str
    """Its episode."""
    template_id: str
    """The template of its task."""
    n_steps: int
    """Actions taken; there is one picture more."""
    goal: str
    """Its goal in words."""
    viewport: Viewport
    """Its viewport."""
    frames: tuple[Frame, ...]
    """Its first steps."""


def choose_film(selection: Selection, noted: Collection[str] = ()) -> Candidate | None:
    """Return the longest accepted trajectory that fits, else the shortest; None if none is accepted.

    `noted` are the episodes in which something was noted: those that fit come first.
    """
    accepted = [one for one in selection.published if one.acceptance.accepted and one.whole]
    fitting = [one for one in accepted if one.n_steps < MAX_FRAMES]
    if fitting:
        # of several, the first
        return max(fitting, key=lambda one: (one.episode_id in noted, one.n_steps))
    return min(accepted, key=lambda one: one.n_steps, default=None)


def read_film(tables: Tables, selection: Selection, viewports: dict[str, Viewport]) -> Film | None:
    """Return the trajectory of the strip, with the pictures that it shows; None if none is accepted.

    Raises:
        Damaged: a row is missing, or a picture is not the one recorded.
    """
    chosen = choose_film(selection, _episodes_with_notes(tables))
    if chosen is None:
        return None
    rows = list(_rows(tables, "steps", chosen))[:MAX_FRAMES]
    [episode] = _rows(tables, "episodes", chosen)
    frames = (
        Frame(
            row["screenshot"]["bytes"],
            ACTION.validate_json(row["action"]),
            row["thought"],
            row["note"],
        )
        for row in rows
    )
    viewport = viewports[chosen.episode_id]
    return Film(
        episode_id=chosen.episode_id,
        template_id=chosen.template_id,
        n_steps=chosen.n_steps,
        goal=episode["instruction"],
        viewport=viewport,
        frames=tuple(frames),
    )


def _episodes_with_notes(tables: Tables) -> set[str]:
    """Return the episodes in which something was noted."""
    steps = tables.datasets.get("steps")
    if steps is None or "note" not in steps.schema.names:
        return set()
    noted = ~pc.field("note").is_null()
    batches = steps.to_batches(columns=["episode_id", "note"], filter=noted)
    return {str(one) for batch in batches for one in batch["episode_id"].to_pylist()}


def _rows(tables: Tables, table: str, of: Candidate) -> Iterator[Row]:
    columns = {
        "steps": (
            "episode_id",
            "step",
            "screenshot",
            "screenshot_sha256",
            "action",
            "thought",
            "note",
        ),
        "episodes": ("episode_id", "instruction"),
    }[table]
    schema = pa.schema([config_schema(table).field(name) for name in columns])
    wanted = RowRequest(table=table, key="episode_id", ids=(of.episode_id,), weigh=lambda _: 0)
    for piece in read_rows(tables, wanted, schema):
        if table == "steps":
            check_pictures(piece)
        yield from piece.to_pylist()


def film_lines(film: Film | None, path: str) -> Iterator[str]:
    """Yield the strip and its steps in words; `path` is where the strip is."""
    if film is None:
        yield "There is no accepted trajectory to show."
        return
    total = film.n_steps + 1
    shown = "all" if len(film.frames) == total else f"the first {len(film.frames)} of"
    yield f"![The steps of one trajectory, with the point of each action]({path})"
    yield ""
    yield f"One trajectory, {shown} {total:,} pictures: of the accepted ones that fit, with a note if one has any, the"
    yield f"longest, and of those the first. It is `{film.episode_id}`, of {markdown(film.template_id)}; its goal:"
    yield f"{markdown(film.goal, max_chars=MAX_GOAL_CHARS)}"
    yield ""
    for number, frame in enumerate(film.frames):
        thought = markdown(frame.thought or "", max_chars=MAX_THOUGHT_CHARS)
        note = markdown(frame.note or "", max_chars=MAX_THOUGHT_CHARS)
        because = f" (thought: {thought})" if thought else ""
        because += f" (noted: {note})" if note else ""
        yield f"* {number}: {markdown(action_words(frame.action), max_chars=MAX_THOUGHT_CHARS)}{because}"


def action_words(action: Action) -> str:
    """Return an action in words, as `click at 12, 30`."""
    if isinstance(action, NoAction):
        return "the final state"
    parts = action_columns(action)
    words = [action.type.replace("_", " ")]
    if parts.count not in (None, 1):
        words.append({2: "twice", 3: "three times"}[parts.count or 0])
    if parts.button not in (None, "left"):
        words.append(f"with the {parts.button} button")
    if parts.accept is not None:
        words.append("accepted" if parts.accept else "dismissed")
    words += [word for word in (parts.key, parts.direction) if word is not None]
    if parts.amount is not None:
        words.append(f"{parts.amount}{_UNITS.get(action.type, '')}")
    if parts.text:
        words.append(f"“{parts.text}”")
    if parts.x is not None and parts.y is not None:
        words.append(f"at {parts.x:.0f}, {parts.y:.0f}")
    if parts.to_x is not None and parts.to_y is not None:
        words.append(f"to {parts.to_x:.0f}, {parts.to_y:.0f}")
    return " ".join(words)


_UNITS = {"scroll": " px", "wait": " ms"}


def filmstrip(film: Film) -> bytes:
    """Return the strip as a PNG."""
    pictures = [_picture(frame, film.viewport) for frame in film.frames]
    across = min(_ACROSS, len(pictures))
    tall = max(picture.height for picture in pictures) + _CAPTION
    down = -(-len(pictures) // across)
    strip = Image.new("RGB", (_GAP + across * (_WIDTH + _GAP), _GAP + down * (tall + _GAP)), PAPER)
    draw = ImageDraw.Draw(strip)
    for number, (frame, picture) in enumerate(zip(film.frames, pictures, strict=True)):
        left = _GAP + number % across * (_WIDTH + _GAP)
        top = _GAP + number // across * (tall + _GAP)
        text = "\n".join(_wrap(f"{number}: {action_words(frame.action)}"))
        draw.multiline_text((left, top), text, fill=_INK, font=_font(), spacing=3)
        at = (left, top + _CAPTION)
        strip.paste(picture, at)
        box = (at[0] - 1, at[1] - 1, at[0] + picture.width, at[1] + picture.height)
        draw.rectangle(box, outline=FRAME)
    out = io.BytesIO()
    strip.save(out, "PNG", optimize=True)
    return out.getvalue()


@cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(_LETTERS)


def _wrap(text: str) -> Sequence[str]:
    """Return `text` in at most `_LINES` lines, cut with an ellipsis."""
    lines = [""]
    for word in visible(text).split(" "):
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= _LINE_CHARS or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
    cut = [line[:_LINE_CHARS] for line in lines[:_LINES]]
    if len(lines) > _LINES or any(len(line) > _LINE_CHARS for line in lines):
        cut[-1] = f"{cut[-1][: _LINE_CHARS - 1]}…"
    return cut


def _picture(frame: Frame, viewport: Viewport) -> Image.Image:
    """Return a frame's picture in the strip's size, with the points of its action."""
    out = draw_shrunk(frame.picture, _WIDTH, _HEIGHT)
    parts = action_columns(frame.action)
    points = [
        (x / viewport.width * out.width, y / viewport.height * out.height)
        for x, y in ((parts.x, parts.y), (parts.to_x, parts.to_y))
        if x is not None and y is not None
    ]
    draw = ImageDraw.Draw(out)
    if len(points) > 1:
        draw.line(points, fill=_MARK, width=2)
    for x, y in points:
        for radius, colour, width in ((8, PAPER, 4), (7, _MARK, 2)):
            box = (x - radius, y - radius, x + radius, y + radius)
            draw.ellipse(box, outline=colour, width=width)
    return out


def draw_shrunk(picture: bytes, width: int, height: int) -> Image.Image:
    """Return a picture as large as fits; a grey square if it is invalid or too large to be drawn."""
    try:
        return _shrunk(picture, width, height)
    except (OSError, Image.DecompressionBombError):
        side = min(width, height)
        out = Image.new("RGB", (side, side), FRAME)
        ImageDraw.Draw(out).text((_GAP, _GAP), "no picture can be drawn", fill=_INK, font=_font())
        return out


def _shrunk(picture: bytes, width: int, height: int) -> Image.Image:
    """Return a picture as large as fits.

    Raises:
        OSError: the bytes are no picture.
        DecompressionBombError: it is too large to be drawn.
    """
    with Image.open(io.BytesIO(picture)) as recorded:
        if recorded.width * recorded.height > _MAX_PIXELS:
            raise Image.DecompressionBombError(f"{recorded.width} × {recorded.height} px")
        scale = min(width / recorded.width, height / recorded.height)
        size = (max(1, round(recorded.width * scale)), max(1, round(recorded.height * scale)))
        return recorded.convert("RGB").resize(size, Image.Resampling.LANCZOS)
