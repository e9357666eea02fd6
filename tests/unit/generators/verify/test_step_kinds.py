"""What `steps` says of steps that look alike: what is in sight already, what comes by itself, what the goal names."""

from typing import Any

import pytest
from support.episodes.shop_steps import (
    HOME,
    LAMP,
    LAMP_LIST,
    ON_LAMPS,
    ON_SAVE,
    link,
    page,
    said,
    shop_episode,
    write,
)
from support.episodes.step_states import element, episode_of, labels, state

from schemas.episodes.action import (
    Action,
    Answer,
    Click,
    Hover,
    Key,
    Scroll,
    TypeText,
    Wait,
)
from schemas.episodes.episode import Episode
from schemas.episodes.observation import Sight

DOWN = Scroll(direction="down", amount=600)  # type: ignore[arg-type]
TIN, THERE = link("Tin", 4), Click(x=10.0, y=92.0)


def told_of(episode: Episode, goal: str) -> Episode:
    return episode.model_copy(update={"instruction": goal})


def texts_at(*texts: tuple[str, float, float], **more: Any) -> dict[str, Any]:
    """Return a page with lines at places, each 15 px high."""
    sights = tuple(Sight(text=text, bbox=(x, y, 30.0, 15.0)) for text, x, y in texts)
    return page("/lamps", **more) | {"sights": sights}


@pytest.mark.parametrize(
    ("lines", "moved", "expected"),
    [
        ([("Tin", 60.0, 15.0)], 300.0, "redundant"),  # only moved
        ([("Tin", 200.0, 15.0)], 300.0, "explores"),  # another thing of this name
        ([("Pan", 60.0, 15.0)], 300.0, "explores"),
        ([("Shop", 60.0, 15.0)], 300.0, "explores"),  # an earlier page had it
        ([("Shop", 60.0, 15.0)], 30.0, "redundant"),  # so it is but the end of this page
        ([("Pan", 60.0, 15.0)], 30.0, "explores"),
    ],
)
async def test_a_scroll_explores_if_it_shows_itself_what_this_visit_had_not(
    lines: list[tuple[str, float, float]], moved: float, expected: str
) -> None:
    first = page("/") | {"sights": (Sight(text="Shop", bbox=(60.0, 5.0, 30.0, 15.0)),)}
    top, end = texts_at(("Tin", 60.0, 30.0)), texts_at(*lines, scroll_y=moved)
    told = await said(shop_episode([ON_LAMPS, DOWN, Answer()], [first, top, end, end]))

    assert told[1] == expected


async def test_a_scroll_before_one_that_shows_something_is_redundant_itself() -> None:
    top, more = texts_at(("Tin", 60.0, 30.0)), texts_at(("Pan", 60.0, 20.0))
    moved = texts_at(("Tin", 60.0, 20.0))
    told = await said(shop_episode([DOWN, DOWN, Answer()], [top, moved, more, more]))

    assert told[:2] == ["redundant", "explores"]


async def test_a_line_that_the_window_cuts_has_not_been_seen() -> None:
    height = shop_episode([Answer()], [HOME, HOME]).steps[0].height
    cut = texts_at(("Tin", 60.0, 5.0), ("Pan", 60.0, height - 8.0))
    whole = texts_at(("Tin", 60.0, 5.0), ("Pan", 60.0, height - 20.0), scroll_y=12.0)
    told = await said(shop_episode([DOWN, Answer()], [cut, whole, whole]))
    known = await said(shop_episode([DOWN, Answer()], [whole, cut, cut]))

    assert (told[0], known[0]) == ("explores", "redundant")


@pytest.mark.parametrize(("texts", "expected"), [(["New"], "explores"), (["A"], "on_path")])
async def test_a_way_back_by_a_key_makes_no_look_further_down_a_way_back(
    texts: list[str], expected: str
) -> None:
    top, middle = page("/lamps", TIN, texts=["A"]), page("/lamps", texts=["Old"], scroll_y=200.0)
    end = page("/lamps", texts=texts, scroll_y=400.0)
    actions: list[Action] = [DOWN, DOWN, Key(key="Home"), THERE, ON_SAVE, Answer()]
    states = [top, middle, end, top, LAMP, LAMP, LAMP]
    told = await said(shop_episode(actions, states, {4: write(5, 9)}))

    assert told[1] == expected


