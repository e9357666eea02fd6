import io
import math

import pytest
from PIL import Image, ImageDraw
from support.browsers.page_trees import node, page, play

from generators.browser.protocol import Node
from generators.policy.protocol import Decision
from generators.policy.teacher.page import Page, SkillError
from generators.policy.teacher.skills.dragging import set_slider, sort_numbers
from generators.policy.teacher.skills.forms import file_to_delete
from generators.policy.teacher.skills.games import (
    ACT_MS,
    buy_low,
    guess_number,
    press_after_delay,
    repeat_lights,
)
from generators.policy.teacher.skills.shapes import (
    copy_number,
    count_sides,
    figures,
    parse_description,
)
from generators.policy.teacher.skills.tic_tac_toe import best_square
from schemas.episodes.action import Click, Drag, Key, TypeText, Wait


def _letter(text: str, *, px: int, fill: str) -> Node:
    letter = node("text", text=text, fill=fill)
    letter.style["font-size"] = f"{px}px"
    return letter


def test_a_description_means_the_figures_it_fits() -> None:
    drawn = page(
        _letter("a", px=20, fill="red"),
        _letter("7", px=10, fill="red"),
        node("circle", box=(0, 0, 20, 20), fill="blue"),
        node("polygon", box=(0, 0, 10, 10), fill="red"),
        node("rect", box=(0, 0, 80, 80), fill="none"),
    )

    def meant(text: str) -> list[str]:
        return [figure.name for figure in figures(drawn) if parse_description(text).matches(figure)]

    assert meant("red item") == ["a", "7", "triangle"]
    assert meant("large item") == ["a", "circle"]
    assert meant("small red shape") == ["triangle"]
    assert meant("digit") == ["7"]
    assert meant("a") == ["a"]
    with pytest.raises(SkillError, match="describes no figure"):
        parse_description("very big thing")


def test_a_game_is_won_where_it_can_be_and_saved_where_it_must() -> None:
    assert best_square("xx.oo....") == 2
    assert best_square("oo.x..x..") == 2


def test_a_file_whose_name_holds_its_extension_twice_is_the_last_choice() -> None:
    goal = "Use the terminal below to delete a file ending with the extension .sh"

    assert file_to_delete(["shark.sh", "code.sh", "sh.py"], goal) == "code.sh"
    assert file_to_delete(["shark.sh", "sh.py"], goal) == "shark.sh"
    assert file_to_delete(["a.py", "bin"], "delete a file that has no file extension") == "bin"
    with pytest.raises(SkillError, match="no file is what the goal asks for"):
        file_to_delete(["a.py"], goal)


@pytest.mark.parametrize("number", range(10))
def test_any_number_is_guessed(number: int) -> None:
    said = "waiting"

    def now() -> Page:
        return page(
            node("div", id=said),
            node("input", id="tt", focused=True),
            node("button", text="Submit"),
            goal="",
        )

    guess = -1
    for decision in play(guess_number(now()), lambda _: now()):
        if isinstance(decision.action, TypeText):
            guess = int(decision.action.text)
        elif decision.action == Click(x=18, y=15):
            continue
        elif guess == number:
            return
        else:
            said = "higher" if guess < number else "lower"

    pytest.fail("it gave up")


