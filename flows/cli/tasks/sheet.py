"""A contact sheet: the first and the final picture of one episode of each template, side by side.

No count says whether a picture shows the task and its outcome, so people look. Each episode is labelled with template,
seed and reward.
"""

import io
import os
from pathlib import Path

from PIL import Image, ImageDraw

from schemas.episodes.episode import Episode
from schemas.errors import Unwritable
from schemas.tasks.task import Task

SIZE = 160, 224
"""Maximum width and height of a picture on the sheet, px."""

COLUMNS = 8
"""Episodes per row."""

FORMATS = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG"}
"""The formats of pictures by file name suffix."""

_LINE, _GAP = 14, 6


def check_picture_path(flag: str, path: Path) -> Path:
    """Return the path of a picture after checking that it can be written.

    Raises:
        Unwritable: it cannot be; the error names the flag.
    """
    if path.suffix.lower() not in FORMATS:
        raise Unwritable(f"{flag} {path}: pictures are written as {', '.join(FORMATS)}")
    try:
        possible = not path.is_dir() and path.parent.is_dir() and os.access(path.parent, os.W_OK)
    except (OSError, ValueError):  # the name is too long or invalid
        possible = False
    if not possible:
        raise Unwritable(f"{flag} {path}: no file can be written there")
    return path


class ContactSheet:
    """The pictures of one episode of each template."""

    def __init__(self) -> None:
        self._pictures: dict[str, tuple[str, Image.Image, Image.Image]] = {}

    def add(self, task: Task, episode: Episode) -> None:
        """Add an episode's first and final picture, unless its template has an episode or this one has no steps."""
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
    """Return a picture no larger than `size`, px; an empty frame if it cannot be decoded."""
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
