"""The course of a plan: what was done, what is to come, and how it goes back."""

from support.browsers.reference_pages import SEEN, node, step

from generators.policy.course import Course, Screen, screen_of
from generators.policy.named_elements import Page

FORM, LIST = Screen("http://shop.localhost/1", "Edit"), Screen("http://shop.localhost/1", "List")
OPEN, NAME, SAVE, END = (
    step(do="click", on="Edit"),
    step(do="type", on="Name", text="Ada"),
    step(do="click", on="Save"),
    step(do="answer", text=""),
)


def _sent() -> Course:
    course = Course([OPEN, NAME, SAVE, END])
    course.take(LIST)
    course.take(FORM)
    course.take(FORM, sends=True)
    return course


def test_what_was_taken_on_the_same_form_is_taken_again_and_the_first_says_why() -> None:
    course = _sent()
    course.go_back(course.begin_of_form(), "It was lost.")
    first, *others = course.to_come
    assert first == NAME.model_copy(update={"why": "It was lost."})
    assert others == [SAVE, END]
    assert course.number == 2


def test_what_was_put_in_is_not_taken_again() -> None:
    course = Course([NAME, SAVE])
    course.put_in(OPEN)
    course.take(FORM)
    course.take(FORM)
    course.go_back(0)
    assert course.to_come == [NAME, SAVE]


def test_the_last_presses_are_those_that_sent_the_form_and_opened_its_menu() -> None:
    course = Course([OPEN, NAME, OPEN, SAVE, END])
    course.take(LIST)
    course.take(FORM)
    course.take(FORM, opens_menu=True)
    course.take(FORM, sends=True)
    assert course.presses() == [OPEN, SAVE]
    assert Course([SAVE]).presses() == []


def test_a_screen_is_told_by_the_heading_of_the_window_in_front_whatever_list_is_open() -> None:
    window = node("dialog", "", node("h2", "Edit: Lamp"), aria_modal="true")
    page = node("body", "", node("h1", "Lamps"), window, node("stepmill-list", "One"))
    state, tabs = SEEN.page, SEEN.page.model_copy(update={"tabs": ("Lamps", "Lamp")})
    assert screen_of(Page(page), state) == Screen(state.url, "Edit: Lamp")
    lamps = Page(node("body", "", node("h1", "Lamps")))
    assert screen_of(lamps, tabs) == Screen(state.url, "Lamps", tabs=2)
