"""What was wrong with a step of an episode that failed: for each fault an episode that only it tells."""

from collections.abc import Sequence

import pytest
from support.episodes.step_states import (
    AT,
    BLUE,
    BLUE_ON,
    BUTTON,
    FIELD,
    FILLED,
    RED,
    TICK,
    WRONG,
    element,
    episode_of,
    field_states,
    first_label,
    labels,
    labels_of,
    state,
)

from schemas.episodes.action import (
    Action,
    Click,
    Drag,
    Key,
    TypeText,
)
from schemas.episodes.episode import Episode
from schemas.episodes.observation import Element, Sight, Target


async def test_text_without_a_basis_is_a_mistake_of_an_episode_that_failed() -> None:
    typed, states = TypeText(text="anma", **AT), (state(0, FIELD), state(1, WRONG))
    known = (state(0, FIELD), state(1, FILLED))

    assert (await first_label(typed, *states, won=False))[0] == "mistake"
    assert (await first_label(typed, *states))[0] == "on_path"
    assert (await first_label(TypeText(text="anna", **AT), *known, won=False))[0] == "on_path"


async def test_a_choice_that_the_goal_does_not_name_beside_one_that_it_names_is_a_mistake() -> None:
    blue = Click(x=10.0, y=30.0)
    states = (state(0, RED, BLUE), state(1, RED, BLUE_ON))
    unnamed = (state(0, BLUE), state(1, BLUE_ON))

    assert (await first_label(blue, *states, won=False))[0] == "mistake"
    assert (await first_label(blue, *states))[0] == "on_path"
    assert (await first_label(blue, *unnamed, won=False))[0] == "on_path"


@pytest.mark.parametrize(
    ("tag", "expected"), [("label", "mistake"), ("li", "mistake"), ("a", "on_path")]
)
async def test_labels_and_items_of_a_list_are_choices_and_links_are_not(
    tag: str, expected: str
) -> None:
    named, other = (element(name, at=at, tag=tag) for at, name in enumerate(("Red", "Blue")))
    states = (state(0, named, other), state(1, named, other))
    unseen = named.model_copy(update={"covered": True})
    hidden = named.model_copy(update={"visible": 0.0})

    assert (await first_label(Click(x=10.0, y=30.0), *states, won=False))[0] == expected
    for out_of_sight in (unseen, hidden):
        covered = (state(0, out_of_sight, other), state(1, out_of_sight, other))
        assert (await first_label(Click(x=10.0, y=30.0), *covered, won=False))[0] == "on_path"


async def test_a_drag_that_only_marks_text_is_a_mistake_of_an_episode_that_failed() -> None:
    drag = Drag(**AT, to_x=20.0, to_y=20.0)
    same, drawn = (state(0), state(1)), (state(0), state(1, dom_sha256="another"))
    for one in same:
        one["page"]["dom_sha256"] = "same"

    assert (await first_label(drag, *same, won=False))[0] == "mistake"
    assert (await first_label(drag, *drawn, won=False))[0] == "on_path"
    assert (await first_label(drag, *same))[0] == "on_path"


async def test_a_click_beside_everything_is_a_mistake_of_an_episode_that_failed() -> None:
    beside = Click(x=50.0, y=40.0)
    before, after = state(0, BUTTON, focus="input#a"), state(1, FIELD)

    assert (await first_label(beside, before, after, won=False))[0] == "mistake"
    assert (await first_label(beside, before, after))[0] == "on_path"
    assert (await first_label(Click(**AT), before, after, won=False))[0] == "on_path"
    assert (await first_label(beside, state(0, BUTTON), after, won=False))[0] == "on_path"


async def test_a_second_click_that_restores_the_page_is_a_mistake_of_a_failed_episode() -> None:
    closed, opened = state(0, BUTTON), state(1, BUTTON, FIELD.model_copy(update={"value": None}))
    actions: list[Action] = [Click(**AT), Click(**AT), Key(key="a")]

    failed = await labels(episode_of(actions, [closed, opened, closed, closed], won=False))
    kept = await labels(episode_of(actions, [closed, opened, state(2, RED), closed], won=False))

    assert [label for label, _ in failed[:2]] == ["on_path", "mistake"]
    assert kept[1][0] == "on_path"


