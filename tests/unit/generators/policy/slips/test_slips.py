"""Slips are made where they are possible, seen on the page, and mended; a plan is carried out all the same."""

from collections.abc import Callable, Sequence

import pytest
from support.browsers.reference_pages import SEEN, Reader, node, scrolled, step
from support.episodes.said import says

from generators.browser.protocol import Node
from generators.policy.protocol import Decision, PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.slips.entries import LeftOut, RefusedEntry, TypingError, WrongField
from generators.policy.slips.lists import EmptySearch, WrongFilter, WrongOption
from generators.policy.slips.rows import LookAlike, OtherTab, WrongView
from generators.policy.slips.slip import Slip
from generators.policy.slips.slips import Slips
from schemas.episodes.action import (
    Answer,
    Back,
    Button,
    Click,
    Key,
    Tab,
    TabOperation,
    TypeText,
)
from schemas.episodes.episode import ThoughtSource
from schemas.episodes.mistake import InjectedMistake
from schemas.tasks.reference import ReferenceStep

END = step(do="answer", text="")


class _Only(Slips):
    """The slips of an episode that makes one of these kinds."""

    def __init__(self, *kinds: Callable[[], Slip]) -> None:
        super().__init__((), seed="1", share=0.0)
        self._possible = [kind() for kind in kinds]


def _policy(kind: Callable[[], Slip], *steps: ReferenceStep) -> ReferencePolicy:
    return ReferencePolicy((*steps, END), _Only(kind))


async def _act(
    policy: ReferencePolicy, root: Node, url: str = "/shop", tabs: Sequence[str] = ()
) -> Decision:
    told = {"url": f"http://shop.localhost{url}", "tabs": tuple(tabs)}
    page = SEEN.page.model_copy(update=told)
    seen = SEEN.model_copy(update={"page": page})
    return await policy.act(PolicyInput("Do it.", (), seen, Reader(scrolled(root, height=400.0))))


def _rows(*titles: str) -> Node:
    links = [node("a", title, at=(9.0, 10.0 + 20 * at)) for at, title in enumerate(titles)]
    return node("body", "", node("h1", "Lamps"), *links)


ROW = (step(do="find", on="Lamp small"), step(do="click", on="Lamp small"))


async def test_a_row_of_a_similar_name_is_opened_and_left_when_its_page_says_another() -> None:
    policy = _policy(LookAlike, *ROW)
    listed = _rows("Lamp large", "Lamp small")
    first = await _act(policy, listed)
    assert (first.action, first.injected_mistake) == (Click(x=9, y=10), InjectedMistake.LOOK_ALIKE)
    back = await _act(policy, node("body", "", node("h1", "Lamp large")), "/lamp/1")
    assert back.action == Back()
    assert says(back.thought, "slips.other_row", other="Lamp large", title="Lamp small")
    assert (await _act(policy, listed)).action == Click(x=9, y=30)


async def test_a_row_that_opens_beside_the_list_needs_no_way_back() -> None:
    policy = _policy(LookAlike, *ROW)
    await _act(policy, _rows("Lamp large", "Lamp small"))
    beside = _rows("Lamp large", "Lamp small")
    beside.children.append(node("h2", "Lamp large"))
    found = await _act(policy, beside)
    assert found.action == Click(x=9, y=30)
    assert says(found.thought, "slips.other_beside", other="Lamp large", title="Lamp small")


async def test_a_row_of_a_similar_name_that_opened_a_tab_is_left_by_closing_it() -> None:
    policy = _policy(LookAlike, *ROW)
    await _act(policy, _rows("Lamp large", "Lamp small"))
    other = node("body", "", node("h1", "Lamp large"))
    left = await _act(policy, other, "/lamp/1", ["Lamps", "Lamp large"])
    assert left.action == Tab(operation=TabOperation.CLOSE)
    assert says(left.thought, "slips.other_tab", other="Lamp large", title="Lamp small")


