"""How a faulty recorder tells an episode: whatever follows from its lie is told to match.

`retell` computes again what a recorder computes from its steps: their numbers, the hashes of their
pictures, fractions, `state_changed`, times, ids, counts and sums. `amend` says of a step what does not
follow from anything, and leaves the rest as it was.
"""

import io
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from PIL import Image

from generators.browser.picture import read_picture
from schemas.base import sha256_hex
from schemas.episodes.action import Action, Answer, Click, NoAction, target_point
from schemas.episodes.episode import Episode, Step, steps_sha256
from schemas.episodes.observation import Box, Element, Screenshot, Target, visible_state
from schemas.ids import episode_id, group_id
from schemas.tasks.task import Task


@dataclass(frozen=True)
class Told:
    """An episode and the task that it is told to be of."""

    task: Task
    episode: Episode


@dataclass(frozen=True)
class Truth(Told):
    """A sound episode, and others that a lie may borrow from."""

    sibling: Told
    """Of the same template, another seed."""
    stranger: Told
    """Of another template."""
    random: Random
    """Draws where the lie is told."""

    @property
    def taken(self) -> list[Step]:
        """The steps with an action."""
        return [step for step in self.episode.steps if not isinstance(step.action, NoAction)]

    @property
    def acted(self) -> list[Step]:
        """Those of them up to the end that the site reported; an answer may follow it."""
        over = next((step.step for step in self.taken if step.terminated), len(self.taken))
        return self.taken[: over + 1]

    def choose(self, holds: Callable[[Step], object], among: Iterable[Step] = ()) -> int | None:
        """Return the number of some step for which it holds; None if there is none."""
        found = [step.step for step in among or self.taken if holds(step)]
        return self.random.choice(found) if found else None


Lie = Callable[[Truth], Told | Episode | None]
"""Tells of an episode what is not true; None where it has nothing that could be told so."""


@dataclass(frozen=True)
class Kind:
    """A kind of lie."""

    tell: Lie
    by: str
    """The verifier that rejects it; empty: none can."""
    true_at_times: bool = False
    """Carrying out what was told may show all that was told: then it was no lie."""
    lost: bool = False
    """It is told of an episode that was not won."""


Kinds = dict[str, Kind]


def adder(
    kinds: Kinds,
) -> Callable[..., Callable[[Lie], Lie]]:
    """Return the decorator that adds a function to `kinds`, by its name."""

    def lie(by: str, *, true_at_times: bool = False, lost: bool = False) -> Callable[[Lie], Lie]:
        def add(tell: Lie) -> Lie:
            assert tell.__name__ not in kinds
            kinds[tell.__name__] = Kind(tell, by, true_at_times, lost)
            return tell

        return add

    return lie


def retell(episode: Episode, steps: Sequence[Step] | None = None, **columns: object) -> Episode:
    """Return the episode with `steps` and `columns`, and all that follows from them."""
    rows = _follow(episode.steps if steps is None else steps, episode)
    told = episode.model_copy(update=columns)
    taken = [step for step in rows if not isinstance(step.action, NoAction)]
    last = rows[-1].at
    late = max(timedelta(), last - told.ended_at)
    derived: dict[str, object] = {
        "episode_id": episode_id(told.run_id, told.task_id, told.attempt),
        "group_id": group_id(told.run_id, told.task_id),
        "n_steps": len(taken),
        "answer": next((s.action.text for s in taken[::-1] if isinstance(s.action, Answer)), None),
        "browser_seconds": sum(s.observe_ms + s.act_ms for s in rows) / 1_000,
        "ended_at": told.ended_at + late,
        "wall_seconds": told.wall_seconds + late.total_seconds(),
        "content_sha256": steps_sha256(rows),
        "steps": rows,
    }
    if taken:
        derived |= {"reward": taken[-1].reward, "done": taken[-1].terminated}
    whole = told.model_copy(update=derived | columns)
    return Episode.model_validate(whole.model_dump())


