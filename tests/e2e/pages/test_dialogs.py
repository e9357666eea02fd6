"""What pages ask: it is in sight, stands until it is answered, and is answered as in a window, in Chromium."""

import asyncio
from collections.abc import Sequence

import pytest
from effort import THOROUGH
from support.browsers.html_site import HOST, ORIGIN, opened

from generators.browser.dialogs import MAX_IGNORED, MAX_IN_A_ROW
from generators.browser.session import ChromiumSession
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Click,
    Goto,
    Key,
    Reload,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)
from schemas.episodes.observation import DialogKind, Observation, OpenDialog
from schemas.errors import FailureKind, RolloutFailure

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

SAY = '<body><p id=said>nothing</p><button onclick="said.textContent = `[${{asks}}]`">ask</button>'
ASK = Click(x=30, y=60)


def asking(asks: str) -> dict[str, str]:
    return {"/": SAY.replace("{asks}", asks)}


def dialog_in(seen: Observation) -> OpenDialog:
    assert seen.page.dialog is not None
    return seen.page.dialog


async def said(session: ChromiumSession) -> str:
    seen = await session.observe()
    assert seen.page.dialog is None
    return (seen.sights or ())[0].text


def button(seen: Observation, name: str) -> Click:
    """Return a click on a button that the picture shows."""
    box = next(one.bbox for one in seen.elements if one.name == name and one.role == "button")
    return Click(x=box[0] + box[2] / 2, y=box[1] + box[3] / 2)


@pytest.mark.parametrize(
    ("asks", "actions", "answered"),
    [
        ("confirm('Sure?')", [AnswerDialog(accept=True)], "true"),
        ("confirm('Sure?')", [AnswerDialog(accept=False)], "false"),
        ("confirm('Sure?')", [Key(key="Enter")], "true"),
        ("confirm('Sure?')", [Key(key="Escape")], "false"),
        ("confirm('Sure?')", [TypeText(text="", enter=True)], "true"),
        ("alert('Saved')", [Key(key=" ")], "undefined"),
        ("alert('Saved')", [AnswerDialog(accept=False)], "undefined"),
        ("prompt('Name?', 'Ann')", [AnswerDialog(accept=True)], "Ann"),
        ("prompt('Name?', 'Ann')", [AnswerDialog(accept=True, text="Bob")], "Bob"),
        ("prompt('Name?', 'Ann')", [AnswerDialog(accept=True, text="")], ""),
        ("prompt('Name?', 'Ann')", [AnswerDialog(accept=False, text="Bob")], "null"),
        ("prompt('Name?', 'Ann')", [TypeText(text="Bob\n")], "Bob"),
        ("prompt('Name?')", [TypeText(text="Bo"), TypeText(text="b"), Key(key="Enter")], "Bob"),
        ("prompt('?')", [TypeText(text="A"), TypeText(text="B", overwrite=True, enter=True)], "B"),
        ("prompt('1?') + prompt('2?')", [TypeText(text="x\n"), TypeText(text="y\n")], "xy"),
    ][:: 1 if THOROUGH else 3],
)
async def test_a_dialog_is_answered_by_an_action_or_by_keys(
    asks: str, actions: Sequence[Action], answered: str
) -> None:
    async with opened(asking(asks)) as session:
        await session.observe()
        await session.act(ASK)
        for action in actions:
            assert (await session.observe()).page.dialog is not None
            assert (await session.act(action)).error is None

        assert await said(session) == f"[{answered}]"


async def test_a_dialog_is_in_the_picture_and_its_buttons_can_be_clicked() -> None:
    async with opened(asking("confirm('Delete 3 items?')")) as session:
        before = await session.observe()
        effect = await session.act(ASK)
        seen = await session.observe()

        assert effect.result_text == "The page said: Delete 3 items?"
        assert seen.page.dialog == OpenDialog(
            kind=DialogKind.CONFIRM, title=f"{HOST} says", message="Delete 3 items?"
        )
        assert seen.screenshot.bytes != before.screenshot.bytes
        assert "Delete 3 items?" in [one.text for one in seen.sights or ()]
        assert [one.name for one in seen.elements] == ["OK", "Cancel"]
        assert (await session.observe()).screenshot == seen.screenshot
        cancelled = await session.act(button(seen, "Cancel"))
        assert cancelled.error is None
        assert cancelled.target is not None
        assert (cancelled.target.tag, cancelled.target.text) == ("button", "Cancel")
        assert await said(session) == "[false]"
        await session.act(ASK)
        await session.act(button(seen, "OK"))
        assert await said(session) == "[true]"


