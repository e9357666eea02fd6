"""What a step did for its task: for each thing that `steps` looks at, an episode that only it tells."""

from typing import Any

import pytest
from support.episodes.factories import make_episode, make_screenshot
from support.episodes.step_states import (
    AT,
    BLUE,
    BLUE_ON,
    BUTTON,
    FIELD,
    FILLED,
    OFF,
    ON,
    RED,
    TASK,
    TICK,
    WRONG,
    element,
    episode_of,
    first_label,
    labels,
    labels_of,
    state,
)

from generators.verify.steps import Steps
from schemas.episodes.action import (
    Action,
    Answer,
    Click,
    Hover,
    Key,
    KeyDown,
    Scroll,
    Select,
    TypeText,
    Wait,
)
from schemas.episodes.observation import Element, Screenshot, Sight
from schemas.verdicts.verdict import Status


@pytest.mark.parametrize(
    ("action", "before", "after", "expected"),
    [
        (Click(**AT), state(0), state(0), ("mistake", False)),
        (Click(**AT), state(0), state(1), ("on_path", True)),
        (Click(**AT), state(0), state(0, BUTTON), ("on_path", True)),
        (Click(**AT), state(0), state(0, url="http://miniwob.localhost/x"), ("on_path", True)),
        (Click(**AT), state(0), state(0, form_sha256="0"), ("on_path", False)),
        (Click(**AT), state(0, RED), state(0, RED), ("on_path", False)),
        (Click(**AT), state(0, BUTTON), state(0, BUTTON), ("redundant", False)),
        (Wait(), state(0), state(0), ("redundant", False)),
        (Wait(), state(0), state(1), ("explores", True)),
        (Hover(**AT), state(0), state(0), ("redundant", False)),
        (
            Scroll(direction="down", amount=9),  # type: ignore[arg-type]
            *(state(0), state(1), ("explores", True)),
        ),
        (KeyDown(key="Shift"), state(0), state(0), ("on_path", False)),
        (
            TypeText(text="anna", **AT),
            *(state(0, FILLED), state(0, FILLED), ("redundant", False)),
        ),
        (
            Select(option="anna", **AT),
            *(state(0, FILLED), state(0, FILLED), ("redundant", False)),
        ),
        (
            Click(**AT),
            state(0, BLUE_ON.model_copy(update={"bbox": RED.bbox})),
            state(0, BLUE_ON.model_copy(update={"bbox": RED.bbox})),
            ("redundant", False),
        ),
    ],
)
async def test_what_can_be_seen_to_change_decides(
    action: Action, before: dict[str, Any], after: dict[str, Any], expected: tuple[str, bool]
) -> None:
    assert await first_label(action, before, after) == expected


async def test_noise_of_a_rasteriser_is_no_visible_change() -> None:
    quiet = make_screenshot(0)
    again = Screenshot(bytes=quiet.bytes + b"\0", path="")
    episode = episode_of([Click(**AT), Click(**AT)], [state(0), state(0), state(0)])
    steps = list(episode.steps)
    steps[1] = steps[1].model_copy(update={"screenshot": again})
    told = await labels(episode.model_copy(update={"steps": tuple(steps)}))

    assert told[0] == ("mistake", False)


@pytest.mark.parametrize("torn", [(1,), (2,), (1, 2)])
@pytest.mark.parametrize("left", [0, 2, 200])
async def test_a_picture_that_is_missing_or_cut_tells_nothing(
    torn: tuple[int, ...], left: int
) -> None:
    """The step has no label, unless something else differs."""
    quiet, lit = state(0), state(0) | {"sights": (Sight(text="Yes", bbox=(0, 0, 9, 9)),)}

    async def told(*states: dict[str, Any]) -> object:
        episode = episode_of([Wait(), Click(**AT), Wait()], states)
        steps = list(episode.steps)
        for number in torn:
            whole = steps[number].screenshot.bytes
            cut = Screenshot(bytes=(whole + bytes([number]))[: left and left + number], path="")
            steps[number] = steps[number].model_copy(update={"screenshot": cut})
        found = await Steps({}).examine(TASK, episode.model_copy(update={"steps": tuple(steps)}))
        rows: Any = found.evidence["steps"]
        return rows[1]["label"], rows[1]["visible_change"]

    assert await told(quiet, quiet, quiet, quiet) == (None, None)
    assert await told(quiet, quiet, lit, lit) == ("on_path", True)


async def test_what_is_in_sight_counts_where_it_was_recorded() -> None:
    lit = state(0) | {"sights": (Sight(text="Yes", bbox=(0, 0, 9, 9)),)}

    assert await first_label(Click(**AT), state(0), lit) == ("on_path", True)
    assert await first_label(Click(**AT), state(0) | {"sights": None}, lit) == (
        "mistake",
        False,
    )