def _follow(steps: Sequence[Step], episode: Episode) -> tuple[Step, ...]:
    out: list[Step] = []
    for number, step in enumerate(steps):
        point = target_point(step.action)
        at = step.at
        if out:
            before = out[-1]
            spent = before.think_ms + before.act_ms + step.observe_ms
            at = max(at, before.at + timedelta(milliseconds=spent))
        after = steps[number + 1] if number + 1 < len(steps) else None
        acts = not isinstance(step.action, NoAction)
        changed = visible_state(after) != visible_state(step) if after and acts else None
        out.append(
            step.model_copy(
                update={
                    "step": number,
                    "screenshot_sha256": sha256_hex(step.screenshot.bytes),
                    "screenshot_phash": read_picture(step.screenshot.bytes).difference_hash,
                    "x_norm": point and point[0] / episode.viewport_width,
                    "y_norm": point and point[1] / episode.viewport_height,
                    "state_changed": changed,
                    "at": at,
                }
            )
        )
    return tuple(out)


def replaced(episode: Episode, number: int, **columns: object) -> tuple[Step, ...]:
    """Return the steps with columns of one of them replaced."""
    steps = list(episode.steps)
    steps[number] = steps[number].model_copy(update=columns)
    return tuple(steps)


def restep(episode: Episode, number: int, **columns: object) -> Episode:
    """Return the episode retold with columns of one step replaced."""
    return retell(episode, replaced(episode, number, **columns))


def amend(episode: Episode, number: int, **columns: object) -> Episode:
    """Return the episode with columns of one step replaced, and nothing computed but the digest."""
    steps = replaced(episode, number, **columns)
    told = episode.model_copy(update={"steps": steps, "content_sha256": steps_sha256(steps)})
    return Episode.model_validate(told.model_dump())


def column(episode: Episode, **columns: object) -> Episode:
    """Return the episode with some of its own columns replaced, and nothing else."""
    return Episode.model_validate(episode.model_copy(update=columns).model_dump())


def encapsulate(episode: Episode, part: str | None = None, **entries: object) -> Episode:
    """Return the episode with entries of its capsule, or of a part of that, replaced."""
    capsule: dict[str, object] = dict(episode.capsule)
    if part is None:
        capsule |= entries
    else:
        inner = capsule[part]
        assert isinstance(inner, dict)
        capsule[part] = inner | entries
    return column(episode, capsule=capsule)


def acting(episode: Episode, number: int, action: Action) -> Episode:
    """Return the episode retold with another action, of the same target."""
    return restep(episode, number, action=action)


def picture_of(data: bytes) -> Screenshot:
    """Return a picture as a session names it."""
    return Screenshot(bytes=data, path=f"{sha256_hex(data)[:16]}.jpg")


def painted(image: Image.Image, *, quality: int = 80) -> Screenshot:
    """Return an image as a picture of an episode."""
    out = io.BytesIO()
    image.convert("RGB").save(out, "JPEG", quality=quality)
    return picture_of(out.getvalue())


def image_of(step: Step) -> Image.Image:
    """Return a step's picture."""
    return Image.open(io.BytesIO(step.screenshot.bytes)).convert("RGB")


def neighbours(steps: Sequence[Step]) -> list[tuple[Step, Step]]:
    """Return each two steps that follow each other."""
    return list(itertools.pairwise(steps))


def looking(step: Step) -> Step:
    """Return the row that a step would be if nothing had been done then."""
    seen = {"step", "screenshot", "screenshot_sha256", "screenshot_phash", "width", "height"}
    seen |= {"page", "observe_ms", "at", "elements", "sights"}
    return Step.model_validate(step.model_dump(include=seen) | {"action": NoAction()})


def hit(step: Step, holds: Callable[[Element], bool]) -> list[Element]:
    """Return the elements of a step that a pointer would hit in their middle."""
    return [e for e in step.elements if e.visible == 1 and not e.covered and holds(e)]


def clicking(step: Step, element: Element) -> Step:
    """Return a step that clicks an element, which it names as its target."""
    left, top, width, height = element.bbox
    target = Target(
        tag=element.tag,
        role=element.role or None,
        name=element.name or None,
        text=element.text or None,
        bbox=element.bbox,
        visible=element.visible,
        frame=element.frame,
    )
    action = Click(x=left + width / 2, y=top + height / 2)
    return step.model_copy(update={"action": action, "target": target})


def outside(point: tuple[float, float], box: Box) -> float:
    """Return how far a point lies outside a box, in the direction where it is farther, px."""
    left, top, width, height = box
    off_x = max(left - point[0], point[0] - left - width, 0.0)
    off_y = max(top - point[1], point[1] - top - height, 0.0)
    return max(off_x, off_y)
