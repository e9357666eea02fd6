"""A fact is written down once, in the turn whose picture shows it wholly, and only if a later step needs it."""

from support.browsers.reference_pages import AWAY, SEEN, Reader, node, scrolled, step

from generators.browser.protocol import Node
from generators.policy.protocol import Decision, PolicyInput
from generators.policy.reference import ReferencePolicy
from schemas.episodes.action import Answer
from schemas.tasks.reference import Fact, ReferenceStep

PRICE = Fact(of="Lamp", label="Price", value="12")


def row(name: str, *cells: str, at: tuple[float, float] | None = (5.0, 6.0)) -> Node:
    return node("tr", "", *(node("td", one, at=at) for one in (name, *cells)))


def page(*rows: Node, title: str = "Lamps") -> Node:
    go = node("button", "Go", at=(3.0, 4.0))
    return node("body", "", node("h1", title), node("table", "", node("tbody", "", *rows)), go)


def keeping(*facts: Fact, on: str = "Lamp") -> ReferenceStep:
    return step(do="find", on=on).model_copy(update={"keep": facts})


GO = step(do="click", on="Go")
END = step(do="answer", text="12")


async def act(policy: ReferencePolicy, root: Node) -> Decision:
    reader = Reader(scrolled(root, height=400.0))
    return await policy.act(PolicyInput("What does it cost?", (), SEEN, reader))


async def test_a_fact_in_sight_is_noted_once() -> None:
    policy = ReferencePolicy((keeping(PRICE), GO, GO, END))
    root = page(row("Name", "Price"), row("Lamp", "12"))
    first, again = [await act(policy, root) for _ in range(2)]
    assert first.note is not None
    assert all(f'"{one}"' in first.note for one in ("Lamp", "Price", "12"))
    assert again.note is None


async def test_a_label_that_no_picture_has_shown_is_not_named() -> None:
    noted = await act(ReferencePolicy((keeping(PRICE), GO, GO, END)), page(row("Lamp", "12")))

    assert noted.note == '"Lamp" "12".'


async def test_what_is_not_in_sight_is_not_noted() -> None:
    for other in (row("Chair", "12"), row("Lamp", "120"), row("Lamp", "12", at=AWAY)):
        policy = ReferencePolicy((keeping(PRICE, on="Lamps"), GO, END))
        assert (await act(policy, page(other))).note is None


async def test_what_only_the_step_after_next_keeps_is_not_noted_before_it() -> None:
    policy = ReferencePolicy((GO, keeping(PRICE), GO, END))
    shown = page(row("Lamp", "12"))
    assert (await act(policy, shown)).note is None
    assert (await act(policy, shown)).note is not None


async def test_nothing_is_noted_with_the_answer() -> None:
    policy = ReferencePolicy((keeping(PRICE), END))
    answer = await act(policy, page(row("Lamp", "12")))
    assert isinstance(answer.action, Answer)
    assert answer.note is None


async def test_names_are_noted_with_how_many_there_are_so_far() -> None:
    facts = (Fact(of="Lamp"), Fact(of="Chair"))
    reads = step(do="read", text="More").model_copy(update={"keep": facts})
    policy = ReferencePolicy((reads, GO, GO, END))
    note = (await act(policy, page(row("Lamp"), row("Chair")))).note
    assert note is not None
    assert "2" in note
    assert '"Lamp", "Chair"' in note


async def test_rows_that_come_first_in_an_order_are_not_counted() -> None:
    facts = (Fact(of="Lamp"), Fact(of="Chair"))
    policy = ReferencePolicy((keeping(*facts, on="Lamps"), GO, GO, END))
    note = (await act(policy, page(row("Lamp"), row("Chair")))).note or ""
    assert note in {'In this order: "Lamp", "Chair".', 'First here: "Lamp", "Chair".'}


async def test_rows_that_are_counted_are_noted_with_what_they_meet() -> None:
    kept = (Fact(of="Lamp"), Fact(of="Chair"))
    by = tuple(Fact(of=one, label="State", value="Sold") for one in ("Lamp", "Chair"))
    reads = step(do="read", text="More").model_copy(update={"keep": kept, "by": by})
    policy = ReferencePolicy((reads, GO, GO, END))
    note = (await act(policy, page(row("Lamp", "Sold"), row("Chair", "Sold out?")))).note or ""
    assert '"Lamp" ("Sold")' in note
    unlike = ReferencePolicy((reads, GO, GO, END))
    other = (await act(unlike, page(row("Lamp", "Free"), row("Chair", "Free")))).note or ""
    assert '"Lamp"' in other
    assert "Sold" not in other


async def test_a_fact_on_the_page_of_its_row_is_noted_by_its_label() -> None:
    pair = node("div", "", node("dt", "Price"), node("dd", "12"))
    told = ReferencePolicy((keeping(PRICE), GO, END))
    shown = node("body", "", node("h1", "Lamp"), pair, node("button", "Go", at=(3.0, 4.0)))
    assert (await act(told, shown)).note is not None
    other = node("div", "", node("dt", "Weight"), node("dd", "12"))
    unlike = node("body", "", node("h1", "Lamp"), other, node("button", "Go", at=(3.0, 4.0)))
    assert (await act(ReferencePolicy((keeping(PRICE), GO, END)), unlike)).note is None


async def test_what_stands_on_the_page_beside_a_list_is_noted_of_its_row_alone() -> None:
    for name, is_noted in (("Lamp", True), ("Chair", False)):
        told = node("div", "", node("dt", "Price"), node("dd", "12"))
        beside = node("aside", "", node("h2", name), told)
        root = page(row("Lamp", ""))
        root.children.append(beside)
        policy = ReferencePolicy((keeping(PRICE), GO, GO, END))
        assert ((await act(policy, root)).note is not None) is is_noted
