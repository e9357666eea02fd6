"""What leads to what is in sight is left out of a plan, and a menu that was never open may hold anything."""

from support.browsers.reference_pages import SEEN, Reader, node, scrolled, step
from support.episodes.said import says

from generators.browser.protocol import Node
from generators.policy.element_names import names
from generators.policy.protocol import Decision, PolicyInput
from generators.policy.reference import ReferencePolicy
from schemas.episodes.action import (
    Answer,
    Back,
    Click,
    Drag,
    Hover,
    Scroll,
    Tab,
    TabOperation,
    TypeText,
)
from schemas.tasks.reference import ReferenceStep

LAMPS, END = step(do="click", on="Lamps", why="I go to the lamps."), step(do="answer", text="")
FIND, OPEN = step(do="find", on="Lamp small"), step(do="click", on="Lamp small")
LINK, ROW, FIELD = (5.0, 5.0), (9.0, 50.0), (9.0, 30.0)


def _policy(*steps: ReferenceStep) -> ReferencePolicy:
    return ReferencePolicy((*steps, END))


async def _act(
    policy: ReferencePolicy,
    root: Node,
    url: str = "/lamps",
    *,
    goal: str = "Open Lamp small.",
    tabs: tuple[str, ...] = (),
    height: float = 400.0,
) -> Decision:
    told = {"url": f"http://shop.localhost{url}", "tabs": tabs}
    seen = SEEN.model_copy(update={"page": SEEN.page.model_copy(update=told)})
    return await policy.act(PolicyInput(goal, (), seen, Reader(scrolled(root, height=height))))


def _list(*rows: str, title: str = "Lamps") -> Node:
    bar = node("nav", "", node("a", "Lamps", at=LINK))
    links = [node("a", one, at=(ROW[0], ROW[1] + 20 * at)) for at, one in enumerate(rows)]
    field = node("input", "", at=FIELD, type="search", placeholder="Find", name="q")
    return node("body", "", bar, node("h1", title), field, *links)


SEARCH = step(do="enter", on="Find", text="small")


async def test_the_way_to_a_list_is_left_out_where_its_row_is_in_sight() -> None:
    policy = _policy(LAMPS, SEARCH, FIND, OPEN)
    found = await _act(policy, _list("Lamp large", "Lamp small"), "/lamps?q=lamp")
    assert found.action == Click(x=9, y=70)


async def test_on_the_whole_list_the_search_is_begun_at_once() -> None:
    found = await _act(_policy(LAMPS, SEARCH, FIND, OPEN), _list("Lamp large"))
    assert isinstance(found.action, TypeText)


async def test_a_search_replaces_the_one_before_it() -> None:
    found = await _act(_policy(LAMPS, SEARCH, FIND, OPEN), _list("Lamp large"), "/lamps?q=large")
    assert isinstance(found.action, TypeText)


async def test_what_narrows_a_list_otherwise_is_left_by_the_navigation() -> None:
    for url in ("/lamps?page=2", "/lamps?q=large&colour=red"):
        found = await _act(_policy(LAMPS, SEARCH, FIND, OPEN), _list("Lamp large"), url)
        assert found.action == Click(x=5, y=5), url
    unsearched = await _act(_policy(LAMPS, FIND, OPEN), _list("Lamp large"), "/lamps?q=large")
    assert unsearched.action == Click(x=5, y=5)


async def test_a_heading_that_was_scrolled_away_is_remembered() -> None:
    first, second = _list("Lamp large", "Lamp small"), _list("Lamp large")
    second.children = [one for one in second.children if one.tag not in ("h1", "nav")]
    policy = _policy(step(do="look", on="Lamp large"), LAMPS, SEARCH, FIND, OPEN)
    assert isinstance((await _act(policy, first)).action, Click)
    other = _policy(OPEN, step(do="back", on="Lamps"), LAMPS, SEARCH, FIND, OPEN)
    await _act(other, first)
    assert isinstance((await _act(other, second)).action, TypeText)
    gone = _policy(OPEN, step(do="back", on="Lamps"), LAMPS, SEARCH, FIND, OPEN)
    await _act(gone, first)
    assert (await _act(gone, second, "/else")).action == Back()


async def test_a_page_of_the_same_part_of_the_site_is_left_by_the_navigation() -> None:
    root = _list(title="Lamp large")
    for link in (one for one in root.walk() if one.text == "Lamps"):
        link.attrs["aria-current"] = "page"
    found = await _act(_policy(LAMPS, SEARCH, FIND, OPEN), root, "/lamp/4")
    assert found.action == Click(x=5, y=5)


