"""Each session has a clipboard of its own, with the events that a page expects of one."""

import asyncio

import pytest
from support.browsers.html_site import ORIGIN, browsing, opened, spec

from generators.browser.session import ChromiumSession
from schemas.episodes.action import AnswerDialog, Click, Key, Tab, TabOperation, Wait

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

PAGE = """<style>*{margin:0} input,div{position:absolute;left:0;width:200px;height:30px}</style>
<input id=a style="top:0" value="one two"><input id=b style="top:40px">
<input id=c style="top:80px" type=password value=hidden><div id=d style="top:120px" contenteditable>rich</div>
<script>log=[];for (const kind of ['copy','cut','paste']) addEventListener(kind, e => log.push([kind, e.clipboardData.getData('text')]))</script>"""
FIELDS = {"a": 15, "b": 55, "c": 95, "d": 135}


async def press(session: ChromiumSession, field: str, *chords: str) -> None:
    await session.act(Click(x=100, y=FIELDS[field]))
    for chord in chords:
        await session.act(Key(key=chord))


async def values(session: ChromiumSession) -> object:
    return await session.evaluate("[a.value, b.value, c.value, d.textContent]")


@pytest.mark.parametrize(
    ("taking", "putting"),
    [
        ("Control+c", "Control+v"),
        ("Control+Insert", "Shift+Insert"),
        ("Control+Shift+c", "Control+v"),
    ],
)
async def test_what_is_copied_can_be_pasted_elsewhere(taking: str, putting: str) -> None:
    async with opened({"/": PAGE}) as session:
        await press(session, "a", "Control+a", taking)
        await press(session, "b", putting, putting)
        await press(session, "d", "End", putting)

        assert await values(session) == ["one two", "one twoone two", "hidden", "richone two"]
        assert await session.evaluate("log.map(one => one[0])") == ["copy", *["paste"] * 3]
        assert await session.evaluate("log[1][1]") == "one two"


@pytest.mark.parametrize("chord", ["Control+x", "Shift+Delete"])
async def test_what_is_cut_goes_and_can_be_taken_back(chord: str) -> None:
    async with opened({"/": PAGE}) as session:
        await press(session, "a", "Control+a", chord)
        assert await values(session) == ["", "", "hidden", "rich"]
        await press(session, "a", "Control+z")
        assert await values(session) == ["one two", "", "hidden", "rich"]
        await press(session, "b", "Control+v")

        assert await values(session) == ["one two", "one two", "hidden", "rich"]


async def test_a_password_is_not_copied_and_an_empty_selection_keeps_what_was() -> None:
    async with opened({"/": PAGE}) as session:
        await press(session, "a", "Control+a", "Control+c")
        await press(session, "c", "Control+a", "Control+c")
        await press(session, "b", "Control+c", "Control+v")

        assert await values(session) == ["one two", "one two", "hidden", "rich"]


async def test_a_page_may_put_something_else_on_the_clipboard_and_refuse_a_paste() -> None:
    script = """<script>
    a.oncopy = e => { e.clipboardData.setData('text/plain', 'from the page'); e.preventDefault() };
    d.onpaste = e => e.preventDefault()</script>"""
    async with opened({"/": PAGE + script}) as session:
        await press(session, "a", "Control+a", "Control+c")
        await press(session, "b", "Control+v")
        await press(session, "d", "Control+v")

        assert await values(session) == ["one two", "from the page", "hidden", "rich"]


async def test_tabs_of_a_session_share_its_clipboard() -> None:
    async with opened({"/": PAGE}) as session:
        await press(session, "a", "Control+a", "Control+c")
        await session.act(Tab(operation=TabOperation.OPEN, url=ORIGIN + "/"))
        await press(session, "b", "Control+v")
        await session.act(Key(key="Control+a"))
        await session.act(Key(key="Control+x"))
        await session.act(Tab(operation=TabOperation.CLOSE))
        await press(session, "b", "Control+v")

        assert await values(session) == ["one two", "one two", "hidden", "rich"]


WRITES = """<button style="position:absolute;top:160px" onclick="put('from the page')">copy</button><script>
const put = (text) => navigator.clipboard.writeText(text).then(() => log.push('written'), (error) => log.push(error.name));
</script>"""


async def test_what_a_page_s_button_copies_is_pasted_in_that_session_alone() -> None:
    async with (
        browsing({"/": PAGE + WRITES}) as (chromium, _),
        chromium.session(spec()) as session,
        chromium.session(spec()) as other,
    ):
        await session.open(ORIGIN + "/")
        await other.open(ORIGIN + "/")
        await session.act(Click(x=20, y=170))
        await press(session, "b", "Control+v")
        await press(other, "b", "Control+v")

        assert await session.evaluate("log[0]") == "written"
        assert await values(session) == ["one two", "from the page", "hidden", "rich"]
        assert await values(other) == ["one two", "", "hidden", "rich"]


async def test_a_page_copies_nothing_unless_somebody_acts_on_it() -> None:
    async with opened({"/": PAGE + WRITES}) as session:
        await session.evaluate("void put('by itself')")
        await session.act(Wait(ms=1_000))
        await press(session, "b", "Control+v")

        assert await session.evaluate("log[0]") == "NotAllowedError"
        assert await values(session) == ["one two", "", "hidden", "rich"]


READ = """new Promise(done => setTimeout(async () => {
  let read = [];
  try { read.push(await navigator.clipboard.readText()) } catch (error) { read.push(error.name) }
  b.focus(); read.push(document.execCommand('paste'), b.value); done(read) }, 0))"""


async def test_nothing_of_one_session_reaches_another() -> None:
    """By keys, and by what a page's own script copies on a click."""
    own = "<button style='position:absolute;top:160px' onclick=\"a.select();document.execCommand('copy')\">copy</button>"
    async with (
        browsing({"/": PAGE + own}) as (chromium, _),
        chromium.session(spec()) as one,
        chromium.session(spec(clock=None)) as other,
    ):
        await one.open(ORIGIN + "/")
        await other.open(ORIGIN + "/")
        await press(one, "a", "Control+a", "Control+c")
        await one.act(Click(x=20, y=170))
        await press(other, "b", "Control+v", "Shift+Insert", "Control+Shift+v")
        await other.act(Click(x=100, y=55, button="middle"))  # type: ignore[arg-type]

        assert await values(other) == ["one two", "", "hidden", "rich"]
        reading = asyncio.create_task(other.evaluate(READ))
        for _ in range(500):
            if (await other.observe()).page.dialog is not None:
                break
            await asyncio.sleep(0.01)
        await other.act(AnswerDialog(accept=False))
        assert await reading == ["NotAllowedError", False, ""]
