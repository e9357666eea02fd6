"""Sheets for readers who label steps: pictures before and after, what was pointed at, and all actions in words.

Nothing on them says what we or the policy thought of a step.
"""

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from generators.verify.shifts import at_point
from schemas.episodes.action import Drag, KeyDown, KeyUp, NoAction, Scroll, target_point
from schemas.episodes.episode import Episode, Step

_PICTURE = 760
"""Width of a picture on a sheet, px."""

_ON_SHEET = 4
"""Pictures on a sheet."""

_INK, _MARK = (20, 20, 20), (230, 0, 90)


def action_words(step: Step) -> str:
    """Return an action in words, without thought or judgement."""
    action = step.action
    if isinstance(action, NoAction):
        return "the end"
    own = action.model_dump(mode="json", exclude_defaults=True, exclude={"type", "x", "y"})
    own = {name: value for name, value in own.items() if not isinstance(value, float)}
    on = max(at_point(step), key=len, default="")
    said = action.type + "".join(f" {name}={value!r}" for name, value in own.items())
    if isinstance(action, Scroll):
        said = f"scroll {action.direction.value} by {action.amount} px"
    if isinstance(action, Drag | KeyDown | KeyUp):
        said = said.replace("_", " ")
    said += f" on {textwrap.shorten(on, 70)!r}" if on else ""
    said += f" [could not be carried out: {step.action_error}]" if step.action_error else ""
    return said + (f" [the page said: {step.result_text}]" if step.result_text else "")


def draw_episode(episode: Episode, steps: Sequence[int], *, name: str, to: Path) -> list[str]:
    """Write the page in words and the sheets of an episode; return the names of the sheets."""
    recorded = episode.steps
    lines = [f"GOAL: {episode.instruction}", ""]
    for step in recorded:
        asked = "  <- asked" if step.step in steps else ""
        lines.append(f"step {step.step}: {action_words(step)}{asked}")
    (to / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    shown = sorted({n for step in steps for n in (step, step + 1) if n < len(recorded)})
    sheets = list[str]()
    for place_ in range(0, len(shown), _ON_SHEET):
        sheet = _sheet([recorded[n] for n in shown[place_ : place_ + _ON_SHEET]], episode, steps)
        sheets.append(f"{name}-{len(sheets)}.png")
        sheet.save(to / sheets[-1])
    return sheets


def _sheet(steps: Sequence[Step], episode: Episode, asked: Sequence[int]) -> Image.Image:
    """Return a sheet with the goal and the pictures before these steps, two in a row."""
    font = _font()
    goal = textwrap.wrap(f"GOAL: {episode.instruction}", 175)
    pictures = [_marked(step, episode.device_scale_factor) for step in steps]
    captions = [
        textwrap.wrap(
            f"{'[ASKED] ' if step.step in asked else ''}before step {step.step}: {action_words(step)}",
            92,
        )[:3]
        for step in steps
    ]
    top = 20 * len(goal) + 12
    height = max(one.height for one in pictures) + 66
    rows = -(-len(pictures) // 2)
    sheet = Image.new("RGB", (2 * _PICTURE + 30, top + rows * height), "white")
    pen = ImageDraw.Draw(sheet)
    pen.multiline_text((10, 6), "\n".join(goal), fill=_INK, font=font)
    for number, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        left, above = 10 + (number % 2) * (_PICTURE + 10), top + (number // 2) * height
        pen.multiline_text((left, above), "\n".join(caption), fill=_INK, font=font)
        sheet.paste(picture, (left, above + 58))
    return sheet


def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return a font that has the letters of most goals, where this machine has it."""
    try:
        return ImageFont.truetype("DejaVuSans.ttf", 14)
    except OSError:
        return ImageFont.load_default(15)


def _marked(step: Step, scale: float) -> Image.Image:
    """Return the picture before a step, with what was pointed at."""
    with Image.open(io.BytesIO(step.screenshot.bytes)) as stored:
        picture = stored.convert("RGB")
    factor = min(_PICTURE / picture.width, 2.0)
    picture = picture.resize((round(picture.width * factor), round(picture.height * factor)))
    pen, size = ImageDraw.Draw(picture), scale * factor
    point = target_point(step.action)
    if point is not None:
        x, y = point[0] * size, point[1] * size
        pen.ellipse((x - 14, y - 14, x + 14, y + 14), outline=_MARK, width=3)
        pen.line((x - 4, y, x + 4, y), fill=_MARK, width=2)
        pen.line((x, y - 4, x, y + 4), fill=_MARK, width=2)
    if isinstance(step.action, Drag) and point is not None:
        end = (step.action.to_x * size, step.action.to_y * size)
        pen.line((point[0] * size, point[1] * size, *end), fill=_MARK, width=3)
    pen.rectangle((0, 0, picture.width - 1, picture.height - 1), outline=(150, 150, 150))
    return picture