def test_numbers_are_dragged_until_they_are_sorted() -> None:
    values = [30, -7, 12, 5]

    def now() -> Page:
        items = [
            node("li", text=str(value), box=(0, 20.0 * place, 100, 20))
            for place, value in enumerate(values)
        ]
        return page(*items, node("button", text="Submit", box=(0, 100, 50, 20)))

    def move(drag: Drag) -> None:
        start, end = int(drag.y // 20), int(drag.to_y // 20)
        values.insert(end, values.pop(start))

    actions = []
    for decision in play(sort_numbers(now()), lambda _: now()):
        actions.append(decision.action)
        if isinstance(decision.action, Drag):
            move(decision.action)

    assert values == [-7, 5, 12, 30]
    assert isinstance(actions[-1], Click)


@pytest.mark.parametrize("wanted", [0, 7, 33, 50])
def test_a_slider_comes_to_any_value_whatever_its_scale(wanted: int) -> None:
    state = {"value": 21}

    def now() -> Page:
        at = 10 + state["value"] * 1.7
        handle = node("span", cls="ui-slider-handle", box=(at - 5, 5, 10, 10))
        slider = node("div", handle, id="slider", cls="ui-slider", box=(10, 7, 85, 6))
        readout = node("div", id="val", text=str(state["value"]))
        goal = f"Select {wanted} with the slider and hit Submit."
        return page(slider, readout, node("button", text="Submit"), goal=goal)

    for decision in play(set_slider(now()), lambda _: now()):
        match decision.action:
            case Drag(to_x=x):
                state["value"] = max(0, min(50, math.floor((x - 10) / 1.7)))
            case Key(key=name):
                state["value"] += 1 if name == "ArrowRight" else -1
            case _:
                break

    assert state["value"] == wanted


@pytest.mark.parametrize("seconds", [1, 2, 3])
def test_the_second_button_is_pressed_when_it_is_due(seconds: int) -> None:
    buttons = [
        node("button", text=name, box=(0, y, 40, 40)) for name, y in (("ONE", 0), ("TWO", 60))
    ]
    goal = f"Click button ONE, wait {seconds} seconds, then click button TWO."
    now = page(*buttons, goal=goal)

    clock, pressed = 0, []
    for decision in play(press_after_delay(now), lambda _: now):
        if isinstance(decision.action, Click):
            pressed.append(clock)
        clock += ACT_MS + (decision.action.ms if isinstance(decision.action, Wait) else 0)

    assert pressed[1] - pressed[0] == pytest.approx(seconds * 1_000, rel=0.05)


def test_a_stock_is_bought_at_the_first_price_seen_below_the_limit() -> None:
    prices = ["", "$50.00", "$48.10", "$48.00", "$47.90", "$47.00"]

    def now(look: int) -> Page:
        goal = "Buy ABC stock when the price is less than $48.00."
        price = node("span", id="stock-price", text=prices[look])
        return page(price, node("button", id="buy"), goal=goal)

    looks = iter(range(1, len(prices)))
    taken = [decision.action for decision in play(buy_low(now(0)), lambda _: now(next(looks)))]

    assert [action.type for action in taken] == ["hover", "hover", "hover", "hover", "click"]


def _lights(flashes: list[int], clock: int) -> Page:
    """Four buttons; one is lit for 250 ms from the first, second, third … 600 ms on."""
    flash, since = divmod(clock, 600)
    lit = flashes[flash - 1] if 0 < flash <= len(flashes) and since < 250 else None
    buttons = []
    for number in range(1, 5):
        classes = "push" if number == lit else ""
        button = node("button", id=f"button-{number}", cls=classes, box=(60.0 * number, 0, 50, 50))
        button.style["background-color"] = "rgb(0, 0, 255)"
        buttons.append(button)
    return page(*buttons)


@pytest.mark.parametrize("flashes", [[1, 2, 3], [4, 4, 4, 4], [2, 2, 1, 3, 3]])
def test_lights_are_repeated_in_order_even_one_twice(flashes: list[int]) -> None:
    clock = {"ms": 0}
    pressed = []

    def answer(decision: Decision) -> Page:
        clock["ms"] += ACT_MS
        match decision.action:
            case Wait(ms=ms):
                clock["ms"] += ms
            case Click(x=x):
                pressed.append(int(x // 60))
        return _lights(flashes, clock["ms"])

    list(play(repeat_lights(_lights(flashes, 0)), answer))

    assert pressed == flashes


def _photographed(picture: Image.Image, *things: Node, goal: str = "") -> Page:
    """A page of 500 px width, with its screenshot."""
    screenshot = io.BytesIO()
    picture.save(screenshot, "JPEG", quality=80)
    plain = page(*things, goal=goal)
    return Page(goal=goal, url=plain.url, root=plain.root, picture=screenshot.getvalue())


@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("count", range(3, 8))
def test_the_sides_on_a_canvas_are_counted_on_the_picture(count: int, scale: int) -> None:
    picture = Image.new("L", (500 * scale, 400 * scale), 255)
    circle = (75 * scale, 100 * scale, 35 * scale)
    ImageDraw.Draw(picture).regular_polygon(circle, count, rotation=17, outline=0, width=3 * scale)
    buttons = [node("button", text=str(n), box=(20.0 * n, 200, 10, 10)) for n in range(3, 8)]
    now = _photographed(picture, node("canvas", box=(0, 50, 150, 100)), *buttons)

    (decision,) = play(count_sides(now), lambda _: now)

    assert isinstance(decision.action, Click)
    assert decision.action.x // 20 == count


def test_the_light_boxes_of_a_picture_are_ticked() -> None:
    picture = Image.new("L", (500, 400), 40)
    wanted = [1, 2, 7, 27]
    for number in wanted:
        row, column = divmod(number, 4)
        corner = (103 + 15 * column, 55 + 15 * row)
        ImageDraw.Draw(picture).rectangle((*corner, corner[0] + 11, corner[1] + 11), fill=250)
    boxes = [node("input", box=(10.0 * n, 300, 8, 8)) for n in range(28)]
    now = _photographed(
        picture,
        node("img", box=(100, 50, 65, 112)),
        *boxes,
        node("button", text="Submit", box=(0, 380, 20, 10)),
        goal='Draw the number "8" in the checkboxes',
    )

    decisions = list(play(copy_number(now), lambda _: now))

    clicks = [each.action for each in decisions if isinstance(each.action, Click)]
    assert [click.x // 10 for click in clicks[:-1]] == wanted


def test_a_picture_that_ends_too_early_is_not_read() -> None:
    picture = Image.new("L", (500, 60), 255)
    now = _photographed(picture, node("canvas", box=(0, 50, 150, 100)))

    with pytest.raises(SkillError, match="out of view"):
        next(count_sides(now))