async def test_a_card_in_sight_is_not_searched_for() -> None:
    drag = step(do="drag", on="Lamp small", text="Sold")
    for rows, sought in ((("Lamp small",), Drag), (("Lamp large",), TypeText)):
        root = _list(*rows)
        root.children.append(node("h2", "Sold", at=(70.0, 9.0)))
        assert isinstance((await _act(_policy(SEARCH, drag), root)).action, sought)


async def test_a_button_beside_a_narrowed_list_is_pressed_at_once_and_a_filter_is_not() -> None:
    for do, on, at in (("click", "New lamp", (8.0, 8.0)), ("click", "Cheapest first", LINK)):
        root = _list("Lamp small")
        radio = node("input", "", at=(3.0, 4.0), type="radio", title="Cheapest first", name="sort")
        root.children.append(node("form", "", radio, method="get"))
        root.children.append(node("a", "New lamp", at=(8.0, 8.0)))
        found = await _act(_policy(LAMPS, step(do=do, on=on)), root, "/lamps?q=small")
        assert found.action == Click(x=at[0], y=at[1]), on


async def test_a_list_that_is_opened_from_itself_is_said_to_be() -> None:
    found = await _act(_policy(LAMPS, FIND, OPEN), _list("Lamp large"), "/lamps?page=2")
    assert says(found.thought, "policy.again", on="Lamps")
    menus = _list("Lamp large")
    menus.children[0] = _menus("Goods").children[0]
    goods = step(do="click", on="Goods", why="What I need may be there.", purpose="menu")
    found = await _act(_policy(goods, LAMPS, FIND, OPEN), menus, "/lamps?page=2")
    assert says(found.thought, "policy.again_by", on="Goods")


async def test_another_list_is_left_by_the_navigation() -> None:
    found = await _act(_policy(LAMPS, FIND, OPEN), _list("Lamp small", title="Chairs"))
    assert found.action == Click(x=5, y=5)


async def test_a_row_that_nobody_named_is_not_known() -> None:
    policy = _policy(LAMPS, step(do="click", on="Find", why="I sort."), FIND, OPEN)
    found = await _act(policy, _list("Lamp small"), "/lamps?page=2", goal="Open the cheapest.")
    assert found.action == Click(x=5, y=5)


async def test_a_button_that_is_called_like_its_page_is_pressed() -> None:
    form = node("form", "", node("button", "Lamps", at=(7.0, 80.0)), method="post")
    root = node("body", "", node("h1", "Lamps"), form)
    found = await _act(_policy(LAMPS, step(do="click", on="Lamp small")), root, "/lamp/new")
    assert found.action == Click(x=7, y=80)


async def test_what_is_done_before_the_way_to_the_same_list_is_not_left_out() -> None:
    root = _list("Lamp small")
    root.children.append(node("button", "Save", at=(9.0, 90.0)))
    found = await _act(_policy(step(do="click", on="Save"), LAMPS, FIND, OPEN), root)
    assert found.action == Click(x=9, y=90)


async def test_a_menu_to_the_list_that_is_shown_is_left_out_with_its_entry() -> None:
    root = _list("Lamp small")
    root.children[0].children.append(node("details", "", node("summary", "Goods", at=(2.0, 2.0))))
    found = await _act(_policy(step(do="click", on="Goods"), LAMPS, FIND, OPEN), root)
    assert found.action == Click(x=9, y=50)


def _menus(*labels: str, under: tuple[str, ...] = (), beside: tuple[str, ...] = ()) -> Node:
    menus = [
        node("details", "", node("summary", one, at=(10.0 * at, 3.0)))
        for at, one in enumerate(labels)
    ]
    held = [node("a", one, at=(1.0, 30.0)) for one in under]
    opened = node("details", "", *held)
    links = [node("a", one, at=(2.0, 90.0)) for one in beside]
    return node("body", "", node("nav", "", *menus, opened), node("h1", "Shop"), *links)


MENU = (
    step(do="click", on="Manage", why="What I need may be there.", purpose="menu"),
    step(do="click", on="Orders", why="I open the orders."),
)


async def test_menus_that_were_never_open_are_tried_in_order() -> None:
    policy = _policy(*MENU)
    first = await _act(policy, _menus("Browse", "Manage"), "/")
    assert first.action == Click(x=0, y=3)
    assert says(first.thought, "policy.tries", on="Browse")
    right = await _act(policy, _menus("Browse", "Manage", under=("Products",)), "/")
    assert right.action == Click(x=10, y=3)
    assert says(right.thought, "policy.tries_on", on="Manage")
    entry = await _act(policy, _menus("Browse", "Manage", under=("Orders",)), "/")
    assert entry.action == Click(x=1, y=30)


