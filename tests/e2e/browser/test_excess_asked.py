"""What a page asks and gives too often, or at a bad moment, ends in time and harms nobody: dialogs, files, downloads."""

import asyncio
import time

import pytest
from aiohttp import web
from effort import THOROUGH
from support.browsers.excess import GO, OTHER, SAID, Pages, beside_good, pressing, text
from support.browsers.html_site import ORIGIN, opened

from generators.browser import session_files
from generators.browser.dialogs import MAX_IN_A_ROW
from generators.browser.session import ChromiumSession
from generators.browser.session_files import MAX_DOWNLOADS
from generators.sites.gateway import Handler
from schemas.base import sha256_hex
from schemas.episodes.action import AnswerDialog, Click, Drag, Wait
from schemas.episodes.observation import DialogKind, OpenDialog
from schemas.tasks.task_file import TaskFile
from schemas.truncation import DIALOG_BYTES

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

FULL = pytest.mark.full

YES = AnswerDialog(accept=True)
NOTES = TaskFile(name="notes.txt", text="Milk\n")
GIVE = AnswerDialog(accept=True, text="notes.txt")


async def asked(session: ChromiumSession) -> OpenDialog | None:
    return (await session.observe()).page.dialog


FRAME = "<script>onmessage = () => parent.postMessage('answer ' + confirm('Sure?'), '*')</script>"
ASKS_FRAME = SAID + "<script>onmessage = (event) => { said.textContent = event.data }</script>"


@pytest.mark.parametrize(
    ("frame", "asks"),
    [
        pytest.param("src=/frame", True, marks=FULL),
        pytest.param(f'srcdoc="{FRAME}"', True, marks=FULL),
        (f"src={OTHER}/frame", True),
        pytest.param("src=/frame sandbox='allow-scripts allow-modals'", True, marks=FULL),
        ("src=/frame sandbox='allow-scripts'", False),
    ],
    ids=["same origin", "srcdoc", "other origin", "sandbox", "sandbox without modals"],
)
async def test_a_frame_asks_as_far_as_it_may(frame: str, *, asks: bool) -> None:
    page = pressing(
        "f.contentWindow.postMessage('', '*')", f"{ASKS_FRAME}<iframe id=f {frame}></iframe>"
    )
    async with beside_good({"/": page, "/frame": FRAME}) as session:
        await session.act(GO)
        dialog = await asked(session)
        assert (dialog is not None) == asks
        if asks:
            await session.act(YES)

        assert await text(session) == f"answer {str(asks).lower()}"


@pytest.mark.full
async def test_an_alert_while_a_page_is_left_is_not_heard() -> None:
    page = pressing("onunload = onpagehide = () => alert('bye'); location = '/two'")
    async with beside_good({"/": page, "/two": "two"}) as session:
        effect = await session.act(GO)
        seen = await session.observe()

        assert (effect.error, effect.result_text) == (None, None)
        assert (seen.page.url, seen.page.dialog) == (ORIGIN + "/two", None)


@pytest.mark.full
async def test_a_confirm_in_the_question_before_leaving_is_not_asked() -> None:
    leaves = "onbeforeunload = (event) => { said.textContent = confirm('In it?'); event.preventDefault() }; location = '/two'"
    async with beside_good({"/": pressing(leaves), "/two": "two"}) as session:
        await session.act(GO)
        dialog = await asked(session)
        assert dialog is not None
        assert dialog.kind is DialogKind.BEFOREUNLOAD
        await session.act(AnswerDialog(accept=False))
        assert await text(session) == "false"
        await session.act(GO)
        await session.act(YES)

        assert (await session.observe()).page.url == ORIGIN + "/two"


WORKER = """const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])))
worker.onmessage = () => { alert('Now'); said.textContent = 'after' }"""


@pytest.mark.full
@pytest.mark.parametrize(
    "script",
    [
        "requestAnimationFrame(() => { alert('Now'); said.textContent = 'after' })",
        WORKER,
    ],
    ids=["frame", "worker"],
)
async def test_an_alert_at_an_odd_moment_is_answered_as_any_other(script: str) -> None:
    async with beside_good({"/": pressing(script)}) as session:
        told = (await session.act(GO)).result_text
        while await asked(session) is None:  # a worker's message comes when real time brings it
            told = (await session.act(Wait(ms=100))).result_text
        await session.act(YES)

        assert told == "The page said: Now"
        assert await asked(session) is None
        assert await text(session) == "after"