@pytest.mark.parametrize(("tab", "expected"), [(1, "on_path"), (0, "explores")])
async def test_a_page_stays_open_while_another_tab_is_used(tab: int, expected: str) -> None:
    top, end = page("/lamps", TIN, texts=["A"]), page("/lamps", texts=["B"])
    other = page("/tin", texts=["C"], tab=tab)
    back = page("/lamps", texts=["B"])
    again = page("/lamps", TIN, texts=["A", "D"])
    up = Scroll(direction="up", amount=600)  # type: ignore[arg-type]
    actions: list[Action] = [DOWN, ON_LAMPS, ON_LAMPS, up, THERE, ON_SAVE, Answer()]
    states = [top, end, other, back, again, LAMP, LAMP, LAMP]
    told = await said(shop_episode(actions, states, {5: write(5, 9)}))

    assert told[3] == expected


@pytest.mark.parametrize(("item", "expected"), [(TIN, "on_path"), (link("Pan", 6), "explores")])
async def test_a_menu_that_opens_again_is_of_use_where_its_item_is_pressed(
    item: Any, expected: str
) -> None:
    shut = page("/lamp/1", texts=["Tin"])
    opened = page("/lamp/1", item, texts=["Tin"])
    actions: list[Action] = [Hover(x=300.0, y=300.0), THERE, ON_SAVE, Answer()]
    told = await said(shop_episode(actions, [shut, opened, LAMP, LAMP, LAMP], {2: write(5, 9)}))

    assert told[0] == expected


@pytest.mark.parametrize(("label", "expected"), [("More results", "explores"), ("Save", "on_path")])
async def test_rows_that_a_press_loads_below_the_window_are_looked_for(
    label: str, expected: str
) -> None:
    top, loaded = page("/lamps", link(label, 2), texts=["A"]), page("/lamps", texts=["A"])
    end = page("/lamps", texts=["B"])
    told = await said(shop_episode([ON_SAVE, DOWN, Answer()], [top, loaded, end, end]))

    assert told[0] == expected


@pytest.mark.parametrize(
    ("path", "expected"), [("/lamps", "on_path"), ("/lamps?page=2", "explores")]
)
async def test_a_link_to_the_list_itself_turns_no_page(path: str, expected: str) -> None:
    far, there = page("/lamps?page=3", texts=["C"]), page(path, TIN, texts=["A"])
    actions: list[Action] = [ON_LAMPS, THERE, ON_SAVE, Answer()]
    told = await said(shop_episode(actions, [far, there, LAMP, LAMP, LAMP], {2: write(5, 9)}))

    assert told[0] == expected


CLOSE = element("Close", at=2, tag="button").model_copy(update={"role": "button"})


def names_under(*free: Any, scroll_y: float = 0.0) -> dict[str, Any]:
    """Return a page under something that has come over it, with what that has."""
    behind = tuple(
        link(name, at).model_copy(update={"covered": True}) for at, name in enumerate(("A", "B"))
    )
    return page("/", scroll_y=scroll_y) | {"elements": (*behind, *free)}


async def test_a_look_under_what_covers_a_page_answers_nothing() -> None:
    moved = names_under(CLOSE, scroll_y=600.0)
    deep = link("Deep", 3).model_copy(update={"covered": True})
    moved |= {"elements": (*moved["elements"], deep)}
    actions: list[Action] = [DOWN, Wait(), ON_SAVE, Answer()]
    told = await said(shop_episode(actions, [names_under(CLOSE), moved, moved, HOME, HOME]))

    assert told[:3] == ["explores", "redundant", "recovery"]


@pytest.mark.parametrize(("lost", "expected"), [(True, "recovery"), (False, "on_path")])
async def test_a_question_who_is_there_comes_by_itself_where_entries_are_lost(
    *, lost: bool, expected: str
) -> None:
    price, save = element("Price", at=0, value="9"), CLOSE.model_copy(update={"name": "Save"})
    hidden = price.model_copy(update={"covered": True, "value": "" if lost else "9"})
    button = save.model_copy(update={"covered": True})
    asks = page("/lamp/1") | {"elements": (hidden, button, CLOSE)}
    bare = page("/lamp/1") | {"elements": (hidden.model_copy(update={"covered": False}), save)}
    form = page("/lamp/1") | {"elements": (price, save)}
    told = await said(shop_episode([ON_SAVE, ON_SAVE, Answer()], [form, asks, bare, bare]))

    assert told[1] == expected


@pytest.mark.parametrize(
    ("words", "left", "expected"),
    [
        ("Please change your password.", (), "recovery"),
        ("Closed", (), "on_path"),  # no notice: it says nothing
        ("Please change your password.", ("Form",), "explores"),  # it opened something
    ],
)
async def test_a_notice_is_put_away_by_its_own_button(
    words: str, left: tuple[str, ...], expected: str
) -> None:
    kept = page("/", CLOSE)
    kept["sights"] += (Sight(text=words, bbox=(60.0, 45.0, 30.0, 15.0)),)
    gone = page("/", *(link(name, 9) for name in left))
    made = shop_episode([ON_SAVE, ON_LAMPS, Answer()], [kept, gone, LAMP_LIST, LAMP_LIST])
    tall = tuple(step.model_copy(update={"height": 800}) for step in made.steps)
    told = await said(made.model_copy(update={"steps": tall}))

    assert told[0] == expected