async def test_a_menu_that_lies_over_the_next_one_is_closed_first() -> None:
    policy = _policy(*MENU)
    await _act(policy, _menus("Browse", "Manage"), "/")
    covered = _menus("Browse", under=("Products",))
    closed = await _act(policy, covered, "/")
    assert closed.action == Click(x=0, y=3)
    assert says(closed.thought, "policy.closes", on="Browse")
    assert (await _act(policy, _menus("Browse", "Manage"), "/")).action == Click(x=10, y=3)
    hovers = _policy(step(do="hover", on="Manage"), step(do="click", on="Orders"))
    await _act(hovers, _menus("Browse", "Manage"), "/")
    assert (await _act(hovers, covered, "/")).action == Hover(x=1, y=2)
    told = _policy(step(do="hover", on="Manage", why="I look."), step(do="click", on="Orders"))
    await _act(told, _menus("Browse", "Manage"), "/")
    off = await _act(told, covered, "/")
    assert says(off.thought, "policy.moves_off", on="Browse", heading="Shop")


async def test_a_menu_that_was_open_before_is_known() -> None:
    policy = _policy(*MENU, *MENU)
    for under in ((), (), ("Orders",)):
        await _act(policy, _menus("Browse", "Manage", under=under), "/")
    again = await _act(policy, _menus("Browse", "Manage"), "/orders")
    assert again.action == Click(x=10, y=3)


async def test_a_menu_that_opens_under_the_pointer_is_tried_by_it() -> None:
    policy = _policy(step(do="hover", on="Manage"), step(do="click", on="Orders"))
    assert (await _act(policy, _menus("Browse", "Manage"), "/")).action == Hover(x=0, y=3)


async def test_a_link_in_sight_needs_no_menu() -> None:
    found = await _act(_policy(*MENU), _menus("Browse", "Manage", beside=("Orders",)), "/")
    assert found.action == Click(x=2, y=90)
    assert says(found.thought, "policy.no_menu", on="Orders")


FOLDED = node("button", "Pages", at=LINK, aria_expanded="false", aria_controls="links")


async def test_a_link_in_sight_needs_no_navigation_that_is_folded() -> None:
    link = node("a", "Orders", at=(2.0, 90.0))
    root = node("body", "", node("nav", "", FOLDED), node("h1", "Shop"), link)
    found = await _act(_policy(*MENU), root, "/")
    assert found.action == Click(x=2, y=90)
    plain = step(do="click", on="Orders", why='The navigation has "Orders".', purpose="view")
    named = await _act(_policy(plain), root, "/")
    assert says(named.thought, "policy.no_menu", on="Orders")


async def test_a_menu_out_of_sight_to_the_list_that_is_shown_is_left_out_too() -> None:
    root = _list("Lamp small")
    root.children = [one for one in root.children if one.tag != "nav"]
    found = await _act(_policy(MENU[0], LAMPS, FIND, OPEN), root, "/lamps?page=2", height=2_000.0)
    assert found.action == Click(x=9, y=50)


async def test_a_row_of_a_list_that_was_read_is_known() -> None:
    policy = _policy(step(do="read"), LAMPS, step(do="click", on="Find"), FIND, OPEN)
    found = await _act(policy, _list("Lamp small"), "/lamps?page=2", goal="Open the cheapest.")
    assert found.action == Click(x=9, y=50)


async def test_what_is_out_of_sight_is_no_menu_although_the_navigation_is_folded() -> None:
    save = step(do="click", on="Save", why="The form says what it should.")
    link = node("a", "Orders", at=(2.0, 90.0))
    root = node("body", "", node("nav", "", FOLDED), node("h1", "Orders"), link)
    found = await _act(_policy(save, step(do="click", on="Orders")), root, "/", height=2_000.0)
    assert found.action != Click(x=2, y=90)


async def test_a_menu_that_has_not_opened_under_the_pointer_is_clicked_on() -> None:
    policy = _policy(step(do="hover", on="More"), step(do="click", on="Edit", why="I edit it."))
    menu = node("details", "", node("summary", "More", at=(3.0, 3.0)))
    closed = node("body", "", node("h1", "Lamp"), menu)
    assert isinstance((await _act(policy, closed)).action, Hover)
    assert (await _act(policy, closed)).action == Click(x=3, y=3)
    opened = node("body", "", node("h1", "Lamp"), menu, node("a", "Edit", at=(4.0, 9.0)))
    assert (await _act(policy, opened)).action == Click(x=4, y=9)