@pytest.mark.full
async def test_a_page_that_says_something_in_each_frame_is_asked_ten_times_a_step() -> None:
    page = pressing("const say = () => { requestAnimationFrame(say); alert('Again') }; say()")
    async with beside_good({"/": page}) as session:
        await session.act(GO)
        answers = 0
        while await asked(session) is not None:
            answers += 1
            await session.act(YES)

        assert answers == MAX_IN_A_ROW


LONG = 1_000_000


async def test_a_text_of_a_megabyte_is_shown_short_and_given_back_whole() -> None:
    page = pressing(f"said.textContent = prompt('Name?', 'ab '.repeat({LONG // 3})).length")
    async with beside_good({"/": page}) as session:
        await session.act(GO)
        dialog = await asked(session)
        assert dialog is not None
        assert dialog.text is not None
        assert 0 < len(dialog.text.encode()) <= DIALOG_BYTES
        await session.act(YES)

        assert await text(session) == str(LONG // 3 * 3)


@pytest.mark.full
async def test_a_word_as_long_as_a_dialog_holds_costs_no_more_than_its_letters() -> None:
    async with opened({"/": pressing("alert('i'.repeat(2000))")}) as session:
        await session.act(GO)
        begun = time.process_time()
        await session.observe()

        assert time.process_time() - begun < 2.0


DRAGGED = """<div id=d draggable={draggable} style='position:fixed;left:0;top:100px;width:100px;height:50px'>drag</div>
<div id=t style='position:fixed;left:150px;top:200px;width:100px;height:100px'>here</div><script>
log = []
for (const name of ['mousedown', 'dragstart', 'dragover', 'drop', 'dragend', 'mouseup'])
  addEventListener(name, () => { if (log.at(-1) !== name) log.push(name) })
t.ondragover = (event) => event.preventDefault()
{asks}
</script>"""
DRAG = Drag(x=30, y=120, to_x=200, to_y=250)


@pytest.mark.full
@pytest.mark.parametrize(
    ("asks", "log"),
    [
        ("d.ondragstart = () => alert('?')", "mousedown dragstart dragover drop dragend"),
        pytest.param(
            "t.ondragenter = () => alert('?')",
            "mousedown dragstart dragover drop dragend",
            marks=FULL,
        ),
        pytest.param(
            "t.ondrop = () => alert('?')", "mousedown dragstart dragover drop dragend", marks=FULL
        ),
        pytest.param("d.onmousedown = () => alert('?')", "mousedown mouseup", marks=FULL),
        (
            "onmousemove = (event) => { if (event.buttons) { onmousemove = null; alert('?') } }",
            "mousedown mouseup",
        ),
    ],
    ids=["start", "enter", "drop", "press", "move"],
)
async def test_a_drag_goes_on_after_the_dialog_in_it(asks: str, log: str) -> None:
    page = DRAGGED.replace("{asks}", asks).replace("{draggable}", str("drag" in log).lower())
    async with beside_good({"/": page}) as session:
        await session.act(DRAG)
        assert await asked(session) is not None
        effect = await session.act(YES)

        assert (effect.error, await asked(session)) == (None, None)
        assert await session.evaluate("log.join(' ')") == log


FIELD = SAID + "<input id=f type=file style='position:fixed;left:0;top:100px'>"
GETS = "const field = f; field.onchange = () => { said.textContent += ' ' + field.files[0].name }; "


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("for (let i = 0; i < 100; i++) field.click()", "nothing notes.txt"),
        pytest.param(
            "for (let i = 0; i < 100; i++) setTimeout(() => field.click(), i)",
            "nothing notes.txt",
            marks=FULL,
        ),
        pytest.param("field.click(); field.remove()", "nothing notes.txt", marks=FULL),
        ("field.click(); setTimeout(() => field.remove(), 0)", "nothing notes.txt"),
    ],
    ids=["loop", "timers", "removed", "removed later"],
)
async def test_one_chooser_is_answered_once_whatever_its_page_does(script: str, said: str) -> None:
    async with beside_good({"/": pressing(GETS + script, FIELD)}, files=(NOTES,)) as session:
        effect = await session.act(GO)
        assert effect.result_text == "The page wants a file"
        await session.act(GIVE)

        assert await asked(session) is None
        assert await text(session) == said


