"""What a page says to have gone wrong is answered by what is in sight, and a plan goes on where it was."""

import pytest
from support.browsers.reference_pages import AWAY, SEEN, Reader, node, scrolled, step

from generators.browser.protocol import Node
from generators.policy.protocol import Decision, PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.troubles import MAX_ANSWERS
from schemas.episodes.action import Answer, Click, Reload, Scroll, TypeText, Wait
from schemas.errors import RolloutFailure

SAVE = step(do="click", on="Save")
END = step(do="answer", text="")
FIELD = node("input", "", at=(30.0, 31.0), placeholder="Name")
BUTTON = node("button", "Save", at=(5.0, 6.0))


def _page(*parts: Node) -> Node:
    return node("body", "", node("h1", "Lamp"), *parts)


async def _act(policy: ReferencePolicy, root: Node) -> Decision:
    return await policy.act(PolicyInput("Do it.", (), SEEN, Reader(root)))


def _alert(said: str, at: tuple[float, float] | None = (1.0, 2.0)) -> Node:
    return node("div", said, at=at, role="alert")


async def test_a_page_that_still_loads_is_waited_for() -> None:
    policy = ReferencePolicy([step(do="click", on="Lamp")])
    found = await _act(policy, _page(node("p", "Loading…")))
    assert isinstance(found.action, Wait)
    assert "Loading…" in (found.thought or "")
    later = await _act(policy, _page(node("a", "Lamp", at=(7.0, 8.0))))
    assert later.action == Click(x=7, y=8)


async def test_words_that_a_list_was_waited_for_are_waited_for_again() -> None:
    plan = [step(do="wait", on="Searching…"), step(do="click", on="Lamp"), SAVE]
    policy = ReferencePolicy(plan)
    busy = _page(node("p", "Searching…"))
    assert isinstance((await _act(policy, busy)).action, Wait)
    found = _page(node("a", "Lamp", at=(7.0, 8.0)))
    assert (await _act(policy, found)).action == Click(x=7, y=8)
    assert isinstance((await _act(policy, busy)).action, Wait)


async def test_words_that_nothing_was_waited_for_are_not_waited_for() -> None:
    policy = ReferencePolicy([step(do="click", on="Lamp")])
    found = await _act(policy, _page(node("p", "Searching…"), node("a", "Lamp", at=(7.0, 8.0))))
    assert found.action == Click(x=7, y=8)


async def test_a_row_whose_name_begins_so_is_not_waited_for() -> None:
    policy = ReferencePolicy([step(do="click", on="Lamp")])
    found = await _act(policy, _page(node("td", "Loadings of Monday"), node("a", "Lamp")))
    assert isinstance(found.action, Click)


async def test_a_page_that_failed_is_loaded_again() -> None:
    policy = ReferencePolicy([step(do="click", on="Lamp")])
    root = node("body", "", node("h1", "Service Unavailable"))
    assert (await _act(policy, root)).action == Reload()


async def test_what_was_not_saved_is_sent_again() -> None:
    policy = ReferencePolicy([SAVE, END])
    await _act(policy, _page(FIELD, BUTTON))
    said = "This could not be saved just now. Please try again."
    again = await _act(policy, _page(_alert(said), FIELD, BUTTON))
    assert again.action == Click(x=5, y=6)
    assert said in (again.thought or "")
    assert isinstance((await _act(policy, _page(node("p", "Saved")))).action, Answer)


@pytest.mark.parametrize(
    ("said", "at"),
    [("This could not be saved just now.", AWAY), ("Your changes are saved.", (1.0, 2.0))],
    ids=["out of sight", "another message"],
)
async def test_an_alert_counts_only_where_it_is_in_sight_and_says_so(
    said: str, at: tuple[float, float] | None
) -> None:
    policy = ReferencePolicy([SAVE, END])
    await _act(policy, _page(FIELD, BUTTON))
    assert isinstance((await _act(policy, _page(_alert(said, at), FIELD, BUTTON))).action, Answer)


async def test_what_a_form_has_lost_is_entered_again() -> None:
    typed = step(do="type", on="Name", text="Ada")
    policy = ReferencePolicy([typed, SAVE, END])
    await _act(policy, _page(FIELD, BUTTON))
    await _act(policy, _page(FIELD, BUTTON))
    said = "Somebody else has changed it. It was not saved: please enter it again."
    again = await _act(policy, _page(_alert(said), FIELD, BUTTON))
    assert again.action == TypeText(x=30, y=31, text="Ada", overwrite=True)
    assert said in (again.thought or "")