async def test_an_order_that_a_list_has_already_is_not_chosen_again() -> None:
    order, send = step(do="click", on="Cheapest first"), step(do="click", on="Apply")
    for url, is_set in (
        ("/lamps?sort=price", True),
        ("/lamps", False),
        ("/lamps?sort=name", False),
    ):
        radio = node("input", "", at=(3.0, 4.0), type="radio", title="Cheapest first", name="sort")
        radio.attrs["value"] = "price"
        form = node("form", "", radio, node("button", "Apply", at=(6.0, 4.0)), method="get")
        root = node("body", "", node("h1", "Lamps"), form)
        found = await _act(_policy(order, send), root, url)
        assert found.action == (Answer() if is_set else Click(x=3, y=4)), url


async def test_what_is_chosen_of_several_is_not_chosen_again_and_the_rest_is_sent() -> None:
    order, send = step(do="click", on="Cheapest first"), step(do="click", on="Apply")
    for checked in (True, False):
        radio = node("input", "", at=(3.0, 4.0), type="radio", title="Cheapest first", name="sort")
        radio.checked = checked
        form = node("form", "", radio, node("button", "Apply", at=(6.0, 4.0)), method="get")
        found = await _act(_policy(order, send), node("body", "", node("h1", "Lamps"), form))
        assert found.action == Click(x=6.0 if checked else 3.0, y=4)


async def test_what_is_chosen_on_a_form_that_changes_something_is_left_to_the_plan() -> None:
    radio = node("input", "", at=(3.0, 4.0), type="radio", title="Yes", name="new")
    radio.checked = True
    form = node("form", "", radio, method="post")
    found = await _act(_policy(step(do="click", on="Yes")), node("body", "", form))
    assert found.action == Click(x=3, y=4)


async def test_a_card_that_was_moved_is_looked_for_before_the_end() -> None:
    drag = step(do="drag", on="Lamp small", text="Sold")
    policy = ReferencePolicy((drag, step(do="answer", text="", why="It is done.")))
    board = _list("Lamp small")
    board.children.append(node("h2", "Sold", at=(70.0, 9.0)))
    assert isinstance((await _act(policy, board, height=900.0)).action, Drag)
    gone = await _act(policy, _list("Lamp large"), height=900.0)
    assert isinstance(gone.action, Scroll)


CLOSE = step(do="tab", text="close", on="Lamps", why="I have read it.")
ALONE = node("body", "", node("h1", "Lamp small"))


async def test_pages_without_navigation_are_left_until_one_has_it() -> None:
    policy, three = _policy(CLOSE, LAMPS), ("Lamps", "Lamp small", "More")
    close = Tab(operation=TabOperation.CLOSE)
    first = await _act(policy, ALONE, "/1/more", tabs=three)
    again = await _act(policy, ALONE, "/1", tabs=three[:2])
    assert (first.action, again.action) == (close, close)
    assert (first.thought == CLOSE.why, again.thought == CLOSE.why) == (True, False)
    assert (await _act(policy, ALONE, "/1")).action == Back()
    assert isinstance((await _act(policy, _list("Lamp"), "/lamps?page=2")).action, Click)


async def test_a_page_that_folds_its_navigation_or_is_the_wanted_one_is_not_left() -> None:
    back = step(do="back", on="Lamps")
    button = node("button", "Pages", at=LINK, aria_expanded="false", aria_controls="links")
    folded = node("body", "", node("nav", "", button), node("h1", "Shop"))
    assert (await _act(_policy(back, LAMPS), folded, "/")).action == Click(x=5, y=5)
    here = node("body", "", node("h1", "Lamps"), node("a", "Lamp small", at=ROW))
    assert (await _act(_policy(back, LAMPS, FIND, OPEN), here)).action == Click(x=9, y=50)


async def test_a_row_that_the_goal_names_is_named_while_it_is_looked_for() -> None:
    for goal, named in (("Open Lamp small.", True), ("Open the cheapest.", False)):
        finds = step(do="find", on="Lamp small", why="I look for it.")
        found = await _act(_policy(finds), _list("Lamp large"), goal=goal, height=2_000.0)
        assert isinstance(found.action, Scroll)
        assert ('"Lamp small"' in (found.thought or "")) is named


def test_a_name_is_said_only_in_words_of_its_own() -> None:
    assert names("Open the Ticket 2049, please", "ticket 2049")
    assert not names("Open the Ticket 20491", "Ticket 2049")
    assert not names("حول والتماس 2049", "التماس 2049")


def test_a_name_stands_beside_writing_that_has_no_blanks() -> None:
    assert names("受診vs-7927を予約し直して", "VS-7927")
    assert names("冬用タイヤの在庫は", "冬用タイヤ")
    assert not names("受診vs-79271を", "VS-7927")
    assert not names("夏用タイヤの在庫は", "冬用タイヤ")