@pytest.mark.parametrize(
    ("goal", "expected"),
    [('Find "Lamps".', "mistake"), ('Find "Lamps of the house".', "on_path")],
)
async def test_a_part_of_a_longer_name_names_nothing(goal: str, expected: str) -> None:
    states = [HOME, page("/shoes", texts=["House"]), LAMP_LIST, LAMP_LIST]
    actions: list[Action] = [Click(x=10.0, y=32.0), ON_LAMPS, Answer()]
    told = await said(told_of(shop_episode(actions, states), goal))

    assert (told[0] == "mistake") == (expected == "mistake")


@pytest.mark.parametrize(
    ("opened", "expected"), [("Tin lamp", "mistake"), ("Blue lamp", "on_path")]
)
async def test_another_row_than_the_named_one_in_sight_is_a_mistake(
    opened: str, expected: str
) -> None:
    rows = [link(opened, 4), link("Blue lamp", 5)]
    states = [page("/lamps", *rows), page("/lamps", *rows, texts=["9"]), LAMP, LAMP, LAMP]
    actions: list[Action] = [THERE, Click(x=10.0, y=112.0), ON_SAVE, Answer()]
    told = await said(shop_episode(actions, states, {2: write(5, 9)}))

    assert told[0] == expected
    assert told[1] == ("recovery" if expected == "mistake" else "on_path")


@pytest.mark.parametrize(("row", "expected"), [("Tin lamp", "mistake"), ("Blue lamp", "redundant")])
async def test_a_press_that_only_marks_a_row_is_a_mistake_unless_the_goal_names_it(
    row: str, expected: str
) -> None:
    before = page("/lamps", link(row, 4), focus=None)
    after = page("/lamps", link(row, 4), focus="a#4") | {"picture": 1}
    told = await said(shop_episode([THERE, DOWN, Answer()], [before, after, after, after]))

    assert (told[0] == "mistake") == (expected == "mistake")


async def test_a_goal_that_speaks_of_waiting_asks_for_no_wait_where_the_state_is_the_judge() -> (
    None
):
    made = shop_episode([Wait(), Answer()], [HOME] * 3)
    bare = episode_of([Wait(), Answer()], [state(0)] * 3)
    goal = 'It can wait until Monday: "Blue lamp" costs "9".'

    assert (await said(told_of(made, goal)))[0] == "redundant"
    assert (await labels(told_of(bare, "Press it, then wait.")))[0][0] == "on_path"


@pytest.mark.parametrize(("name", "expected"), [("Go", "on_path"), ("Goes", "mistake")])
async def test_a_button_is_named_by_a_whole_word(name: str, expected: str) -> None:
    button = element(name, at=2, tag="button").model_copy(update={"role": "button"})
    filled = page("/lamps", button, element("Find", at=3, value=""))
    shown = page("/lamps", button, element("Find", at=3, value=""), texts=["A"])
    made = shop_episode([ON_SAVE, Answer()], [filled, shown, shown], won=False)
    told = await said(told_of(made, 'With "Tin" it Goes well.'))

    assert told[0] == expected


@pytest.mark.parametrize(("label", "expected"), [("Colours", "mistake"), ("Price", "on_path")])
async def test_a_value_is_taken_out_of_a_field_of_which_the_goal_does_not_speak(
    label: str, expected: str
) -> None:
    remove = CLOSE.model_copy(update={"name": "Remove Red"})
    one = page("/lamp/1", remove, texts=[label], form_sha256="a" * 64)
    two = page("/lamp/1", texts=[label, "Red"], form_sha256="b" * 64)
    made = shop_episode([ON_SAVE, Answer()], [one, two, two], won=False)
    told = await said(told_of(made, "Set the Price to 9."))

    assert told[0] == expected


@pytest.mark.parametrize(("again", "expected"), [(False, "redundant"), (True, "on_path")])
async def test_a_field_that_something_came_over_is_used_then_or_not(
    *, again: bool, expected: str
) -> None:
    name, word = element("Name", at=0, value=""), element("Word", at=1, value="")
    hidden = [one.model_copy(update={"covered": True}) for one in (name, word)]
    free, asks = state(0, name, word), state(1, *hidden, CLOSE)
    next_at = Click(x=10.0, y=12.0 if again else 32.0)
    actions: list[Action] = [Click(x=10.0, y=12.0), ON_SAVE, next_at, TypeText(text="anna")]
    told = await labels(episode_of(actions, [free, asks, free, state(2, name, word), free]))

    assert told[0][0] == expected
    assert told[1][0] == "recovery"


