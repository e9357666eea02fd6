#!/usr/bin/env python3
"""Draws docs/trajectory.png: one trajectory of a published dataset, step by step, as a strip.

    .venv/bin/python docs/picture.py demo-dataset docs/trajectory.png

It takes the accepted teacher trajectory of a template that shows most: a few steps, with pointer
and keys. Each step is what the policy saw, where it acted, and why.
"""

import io
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow.dataset as pads
from PIL import Image, ImageDraw, ImageFont

CROP = (0, 0, 165, 212)
"""The task's part of a MiniWoB++ page."""

ZOOM = 2
TEXT_HEIGHT = 84
GAP = 14
TEMPLATE = "login-user"
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def rows(dataset: Path, config: str) -> list[dict[str, Any]]:
    """Return all rows of a config's training split."""
    files = sorted(str(path) for path in (dataset / "data" / config).glob("*.parquet"))
    found: list[dict[str, Any]] = pads.dataset(files).to_table().to_pylist()
    return found


def panel(step: dict[str, Any], number: int, font: Font) -> Image.Image:
    """Return one step: the picture with the pointer on it, and the thought below."""
    width, height = CROP[2] * ZOOM, CROP[3] * ZOOM
    out = Image.new("RGB", (width, height + TEXT_HEIGHT), "white")
    with Image.open(io.BytesIO(step["screenshot"]["bytes"])) as picture:
        crop = picture.convert("RGB").crop(CROP)
    out.paste(crop.resize((width, height), Image.Resampling.LANCZOS), (0, 0))
    draw = ImageDraw.Draw(out)
    if step["x"] is not None:
        x, y = step["x"] * ZOOM, step["y"] * ZOOM
        draw.ellipse((x - 12, y - 12, x + 12, y + 12), outline="#d02020", width=4)
    action = json.loads(step["action"])
    told = {key: value for key, value in action.items() if value not in (None, False, "left", 1)}
    kind = told.pop("type")
    lines = [f"{number}  {kind}", *textwrap.wrap(step["thought"] or "The final state.", 38)]
    draw.multiline_text((4, height + 8), "\n".join(lines), fill="#222222", font=font, spacing=5)
    return out


def main(dataset: Path, target: Path) -> None:
    """Draw the picture."""
    chosen = next(
        trajectory
        for trajectory in rows(dataset, "trajectories")
        if f"/{TEMPLATE}." in trajectory["start_url"] and trajectory["policy"] == "teacher"
    )
    steps = [s for s in rows(dataset, "steps") if s["episode_id"] == chosen["episode_id"]]
    font = ImageFont.load_default(15)
    panels = [panel(step, n, font) for n, step in enumerate(sorted(steps, key=lambda s: s["step"]))]
    width = sum(p.width + GAP for p in panels) - GAP
    strip = Image.new("RGB", (width, panels[0].height), "white")
    for number, one in enumerate(panels):
        strip.paste(one, (number * (one.width + GAP), 0))
    strip.save(target, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