@pytest.mark.parametrize(
    ("action", "values", "expected"),
    [
        (Key(key="ArrowUp"), ("", "5", "6"), ["on_path", "mistake"]),
        (Key(key="ArrowUp"), ("", "5", "6", "7"), ["on_path", "mistake", "mistake"]),
        (Key(key="ArrowUp"), ("", "4", "6"), ["on_path", "on_path"]),  # it never was right
        (Key(key="ArrowUp"), ("", "5", "15"), ["on_path", "on_path"]),  # it only grew
        (Key(key="Enter"), ("", "5", "6"), ["on_path", "on_path"]),  # the page's own doing
    ],
)
async def test_a_field_that_loses_what_the_goal_names_is_spoilt_in_an_episode_that_failed(
    action: Action, values: tuple[str, ...], expected: list[str]
) -> None:
    def wanted(*, won: bool) -> Episode:
        states = field_states(*values)
        actions: list[Action] = [action] * len(expected)
        made = episode_of([*actions, Click(x=50.0, y=40.0)], [*states, states[-1]], won=won)
        return made.model_copy(update={"instruction": "Select 5."})

    failed = [label for label, _ in await labels(wanted(won=False))]
    succeeded = [label for label, _ in await labels(wanted(won=True))]

    assert failed[:-1] == expected
    assert "mistake" not in succeeded


async def test_a_choice_that_the_goal_names_is_spoilt_if_it_is_taken_away_for_good() -> None:
    on = RED.model_copy(update={"value": "true"})
    other = element("Else", at=2, value="")
    states = [state(0, RED), state(1, on), state(2, on, other), state(3, RED, other)]
    here, away = Click(**AT), Click(x=50.0, y=40.0)

    assert await labels_of(here, away, here, states=states, won=False) == [
        "on_path",
        "on_path",
        "mistake",
    ]
    assert (await labels_of(here, away, here, states=states))[-1] == "on_path"


async def test_another_value_of_the_form_that_the_goal_gives_is_a_mistake() -> None:
    states = field_states("", "04/11/2016")

    async def first(goal: str, *, won: bool = False) -> str:
        episode = episode_of([Click(**AT), Click(x=50.0, y=40.0)], [*states, states[-1]], won=won)
        return (await labels(episode.model_copy(update={"instruction": goal})))[0][0]

    assert await first("Select 04/08/2016 and submit.") == "mistake"
    assert await first("Select 04/08/2016 and submit.", won=True) == "on_path"
    assert await first("Select 04/11/2016, not 04/08/2016.") == "on_path"
    assert await first("Select 4/8/2016 and submit.") == "on_path"
    assert await first("Select 0 and submit.") == "on_path"


@pytest.mark.parametrize(
    "action", [Click(x=40.0, y=12.0), Drag(x=40.0, y=12.0, to_x=60.0, to_y=9.0)]
)
async def test_a_press_just_beside_a_thing_is_a_mistake_of_an_episode_that_failed(
    action: Action,
) -> None:
    states = (state(0, BUTTON), state(1, BUTTON, dom_sha256="another"))
    far = BUTTON.model_copy(update={"bbox": (5.0, 5.0, 26.0, 15.0)})
    unusable = BUTTON.model_copy(update={"interactive": False})
    covered = BUTTON.model_copy(update={"covered": True})

    assert (await first_label(action, *states, won=False))[0] == "mistake"
    assert (await first_label(action, *states))[0] == "on_path"
    for other in (far, unusable, covered):
        around = (state(0, other), state(1, other, dom_sha256="another"))
        assert (await first_label(action, *around, won=False))[0] == "on_path"


async def test_a_press_on_a_drawing_is_not_beside_what_lies_next_to_it() -> None:
    states = [state(0, BUTTON), state(1, BUTTON), state(1, BUTTON)]
    beside = Click(x=40.0, y=12.0)

    async def first(tag: str) -> str:
        episode = episode_of([beside, Click(**AT)], states, won=False)
        steps = list(episode.steps)
        target = Target(tag=tag, bbox=(30.0, 0.0, 40.0, 40.0))
        steps[0] = steps[0].model_copy(update={"target": target})
        return (await labels(episode.model_copy(update={"steps": tuple(steps)})))[0][0]

    assert await first("circle") == "on_path"
    assert await first("div") == "mistake"


