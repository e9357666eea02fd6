"""What `steps` says of faults of the site and of slips: what they hinder, what mends them, what only looks alike."""

from typing import Any

import pytest
from support.episodes.shop_steps import (
    HOME,
    LAMP,
    LAMP_LIST,
    ON_LAMPS,
    ON_SAVE,
    ON_SHOES,
    SAVE,
    link,
    page,
    said,
    shop_episode,
    write,
)
from support.episodes.step_states import element

from schemas.episodes.action import (
    Action,
    Answer,
    Back,
    Button,
    Click,
    Reload,
    Scroll,
    TypeText,
    Wait,
)
from schemas.episodes.observation import Element

PRESS = element("Save", at=2, tag="button").model_copy(update={"role": "button"})
FAILED = "This could not be saved. Please try again."


def field(value: str, *, tag: str = "input") -> Element:
    return element("Price", at=3, value=value, tag=tag)


@pytest.mark.parametrize(
    ("line", "then", "expected"),
    [
        ("Loading…", "Blue lamp", "on_path"),
        ("Loading", "Blue lamp", "explores"),  # it says nothing of being busy
        ("Loading…", "Loading…", "redundant"),  # nothing came
    ],
)
async def test_a_wait_for_a_page_that_says_it_is_busy_is_on_the_path(
    line: str, then: str, expected: str
) -> None:
    states = [page("/lamps", texts=[text]) for text in (line, then, then)]

    assert (await said(shop_episode([Wait(), Answer()], states)))[0] == expected


async def test_a_press_again_while_a_page_is_busy_is_redundant() -> None:
    busy = page("/lamps", texts=["Loading…"])
    states = [HOME, busy, LAMP_LIST, LAMP_LIST]
    told = await said(shop_episode([ON_LAMPS, ON_LAMPS, Answer()], states))

    assert told[:2] == ["on_path", "redundant"]


async def test_what_the_site_failed_to_save_is_sent_again_as_a_recovery() -> None:
    form, failed = page("/lamp/1", PRESS), page("/lamp/1", PRESS, texts=[FAILED])
    asked = page("/lamp/1", PRESS, link("Sure", 4), texts=["Sure?"])
    actions: list[Action] = [ON_SAVE, ON_SAVE, Answer()]
    hindered = await said(shop_episode(actions, [form, failed, form, form], {1: write(5, 9)}))
    confirmed = await said(shop_episode(actions, [form, asked, form, form], {1: write(5, 9)}))

    assert hindered == ["on_path", "recovery", "on_path"]
    assert confirmed == ["on_path", "on_path", "on_path"]  # more than a message came


@pytest.mark.parametrize(("lost", "expected"), [("5", "recovery"), ("9", "on_path")])
async def test_what_a_fault_lost_is_entered_and_sent_again_as_a_recovery(
    lost: str, expected: str
) -> None:
    old, new, then = (page("/lamp/1", PRESS, field(value)) for value in ("5", "9", lost))
    typed = TypeText(text="9", overwrite=True, x=10.0, y=72.0)
    actions: list[Action] = [typed, ON_SAVE, typed, ON_SAVE, Answer()]
    states = [old, new, then, new, LAMP, LAMP]
    told = await said(shop_episode(actions, states, {3: write(5, 9)}))

    assert told[3] == expected
    assert (told[2] == "recovery") is (expected == "recovery")


async def test_a_page_that_failed_is_loaded_again_as_a_recovery() -> None:
    bare = page("/lamps", texts=["Out of order"])
    told = await said(shop_episode([Reload(), Answer()], [bare, LAMP_LIST, LAMP_LIST]))
    idle = await said(shop_episode([Reload(), Answer()], [LAMP_LIST] * 3))

    assert (told[0], idle[0]) == ("recovery", "redundant")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Red shoe", "Blue lamp", ["mistake", "mistake", "recovery", "recovery"]),
        ("Blue lamp", "9", ["on_path"] * 4),  # the goal names both
        ("Red shoe", "Tin shoe", ["on_path"] * 4),  # it names neither
    ],
)
async def test_a_wrong_filter_that_is_put_right_is_a_mistake(
    first: str, second: str, expected: list[str]
) -> None:
    def view(value: str, query: str, text: str) -> dict[str, Any]:
        return page(f"/lamps{query}", PRESS, field(value, tag="select"), texts=[text])

    choose = Click(x=10.0, y=72.0)
    states = [view("", "", "A"), view(first, "", "A"), view(first, "?q=a", "B")]
    states += [view(second, "?q=a", "B"), *[view(second, "?q=b", "C")] * 2]
    actions: list[Action] = [choose, ON_SAVE, choose, ON_SAVE, Answer()]

    assert (await said(shop_episode(actions, states)))[:4] == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [("/lamp/7", ["mistake", "recovery"]), ("/notes", ["explores", "on_path"])],
)
async def test_another_row_than_the_expected_one_is_a_mistake(
    address: str, expected: list[str]
) -> None:
    rows = page("/lamps", link("Tin", 2), link("Lead", 3))
    tin, lead = Click(x=10.0, y=52.0), Click(x=10.0, y=72.0)
    states = [rows, page(address, texts=["Weight"]), rows, LAMP, LAMP, LAMP]
    told = await said(
        shop_episode([tin, Back(), lead, ON_SAVE, Answer()], states, {3: write(5, 9)})
    )

    assert told[:2] == expected


