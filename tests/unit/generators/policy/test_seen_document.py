"""A page as it was seen: what is in sight, what is remembered, and what is forgotten again."""

from collections.abc import Sequence

from support.browsers.reference_pages import SEEN, node, scrolled

from generators.browser.protocol import Node
from generators.policy.in_sight import in_sight
from generators.policy.seen_document import SeenDocument
from schemas.episodes.observation import Observation, Sight


def _word(text: str, at: float, *, key: int, tag: str = "p", seen: bool = True) -> Node:
    one = node(tag, text, at=(5.0, at + 5) if seen else None, top=at, key=key)
    one.box = (0.0, at, 80.0, 20.0)
    one.words = ((text, one.box),)
    return one


def _sights(*nodes: Node) -> tuple[Sight, ...]:
    return tuple(Sight(text=one.text, bbox=one.box) for one in nodes)


def _observed(sights: Sequence[Sight] | None, url: str = "/1") -> Observation:
    page = SEEN.page.model_copy(update={"url": f"http://shop.localhost{url}"})
    return SEEN.model_copy(update={"sights": sights, "page": page})


def _named(root: Node, text: str) -> Node | None:
    return next((one for one in root.walk() if one.text == text and not one.children), None)


def test_words_that_no_picture_shows_are_left_out_of_all_text() -> None:
    first, second = _word("Ada", 10.0, key=1), _word("Byron", 40.0, key=2)
    root = scrolled(node("body", "", first, second))

    seen = in_sight(root, _sights(first))

    assert seen.text == "Ada"
    assert _named(seen, "Byron") is None


def test_what_all_is_in_sight_keeps_its_text_as_the_page_has_it() -> None:
    count = _word("5", 10.0, key=2, tag="b")
    line = node("p", "Total: things", count, key=1)
    line.text, line.box = "Total: 5 things", (0.0, 10.0, 300.0, 20.0)
    line.words = (("Total:", (0.0, 10.0, 40.0, 20.0)), ("things", (60.0, 10.0, 40.0, 20.0)))
    sights = [Sight(text=text, bbox=box) for text, box in (*line.words, *count.words)]

    assert in_sight(scrolled(node("body", "", line)), sights).children[0].text == "Total: 5 things"


def test_a_text_of_which_something_covers_words_is_cut_and_its_ends_are_not_joined() -> None:
    line = node("h1", "Write the price table", at=(5.0, 15.0), key=1)
    line.box = (0.0, 10.0, 200.0, 20.0)
    line.words = tuple(
        (word, (50.0 * at, 10.0, 40.0, 20.0)) for at, word in enumerate(line.text.split())
    )
    root = scrolled(node("body", "", line))

    def seen(*shown: int) -> Node:
        words = [Sight(text=line.words[at][0], bbox=line.words[at][1]) for at in shown]
        return in_sight(root, words).children[0]

    assert (seen(0, 1, 2, 3).text, seen(0, 1, 2, 3).is_cut) == ("Write the price table", False)
    assert (seen(0, 3).text, seen(0, 3).is_cut) == ("Write … table", True)
    assert (seen(0, 1).text, seen(0, 1).is_cut) == ("Write the", True)
    assert in_sight(root, [Sight(text="the", bbox=line.words[1][1])]).is_cut


def test_what_a_field_holds_or_a_point_has_for_other_readers_cuts_nothing() -> None:
    hidden = _word("for readers", 10.0, key=2, tag="span", seen=False)
    hidden.box = (0.0, 10.0, 1.0, 1.0)
    name, area = _word("Ada", 10.0, key=3, tag="b"), node("textarea", "Old", at=(5.0, 50.0), key=4)
    line = node("p", "", name, hidden, area, at=(5.0, 15.0), key=1)

    assert not in_sight(scrolled(node("body", "", line)), _sights(name)).children[0].is_cut


def test_of_what_is_cut_off_no_more_is_told_than_that_it_goes_on() -> None:
    def cut(height: float) -> Node:
        part = node("section", "", node("p", "Ada"), at=(5.0, 390.0), top=300.0, key=1)
        part.box = (0.0, 300.0, 100.0, height)
        return in_sight(scrolled(node("body", "", part), height=300.0 + height), None).children[0]

    assert cut(400.0).box == cut(4_000.0).box == (0.0, 300.0, 100.0, 140.0)
    assert cut(90.0).box == (0.0, 300.0, 100.0, 90.0)


def test_how_long_a_sheet_is_that_goes_on_is_not_told_and_that_it_ends_is() -> None:
    def extent(top: float, height: float) -> object:
        return in_sight(scrolled(node("body", ""), top, height=height), None).scroll

    assert extent(0.0, 900.0) == extent(0.0, 9_000.0) == (0.0, 0.0, 500.0, 800.0)
    assert extent(500.0, 900.0) == (0.0, 500.0, 500.0, 900.0)


def test_a_closed_list_shows_the_chosen_option_alone_and_an_open_one_its_options() -> None:
    options = [_word("Small", 10.0, key=1, tag="option"), _word("Large", 30.0, key=2, tag="option")]
    closed, opened = node("select", "", *options), node("select", "", *options, size="2")
    closed.selected = "Small"

    assert in_sight(scrolled(node("body", "", closed)), _sights(*options)).text == "Small"
    assert in_sight(scrolled(node("body", "", opened)), _sights(*options)).text == "Small Large"


def test_a_field_holds_what_of_its_value_is_in_sight() -> None:
    field = node("input", key=1)
    field.value, field.selected = "Ada Augusta Byron", "Byron"
    sights = [Sight(text="Augusta Byron", bbox=field.box)]
    secret = node("input", key=2, type="password")
    secret.value = "hidden"
    seen = in_sight(scrolled(node("body", "", field, secret)), sights)

    assert (seen.children[0].value, seen.children[0].selected) == ("Augusta Byron", None)
    assert seen.children[1].value == "••••••"