@pytest.mark.parametrize("seen", [True, False])
async def test_what_the_goal_names_after_then_is_a_mistake_before_the_rest(*, seen: bool) -> None:
    one, two = (element(name, at=at, tag="button") for at, name in enumerate(("ONE", "TWO")))
    gone = one.model_copy(update={"covered": True})
    first, second = Click(**AT), TICK

    async def told(
        goal: str, *actions: Action, on: Sequence[Element] = (one, two), won: bool = False
    ) -> str:
        states = [state(n if seen else 0, *on) for n in range(len(actions) + 1)]
        made = episode_of([*actions, Key(key="a")], [*states, states[-1]], won=won)
        found = await labels(made.model_copy(update={"instruction": goal}))
        return found[len(actions) - 1][0]

    goal = "Click ONE, then click TWO."
    assert await told(goal, second) == "mistake"
    assert await told(goal, first) == "on_path"
    assert await told(goal, first, second) == "on_path"
    assert await told(goal, second, won=True) == "on_path"
    assert await told("Click ONE and TWO.", second) == "on_path"
    assert await told(goal, second, on=(gone, two)) == "on_path"


async def test_a_row_is_named_by_the_words_that_are_in_sight_on_it() -> None:
    anna, other = (element("", at=at, tag="div") for at in (0, 1))
    words = (Sight(text="anna", bbox=(6, 6, 20, 10)), Sight(text="Bob", bbox=(6, 26, 20, 10)))
    wide = anna.model_copy(update={"bbox": (5.0, 5.0, 60.0, 15.0)})

    async def first(
        click: Click, rows: tuple[Element, ...], sights: tuple[Sight, ...], *, won: bool = False
    ) -> str:
        states = [state(n, *rows) | {"sights": sights} for n in (0, 1)]
        return (await first_label(click, *states, won=won))[0]

    assert await first(TICK, (anna, other), words) == "mistake"
    assert await first(TICK, (anna, other), words, won=True) == "on_path"
    assert await first(Click(**AT), (anna, other), words) == "on_path"
    assert await first(TICK, (wide, other), words) == "on_path"
    assert await first(TICK, (anna, other), words[:1]) == "on_path"
    assert await first(TICK, (anna, other), words[1:]) == "on_path"


async def test_marking_text_is_no_mistake_where_the_goal_asks_to_highlight_it() -> None:
    drag = Drag(**AT, to_x=20.0, to_y=20.0)
    same = [state(0, dom_sha256="same"), state(1, dom_sha256="same")]
    made = episode_of([drag, Click(**AT)], [*same, same[-1]], won=False)
    asked = made.model_copy(update={"instruction": "Highlight the text."})

    assert (await labels(made))[0][0] == "mistake"
    assert (await labels(asked))[0][0] == "on_path"


async def test_a_press_of_a_button_before_the_text_that_the_goal_quotes_is_a_mistake() -> None:
    search = element("Search", tag="button").model_copy(update={"role": "button"})
    field = element("", at=2, value="")

    async def first(goal: str, *elements: Element, won: bool = False) -> str:
        states = [state(n, *elements) for n in (0, 1)]
        episode = episode_of([Click(**AT), Key(key="a")], [*states, states[-1]], won=won)
        return (await labels(episode.model_copy(update={"instruction": goal})))[0][0]

    goal = 'Enter "anna" and press "Search".'
    typed = field.model_copy(update={"value": "anna"})
    hidden = field.model_copy(update={"visible": 0.0})
    assert await first(goal, search, field) == "mistake"
    assert await first(goal, search, field, won=True) == "on_path"
    assert await first('Press "Search", then enter "anna".', search, field) == "on_path"
    assert await first(goal, search) == "on_path"
    assert await first(goal, search, hidden) == "on_path"
    assert await first(goal, search, typed, field) == "on_path"
    assert await first(goal, search.model_copy(update={"tag": "a", "role": "link"}), field) == (
        "on_path"
    )


async def test_a_choice_that_the_goal_does_not_name_may_be_taken_away() -> None:
    on, off = BLUE_ON, BLUE
    states = (state(0, RED, on), state(1, RED, off))

    assert (await first_label(TICK, *states, won=False))[0] == "on_path"
