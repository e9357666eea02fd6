"""A contact sheet: the first and the final picture of a template each, side by side, for looking at.

No count says whether a picture shows the task and its outcome, so people look. The sheet holds one
episode of each template, named by template, seed and reward.
"""

import io
import os
from pathlib import Path

from PIL import Image, ImageDraw

from schemas.episodes.episode import Episode
from schemas.errors import Unwritable
from schemas.tasks.task import Task

SIZE = 160, 224
"""Of a picture on the sheet at most, px."""

COLUMNS = 8
"""Episodes in a row."""

FORMATS = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG"}
"""The formats in which pictures are saved, by the ends of file names."""

_LINE, _GAP = 14, 6


def check_picture_path(flag: str, path: Path) -> Path:
    """Return where a picture is to be saved, after looking whether that can be.

    Raises:
        Unwritable: it cannot; the error names the flag.
    """
    if path.suffix.lower() not in FORMATS:
        raise Unwritable(f"{flag} {path}: pictures are written as {', '.join(FORMATS)}")
    try:
        possible = not path.is_dir() and path.parent.is_dir() and os.access(path.parent, os.W_OK)
    except (OSError, ValueError):  # its name is too long, or none
        possible = False
    if not possible:
        raise Unwritable(f"{flag} {path}: no file can be written there")
    return path


class ContactSheet:
    """The pictures of one episode of each template."""

    def __init__(self) -> None:
        self._pictures: dict[str, tuple[str, Image.Image, Image.Image]] = {}

    def add(self, task: Task, episode: Episode) -> None:
        """Add an episode's first and final picture, unless its template has some or it has none."""
        if task.template_id in self._pictures or not episode.steps:
            return
        reward = "–" if episode.reward is None else f"{episode.reward:g}"
        first, last = (shrink(episode.steps[place].screenshot.bytes, SIZE) for place in (0, -1))
        title = f"{task.template_id} {task.seed}: {reward}"
        self._pictures[task.template_id] = title, first, last

    def save(self, path: Path) -> None:
        """Write the sheet, sorted by template.

        Raises:
            Unwritable: the file cannot be written.
        """
        width, height = 2 * SIZE[0] + 2 * _GAP, SIZE[1] + _LINE + _GAP
        rows = -(-len(self._pictures) // COLUMNS)
        sheet = Image.new("RGB", (COLUMNS * width, max(1, rows) * height), "white")
        draw = ImageDraw.Draw(sheet)
        for place, (_, (title, first, last)) in enumerate(sorted(self._pictures.items())):
            left, top = place % COLUMNS * width, place // COLUMNS * height
            draw.text((left, top), title, fill="black")
            sheet.paste(first, (left, top + _LINE))
            sheet.paste(last, (left + SIZE[0] + _GAP, top + _LINE))
        try:
            sheet.save(path)
        except OSError as error:
            raise Unwritable(f"--sheet {path}: {error.strerror}") from error


def shrink(picture: bytes, size: tuple[int, int]) -> Image.Image:
    """Return a picture no larger than `size`, px; of one that does not decode, an empty frame."""
    try:
        with Image.open(io.BytesIO(picture)) as whole:
            small = whole.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        small = Image.new("RGB", size, "white")
        draw = ImageDraw.Draw(small)
        draw.rectangle((0, 0, size[0] - 1, size[1] - 1), outline="red")
        draw.text((4, 4), "no picture", fill="red")
    small.thumbnail(size, Image.Resampling.LANCZOS)
    return small