async def test_a_dialog_can_be_seen() -> None:
    episode = episode_of([Click(**AT), Click(**AT)], [state(0)] * 3)
    steps = list(episode.steps)
    steps[0] = steps[0].model_copy(update={"result_text": "Sure?"})

    assert (await labels(episode.model_copy(update={"steps": tuple(steps)})))[0] == (
        "on_path",
        True,
    )


async def test_an_action_that_could_not_be_carried_out_is_a_mistake() -> None:
    episode = episode_of([Click(**AT), Click(**AT)], [state(0), state(1), state(2)])
    steps = list(episode.steps)
    steps[0] = steps[0].model_copy(update={"action_error": "There is no such page."})

    assert (await labels(episode.model_copy(update={"steps": tuple(steps)})))[0][0] == "mistake"


async def test_the_last_action_is_judged_by_how_the_episode_ended() -> None:
    states = [state(0), state(0)]

    assert (await labels(episode_of([Click(**AT)], states)))[0][0] == "on_path"
    assert (await labels(episode_of([Click(**AT)], states, won=False)))[0][0] == "mistake"
    gave_up = episode_of([Answer()], states, won=False, terminated=False)
    assert (await labels(gave_up))[0][0] == "mistake"


async def test_the_same_again_is_redundant_until_something_changes() -> None:
    click, other = Click(**AT), Click(x=50.0, y=40.0)
    still = await labels(episode_of([click, click, other], [state(0)] * 4))
    moved = await labels(
        episode_of([click, Key(key="a"), click, other], [*[state(0)] * 2, *[state(1)] * 3])
    )

    assert [label for label, _ in still[:2]] == ["mistake", "redundant"]
    assert [label for label, _ in moved[:3]] == ["mistake", "on_path", "mistake"]


@pytest.mark.parametrize(
    ("undoing", "states", "expected"),
    [
        (TypeText(text="anna", overwrite=True, **AT), (FIELD, WRONG, FILLED), "mistake"),
        (Key(key="Control+z"), (FIELD, WRONG, FIELD), "mistake"),
        (Key(key="Enter"), (FIELD, WRONG, FIELD), "on_path"),
        (Click(x=50.0, y=40.0), (FIELD, WRONG, FIELD), "on_path"),
        (
            TypeText(text="x"),
            (FIELD, FILLED, FILLED.model_copy(update={"value": "annax"})),
            "on_path",
        ),
        (Click(**AT), (RED, RED.model_copy(update={"value": "true"}), RED), "mistake"),
    ],
)
async def test_a_change_of_a_field_that_is_taken_back_is_undone(
    undoing: Action, states: tuple[Element, ...], expected: str
) -> None:
    first, second, third = (state(n, one) for n, one in enumerate(states))
    episode = episode_of(
        [TypeText(text="anma", **AT), undoing, Click(**AT)], [first, second, third, third]
    )

    assert (await labels(episode))[0][0] == expected


async def test_a_focus_that_nobody_uses_is_redundant() -> None:
    before, after = state(0, BUTTON), state(1, BUTTON, focus="input#a")
    away = state(1, BUTTON, focus=None)
    named = element("Red", tag="button")

    async def label(then: Action, *states: dict[str, Any]) -> str:
        first = states[1]
        last = state(2, *first["elements"], focus="input#b")
        episode = episode_of([Click(**AT), then, Click(**AT)], [*states, last, last])
        return (await labels(episode))[0][0]

    assert await label(Click(x=50.0, y=40.0), before, after) == "redundant"
    assert await label(TypeText(text="a"), before, after) == "on_path"
    focused = state(0, BUTTON, focus="input#a")
    assert await label(Click(x=50.0, y=40.0), focused, away) == "redundant"
    red = (state(0, named), state(1, named, focus="button#a"))
    assert await label(Click(x=50.0, y=40.0), *red) == "on_path"
    assert await label(Wait(), before, after) == "redundant"


async def test_a_wait_is_of_use_if_it_was_asked_for_or_something_came() -> None:
    waits: list[Action] = [Wait(), Wait(), Click(**AT)]
    came = await labels(episode_of(waits, [state(0), state(0), state(1), state(1)]))
    idle = episode_of(waits, [state(0)] * 4)
    asked = idle.model_copy(update={"instruction": "Click, then wait 1 second."})

    assert [label for label, _ in came[:2]] == ["on_path", "explores"]
    assert [label for label, _ in (await labels(idle))[:2]] == ["redundant"] * 2
    assert [label for label, _ in (await labels(asked))[:2]] == ["on_path", "on_path"]


async def test_a_button_may_do_what_is_not_shown() -> None:
    pressed = state(0, BUTTON, focus="button#a")

    told: Any = await first_label(Click(**AT), state(0, BUTTON), pressed)

    assert told == (None, False)


async def test_text_without_a_basis_that_is_typed_again_is_undone() -> None:
    states = [state(n, one) for n, one in enumerate((FIELD, WRONG, FIELD, FILLED, FILLED))]
    states[2]["page"]["url"] = "http://miniwob.localhost/next"
    press = Click(x=50.0, y=40.0)

    async def first(text: str) -> str:
        again = TypeText(text="anna", **AT)
        actions: list[Action] = [TypeText(text=text, **AT), press, again, press]
        return (await labels(episode_of(actions, states)))[0][0]

    assert await first("anma") == "mistake"
    assert await first("anna") == "on_path"