@pytest.mark.parametrize("others", [("Chair",), (), ("Lamp small",)], ids=["unlike", "alone", "it"])
async def test_without_a_similar_name_in_sight_no_other_row_is_opened(
    others: Sequence[str],
) -> None:
    found = await _act(_policy(LookAlike, *ROW), _rows(*others, "Lamp small"))
    assert found.injected_mistake is None


async def test_a_name_with_another_number_is_not_taken_for_the_right_one() -> None:
    wanted = (step(do="find", on="Entry 3907"), step(do="click", on="Entry 3907"))
    found = await _act(_policy(LookAlike, *wanted), _rows("Entry 8028", "Entry 3907"))
    assert found.injected_mistake is None


async def test_a_similar_row_is_looked_at_in_a_tab_that_is_closed() -> None:
    policy = _policy(OtherTab, *ROW)
    first = await _act(policy, _rows("Lamp large", "Lamp small"))
    assert first.action == Click(x=9, y=10, button=Button.MIDDLE)
    other = node("body", "", node("h1", "Lamp large"))
    closed = await _act(policy, other, "/lamp/1", ["Lamps", "Lamp large"])
    assert closed.action == Tab(operation=TabOperation.CLOSE)


def _menu(*labels: str, under: Sequence[str] = ()) -> Node:
    menus = [node("summary", label, at=(float(at), 3.0)) for at, label in enumerate(labels)]
    return node(
        "body", "", node("nav", "", *menus, *(node("a", one, at=(1.0, 5.0)) for one in under))
    )


async def test_another_menu_is_opened_first_and_left_because_it_does_not_hold_the_entry() -> None:
    policy = _policy(WrongView, step(do="click", on="Manage"), step(do="click", on="Orders"))
    wrong = await _act(policy, _menu("Browse", "Manage"))
    assert (wrong.action, wrong.injected_mistake) == (Click(x=0, y=3), InjectedMistake.WRONG_VIEW)
    right = await _act(policy, _menu("Browse", "Manage", under=["Products"]))
    assert right.action == Click(x=1, y=3)
    assert says(right.thought, "slips.not_under", other="Browse", on="Manage")


def _search(value: str, *found: str) -> Node:
    field = node("input", "", at=(5.0, 6.0), type="search", placeholder="Search")
    field.value = value
    apply = node("button", "Apply", at=(7.0, 8.0))
    return node("body", "", field, apply, *(node("a", one, at=(9.0, 9.0)) for one in found))


@pytest.mark.parametrize(
    ("said", "role"),
    [("Nothing was found.", "note"), ("Es wurde nichts gefunden.", "status")],
    ids=["in words", "in any language"],
)
async def test_a_search_with_a_wrong_letter_is_made_again_when_nothing_is_found(
    said: str, role: str
) -> None:
    searched = step(do="type", on="Search", text="Lamp small", why="I search for 'Lamp small'.")
    policy = _policy(
        EmptySearch, searched, step(do="click", on="Apply", why="Now.", purpose="apply"), *ROW
    )
    wrong = await _act(policy, _search(""))
    assert isinstance(wrong.action, TypeText)
    assert wrong.action.text != "Lamp small"
    assert says(wrong.thought, "slips.searches", text=wrong.action.text)
    applied = await _act(policy, _search(wrong.action.text))
    assert (applied.action, applied.injected_mistake) == (Click(x=7, y=8), EmptySearch.kind)
    assert says(applied.thought, "slips.applies", on="Apply")
    empty = _search(wrong.action.text)
    empty.children.append(node("p", said, role=role))
    again = await _act(policy, empty)
    assert again.action == TypeText(x=5, y=6, text="Lamp small", overwrite=True)
    assert says(again.thought, "slips.found_nothing", told=said, text="Lamp small")
    right = await _act(policy, _search("Lamp small"))
    assert (right.action, right.injected_mistake) == (Click(x=7, y=8), None)
    assert (await _act(policy, _search("Lamp small", "Lamp small"))).action == Click(x=9, y=9)


