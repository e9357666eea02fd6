#!/usr/bin/env python3
"""Draws docs/trajectory.png: one trajectory of a world of a published dataset, step by step.

    .venv/bin/python docs/picture.py demo-dataset docs/trajectory.png

It takes the accepted teacher trajectory of a world with the longest thought before its answer, of all that fit.
Each step is what the policy saw, where it acted, and why.
"""

import io
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow.dataset as pads
from PIL import Image, ImageDraw, ImageFont

from generators.worlds.packages.lock import packages_data, read_lock

WIDTH, ACROSS, MAX_STEPS = 480, 4, 11
TEXT_HEIGHT = 88
GAP = 14
COLOURS = 256
LETTERS = 256
"""What the font has of Unicode: Latin alone."""


def rows(dataset: Path, config: str) -> list[dict[str, Any]]:
    """Return all rows of a config's training split."""
    files = sorted(str(path) for path in (dataset / "data" / config).glob("train-*.parquet"))
    found: list[dict[str, Any]] = pads.dataset(files).to_table().to_pylist()
    return found


def panel(
    step: dict[str, Any], number: int, viewport: tuple[int, int], font: ImageFont.FreeTypeFont
) -> Image.Image:
    """Return one step: the picture with the pointer on it, and the thought below."""
    scale = WIDTH / viewport[0]
    height = round(viewport[1] * scale)
    out = Image.new("RGB", (WIDTH, height + TEXT_HEIGHT), "white")
    with Image.open(io.BytesIO(step["screenshot"]["bytes"])) as picture:
        seen = picture.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)
    out.paste(seen, (0, 0))
    draw = ImageDraw.Draw(out)
    draw.rectangle((0, 0, WIDTH - 1, height - 1), outline="#dadce0")
    if step["x"] is not None:
        x, y = step["x"] * scale, step["y"] * scale
        for radius, colour, wide in ((12, "white", 8), (10, "#d02020", 4)):
            box = (x - radius, y - radius, x + radius, y + radius)
            draw.ellipse(box, outline=colour, width=wide)
    action = json.loads(step["action"])
    told = {key: value for key, value in action.items() if value not in (None, False, "left", 1)}
    kind = told.pop("type")
    text = f' "{told["text"]}"' if told.get("text") else ""
    why = step["thought"] or ("The final state." if kind == "none" else "")
    lines = [f"{number}  {kind}{text}", *textwrap.wrap(why, 60)]
    draw.multiline_text((4, height + 8), "\n".join(lines[:4]), fill="#222222", font=font, spacing=5)
    return out


def main(dataset: Path, target: Path) -> None:
    """Draw the picture."""
    fitting = [
        row
        for row in rows(dataset, "trajectories")
        if row["site"] == "worlds"
        and row["accepted"]
        and row["policy"] == "teacher"
        and row["n_steps"] <= MAX_STEPS
    ]
    said = {row["episode_id"]: [row["instruction"]] for row in fitting}
    every = [step for step in rows(dataset, "steps") if step["episode_id"] in said]
    ending = dict.fromkeys(said, 0)
    for step in every:
        said[step["episode_id"]].append(step["thought"] or "")
        if step["action_type"] == "answer":
            ending[step["episode_id"]] = len(step["thought"] or "")
    chosen = max(
        (row for row in fitting if _is_latin("".join(said[row["episode_id"]]))),
        key=lambda row: ending[row["episode_id"]],
    )
    steps = [step for step in every if step["episode_id"] == chosen["episode_id"]]
    font = _font()
    viewport = (chosen["viewport_width"], chosen["viewport_height"])
    panels = [
        panel(step, n, viewport, font)
        for n, step in enumerate(sorted(steps, key=lambda s: s["step"]))
    ]
    goal = textwrap.wrap(f"Goal: {chosen['instruction']}", 210)
    top, tall = 12 + 22 * len(goal), panels[0].height
    down = -(-len(panels) // ACROSS)
    size = (ACROSS * (WIDTH + GAP) - GAP, top + down * (tall + GAP) - GAP)
    strip = Image.new("RGB", size, "white")
    words = "\n".join(goal)
    ImageDraw.Draw(strip).multiline_text((4, 4), words, fill="#222222", font=font, spacing=5)
    for number, one in enumerate(panels):
        at = (number % ACROSS * (WIDTH + GAP), top + number // ACROSS * (tall + GAP))
        strip.paste(one, at)
    strip.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


def _is_latin(text: str) -> bool:
    """Return whether the font has all letters of a text."""
    return all(ord(letter) < LETTERS for letter in text)


def _font() -> ImageFont.FreeTypeFont:
    """Return the letters of the words below: those of a package of worlds' pages, as Pillow's own has no umlauts."""
    inter = read_lock()["@fontsource/inter"]
    letters = inter.folder(packages_data()) / "files" / "inter-latin-400-normal.woff2"
    return ImageFont.truetype(letters, 15)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