async def test_a_window_that_is_still_open_is_looked_through_for_what_it_says() -> None:
    window = node("dialog", "", node("h2", "Edit"), FIELD, BUTTON, aria_modal="true")
    policy = ReferencePolicy([SAVE, END])
    await _act(policy, node("body", "", window))
    window.style = {"overflow-y": "auto"}
    window.box = (0.0, 0.0, 500.0, 400.0)
    window.inner = (500.0, 400.0)
    scrolled(window, 600.0, height=1_000.0)
    assert isinstance((await _act(policy, node("body", "", window))).action, Scroll)


async def test_a_window_that_asks_once_more_is_answered_and_not_looked_through() -> None:
    sure = node("button", "Yes", at=(40.0, 41.0), key=7)
    window = node("dialog", "", node("h2", "Edit"), FIELD, BUTTON, sure, aria_modal="true")
    policy = ReferencePolicy([SAVE, step(do="click", on="Yes", purpose="sure"), END])
    await _act(policy, node("body", "", window))
    window.style = {"overflow-y": "auto"}
    window.box = (0.0, 0.0, 500.0, 400.0)
    window.inner = (500.0, 400.0)
    scrolled(window, 600.0, height=1_000.0)
    assert (await _act(policy, node("body", "", window))).action == Click(x=40, y=41)


@pytest.mark.parametrize("button", ["Not now", "Close", "×"])
async def test_a_window_about_something_else_is_closed(button: str) -> None:
    close = node("button", button, at=(9.0, 9.0))
    window = node("dialog", "", node("h2", "Our app"), close, aria_modal="true")
    policy = ReferencePolicy([step(do="click", on="Lamp")])
    found = await _act(policy, _page(node("a", "Lamp"), window))
    assert found.action == Click(x=9, y=9)


async def test_a_form_in_a_window_is_not_closed() -> None:
    window = node("dialog", "", FIELD, node("button", "Close"), aria_modal="true")
    policy = ReferencePolicy([step(do="click", on="Lamp")])
    with pytest.raises(RolloutFailure, match="the page shows no 'Lamp'"):
        await _act(policy, scrolled(_page(window), height=400.0))


async def test_a_session_that_has_ended_is_begun_again_and_the_form_filled_anew() -> None:
    typed = step(do="type", on="Name", text="Ada")
    policy = ReferencePolicy([typed, SAVE, END])
    await _act(policy, _page(FIELD, BUTTON))
    await _act(policy, _page(FIELD, BUTTON))
    said = node(
        "p", "Your session has ended. You were signed in as Mia Berg: enter this name again."
    )
    who = node("input", "", at=(3.0, 4.0))
    ask = node(
        "dialog", "", said, who, node("button", "Continue", at=(8.0, 8.0)), aria_modal="true"
    )
    found = await _act(policy, _page(FIELD, BUTTON, ask))
    assert found.action == TypeText(x=3, y=4, text="Mia Berg", overwrite=True)
    who.value = "Mia Berg"
    assert (await _act(policy, _page(FIELD, BUTTON, ask))).action == Click(x=8, y=8)
    again = await _act(policy, _page(FIELD, BUTTON))
    assert again.action == TypeText(x=30, y=31, text="Ada", overwrite=True)


async def test_a_site_that_fails_at_every_step_is_left() -> None:
    policy = ReferencePolicy([step(do="click", on="Lamp")])
    root = node("body", "", node("h1", "Service Unavailable"))
    for _ in range(MAX_ANSWERS):
        assert (await _act(policy, root)).action == Reload()
    with pytest.raises(RolloutFailure, match="the site has gone wrong"):
        await _act(policy, root)


async def test_a_window_in_which_the_last_step_was_taken_is_not_in_the_way() -> None:
    close = node("button", "Not now", at=(9.0, 9.0))
    sure = node("button", "Delete", at=(5.0, 6.0))
    said = "This could not be done just now. Please try again."
    window = node("dialog", "", node("h2", "Delete: Lamp"), sure, close, aria_modal="true")
    policy = ReferencePolicy([step(do="click", on="Delete"), END])
    await _act(policy, _page(window))
    window.children.insert(1, _alert(said))
    again = await _act(policy, _page(window))
    assert again.action == Click(x=5, y=6)
    assert said in (again.thought or "")