async def test_what_is_typed_into_a_prompt_is_in_its_field() -> None:
    async with opened(asking("prompt('Name?', 'Ann')")) as session:
        await session.act(ASK)
        field = dialog_in(await session.observe())
        await session.act(TypeText(text="Bob"))
        seen = await session.observe()

        assert (field.text, dialog_in(seen).text) == ("Ann", "Bob")
        assert next(one.value for one in seen.elements if one.role == "textbox") == "Bob"
        assert "Bob" in [one.text for one in seen.sights or ()]


@pytest.mark.parametrize(
    "action",
    [
        Click(x=2, y=390),
        Key(key="a"),
        Goto(url=ORIGIN + "/"),
        Reload(),
        Tab(operation=TabOperation.OPEN),
        TypeText(text="yes"),
        AnswerDialog(accept=True, text="yes"),
    ][:: 1 if THOROUGH else 3],
)
async def test_nothing_else_can_be_used_while_a_dialog_is_open(action: Action) -> None:
    async with opened(asking("confirm('Sure?')")) as session:
        await session.act(ASK)
        effect = await session.act(action)

        assert effect.error is not None
        assert '"Sure?"' in effect.error
        assert dialog_in(await session.observe()).message == "Sure?"


async def test_a_dialog_that_is_not_there_cannot_be_answered() -> None:
    async with opened(asking("1")) as session:
        effect = await session.act(AnswerDialog(accept=True))

        assert effect.error == "there is no dialog to answer"


@pytest.mark.parametrize(
    ("asks", "default"), [("confirm('Sure?')", "false"), ("alert('Hi')", "undefined")]
)
async def test_a_dialog_that_is_ignored_is_shown_again_and_gets_its_default(
    asks: str, default: str
) -> None:
    async with opened(asking(asks)) as session:
        await session.act(ASK)
        for _ in range(MAX_IGNORED - 1):
            effect = await session.act(Wait(ms=100))
            assert effect.result_text is None
            assert (await session.observe()).page.dialog is not None
        effect = await session.act(Wait(ms=100))

        assert "by default: left open for 3 actions" in (effect.result_text or "")
        assert await said(session) == f"[{default}]"


async def test_an_answer_at_the_end_gives_what_is_open_its_default() -> None:
    async with opened(asking("confirm('Sure?')")) as session:
        await session.act(ASK)
        effect = await session.act(Answer(text="done"))

        assert effect.result_text is not None
        assert 'The dialog "Sure?" was dismissed by default' in effect.result_text
        assert await said(session) == "[false]"


async def test_what_a_page_asks_while_it_loads_is_shown_over_an_empty_page() -> None:
    page = "<script>window.ok = confirm('Are you 18?')</script><p>Your age is fine.</p>"
    async with opened({"/": page}) as session:
        seen = await session.observe()
        assert dialog_in(seen).message == "Are you 18?"
        assert dialog_in(await session.observe()).message == "Are you 18?"
        await session.act(AnswerDialog(accept=True))

        assert await said(session) == "Your age is fine."
        assert await session.evaluate("ok") is True


async def test_the_page_s_time_stands_still_while_it_asks() -> None:
    page = SAY.replace("{asks}", "(setTimeout(() => said.textContent = 'late', 900), confirm('?'))")
    async with opened({"/": page}) as session:
        begun = await session.evaluate("Date.now()")
        await session.act(ASK)
        await session.act(Wait(ms=60_000))
        await asyncio.sleep(1.2)
        await session.act(AnswerDialog(accept=True))

        now = await session.evaluate("Date.now()")
        assert isinstance(begun, int)
        assert isinstance(now, int)
        assert now - begun < 1_000
        assert await said(session) == "[true]"


