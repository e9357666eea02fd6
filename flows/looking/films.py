"""An attempt as pictures: its steps with what each did drawn on them, as a strip, a GIF or an MP4.

Each frame has a caption: the step, the action in words, the thought where there is one. A picture that cannot be
decoded is a grey frame that says so. Pictures are shrunk to a bound, so a film of any attempt fits in memory.
"""

import io
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from flows.looking.marks import INK, PAPER, Mark, draw, marks
from schemas.episodes.action import NoAction
from schemas.episodes.episode import Episode, Step
from schemas.errors import BadConfig, Damaged, Unwritable
from storage.publish.card.escape import visible
from storage.publish.card.filmstrip import FRAME, action_words

MAX_FRAMES = 200
"""The maximum number of frames of a film; of a longer attempt the first half and the last half of them."""

MAX_SIDE = 960
"""The longer side of a frame's picture, px."""

SECONDS = 1.2
"""How long a frame of a film is shown, s."""

_ACROSS, _STRIP_SIDE, _GAP = 4, 360, 12
_LETTERS, _LINE, _LINES = 14, 18, 3
_GREY = (320, 200)


def step_words(episode: Episode, step: Step) -> str:
    """Return a step in words: its number, its action, the element under the pointer."""
    hit = step.target and (step.target.name or step.target.text)
    on = f" on “{visible(hit)[:80]}”" if hit else ""
    what = "the end" if isinstance(step.action, NoAction) else action_words(step.action) + on
    return f"step {step.step} of {episode.n_steps}: {visible(what)}"


def marks_of(episode: Episode, step: Step) -> tuple[Mark, ...]:
    """Return the marks of a step of an episode."""
    after = episode.steps[step.step + 1] if step.step + 1 < len(episode.steps) else None
    return marks(step, after, scale=episode.device_scale_factor)


def marked_picture(episode: Episode, step: Step, *, side: int = MAX_SIDE) -> Image.Image:
    """Return a step's picture with its marks, its longer side at most `side` px.

    Raises:
        Damaged: it cannot be decoded.
    """
    return draw(step.screenshot.bytes, marks_of(episode, step), side=side)


def frames(episode: Episode, *, side: int = MAX_SIDE) -> Iterator[Image.Image]:
    """Yield the frames of an attempt, all of one size.

    Raises:
        Damaged: it has no pictures.
    """
    steps = _chosen(episode)
    if not steps:
        raise Damaged(f"episode {episode.episode_id}: has no pictures: it broke before the first")
    sizes = [_shrunk_size(step, side) for step in steps]
    width = max(_GREY[0], *(size[0] for size in sizes))
    height = max(size[1] for size in sizes)
    foot = _LINES * _LINE + _GAP
    for step in steps:
        frame = Image.new("RGB", (_even(width), _even(height + foot)), PAPER)
        picture = _picture(episode, step, side)
        frame.paste(picture, (0, 0))
        pen = ImageDraw.Draw(frame)
        pen.line((0, height, width, height), fill=FRAME)
        thought = f"\n{visible(step.thought)}" if step.thought else ""
        text = _wrap(pen, step_words(episode, step) + thought, width - _GAP)
        pen.multiline_text((_GAP / 2, height + 4), text, fill=INK, font=_font(), spacing=3)
        yield frame


def strip(episode: Episode) -> bytes:
    """Return all frames side by side, as a PNG.

    Raises:
        Damaged: the episode has no pictures.
    """
    made = list(frames(episode, side=_STRIP_SIDE))
    across = min(_ACROSS, len(made))
    wide, tall = (length + _GAP for length in made[0].size)
    sheet = Image.new("RGB", (across * wide, -(-len(made) // across) * tall), FRAME)
    for number, frame in enumerate(made):
        sheet.paste(frame, (number % across * wide, number // across * tall))
    return _encode(sheet, "PNG")


def gif(episode: Episode) -> bytes:
    """Return a film of the attempt as a GIF that repeats.

    Raises:
        Damaged: the episode has no pictures.
    """
    first, *others = (frame.quantize(128) for frame in frames(episode))
    out = io.BytesIO()
    first.save(
        out,
        "GIF",
        save_all=True,
        append_images=others,
        duration=round(1_000 * SECONDS),
        loop=0,
        optimize=False,
    )
    return out.getvalue()


def mp4(episode: Episode) -> bytes:
    """Return a film of the attempt as an MP4 (H.264), which browsers and chats play.

    Raises:
        BadConfig: the package that encodes it is not installed.
        Damaged: the episode has no pictures.
    """
    try:
        import av  # noqa: PLC0415 - of an extra, `stepmill[video]`
    except ImportError:
        raise BadConfig(
            "--mp4: needs the package av, which is not installed: pip install 'stepmill[video]'; --gif needs nothing"
        ) from None
    film, out = frames(episode), io.BytesIO()
    first = next(film)
    with av.open(out, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(1_000, round(1_000 * SECONDS)))
        stream.pix_fmt = "yuv420p"
        stream.width, stream.height = first.size
        for frame in (first, *film):
            made = av.VideoFrame.from_image(frame)  # type: ignore[no-untyped-call]
            container.mux(stream.encode(made))
        container.mux(stream.encode())
    return out.getvalue()


def write_file(path: Path, data: bytes) -> None:
    """Write a file that the user asked for.

    Raises:
        Unwritable: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise Unwritable(f"{path}: cannot be written: {error.strerror}") from None


def _chosen(episode: Episode) -> Sequence[Step]:
    """Return the steps of a film: all, or of very many the first and the last."""
    half = MAX_FRAMES // 2
    steps = episode.steps
    return steps if len(steps) <= MAX_FRAMES else (*steps[:half], *steps[-half:])


def _shrunk_size(step: Step, side: int) -> tuple[int, int]:
    scale = min(1.0, side / max(step.width, step.height))
    return max(1, round(step.width * scale)), max(1, round(step.height * scale))


def _picture(episode: Episode, step: Step, side: int) -> Image.Image:
    """Return a step's picture in its shrunk size; a grey one that says so if it cannot be decoded."""
    try:
        return marked_picture(episode, step, side=side)
    except Damaged as error:
        out = Image.new("RGB", _GREY, FRAME)
        pen = ImageDraw.Draw(out)
        text = _wrap(pen, str(error), _GREY[0] - 2 * _GAP)
        pen.multiline_text((_GAP, _GAP), text, fill=INK, font=_font())
        return out


def _wrap(pen: ImageDraw.ImageDraw, text: str, width: float) -> str:
    """Return `text` in at most `_LINES` lines that fit a width, px; what is left out is shown by an ellipsis."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines.append("")
        for word in paragraph.split(" "):
            joined = f"{lines[-1]} {word}".strip()
            if pen.textlength(joined, font=_font()) <= width or not lines[-1]:
                lines[-1] = joined
            else:
                lines.append(word)
    if len(lines) > _LINES:
        lines[_LINES - 1] += " …"
    return "\n".join(lines[:_LINES])


def _even(length: int) -> int:
    """Return a length that H.264 can encode."""
    return length + length % 2


def _encode(picture: Image.Image, kind: str) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


@cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(_LETTERS)
