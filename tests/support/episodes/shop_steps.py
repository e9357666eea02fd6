"""Episodes in a small shop whose state the task judges, and what `steps` says of their steps."""

from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue
from support.episodes.factories import make_task
from support.episodes.step_states import element, episode_of, state

from generators.verify.steps import Steps
from schemas.episodes.action import Action, Click
from schemas.episodes.episode import Episode
from schemas.episodes.observation import Element, Sight
from schemas.episodes.state_delta import Change, Delta
from schemas.tasks.expectation import Expectation, RowRule
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Status

GOAL = 'Set the price of "Blue lamp" to "9".'
EXPECT = Expectation(changed=(RowRule(table="lamp", key=1, set={"price": 9}),))
TASK = make_task().model_copy(update={"expect": EXPECT})
SITE = "http://shop.localhost"


def link(name: str, at: int) -> Element:
    kept = {"role": "link", "tag": "a", "value": None, "text": name}
    return element(name, at=at).model_copy(update=kept)


LAMPS, SHOES, SAVE = link("Lamps", 0), link("Shoes", 1), link("Save", 2)
NAVIGATION = (LAMPS, SHOES)
ON_LAMPS, ON_SHOES, ON_SAVE = (Click(x=10.0, y=12.0 + 20 * at) for at in range(3))


def page(
    path: str, *elements: Element, texts: Sequence[str] = (), **more: object
) -> dict[str, Any]:
    sights = [Sight(text=one.name, bbox=one.bbox) for one in (*NAVIGATION, *elements)]
    sights += [
        Sight(text=one, bbox=(60.0, 5.0 + 20 * n, 30.0, 15.0)) for n, one in enumerate(texts)
    ]
    shown = state(0, *NAVIGATION, *elements, url=f"{SITE}{path}", **more)
    return shown | {"sights": tuple(sights)}


HOME = page("/")
SHOE_LIST = page("/shoes", texts=["Red shoe"])
LAMP_LIST = page("/lamps", texts=["Blue lamp"])
LAMP = page("/lamp/1", SAVE, texts=["Price"])


def write(before: int, after: int, *, key: int = 1) -> Delta:
    rows: list[JsonValue] = [{"id": key, "price": price} for price in (before, after)]
    change = Change(at="/lamp", key=key, before=rows[0], after=rows[1], fields=("price",))
    return Delta(changed=(change,))


def shop_episode(
    actions: Sequence[Action],
    states: Sequence[dict[str, Any]],
    writes: dict[int, Delta] | None = None,
    *,
    won: bool = True,
) -> Episode:
    made = episode_of(actions, states, won=won)
    steps = [
        step.model_copy(update={"delta": (writes or {}).get(step.step, Delta())})
        for step in made.steps
    ]
    return made.model_copy(update={"steps": tuple(steps), "instruction": GOAL})


async def said(episode: Episode, task: Task = TASK) -> list[str]:
    finding = await Steps({}).examine(task, episode)
    assert finding.status is Status.PASSED
    rows: Any = finding.evidence["steps"]
    return [row["label"] for row in rows]