@pytest.mark.parametrize("opens", ["right_click", "hover"])
async def test_a_menu_that_was_open_is_opened_again_before_its_entry_is_pressed(opens: str) -> None:
    name, entry = node("h1", "Lamp", at=(2.0, 2.0)), node("button", "Ship", at=(5.0, 6.0))
    policy = ReferencePolicy([step(do=opens, on="Lamp"), step(do="click", on="Ship"), END])
    await _act(policy, node("body", "", name))
    await _act(policy, node("body", "", name, entry))
    said = _alert("This could not be done just now. Please try again.")
    again = await _act(policy, node("body", "", name, said))
    pressed = await _act(policy, node("body", "", name, entry))
    assert not isinstance(again.action, Answer)
    assert pressed.action == Click(x=5, y=6)


async def test_a_page_in_any_language_that_is_marked_as_busy_is_waited_for() -> None:
    policy = ReferencePolicy([step(do="click", on="Lampe")])
    busy = node("p", "Wird geladen …", aria_busy="true")
    assert isinstance((await _act(policy, _page(busy))).action, Wait)
    assert "Wird geladen …" in ((await _act(policy, _page(busy))).thought or "")
    waits = ReferencePolicy([step(do="wait", on="Wird geladen …", why="I wait for it."), END])
    assert (await _act(waits, _page(busy))).thought == "I wait for it."
    there = _page(node("p", "Wird geladen …"), node("a", "Lampe", at=(7.0, 8.0)))
    assert (await _act(policy, there)).action == Click(x=7, y=8)


@pytest.mark.parametrize(
    ("heading", "fails"), [("503 Dienst nicht verfügbar", True), ("5031 Lampe", False)]
)
async def test_a_heading_in_any_language_tells_by_its_number_that_a_page_failed(
    heading: str, *, fails: bool
) -> None:
    policy = ReferencePolicy([step(do="click", on="Lampe")])
    root = node("body", "", node("h1", heading), node("a", "Lampe", at=(7.0, 8.0)))
    expected = Reload() if fails else Click(x=7, y=8)
    assert (await _act(policy, root)).action == expected


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("Das konnte nicht gespeichert werden (Fehler 503).", Click(x=5, y=6)),
        ("保存できませんでした (エラー503)。", Click(x=5, y=6)),
        (
            "Jemand hat das geändert (Fehler 409).",
            TypeText(x=30, y=31, text="Ada", overwrite=True),
        ),
        ("Bestellung 503 ist gespeichert (Nummer 1503).", None),
    ],
    ids=["sent again", "in Japanese", "entered again", "another message"],
)
async def test_an_alert_in_any_language_tells_by_its_number_what_was_not_saved(
    said: str, again: Click | TypeText | None
) -> None:
    policy = ReferencePolicy([step(do="type", on="Name", text="Ada"), SAVE, END])
    await _act(policy, _page(FIELD, BUTTON))
    await _act(policy, _page(FIELD, BUTTON))
    found = (await _act(policy, _page(_alert(said), FIELD, BUTTON))).action
    assert found == again if again is not None else isinstance(found, Answer)


async def test_the_name_in_bold_is_the_one_to_sign_in_with_in_any_language() -> None:
    policy = ReferencePolicy([SAVE, END])
    said = node("p", "Ihre Sitzung ist abgelaufen.", node("strong", "Mia Berg"))
    who = node("input", "", at=(3.0, 4.0))
    parts = (said, who, node("button", "Fortfahren", at=(8.0, 8.0)))
    ask = node("dialog", "", *parts, aria_modal="true")
    found = await _act(policy, _page(FIELD, BUTTON, ask))
    assert found.action == TypeText(x=3, y=4, text="Mia Berg", overwrite=True)


@pytest.mark.parametrize("more", [False, True])
async def test_the_only_button_of_a_window_closes_it_in_any_language(*, more: bool) -> None:
    close = node("button", "Überspringen", at=(9.0, 9.0))
    others = [node("button", "Mehr dazu", at=(9.0, 19.0))] if more else []
    window = node("dialog", "", node("h2", "Unsere App"), close, *others, aria_modal="true")
    policy = ReferencePolicy([step(do="click", on="Lampe")])
    page = scrolled(_page(node("a", "Lampe"), window), height=400.0)
    if more:
        with pytest.raises(RolloutFailure, match="the page shows no 'Lampe'"):
            await _act(policy, page)
    else:
        assert (await _act(policy, page)).action == Click(x=9, y=9)
