"""What follows from a whole list is said by whoever has read it: all of it, or all that a search or filter left."""

import pytest
from support.episodes.factories import make_episode, make_step, make_task
from support.episodes.seen_episodes import GOAL, look

from generators.verify.seen import Seen
from schemas.episodes.action import Answer, NoAction, Scroll
from schemas.episodes.action import Direction as Way
from schemas.episodes.episode import Step
from schemas.tasks.expectation import Expectation, ReadList, ReadRow
from schemas.verdicts.verdict import Finding, Status

SITE = "http://shop.localhost/orders"
ROWS = {"Ada Lind": "open", "Adam Ek": "closed", "Bo Ek": "open", "Cy Lind": "closed"}
LIST = ReadList(
    rows=tuple(ReadRow(name=name, values={"state": state}) for name, state in ROWS.items()),
    search="q",
)
EXPECTED = Expectation(answer="impossible", read=LIST)


def _page(address: str, *texts: str, end: bool = False) -> Step:
    do = Answer(text="impossible") if end else Scroll(direction=Way.DOWN, amount=300)
    shown = [(text, (10.0, 10.0 + 20 * at, 120.0, 14.0)) for at, text in enumerate(texts)]
    step = look(("impossible", (200, 10, 100, 14)), *shown, do=do)
    return step.model_copy(
        update={"page": step.page.model_copy(update={"url": f"{SITE}{address}"})}
    )


async def _judge(*pages: tuple[str, ...], expected: Expectation = EXPECTED) -> Finding:
    task = make_task().model_copy(update={"expect": expected})
    last = len(pages) - 1
    steps = [
        _page(*texts, end=at == last).model_copy(update={"step": at})
        for at, texts in enumerate(pages)
    ]
    final = make_step(len(steps), picture=1, action=NoAction())
    episode = make_episode(task).model_copy(
        update={"steps": (*steps, final), "n_steps": len(steps), "instruction": GOAL}
    )
    return await Seen().examine(task, episode)


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param((("", "Ada Lind", "Adam Ek", "Bo Ek", "Cy Lind"),), id="at once"),
        pytest.param((("", "Ada Lind", "Adam Ek"), ("?page=2", "Bo Ek", "Cy Lind")), id="by pages"),
        pytest.param((("", "Ada Lind"), ("?q=Zed", "Zed")), id="a search that finds nothing"),
        pytest.param((("?q=Ada", "Ada", "Ada Lind", "Adam Ek"),), id="a search, its result read"),
        pytest.param((("?state=open", "Ada Lind", "Bo Ek"),), id="a filter, its result read"),
        pytest.param((("?state=open&q=Bo", "Bo", "Bo Ek"),), id="both"),
        pytest.param((("?state=&q=", *ROWS),), id="a form sent empty"),
    ],
)
async def test_a_list_that_was_read_is_a_basis(pages: tuple[tuple[str, ...], ...]) -> None:
    found = await _judge(*pages)

    assert found.status is Status.PASSED, found.reason


@pytest.mark.parametrize(
    ("pages", "missing"),
    [
        pytest.param((("",),), "Ada Lind", id="the first action"),
        pytest.param((("", "Ada Lind", "Adam Ek"),), "Bo Ek", id="half the list"),
        pytest.param((("?page=2", "Bo Ek", "Cy Lind"),), "Ada Lind", id="the wrong half"),
        pytest.param((("", "Ada Lind", "Adam Ek", "Bo Ek"),), "Cy Lind", id="the last page unread"),
        pytest.param((("?q=Zed",),), "Ada Lind", id="a search that no picture shows"),
        pytest.param((("?q=Ada", "Ada", "Ada Lind"),), "Adam Ek", id="half of what a search left"),
        pytest.param((("?state=open", "Ada Lind"),), "Adam Ek", id="half of what a filter left"),
        pytest.param((("?q=Ada", "Ada"), ("?q=Ek", "Ek")), "Ada Lind", id="two results unread"),
        pytest.param((("?other=Zed", "Zed"),), "Ada Lind", id="no search of this list"),
        pytest.param((("?page=9", "Zed"),), "Ada Lind", id="a page that is not there"),
    ],
)
async def test_a_list_of_which_a_part_was_read_is_none(
    pages: tuple[tuple[str, ...], ...], missing: str
) -> None:
    found = await _judge(*pages)

    assert found.status is Status.FAILED
    assert found.reason is not None
    assert f"'{missing}' of the list that its end follows from" in found.reason


async def test_a_change_of_all_that_fit_needs_the_list_too() -> None:
    rule = {"table": "orders", "set": {"state": "closed"}}
    expected = Expectation.model_validate({"changed": [rule], "read": LIST.model_dump()})
    part = await _judge(("", "Ada Lind", "Adam Ek"), expected=expected)
    whole = await _judge(("", *ROWS), expected=expected)

    assert (part.status, whole.status) == (Status.FAILED, Status.PASSED)


async def test_parameters_of_another_pages_address_narrow_no_list() -> None:
    expected = Expectation(answer="impossible", read=LIST.model_copy(update={"path": "/invoices"}))
    found = await _judge(("", "Ada Lind"), ("?q=Zed", "Zed"), expected=expected)
    assert found.status is Status.FAILED
    own = Expectation(answer="impossible", read=LIST.model_copy(update={"path": "/orders"}))
    assert (await _judge(("", "Ada Lind"), ("?q=Zed", "Zed"), expected=own)).status is Status.PASSED


async def test_the_words_of_a_search_have_to_be_seen_with_what_it_found() -> None:
    found = await _judge(("", "Ada Lind", "Zed"), ("?q=Zed", "Home"))
    assert found.status is Status.FAILED
