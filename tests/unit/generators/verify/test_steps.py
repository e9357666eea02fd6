"""What a step did for its task: for each thing that `steps` looks at, an episode that only it tells."""

from collections.abc import Sequence
from typing import Any

import pytest
from factories import make_episode, make_screenshot, make_step, make_task

from generators.verify.steps import Steps
from schemas.action import (
    Action,
    Answer,
    Click,
    Drag,
    Hover,
    Key,
    KeyDown,
    NoAction,
    Scroll,
    Select,
    TypeText,
    Wait,
)
from schemas.base import sha256_hex
from schemas.episode import Episode, Step
from schemas.observation import Element, Screenshot, Sight
from schemas.verdict import Status

TASK = make_task()
AT: dict[str, Any] = {"x": 10.0, "y": 12.0}
GOAL = "Type 'anna' and check Red."


def _element(name: str, *, at: int = 0, value: str | None = None, tag: str = "input") -> Element:
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


def _state(picture: int = 0, *elements: Element, **page: object) -> dict[str, Any]:
    """Return what is looked at: a picture, elements, and columns of the page."""
    form = sha256_hex(str([one.value for one in elements]).encode())
    return {"picture": picture, "elements": elements, "page": {"form_sha256": form} | page}


def _episode(
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


async def _labels(episode: Episode) -> list[tuple[str, bool]]:
    finding = await Steps({}).examine(TASK, episode)
    assert finding.status is Status.PASSED
    rows: Any = finding.evidence["steps"]
    assert all(row["because"] for row in rows)
    return [(row["quality"], row["visible_change"]) for row in rows]


async def _first(action: Action, *states: dict[str, Any], **more: Any) -> tuple[str, bool]:
    """Return the label of an action between two states, after which a click ends the episode."""
    episode = _episode([action, Click(x=50.0, y=40.0)], [*states, states[-1]], **more)
    return (await _labels(episode))[0]


BUTTON = _element("Cancel", tag="button")
RED, BLUE = _element("Red", value="false"), _element("Blue", at=1, value="false")
BLUE_ON = BLUE.model_copy(update={"value": "true"})
FIELD = _element("Name", value="")
FILLED = FIELD.model_copy(update={"value": "anna"})
WRONG = FIELD.model_copy(update={"value": "anma"})


@pytest.mark.parametrize(
    ("action", "before", "after", "expected"),
    [
        (Click(**AT), _state(0), _state(0), ("without_effect", False)),
        (Click(**AT), _state(0), _state(1), ("useful", True)),
        (Click(**AT), _state(0), _state(0, BUTTON), ("useful", True)),
        (Click(**AT), _state(0), _state(0, url="http://miniwob.localhost/x"), ("useful", True)),
        (Click(**AT), _state(0), _state(0, form_sha256="0"), ("useful", False)),
        (Click(**AT), _state(0, RED), _state(0, RED), ("useful", False)),
        (Click(**AT), _state(0, BUTTON), _state(0, BUTTON), ("without_effect", False)),
        (Wait(), _state(0), _state(0), ("without_effect", False)),
        (Wait(), _state(0), _state(1), ("neutral", True)),
        (Hover(**AT), _state(0), _state(0), ("without_effect", False)),
        (
            Scroll(direction="down", amount=9),  # type: ignore[arg-type]
            *(_state(0), _state(1), ("neutral", True)),
        ),
        (KeyDown(key="Shift"), _state(0), _state(0), ("neutral", False)),
        (
            TypeText(text="anna", **AT),
            *(_state(0, FILLED), _state(0, FILLED), ("redundant", False)),
        ),
        (
            Select(option="anna", **AT),
            *(_state(0, FILLED), _state(0, FILLED), ("redundant", False)),
        ),
        (
            Click(**AT),
            _state(0, BLUE_ON.model_copy(update={"bbox": RED.bbox})),
            _state(0, BLUE_ON.model_copy(update={"bbox": RED.bbox})),
            ("redundant", False),
        ),
    ],
)
async def test_what_can_be_seen_to_change_decides(
    action: Action, before: dict[str, Any], after: dict[str, Any], expected: tuple[str, bool]
) -> None:
    assert await _first(action, before, after) == expected


async def test_noise_of_a_rasteriser_is_no_visible_change() -> None:
    quiet = make_screenshot(0)
    again = Screenshot(bytes=quiet.bytes + b"\0", path="")
    episode = _episode([Click(**AT), Click(**AT)], [_state(0), _state(0), _state(0)])
    steps = list(episode.steps)
    steps[1] = steps[1].model_copy(update={"screenshot": again})
    told = await _labels(episode.model_copy(update={"steps": tuple(steps)}))

    assert told[0] == ("without_effect", False)


@pytest.mark.parametrize("torn", [(1,), (2,), (1, 2)])
@pytest.mark.parametrize("left", [0, 2, 200])
async def test_a_picture_that_is_missing_or_cut_tells_nothing(
    torn: tuple[int, ...], left: int
) -> None:
    """The step has no label, unless something else differs."""
    quiet, lit = _state(0), _state(0) | {"sights": (Sight(text="Yes", bbox=(0, 0, 9, 9)),)}

    async def told(*states: dict[str, Any]) -> object:
        episode = _episode([Wait(), Click(**AT), Wait()], states)
        steps = list(episode.steps)
        for number in torn:
            whole = steps[number].screenshot.bytes
            cut = Screenshot(bytes=(whole + bytes([number]))[: left and left + number], path="")
            steps[number] = steps[number].model_copy(update={"screenshot": cut})
        found = await Steps({}).examine(TASK, episode.model_copy(update={"steps": tuple(steps)}))
        rows: Any = found.evidence["steps"]
        return rows[1]["quality"], rows[1]["visible_change"]

    assert await told(quiet, quiet, quiet, quiet) == (None, None)
    assert await told(quiet, quiet, lit, lit) == ("useful", True)


async def test_what_is_in_sight_counts_where_it_was_recorded() -> None:
    lit = _state(0) | {"sights": (Sight(text="Yes", bbox=(0, 0, 9, 9)),)}

    assert await _first(Click(**AT), _state(0), lit) == ("useful", True)
    assert await _first(Click(**AT), _state(0) | {"sights": None}, lit) == ("without_effect", False)


async def test_a_dialog_can_be_seen() -> None:
    episode = _episode([Click(**AT), Click(**AT)], [_state(0)] * 3)
    steps = list(episode.steps)
    steps[0] = steps[0].model_copy(update={"result_text": "Sure?"})

    assert (await _labels(episode.model_copy(update={"steps": tuple(steps)})))[0] == (
        "useful",
        True,
    )


async def test_an_action_that_could_not_be_carried_out_is_a_mistake() -> None:
    episode = _episode([Click(**AT), Click(**AT)], [_state(0), _state(1), _state(2)])
    steps = list(episode.steps)
    steps[0] = steps[0].model_copy(update={"action_error": "There is no such page."})

    assert (await _labels(episode.model_copy(update={"steps": tuple(steps)})))[0][0] == "mistake"


async def test_the_last_action_is_judged_by_how_the_episode_ended() -> None:
    states = [_state(0), _state(0)]

    assert (await _labels(_episode([Click(**AT)], states)))[0][0] == "useful"
    assert (await _labels(_episode([Click(**AT)], states, won=False)))[0][0] == "mistake"
    gave_up = _episode([Answer()], states, won=False, terminated=False)
    assert (await _labels(gave_up))[0][0] == "mistake"


async def test_the_same_again_is_redundant_until_something_changes() -> None:
    click, other = Click(**AT), Click(x=50.0, y=40.0)
    still = await _labels(_episode([click, click, other], [_state(0)] * 4))
    moved = await _labels(
        _episode([click, Key(key="a"), click, other], [*[_state(0)] * 2, *[_state(1)] * 3])
    )

    assert [quality for quality, _ in still[:2]] == ["without_effect", "redundant"]
    assert [quality for quality, _ in moved[:3]] == ["without_effect", "useful", "without_effect"]


@pytest.mark.parametrize(
    ("undoing", "states", "expected"),
    [
        (TypeText(text="anna", overwrite=True, **AT), (FIELD, WRONG, FILLED), "undone_later"),
        (Key(key="Control+z"), (FIELD, WRONG, FIELD), "undone_later"),
        (Key(key="Enter"), (FIELD, WRONG, FIELD), "useful"),
        (Click(x=50.0, y=40.0), (FIELD, WRONG, FIELD), "useful"),
        (
            TypeText(text="x"),
            (FIELD, FILLED, FILLED.model_copy(update={"value": "annax"})),
            "useful",
        ),
        (Click(**AT), (RED, RED.model_copy(update={"value": "true"}), RED), "undone_later"),
    ],
)
async def test_a_change_of_a_field_that_is_taken_back_is_undone(
    undoing: Action, states: tuple[Element, ...], expected: str
) -> None:
    first, second, third = (_state(n, one) for n, one in enumerate(states))
    episode = _episode(
        [TypeText(text="anma", **AT), undoing, Click(**AT)], [first, second, third, third]
    )

    assert (await _labels(episode))[0][0] == expected


async def test_text_without_a_basis_is_a_mistake_of_an_episode_that_failed() -> None:
    typed, states = TypeText(text="anma", **AT), (_state(0, FIELD), _state(1, WRONG))
    known = (_state(0, FIELD), _state(1, FILLED))

    assert (await _first(typed, *states, won=False))[0] == "mistake"
    assert (await _first(typed, *states))[0] == "useful"
    assert (await _first(TypeText(text="anna", **AT), *known, won=False))[0] == "useful"


async def test_a_choice_that_the_goal_does_not_name_beside_one_that_it_names_is_a_mistake() -> None:
    blue = Click(x=10.0, y=30.0)
    states = (_state(0, RED, BLUE), _state(1, RED, BLUE_ON))
    unnamed = (_state(0, BLUE), _state(1, BLUE_ON))

    assert (await _first(blue, *states, won=False))[0] == "mistake"
    assert (await _first(blue, *states))[0] == "useful"
    assert (await _first(blue, *unnamed, won=False))[0] == "useful"


@pytest.mark.parametrize(
    ("tag", "expected"), [("label", "mistake"), ("li", "mistake"), ("a", "useful")]
)
async def test_labels_and_items_of_a_list_are_choices_and_links_are_not(
    tag: str, expected: str
) -> None:
    named, other = (_element(name, at=at, tag=tag) for at, name in enumerate(("Red", "Blue")))
    states = (_state(0, named, other), _state(1, named, other))
    unseen = named.model_copy(update={"covered": True})
    hidden = named.model_copy(update={"visible": 0.0})

    assert (await _first(Click(x=10.0, y=30.0), *states, won=False))[0] == expected
    for out_of_sight in (unseen, hidden):
        covered = (_state(0, out_of_sight, other), _state(1, out_of_sight, other))
        assert (await _first(Click(x=10.0, y=30.0), *covered, won=False))[0] == "useful"


async def test_a_focus_that_nobody_uses_is_redundant() -> None:
    before, after = _state(0, BUTTON), _state(1, BUTTON, focus="input#a")
    away = _state(1, BUTTON, focus=None)
    named = _element("Red", tag="button")

    async def label(then: Action, *states: dict[str, Any]) -> str:
        first = states[1]
        last = _state(2, *first["elements"], focus="input#b")
        episode = _episode([Click(**AT), then, Click(**AT)], [*states, last, last])
        return (await _labels(episode))[0][0]

    assert await label(Click(x=50.0, y=40.0), before, after) == "redundant"
    assert await label(TypeText(text="a"), before, after) == "useful"
    focused = _state(0, BUTTON, focus="input#a")
    assert await label(Click(x=50.0, y=40.0), focused, away) == "without_effect"
    red = (_state(0, named), _state(1, named, focus="button#a"))
    assert await label(Click(x=50.0, y=40.0), *red) == "useful"
    assert await label(Wait(), before, after) == "redundant"


async def test_a_wait_is_neutral_if_it_was_asked_for_or_something_came() -> None:
    waits: list[Action] = [Wait(), Wait(), Click(**AT)]
    came = await _labels(_episode(waits, [_state(0), _state(0), _state(1), _state(1)]))
    idle = _episode(waits, [_state(0)] * 4)
    asked = idle.model_copy(update={"instruction": "Click, then wait 1 second."})

    assert [quality for quality, _ in came[:2]] == ["neutral", "neutral"]
    assert [quality for quality, _ in (await _labels(idle))[:2]] == ["without_effect"] * 2
    assert [quality for quality, _ in (await _labels(asked))[:2]] == ["neutral", "neutral"]


async def test_a_button_may_do_what_is_not_shown() -> None:
    pressed = _state(0, BUTTON, focus="button#a")

    assert await _first(Click(**AT), _state(0, BUTTON), pressed) == ("neutral", False)


async def test_text_without_a_basis_that_is_typed_again_is_undone() -> None:
    states = [_state(n, one) for n, one in enumerate((FIELD, WRONG, FIELD, FILLED, FILLED))]
    states[2]["page"]["url"] = "http://miniwob.localhost/next"
    press = Click(x=50.0, y=40.0)

    async def first(text: str) -> str:
        again = TypeText(text="anna", **AT)
        actions: list[Action] = [TypeText(text=text, **AT), press, again, press]
        return (await _labels(_episode(actions, states)))[0][0]

    assert await first("anma") == "undone_later"
    assert await first("anna") == "useful"


async def test_a_drag_that_only_marks_text_is_a_mistake_of_an_episode_that_failed() -> None:
    drag = Drag(**AT, to_x=20.0, to_y=20.0)
    same, drawn = (_state(0), _state(1)), (_state(0), _state(1, dom_sha256="another"))
    for state in same:
        state["page"]["dom_sha256"] = "same"

    assert (await _first(drag, *same, won=False))[0] == "mistake"
    assert (await _first(drag, *drawn, won=False))[0] == "useful"
    assert (await _first(drag, *same))[0] == "useful"


async def test_a_click_beside_everything_is_a_mistake_of_an_episode_that_failed() -> None:
    beside = Click(x=50.0, y=40.0)
    before, after = _state(0, BUTTON, focus="input#a"), _state(1, FIELD)

    assert (await _first(beside, before, after, won=False))[0] == "mistake"
    assert (await _first(beside, before, after))[0] == "useful"
    assert (await _first(Click(**AT), before, after, won=False))[0] == "useful"
    assert (await _first(beside, _state(0, BUTTON), after, won=False))[0] == "useful"


async def test_a_second_click_that_restores_the_page_is_a_mistake_of_a_failed_episode() -> None:
    closed, opened = _state(0, BUTTON), _state(1, BUTTON, FIELD.model_copy(update={"value": None}))
    actions: list[Action] = [Click(**AT), Click(**AT), Key(key="a")]

    failed = await _labels(_episode(actions, [closed, opened, closed, closed], won=False))
    kept = await _labels(_episode(actions, [closed, opened, _state(2, RED), closed], won=False))

    assert [quality for quality, _ in failed[:2]] == ["useful", "mistake"]
    assert kept[1][0] == "useful"


async def test_the_first_mistake_is_told_of_an_episode_that_failed() -> None:
    states = (_state(0, FIELD), _state(1, WRONG), _state(2, WRONG), _state(2, WRONG))
    actions: list[Action] = [TypeText(text="anma", **AT), Key(key="a"), Click(**AT)]
    failed = await Steps({}).examine(TASK, _episode(actions, states, won=False))
    succeeded = await Steps({}).examine(TASK, _episode(actions, states))

    assert (failed.evidence["first_mistake"], failed.evidence["succeeded"]) == (0, False)
    assert (succeeded.evidence["first_mistake"], succeeded.evidence["succeeded"]) == (None, True)


async def test_an_episode_without_actions_is_not_examined() -> None:
    episode = make_episode(TASK).model_copy(update={"steps": ()})

    assert (await Steps({}).examine(TASK, episode)).status is Status.UNSUPPORTED
