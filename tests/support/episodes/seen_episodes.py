"""Episodes whose pictures show what the verifier `seen` looks for, or not."""

import io
from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageDraw
from support.episodes.factories import make_episode, make_step, make_task

from generators.verify.seen import Seen
from schemas.base import sha256_hex
from schemas.episodes.action import (
    Action,
    Click,
    NoAction,
    TypeText,
)
from schemas.episodes.episode import Step, ThoughtSource
from schemas.episodes.observation import Box, Screenshot, Sight, Target
from schemas.verdicts.verdict import Finding

GOAL = 'Choose gold. Do what is asked with "Ada Lovelace" on 07/04/2017 at 9:30 AM.'
FIELD: Box = (10, 200, 100, 20)
BUTTON: Box = (10, 300, 60, 20)
LINE: Box = (10, 10, 120, 14)
TASK = make_task()

Drawn = tuple[str, Box] | str


def sight(shown: Drawn) -> Sight:
    text, box = (shown, LINE) if isinstance(shown, str) else shown
    return Sight(text=text, bbox=box)


def picture(boxes: Sequence[Box]) -> Screenshot:
    """Return a white picture with something drawn in each box."""
    image = Image.new("RGB", (500, 400), "white")
    draw = ImageDraw.Draw(image)
    draw.rectangle(
        (302, 22, 328, 48), fill=(200, 50, 20) if (300, 20, 30, 30) in boxes else "white"
    )
    for left, top, width, height in boxes:
        draw.line((left, top, left + width, top + height / 3), fill="black", width=2)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    return Screenshot(bytes=out.getvalue(), path="picture.jpg")


def look(
    *shown: Drawn,
    do: Action,
    thought: str | None = None,
    source: ThoughtSource = ThoughtSource.TEMPLATE,
    target: Target | None = None,
    flat: Sequence[Box] = (),
    **columns: Any,
) -> Step:
    """Return a step whose picture shows a field, a button and `shown`, but nothing in `flat`."""
    sights = [sight(one) for one in (*shown, ("", FIELD), ("Submit", BUTTON))]
    drawn = picture([one.bbox for one in sights if one.bbox not in flat])
    step = make_step(0, picture=0, action=do)
    return step.model_copy(
        update={
            "screenshot": drawn,
            "screenshot_sha256": sha256_hex(drawn.bytes),
            "thought": thought,
            "thought_source": source if thought else None,
            "target": target,
            "sights": tuple(sights),
            **columns,
        }
    )


def at(box: Box, text: str | None = None) -> Target:
    return Target(tag="div", text=text, bbox=box, visible=1.0)


def write(text: str, *shown: Drawn, thought: str | None = None, **columns: Any) -> Step:
    """Return a step that types a text into the field."""
    do = TypeText(text=text, x=20, y=210)
    return look(*shown, do=do, thought=thought, target=at(FIELD), **columns)


def rewrite(text: str, *shown: Drawn, overwrite: bool = True) -> Step:
    """Return a step that types a text in place of what the field shows."""
    do = TypeText(text=text, x=20, y=210, overwrite=overwrite)
    return look(*shown, do=do, target=at(FIELD))


def press(*shown: Drawn, thought: str | None = None, **columns: Any) -> Step:
    """Return a step that presses the button."""
    do = Click(x=20, y=310)
    told = {"target": at(BUTTON, "Submit"), **columns}
    return look(*shown, do=do, thought=thought, **told)


async def judge(*steps: Step) -> Finding:
    rows = [step.model_copy(update={"step": number}) for number, step in enumerate(steps)]
    final = make_step(len(rows), picture=1, action=NoAction())
    episode = make_episode(TASK).model_copy(
        update={"steps": (*rows, final), "n_steps": len(rows), "instruction": GOAL}
    )
    return await Seen().examine(TASK, episode)