@pytest.mark.parametrize("menu", [True, False])
async def test_a_menu_of_the_right_button_is_no_press_beside(*, menu: bool) -> None:
    before = page("/lamp/1", SAVE, focus="input")
    after = page("/lamp/1", SAVE, texts=["Delete"] if menu else [], focus=None)
    pressed = Click(x=300.0, y=300.0, button=Button.RIGHT)
    after |= {"picture": 1}
    told = await said(shop_episode([pressed, Answer()], [before, after, after], won=False))

    assert told[0] == ("on_path" if menu else "mistake")


async def test_a_press_on_nothing_under_a_dialog_closes_nothing() -> None:
    behind = link("Lamps", 0).model_copy(update={"covered": True})
    over = page("/") | {"elements": (behind, SAVE)}
    actions: list[Action] = [Click(x=300.0, y=300.0), ON_SAVE, Answer()]
    told = await said(shop_episode(actions, [over, over, HOME, HOME]))

    assert told[:2] == ["mistake", "recovery"]


@pytest.mark.parametrize(("reopened", "expected"), [(True, "explores"), (False, "on_path")])
async def test_rows_of_a_list_that_is_opened_anew_are_looked_through_anew(
    *, reopened: bool, expected: str
) -> None:
    down = Scroll(direction="down", amount=9)  # type: ignore[arg-type]
    end = page("/lamps", link("Tin", 4), texts=["B"])
    top, other = page("/lamps", texts=["A"]), page("/shoes", texts=["C"])
    away = other if reopened else page("/lamps", texts=["C"])
    up = Scroll(direction="up", amount=9)  # type: ignore[arg-type]
    back: Action = ON_LAMPS if reopened else up
    actions: list[Action] = [down, back, back, down, Click(x=10.0, y=92.0), ON_SAVE]
    states = [top, end, away, top, end, LAMP, LAMP, LAMP]
    told = await said(shop_episode([*actions, Answer()], states, {5: write(5, 9)}))

    assert told[3] == expected


@pytest.mark.parametrize(("name", "expected"), [("Blue lamp", "on_path"), ("Tin", "explores")])
async def test_a_scroll_that_only_moves_what_the_goal_names_looks_for_nothing(
    name: str, expected: str
) -> None:
    top, end = (page("/lamps", link(name, at), texts=[f"Row {at}"]) for at in (9, 4))
    actions: list[Action] = [
        Scroll(direction="down", amount=100),  # type: ignore[arg-type]
        Click(x=10.0, y=92.0),
        ON_SAVE,
        Answer(),
    ]
    told = await said(shop_episode(actions, [top, end, LAMP, LAMP, LAMP], {2: write(5, 9)}))

    assert told[0] == expected


@pytest.mark.parametrize(("saved", "expected"), [(True, "explores"), (False, "redundant")])
async def test_a_page_is_looked_over_after_a_save(*, saved: bool, expected: str) -> None:
    sheet = page("/lamp/1/sheet", texts=["Weight"])
    again = Click(x=11.0, y=12.0)
    actions: list[Action] = [ON_LAMPS, Back(), ON_SAVE, again, Back(), Answer()]
    states = [LAMP, sheet, LAMP, LAMP, sheet, LAMP, LAMP]
    told = await said(shop_episode(actions, states, {2: write(5, 9)} if saved else {}))

    assert told[3] == expected


@pytest.mark.parametrize(
    ("click", "path", "expected"),
    [
        (ON_SHOES, "/shoes", "mistake"),
        (ON_LAMPS, "/lamps", "on_path"),  # words of the goal are on it
        (ON_SHOES, "/lamp/1", "on_path"),  # the task changes what is there
    ],
)
async def test_an_end_where_nothing_is_that_the_goal_names_is_a_mistake(
    click: Click, path: str, expected: str
) -> None:
    ended = page(path, texts=["Red shoe"])
    told = await said(shop_episode([click, Answer()], [HOME, ended, ended], won=False))

    assert told[0] == expected


@pytest.mark.parametrize(("shown", "expected"), [("Blue lamp", "on_path"), ("Tin", "explores")])
async def test_a_page_that_shows_what_the_goal_names_is_on_the_path(
    shown: str, expected: str
) -> None:
    seen, list_ = page("/shoes", texts=[shown]), page("/", texts=["Today"])
    actions: list[Action] = [ON_SHOES, ON_LAMPS, Wait(), TypeText(text="9"), Answer()]
    states = [list_, seen, LAMP, LAMP, LAMP, LAMP]
    told = await said(shop_episode(actions, states, won=False))

    assert told[0] == expected


async def test_a_choice_that_the_page_itself_empties_was_right() -> None:
    empty, chosen = (page("/lamps", PRESS, field(one, tag="select")) for one in ("", "Blue lamp"))
    actions: list[Action] = [Click(x=10.0, y=72.0), ON_SAVE, Answer()]
    told = await said(shop_episode(actions, [empty, chosen, empty, empty]))

    assert told[0] == "on_path"
