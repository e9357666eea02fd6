"""Episodes made of states and the actions between them, and what `steps` says of them."""

from collections.abc import Sequence
from typing import Any

from support.episodes.factories import make_episode, make_step, make_task

from generators.verify.steps import Steps
from schemas.base import sha256_hex
from schemas.episodes.action import (
    Action,
    Click,
    NoAction,
)
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Element
from schemas.verdicts.verdict import Status

TASK = make_task()
AT: dict[str, Any] = {"x": 10.0, "y": 12.0}
GOAL = "Type 'anna' and check Red."


def element(name: str, *, at: int = 0, value: str | None = None, tag: str = "input") -> Element:
    return Element(
        role="checkbox" if value in ("true", "false") else "textbox",
        name=name,
        tag=tag,
        text="",
        bbox=(5.0, 5.0 + 20 * at, 30.0, 15.0),
        value=value,
        interactive=True,
        visible=1.0,
        covered=False,
    )


def state(picture: int = 0, *elements: Element, **page: object) -> dict[str, Any]:
    """Return what is looked at: a picture, elements, and columns of the page."""
    form = sha256_hex(str([one.value for one in elements]).encode())
    return {"picture": picture, "elements": elements, "page": {"form_sha256": form} | page}


def episode_of(
    actions: Sequence[Action],
    states: Sequence[dict[str, Any]],
    *,
    won: bool = True,
    **last: object,
) -> Episode:
    """Return an episode of these actions between these states; its last action ends it."""
    steps: list[Step] = []
    for number, (action, state) in enumerate(zip([*actions, NoAction()], states, strict=True)):
        step = make_step(number, picture=state["picture"], action=action)
        steps.append(
            step.model_copy(
                update={
                    "elements": state["elements"],
                    "sights": state.get("sights", ()),
                    "page": step.page.model_copy(update=state["page"]),
                }
            )
        )
    ended: dict[str, object] = {"terminated": True, "reward": 1.0 if won else -1.0} | last
    steps[-2] = steps[-2].model_copy(update=ended)
    update = {
        "instruction": GOAL,
        "steps": tuple(steps),
        "n_steps": len(actions),
        "reward": 1.0 if won else -1.0,
        "done": True,
    }
    return make_episode(TASK).model_copy(update=update)


async def labels(episode: Episode) -> list[tuple[str, bool]]:
    finding = await Steps({}).examine(TASK, episode)
    assert finding.status is Status.PASSED
    rows: Any = finding.evidence["steps"]
    assert all(row["because"] for row in rows)
    return [(row["label"], row["visible_change"]) for row in rows]


async def first_label(action: Action, *states: dict[str, Any], **more: Any) -> tuple[str, bool]:
    """Return the label of an action between two states, after which a click ends the episode."""
    made = episode_of([action, Click(x=50.0, y=40.0)], [*states, states[-1]], **more)
    return (await labels(made))[0]


BUTTON = element("Cancel", tag="button")
RED, BLUE = element("Red", value="false"), element("Blue", at=1, value="false")
BLUE_ON = BLUE.model_copy(update={"value": "true"})
FIELD = element("Name", value="")
FILLED = FIELD.model_copy(update={"value": "anna"})
WRONG = FIELD.model_copy(update={"value": "anma"})


async def labels_of(*actions: Action, states: Sequence[dict[str, Any]], **more: Any) -> list[str]:
    """Return the labels of actions between states, after which a click ends the episode."""
    made = episode_of([*actions, Click(x=50.0, y=40.0)], [*states, states[-1]], **more)
    return [label for label, _ in await labels(made)][: len(actions)]


TICK = Click(x=10.0, y=30.0)
OFF, ON = state(0, RED, BLUE), state(1, RED, BLUE_ON)


def field_states(*values: str) -> list[dict[str, Any]]:
    return [state(n, FIELD.model_copy(update={"value": one})) for n, one in enumerate(values)]