def _form(**values: str) -> Node:
    fields = [
        node("input", "", at=(10.0 * at, 1.0), id=name, placeholder=name, type="text")
        for at, name in enumerate(values, 1)
    ]
    for field, value in zip(fields, values.values(), strict=True):
        field.value = value
    send = node("button", "Save", at=(3.0, 4.0))
    return node("body", "", node("h1", "Edit"), node("form", "", *fields, send, method="post"))


def _wide(root: Node) -> Node:
    for one in root.walk():
        one.box = (*one.box[:2], 200.0, one.box[3])
    return root


NAME, SAVE = step(do="type", on="name", text="Ada"), step(do="click", on="Save")
SAVE_SAID = step(do="click", on="Save", why="It is complete.")


async def test_a_wrong_letter_is_typed_again_once_the_field_shows_it() -> None:
    policy = _policy(TypingError, NAME, SAVE)
    wrong = await _act(policy, _form(name="", note=""))
    assert isinstance(wrong.action, TypeText)
    assert wrong.injected_mistake is InjectedMistake.WRONG_LETTER
    assert wrong.thought_source is ThoughtSource.TEMPLATE
    right = await _act(policy, _form(name=wrong.action.text, note=""))
    assert right.action == TypeText(x=10, y=1, text="Ada", overwrite=True)
    assert says(right.thought, "slips.misspelt", wrong=wrong.action.text, text="Ada")
    assert (await _act(policy, _form(name="Ada", note=""))).action == Click(x=3, y=4)


async def test_a_form_with_one_field_gets_no_slip() -> None:
    assert (await _act(_policy(TypingError, NAME, SAVE), _form(name=""))).injected_mistake is None


def _numbers(value: str, said: str = "", at: tuple[float, float] | None = (1.0, 2.0)) -> Node:
    root = _form(price=value, note="")
    (field,) = (one for one in root.walk() if one.attrs.get("id") == "price")
    field.attrs |= {"inputmode": "decimal"} | ({"aria-describedby": "m-price"} if said else {})
    root.children += [node("p", said, at=at, id="m-price")] if said else []
    return root


async def test_a_value_that_the_form_refuses_is_typed_again_and_the_form_sent_again() -> None:
    policy = _policy(RefusedEntry, step(do="type", on="price", text="10"), SAVE_SAID)
    wrong = await _act(policy, _numbers(""))
    assert wrong.action == TypeText(x=10, y=1, text="1o", overwrite=True)
    sent = await _act(policy, _numbers("1o"))
    assert (sent.action, sent.injected_mistake) == (Click(x=3, y=4), RefusedEntry.kind)
    assert says(sent.thought, "slips.presses", on="Save")
    right = await _act(policy, _numbers("1o", "Enter an amount."))
    assert right.action == TypeText(x=10, y=1, text="10", overwrite=True)
    assert '"Enter an amount."' in (right.thought or "")
    again = await _act(policy, _numbers("10", "Enter an amount."))
    assert (again.action, again.injected_mistake) == (Click(x=3, y=4), None)
    assert isinstance((await _act(policy, node("body", "", node("h1", "Lamp")))).action, Answer)


async def test_a_field_that_takes_letters_gets_none_for_a_digit() -> None:
    policy = _policy(RefusedEntry, step(do="type", on="name", text="10"), SAVE)
    assert (await _act(policy, _form(name="", note=""))).injected_mistake is None


def _needed(value: str, said: str = "") -> Node:
    root = _numbers(value, said)
    form = next(one for one in root.walk() if one.tag == "form")
    form.children[0] = node("div", "", form.children[0], class_="field needed")
    return root


async def test_a_field_that_was_left_out_is_filled_when_the_form_says_so() -> None:
    policy = _policy(LeftOut, step(do="type", on="price", text="10"), SAVE)
    sent = await _act(policy, _needed(""))
    assert (sent.action, sent.injected_mistake) == (Click(x=3, y=4), InjectedMistake.LEFT_OUT)
    right = await _act(policy, _needed("", "price is required."))
    assert right.action == TypeText(x=10, y=1, text="10", overwrite=True)
    assert (await _act(policy, _needed("10", "price is required."))).action == Click(x=3, y=4)