async def test_the_first_mistake_is_told_of_an_episode_that_failed() -> None:
    states = (state(0, FIELD), state(1, WRONG), state(2, WRONG), state(2, WRONG))
    actions: list[Action] = [TypeText(text="anma", **AT), Key(key="a"), Click(**AT)]
    failed = await Steps({}).examine(TASK, episode_of(actions, states, won=False))
    succeeded = await Steps({}).examine(TASK, episode_of(actions, states))

    assert (failed.evidence["first_mistake"], failed.evidence["succeeded"]) == (0, False)
    assert (succeeded.evidence["first_mistake"], succeeded.evidence["succeeded"]) == (None, True)


async def test_an_episode_without_actions_is_not_examined() -> None:
    episode = make_episode(TASK).model_copy(update={"steps": ()})

    assert (await Steps({}).examine(TASK, episode)).status is Status.UNSUPPORTED


@pytest.mark.parametrize("won", [True, False])
async def test_the_same_again_that_leads_back_to_where_it_was_is_redundant(*, won: bool) -> None:
    thrice = episode_of([TICK, TICK, TICK, TICK], [OFF, ON, OFF, ON, ON], won=won)
    other = await labels(thrice.model_copy(update={"instruction": "Look at it."}))
    named = await labels(thrice.model_copy(update={"instruction": "Check Blue."}))

    assert [label for label, _ in other[1:3]] == ["redundant", "redundant"]
    assert [label for label, _ in named[:3]] == ["on_path", "mistake", "recovery"]  # it took a tick


@pytest.mark.parametrize(
    ("between", "back"),
    [
        (Click(x=11.0, y=31.0), ON),  # another action
        (TICK, state(2, RED, BLUE_ON)),  # another picture
        (TICK, state(1, RED.model_copy(update={"value": "true"}), BLUE_ON)),  # another field
    ],
)
async def test_what_was_not_done_before_or_leads_elsewhere_is_no_loop(
    between: Action, back: dict[str, Any]
) -> None:
    assert "redundant" not in await labels_of(TICK, between, TICK, states=[OFF, ON, OFF, back])


async def test_going_forth_and_back_between_two_things_is_redundant() -> None:
    one, other = Click(x=10.0, y=10.0), TICK
    states = [state(n, RED, BLUE) for n in (0, 1, 2, 1, 2)]

    told = await labels_of(one, other, one, other, states=states)

    assert told == ["on_path", "on_path", "redundant", "redundant"]


async def test_the_same_text_once_more_is_redundant() -> None:
    typed = TypeText(text="anna")
    twice = FILLED.model_copy(update={"value": "annaanna"})
    states = [state(n, one) for n, one in enumerate((FIELD, FILLED, twice))]
    spaced = [*states[:2], state(1, FILLED, focus="a"), states[2]]

    assert await labels_of(typed, typed, states=states) == ["on_path", "redundant"]
    assert await labels_of(typed, TypeText(text="x"), states=states) == ["on_path", "on_path"]
    assert (await labels_of(typed, Click(**AT), typed, states=spaced))[-1] == "on_path"


async def test_a_focus_is_used_by_what_is_typed_after_the_same_click_again() -> None:
    before, after = state(0, BUTTON), state(1, BUTTON, focus="input#a")
    click, typed = Click(**AT), TypeText(text="anna")
    states = [before, after, after, state(2, FILLED)]

    told = await labels_of(click, click, typed, states=states)

    assert told == ["on_path", "redundant", "on_path"]


async def test_a_focus_for_which_the_episode_ended_too_early_is_on_path() -> None:
    before, after = state(0, BUTTON), state(1, BUTTON, focus="input#a")
    ended = episode_of([Click(**AT), Answer()], [before, after, after], won=False)

    assert (await labels(ended))[0][0] == "on_path"


async def test_a_press_that_is_done_again_at_once_and_changes_nothing_is_redundant() -> None:
    red = element("Red", tag="option")
    states = [state(0, red), state(1, red), state(1, red)]

    assert await labels_of(Click(**AT), Click(**AT), states=states) == ["on_path", "redundant"]
    assert await labels_of(Click(**AT), Click(x=11.0, y=12.0), states=states) == [
        "on_path",
        "on_path",
    ]


async def test_a_focus_before_a_press_that_ended_the_episode_too_early_is_on_path() -> None:
    before, after = state(0, BUTTON), state(1, BUTTON, focus="input#a")
    actions: list[Action] = [Click(**AT), Click(x=50.0, y=40.0)]
    states = [before, after, after]

    assert (await labels(episode_of(actions, states, won=False)))[0][0] == "on_path"
    assert (await labels(episode_of(actions, states)))[0][0] == "redundant"
