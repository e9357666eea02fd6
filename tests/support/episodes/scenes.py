"""Pages made up for tests of the `grounding` export: elements, what shows of them, a click on one."""

from collections import Counter
from typing import Any

from support.episodes.factories import make_episode, make_step
from support.episodes.referents import middle
from support.runs.exports import Parrot, told_of

from schemas.episodes.action import Click
from schemas.episodes.episode import Step
from schemas.episodes.observation import Box, Element, Sight, Target
from storage.export.protocol import File, Line
from storage.export.training_rows import Grounding

NAMED = {'the button "Save"', 'the "Save" button'}
"""What is said of a button, whatever is known of its page."""


def element(name: str, bbox: Box, *, role: str = "button", **more: Any) -> Element:
    """Return something in sight."""
    told: dict[str, Any] = {"interactive": True, "visible": 1.0, "covered": False} | more
    return Element(role=role, name=name, tag=role, text=name, bbox=bbox, **told)


def drawn(*items: Element, texts: tuple[tuple[str, Box], ...] = ()) -> dict[str, Any]:
    """Return elements as a page that shows each of them, and texts beside."""
    shown = [Sight(text=item.text, bbox=item.bbox) for item in items if item.tag != "div"]
    said = [Sight(text=text, bbox=bbox) for text, bbox in texts]
    return {"elements": items, "sights": (*shown, *said)}


def clicking(item: Element, *others: Element, texts: tuple[tuple[str, Box], ...] = ()) -> Step:
    """Return a step that clicks the middle of an element of a page that shows all there is."""
    target = Target(tag=item.tag, role=item.role, name=item.text or None, bbox=item.bbox)
    step = make_step(0, picture=1, action=Click(x=middle(item.bbox)[0], y=middle(item.bbox)[1]))
    return step.model_copy(update={"target": target, **drawn(item, *others, texts=texts)})


def written(step: Step, *, scale: int = 1) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return the lines that a step becomes, and what was counted."""
    sized = step.model_copy(update={"width": step.width * scale, "height": step.height * scale})
    tally: Counter[str] = Counter()
    episode = make_episode().model_copy(update={"steps": (sized,)})
    pieces = list(Grounding(Parrot()).pieces(told_of(episode), tally))
    files = [piece.path for piece in pieces if isinstance(piece, File)]
    found = [dict(piece.record) for piece in pieces if isinstance(piece, Line)]
    assert files == [line["image"] for line in found]
    return found, tally


def line_of(step: Step, *, attempt: int) -> dict[str, Any]:
    """Return the line of a step in an episode of its own."""
    episode = make_episode().model_copy(update={"steps": (step,), "attempt": attempt})
    [line] = [
        dict(piece.record)
        for piece in Grounding(Parrot()).pieces(told_of(episode), Counter())
        if isinstance(piece, Line)
    ]
    return line


def said_of(step: Step) -> set[str]:
    """Return all that is said of what a step points at, in one episode or another."""
    return {said for n in range(12) for said in line_of(step, attempt=n)["expressions"]}