async def test_a_field_that_is_made_active_again_takes_nothing_back() -> None:
    name, word = element("Name", at=0, value=""), element("Word", at=1, value="")
    one, two = state(1, name, word, focus="input#0"), state(2, name, word, focus="input#1")
    first, second = Click(x=10.0, y=12.0), Click(x=10.0, y=32.0)
    actions: list[Action] = [first, second, first, TypeText(text="anna")]
    told = await labels(episode_of(actions, [state(0, name, word), one, two, one, one], won=False))

    assert told[2][0] == "on_path"


@pytest.mark.parametrize(
    ("value", "role", "expected"),
    [("", "button", "on_path"), ("anna", "button", "redundant"), ("", "textbox", "redundant")],
)
async def test_a_field_that_is_clicked_into_and_then_forgotten_was_the_right_one(
    value: str, role: str, expected: str
) -> None:
    name = element("Name", at=0, value=value)
    other = element("Search", at=1).model_copy(update={"role": role})
    bare, focused = state(0, name, other), state(1, name, other, focus="input#0")
    actions: list[Action] = [Click(x=10.0, y=12.0), Click(x=10.0, y=32.0), Answer()]
    told = await labels(episode_of(actions, [bare, focused, focused, focused], won=False))

    assert told[0][0] == expected


@pytest.mark.parametrize(("held", "expected"), [("Red", "redundant"), ("Pink", "on_path")])
async def test_a_list_is_opened_again_from_which_the_right_one_was_taken(
    held: str, expected: str
) -> None:
    choice = element("Colour", value=held, tag="select")
    shown = (Sight(text=held, bbox=(5.0, 5.0, 30.0, 15.0)),)
    shut, opened = (state(n, choice) | {"sights": shown} for n in range(2))
    made = episode_of([Key(key="Enter"), Answer()], [shut, opened, opened], won=False)
    told = await labels(told_of(made, "Select Red."))

    assert told[0][0] == expected


@pytest.mark.parametrize("quotes", ["kept", "gone"])
@pytest.mark.parametrize(("text", "expected"), [("Blue lanp", "mistake"), ("Blue", "on_path")])
async def test_a_misspelt_word_that_is_searched_for_is_a_mistake_and_mended(
    text: str, expected: str, quotes: str
) -> None:
    states = [
        page(path, element("Find", at=2, value=value), texts=["A"])
        for path, value in (("/lamps", ""), ("/lamps?q=1", text), ("/lamps?q=2", "Blue lamp"))
    ]
    words = [
        TypeText(text=one, overwrite=True, enter=True, x=10.0, y=52.0)
        for one in (text, "Blue lamp")
    ]
    made = shop_episode([*words, Answer()], [*states, states[-1]])
    goal = made.instruction if quotes == "kept" else made.instruction.replace('"', "")
    told = await said(made.model_copy(update={"instruction": goal}))

    assert told[0] == expected
    assert told[1] == ("recovery" if expected == "mistake" else "on_path")


async def test_what_is_entered_after_a_key_took_back_a_wrong_entry_mends_nothing() -> None:
    values = ("", "Tin", "", "9")
    states = [page("/lamp/1", element("Price", at=2, value=one)) for one in values]
    on: dict[str, Any] = {"x": 10.0, "y": 52.0, "overwrite": True}
    undone: list[Action] = [
        TypeText(text="Tin", **on),
        Key(key="Control+z"),
        TypeText(text="9", **on),
    ]
    erased = [undone[0], Key(key="Backspace"), undone[2]]
    told = [
        await said(shop_episode([*actions, Answer()], [*states, states[-1]]))
        for actions in (undone, erased)
    ]

    assert told[0][:3] == ["mistake", "recovery", "on_path"]
    assert told[1][:3] == ["mistake", "recovery", "recovery"]


@pytest.mark.parametrize(("said_", "expected"), [("Not saved.", "recovery"), ("7", "on_path")])
async def test_a_press_again_mends_what_a_message_refused_and_not_what_a_number_told(
    said_: str, expected: str
) -> None:
    before, after = page("/lamps", CLOSE, texts=["A"]), page("/lamps", CLOSE, texts=[said_])
    other = page("/lamps", CLOSE, texts=["3"])
    actions: list[Action] = [ON_SAVE, ON_SAVE, Answer()]
    told = await said(shop_episode(actions, [before, after, other, other]))

    assert told[1] == expected
