"""People's commonest actions are counted in rows by what they are, and held to their share and their need."""

import pytest

from bench.measuring.actions import (
    ACTIONS,
    SEARCH,
    Taken,
    judge_needs,
    name_of,
    places_of,
    shares,
    taken_in,
    without,
)
from schemas.episodes.action import (
    Action,
    Answer,
    Back,
    Button,
    Click,
    Drag,
    Hover,
    NoAction,
    Select,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)
from schemas.tasks.reference import Do, ReferenceStep


@pytest.mark.parametrize(
    ("action", "role", "name"),
    [
        (Hover(x=1, y=1), None, "hover"),
        (Back(), None, "back"),
        (Wait(), None, "wait"),
        (Tab(operation=TabOperation.CLOSE), None, "tab"),
        (Click(x=1, y=1, count=2), None, "double click"),
        (Click(x=1, y=1, button=Button.RIGHT), None, "right click"),
        (Drag(x=1, y=1, to_x=2, to_y=2), None, "drag"),
        (TypeText(text="a", enter=True), "textbox", "enter"),
        (TypeText(text="a", enter=True), "searchbox", SEARCH),
        (Select(x=1, y=1, option="a"), None, "select"),
        (Click(x=1, y=1), None, None),
        (TypeText(text="a"), None, None),
        (Answer(), None, None),
    ],
)
def test_an_action_is_called_by_what_it_does(
    action: Action, role: str | None, name: str | None
) -> None:
    assert name_of(action, role) == name


def test_shares_are_of_all_actions_and_families_are_counted_once() -> None:
    taken = [
        Taken("shop", Back(), None),
        Taken("shop", Back(), None),
        Taken("mail", Back(), None),
        Taken("mail", Click(x=1, y=1), None),
        Taken("mail", NoAction(), None),
    ]

    found = shares(taken)

    assert found["back"] == (0.75, 2)
    assert found["hover"] == (0.0, 0)


def test_rows_of_a_run_are_told_by_their_family() -> None:
    tasks = [{"task_id": "t", "template_id": "shop/buy"}]
    episodes = [{"episode_id": "e", "task_id": "t"}]
    steps = [{"episode_id": "e", "action": '{"type":"back"}', "target_role": None}]

    assert taken_in(tasks, episodes, steps) == [Taken("shop", Back(), None)]


def test_a_search_is_none_of_the_steps_that_are_needed() -> None:
    steps = (
        ReferenceStep(do=Do.ENTER, on="Search", text="Lamp"),
        ReferenceStep(do=Do.FIND, on="Lamp"),
        ReferenceStep(do=Do.ENTER, on="Colour", text="Red"),
        ReferenceStep(do=Do.ANSWER, text=""),
    )

    assert places_of(steps, "enter") == [2]
    assert without(steps, 2) == (steps[0], steps[1], steps[3])


@pytest.mark.parametrize(
    ("shared", "needed"),
    [((0.004, 3), (2, 2)), ((0.005, 2), (2, 2)), ((0.005, 3), (2, 1)), ((0.005, 3), (0, 0))],
)
def test_what_is_rare_or_not_needed_is_not_held(
    shared: tuple[float, int], needed: tuple[int, int]
) -> None:
    usual, tried = dict.fromkeys((*ACTIONS, SEARCH), (0.01, 16)), dict.fromkeys(ACTIONS, (6, 6))

    assert judge_needs(usual, tried)["held"]
    assert not judge_needs({**usual, "tab": shared}, {**tried, "tab": needed})["held"]