@pytest.mark.parametrize("root", [_needed("5"), _numbers("")], ids=["filled", "optional"])
async def test_a_field_that_need_not_be_filled_is_not_left_out(root: Node) -> None:
    policy = _policy(LeftOut, step(do="type", on="price", text="10"), SAVE)
    assert isinstance((await _act(policy, root)).action, TypeText)


async def test_a_text_in_the_wrong_field_is_taken_back() -> None:
    policy = _policy(WrongField, NAME, SAVE)
    wrong = await _act(policy, _wide(_form(name="", note="Call")))
    assert wrong.action == TypeText(x=20, y=1, text="Ada", overwrite=True)
    back = await _act(policy, _wide(_form(name="", note="Ada")))
    assert back.action == Key(key="Control+z")
    right = await _act(policy, _wide(_form(name="", note="Call")))
    assert right.action == TypeText(x=10, y=1, text="Ada", overwrite=True)


async def test_what_taking_back_has_not_brought_back_is_typed_again() -> None:
    policy = _policy(WrongField, NAME, SAVE)
    await _act(policy, _wide(_form(name="", note="Call")))
    await _act(policy, _wide(_form(name="", note="Ada")))
    again = await _act(policy, _wide(_form(name="", note="")))
    assert again.action == TypeText(x=20, y=1, text="Call", overwrite=True)
    right = await _act(policy, _wide(_form(name="", note="Call")))
    assert right.action == TypeText(x=10, y=1, text="Ada", overwrite=True)


def _choice(shown: str, *, is_filter: bool, opened: bool) -> Node:
    field = node("select", shown, at=(5.0, 5.0), id="s")
    field.selected = shown
    label = node("label", "State", for_="s")
    form = node("form", "", label, field, method="get" if is_filter else "post")
    options = [
        node("div", one, at=(6.0, 7.0 + at), role="option")
        for at, one in enumerate(("Open", "Done"))
    ]
    drawn = [node("stepmill-list", "", *options)] if opened else []
    return node("body", "", form, *drawn)


@pytest.mark.parametrize(("kind", "is_filter"), [(WrongFilter, True), (WrongOption, False)])
async def test_another_option_is_taken_and_the_list_opened_again(
    kind: Callable[[], Slip],
    is_filter: bool,  # noqa: FBT001
) -> None:
    policy = _policy(kind, step(do="select", on="State", text="Done"), step(do="read"))
    await _act(policy, _choice("-", is_filter=is_filter, opened=False))
    wrong = await _act(policy, _choice("-", is_filter=is_filter, opened=True))
    assert (wrong.action, wrong.injected_mistake) == (Click(x=6, y=7), kind().kind)
    again = await _act(policy, _choice("Open", is_filter=is_filter, opened=False))
    assert again.action == Click(x=5, y=5)
    assert says(again.thought, "slips.wrong_choice", on="State", wrong="Open", text="Done")
    right = await _act(policy, _choice("Open", is_filter=is_filter, opened=True))
    assert right.action == Click(x=6, y=8)


def test_the_seed_decides_which_episodes_have_a_slip_and_the_share_how_many() -> None:
    steps = (NAME, SAVE, *ROW)
    drawn = [bool(Slips(steps, seed=str(at), share=1 / 3)._possible) for at in range(600)]
    assert drawn == [bool(Slips(steps, seed=str(at), share=1 / 3)._possible) for at in range(600)]
    assert 150 <= sum(drawn) <= 250
    assert not any(Slips(steps, seed=str(at), share=0.0)._possible for at in range(50))


async def test_an_episode_has_one_slip_at_most() -> None:
    policy = ReferencePolicy((NAME, NAME, SAVE, END), _Only(TypingError, WrongField))
    wrong = await _act(policy, _form(name="", note=""))
    assert isinstance(wrong.action, TypeText)
    later = [await _act(policy, _form(name=wrong.action.text, note="")) for _ in range(3)]
    assert [one.injected_mistake for one in later] == [None] * 3