@pytest.mark.full
@pytest.mark.parametrize("window", [False, True], ids=["frame", "popup"])
async def test_a_field_of_a_frame_or_a_popup_gets_its_file(*, window: bool) -> None:
    field = "<body style='margin:0'><input id=f type=file><p id=got>none</p><script>f.onchange = () => { got.textContent = f.files[0].name }</script>"
    frame = "<iframe src=/field style='position:fixed;left:0;top:0;border:0'></iframe>"
    pages: Pages = {"/": pressing("window.open('/field')") if window else frame, "/field": field}
    async with beside_good(pages, files=(NOTES,)) as session:
        if window:
            await session.act(GO)
        await session.act(Click(x=30, y=10))
        await session.act(GIVE)
        seen = await session.observe()

        assert (seen.page.dialog, seen.page.tab) == (None, int(window))
        assert "notes.txt" in [one.text for one in seen.sights or ()]


async def test_a_chooser_is_gone_with_the_document_that_asked() -> None:
    page = pressing("f.click(); setTimeout(() => { location = '/two' }, 100)", FIELD)
    async with beside_good({"/": page, "/two": "two"}, files=(NOTES,)) as session:
        await session.act(GO)

        assert (await session.observe()).page.url == ORIGIN + "/two"
        assert await asked(session) is None


def attachment(body: bytes, name: str) -> Handler:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(
            body=body, headers={"Content-Disposition": f"attachment; filename={name}"}
        )

    return answer


async def _breaks(request: web.BaseRequest) -> web.StreamResponse:
    """Answer with half of a file, and break the connection."""
    response = web.StreamResponse(headers={"Content-Disposition": "attachment; filename=half.bin"})
    response.content_length = 1_000_000
    await response.prepare(request)
    await response.write(b"x" * 500_000)
    assert request.transport is not None
    request.transport.close()
    return response


@pytest.mark.full
async def test_of_200_downloads_of_a_script_those_that_the_browser_lets_are_told() -> None:
    makes = "for (let i = 0; i < 200; i++) { const a = document.createElement('a'); a.download = `${i}.txt`; a.href = URL.createObjectURL(new Blob(['made'])); a.click() }"
    async with beside_good({"/": pressing(makes)}) as session:
        effect = await session.act(GO)

        assert 1 < len(effect.downloads) <= MAX_DOWNLOADS
        assert {(one.size, one.problem) for one in effect.downloads} == {(4, None)}
        assert (await session.act(Wait(ms=100))).downloads == ()


FRAMES, KEPT = (200, MAX_DOWNLOADS) if THOROUGH else (30, 5)


async def test_no_more_downloads_are_kept_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_files, "MAX_DOWNLOADS", KEPT)
    frames = f"for (let i = 0; i < {FRAMES}; i++) document.body.append(Object.assign(document.createElement('iframe'), {{ src: '/f?' + i }}))"
    async with beside_good({"/": pressing(frames), "/f": attachment(b"1", "f.txt")}) as session:
        await session.act(GO)

        assert sum(one.problem is None for one in session.downloads) == KEPT


@pytest.mark.parametrize(
    ("answer", "size", "told"),
    [
        (attachment(b"", "none.txt"), 0, '"none.txt" was downloaded (text/plain, 0 bytes)'),
        (_breaks, None, '"half.bin" was not downloaded: it broke off'),
    ],
    ids=["empty", "broken"],
)
async def test_an_empty_and_a_broken_download_are_told_as_such(
    answer: Handler, size: int | None, told: str
) -> None:
    async with beside_good({"/": pressing("location = '/f'"), "/f": answer}) as session:
        effect = await session.act(GO)

        assert [one.size for one in effect.downloads] == [size]
        assert effect.result_text == told
        assert (await session.observe()).page.url == ORIGIN + "/"


@pytest.mark.full
async def test_two_downloads_of_one_name_are_both_kept() -> None:
    pages: Pages = {
        "/": pressing("location = window.again ? '/two' : '/one'; again = true"),
        "/one": attachment(b"one", "same.txt"),
        "/two": attachment(b"two", "same.txt"),
    }
    async with beside_good(pages) as session:
        await session.act(GO)
        await session.act(GO)
        got = [(one.name, one.sha256) for one in session.downloads]

        assert got == [("same.txt", sha256_hex(body)) for body in (b"one", b"two")]


async def test_a_download_that_begins_after_a_step_is_told_in_the_next() -> None:
    asks = asyncio.Event()

    async def late(request: web.BaseRequest) -> web.StreamResponse:
        asks.set()
        return await attachment(b"late", "late.txt")(request)

    page = pressing("setTimeout(() => { location = '/f' }, 2_000)")
    async with beside_good({"/": page, "/f": late}) as session:
        first = await session.act(GO)
        assert (first.downloads, asks.is_set()) == ((), False)
        second = await session.act(Wait(ms=2_000))

        assert second.result_text == '"late.txt" was downloaded (text/plain, 4 bytes)'