def test_what_was_scrolled_away_is_remembered_where_it_stood_without_a_point() -> None:
    document = SeenDocument()
    first = _word("Ada", 10.0, key=1)
    document.look(scrolled(node("body", "", first, key=9)), _observed(_sights(first)))

    away, second = _word("changed", -290.0, key=1, seen=False), _word("Byron", 50.0, key=2)
    later = scrolled(node("body", "", away, second, key=9), 300.0)
    seen = document.look(later, _observed(_sights(second)))

    kept = _named(seen, "Ada")
    assert kept is not None
    assert (kept.box, kept.point) == ((0.0, -290.0, 80.0, 20.0), None)
    assert [one.text for one in seen.children] == ["Ada", "Byron"]


def test_a_row_of_which_a_part_is_scrolled_away_is_known_as_a_whole() -> None:
    def page(top: float, *, seen: Sequence[str]) -> tuple[Node, tuple[Sight, ...]]:
        cells = [
            _word(name, at - top, key=key, tag="td", seen=name in seen)
            for name, at, key in (("Ada", 300.0, 1), ("Byron", 390.0, 2))
        ]
        row = node("tr", "", *cells, at=(5.0, 305.0 - top), key=3)
        row.box = (0.0, 300.0 - top, 400.0, 110.0)
        root = scrolled(node("body", "", row, key=9), top)
        return root, _sights(*(one for one in cells if one.text in seen))

    document = SeenDocument()
    root, sights = page(0.0, seen=["Ada"])
    document.look(root, _observed(sights))
    root, sights = page(350.0, seen=["Byron"])

    assert document.look(root, _observed(sights)).children[0].text == "Ada Byron"


def test_what_is_no_more_where_it_was_is_forgotten_and_what_lies_under_another_thing_is_not() -> (
    None
):
    def page(*others: Node, gone: bool) -> Node:
        order = _word("Order", 50.0, key=1, seen=not gone)
        return scrolled(node("body", "", *([] if gone else [order]), *others, key=9))

    menu = _word("Help", 0.0, key=2)
    menu.box, menu.style = (0.0, 0.0, 200.0, 200.0), {"position": "absolute"}
    order, help_ = _sights(_word("Order", 50.0, key=1)), Sight(text="Help", bbox=menu.words[0][1])
    document, other = SeenDocument(), SeenDocument()
    for one in (document, other):
        one.look(page(gone=False), _observed(order))

    assert _named(document.look(page(gone=True), _observed(())), "Order") is None
    assert _named(other.look(page(menu, gone=True), _observed((help_,))), "Order") is not None
    assert _named(other.look(page(gone=True), _observed(())), "Order") is None


def test_of_a_list_that_was_closed_nothing_is_remembered_that_was_scrolled_away_in_it() -> None:
    def page(top: float, *, is_open: bool) -> tuple[Node, tuple[Sight, ...]]:
        rows = [_word(name, at - top, key=key) for name, at, key in (("Ada", 5, 1), ("Eve", 60, 2))]
        for one in rows:
            one.point = one.point if 0 <= one.box[1] <= 30 else None
        drawn = node("div", "", *rows, key=3)
        drawn.box, drawn.inner = (0.0, 0.0, 100.0, 50.0), (100.0, 50.0)
        drawn.style, drawn.scroll = {"overflow-y": "auto"}, (0.0, top, 100.0, 100.0)
        root = scrolled(node("body", "", *([drawn] if is_open else []), key=9))
        return root, _sights(*(one for one in rows if one.point)) if is_open else ()

    document = SeenDocument()
    for top in (0.0, 50.0):
        root, sights = page(top, is_open=True)
        seen = document.look(root, _observed(sights))
        assert _named(seen, "Ada") is not None
    root, sights = page(50.0, is_open=False)

    assert document.look(root, _observed(sights)).children == []


def test_another_page_and_a_page_that_is_loaded_again_begin_anew() -> None:
    first = _word("Ada", 10.0, key=1)
    for url, key in (("/2", 9), ("/1", 10)):
        document = SeenDocument()
        document.look(scrolled(node("body", "", first)), _observed(_sights(first)))
        root = scrolled(node("body", ""), 300.0)
        root.key = 0 if url == "/2" else key

        assert _named(document.look(root, _observed((), url)), "Ada") is None


def test_what_is_shown_now_goes_before_what_was_remembered_of_the_same_thing() -> None:
    document = SeenDocument()
    shown = []
    for text in ("10", "1"):
        number = _word(text, 10.0, key=1)
        seen = document.look(scrolled(node("body", "", number)), _observed(_sights(number)))
        shown.append(seen.text)

    assert shown == ["10", "1"]


def test_a_window_over_the_page_forgets_what_it_showed_before() -> None:
    def calendar(day: str, key: int) -> Node:
        cell = _word(day, 40.0, key=key)
        over = node("div", "", cell, at=(5.0, 45.0), top=20.0, key=5)
        over.box, over.style = (0.0, 20.0, 200.0, 100.0), {"position": "fixed"}
        return scrolled(node("body", "", over, key=9), height=400.0)

    seen = SeenDocument()
    first, second = calendar("November", 1), calendar("December", 2)
    seen.look(first, _observed(_sights(*first.children[0].children)))
    now = seen.look(second, _observed(_sights(*second.children[0].children)))

    assert _named(now, "November") is None
    assert _named(now, "December") is not None