@pytest.mark.parametrize("accept", [True, False])
async def test_a_page_that_is_left_with_changes_asks_first(*, accept: bool) -> None:
    page = (
        "<script>onbeforeunload = event => { event.preventDefault(); return 'x' }</script>"
        "<p>one</p><input autofocus><a href=/two style='position:fixed;top:100px;left:0'>on</a>"
    )
    async with opened({"/": page, "/two": "<p>two</p>"}) as session:
        await session.act(TypeText(text="draft"))
        await session.act(Click(x=8, y=108))
        seen = await session.observe()
        asked = dialog_in(seen)
        assert (asked.kind, asked.title) == (DialogKind.BEFOREUNLOAD, "Leave site?")
        assert [one.name for one in seen.elements] == ["Leave", "Cancel"]
        await session.act(AnswerDialog(accept=accept))

        assert await said(session) == ("two" if accept else "one")


@pytest.mark.parametrize("accept", [True, False])
async def test_a_tab_that_is_closed_with_changes_asks_first(*, accept: bool) -> None:
    other = "<script>onbeforeunload = event => { event.preventDefault(); return 'x' }</script><input autofocus>"
    async with opened({"/": "<p>one</p>", "/two": other}) as session:
        await session.act(Tab(operation=TabOperation.OPEN, url=ORIGIN + "/two"))
        await session.act(TypeText(text="draft"))
        await session.act(Tab(operation=TabOperation.CLOSE))
        assert dialog_in(await session.observe()).kind is DialogKind.BEFOREUNLOAD
        effect = await session.act(AnswerDialog(accept=accept))

        assert (effect.error is None) == accept
        assert (await session.observe()).page.tab == (0 if accept else 1)


async def test_a_frame_and_a_window_may_ask() -> None:
    window = "<script>window.answer = confirm('In a window?')</script><p>opened</p>"
    frame = "<body onclick=\"document.body.append(String(confirm('In a frame?')))\">frame: "
    page = "<iframe src=/frame width=300 height=100 style='border:0'></iframe><button onclick=\"window.open('/window')\">open</button>"
    async with opened({"/": page, "/frame": frame, "/window": window}) as session:
        await session.act(Click(x=30, y=25))
        assert dialog_in(await session.observe()).message == "In a frame?"
        await session.act(AnswerDialog(accept=True))
        shown = [one.text for one in (await session.observe()).sights or ()]
        assert "true" in shown

        await session.act(Click(x=330, y=100))
        assert dialog_in(await session.observe()).message == "In a window?"
        await session.act(AnswerDialog(accept=True))
        seen = await session.observe()
        assert (seen.page.tab, seen.page.url) == (1, ORIGIN + "/window")


async def test_a_hundred_dialogs_in_a_row_are_asked_ten_times() -> None:
    page = "(() => { let yes = 0; for (let i = 0; i < 100; i++) yes += confirm(i); return yes })()"
    async with opened(asking(page)) as session:
        await session.act(ASK)
        asked, told = 0, None
        while (await session.observe()).page.dialog is not None:
            asked += 1
            told = (await session.act(AnswerDialog(accept=True))).result_text

        assert asked == MAX_IN_A_ROW
        assert told == f"{100 - MAX_IN_A_ROW} more dialogs in a row got their default answers"
        assert await said(session) == f"[{MAX_IN_A_ROW}]"


async def test_a_page_that_goes_while_it_asks_asks_no_more() -> None:
    async with opened(asking("confirm('Sure?')")) as session:
        await session.observe()
        await session.act(ASK)
        await session._tab.channel.page.close()

        with pytest.raises(RolloutFailure) as failure:
            await session.act(Wait(ms=10))
        assert failure.value.kind in (FailureKind.PAGE, FailureKind.BROWSER)


async def test_in_real_time_a_dialog_is_answered_too() -> None:
    page = "<p id=said>nothing</p><script>setTimeout(() => said.textContent = confirm('Sure?'), 200)</script>"
    async with opened({"/": page}, clock=None) as session:
        await session.act(Wait(ms=400))
        assert dialog_in(await session.observe()).message == "Sure?"
        await session.act(AnswerDialog(accept=True))

        assert await said(session) == "true"


async def test_equal_visits_show_equal_dialogs() -> None:
    pictures = set()
    for _ in range(2):
        async with opened(asking("prompt('What is your name?', 'Ann')")) as session:
            await session.observe()
            await session.act(ASK)
            pictures.add((await session.observe()).screenshot.bytes)

    assert len(pictures) == 1
