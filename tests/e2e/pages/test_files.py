"""Files given to pages and taken from them: the task's own by name, and downloads whole, in Chromium."""

import asyncio
import base64
import os
import socket
from pathlib import Path

import pytest
from aiohttp import web
from effort import THOROUGH
from support.browsers.html_site import ORIGIN, opened, spec

from generators.browser import session_files
from generators.browser.session import ChromiumSession
from generators.sites.gateway import Handler
from schemas.base import sha256_hex
from schemas.episodes.action import (
    Action,
    AnswerDialog,
    Click,
    DropFile,
    Key,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)
from schemas.episodes.observation import DialogKind
from schemas.tasks.task_file import TaskFile

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

NOTES = TaskFile(name="notes.txt", text="Milk\nBread\n")
PIXEL = TaskFile(name="pixel.gif", base64=base64.b64encode(b"GIF89a....").decode())

FIELD = """
<body style="margin:0"><input id=f type=file {more} style="position:fixed;left:0;top:0;width:300px;height:40px">
<p id=got style="margin-top:60px">nothing</p>
<script>
  window.log = []
  f.addEventListener('cancel', () => log.push('cancel'))
  f.onchange = async () => {
    const texts = await Promise.all([...f.files].map((one) => one.text()))
    got.textContent = [...f.files].map((one, n) => `${one.name} ${one.type} ${one.size} ${texts[n].split('\\n')[0]}`).join(' and ')
  }
</script>"""
Pages = dict[str, str | Handler]

ASK = Click(x=30, y=20)


async def text(session: ChromiumSession) -> object:
    return await session.evaluate("got.textContent")


def page(more: str = "") -> Pages:
    return {"/": FIELD.replace("{more}", more)}


@pytest.mark.parametrize(
    "answer",
    [
        AnswerDialog(accept=True, text="notes.txt"),
        TypeText(text="notes.txt\n"),
        TypeText(text="notes.txt", enter=True),
    ],
)
async def test_a_field_gets_a_file_of_the_task_by_its_name(answer: Action) -> None:
    async with opened(page(), files=(NOTES, PIXEL)) as session:
        effect = await session.act(ASK)
        seen = await session.observe()
        assert effect.result_text == "The page wants a file"
        assert seen.page.dialog is not None
        assert seen.page.dialog.kind is DialogKind.FILE
        assert {"Choose a file", "notes.txt", "pixel.gif"} <= {
            one.text for one in seen.sights or ()
        }
        assert (await session.act(answer)).error is None

        assert (await session.observe()).page.dialog is None
        assert await text(session) == "notes.txt text/plain 11 Milk"


async def test_a_field_for_several_gets_several() -> None:
    async with opened(page("multiple"), files=(NOTES, PIXEL)) as session:
        await session.act(ASK)
        await session.act(AnswerDialog(accept=True, text="pixel.gif\nnotes.txt"))

        got = await text(session)
        assert got == "pixel.gif image/gif 10 GIF89a.... and notes.txt text/plain 11 Milk"


async def test_a_chooser_that_is_dismissed_says_so_to_its_field() -> None:
    async with opened(page(), files=(NOTES,)) as session:
        for answer in (AnswerDialog(accept=False), Key(key="Escape")):
            await session.act(ASK)
            await session.act(answer)
        await session.act(ASK)
        told = [(await session.act(Wait(ms=10))).result_text for _ in range(3)]

        assert told[:2] == [None, None]
        assert "by default" in str(told[2])
        assert await session.evaluate("log") == ["cancel"] * 3
        assert await text(session) == "nothing"


async def test_a_hidden_field_that_a_button_opens_is_a_chooser_too() -> None:
    hidden = "<button onclick=f.click() style='position:fixed;left:0;top:0'>Attach</button>"
    async with opened({"/": hidden + FIELD.replace("{more}", "hidden")}, files=(NOTES,)) as session:
        await session.act(Click(x=20, y=10))
        await session.act(AnswerDialog(accept=True, text="notes.txt"))

        assert await text(session) == "notes.txt text/plain 11 Milk"


async def test_a_file_is_dropped_on_a_field_and_on_a_place() -> None:
    place = """<div id=d style="position:fixed;left:0;top:200px;width:300px;height:100px">Drop here</div><script>
      d.ondragover = (event) => event.preventDefault()
      d.ondrop = async (event) => {
        event.preventDefault()
        const file = event.dataTransfer.files[0]
        got.textContent = `dropped ${file.name} ${await file.text()}`
      }
    </script>"""
    async with opened({"/": FIELD.replace("{more}", "") + place}, files=(NOTES,)) as session:
        await session.act(DropFile(x=30, y=20, name="notes.txt"))
        assert await text(session) == "notes.txt text/plain 11 Milk"
        await session.act(DropFile(x=30, y=230, name="notes.txt"))
        assert await text(session) == "dropped notes.txt Milk\nBread\n"


def names_of_the_machine(folder: Path) -> list[str]:
    """Return names of things that are there, and are no files of a task."""
    (folder / "real.txt").write_text("secret", "utf-8")
    (folder / "sub").mkdir()
    (folder / "link.txt").symlink_to(folder / "real.txt")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket"))
    os.mkfifo(folder / "fifo")
    here = str(folder)
    return [
        *(
            f"{here}/{name}"
            for name in ("real.txt", "sub", "link.txt", "socket", "fifo", ".", "..")
        ),
        *(f"../{name}" for name in ("notes.txt", "real.txt", "../real.txt", "../../etc/passwd")),
        *(f"./{name}" for name in ("notes.txt", "real.txt")),
        *(
            "/etc/passwd",
            "/etc/hostname",
            "/dev/zero",
            "/dev/stdin",
            "/dev/null",
            "/proc/self/environ",
        ),
        *("file:///etc/passwd", "file:/etc/passwd", "~/.bashrc", "~root", "$HOME", "%2e%2e/passwd"),
        *("..", ".", "/", "", " ", "*", "?", "*.txt", "notes.txt/", "notes.txt/..", "/notes.txt"),
        *(
            "NOTES.TXT",
            "notes",
            "notes.txt ",
            " notes.txt",
            "notes.txt\x00",
            "notes.txt\x00/etc/passwd",
        ),
        *(
            "\\\\server\\share",
            "C:\\notes.txt",
            "given/0/notes.txt",
            "0/notes.txt",
            "notes.txt;real.txt",
        ),
        *("http://127.0.0.1/", "data:text/plain,x", "notes\u2024txt"),
    ]


async def test_no_name_leads_to_another_file_of_the_machine(tmp_path: Path) -> None:
    names = names_of_the_machine(tmp_path)
    assert len(set(names)) >= 50
    tried = names if THOROUGH else names[::5]
    async with opened(page("multiple"), files=(NOTES,)) as session:
        for name in tried:
            await session.act(ASK)
            chosen = await session.act(AnswerDialog(accept=True, text=name))
            assert chosen.error is not None, name
            assert "there are: notes.txt" in chosen.error
            await session.act(AnswerDialog(accept=False))
            if name:
                dropped = await session.act(DropFile(x=30, y=20, name=name))
                assert dropped.error is not None, name
                assert "there are: notes.txt" in dropped.error
            assert await text(session) == "nothing", name
        await session.act(ASK)
        await session.act(AnswerDialog(accept=True, text="notes.txt"))

        assert await text(session) == "notes.txt text/plain 11 Milk", "the control"


async def test_a_task_without_files_gives_none() -> None:
    async with opened(page()) as session:
        await session.act(ASK)
        seen = await session.observe()
        effect = await session.act(AnswerDialog(accept=True, text="notes.txt"))

        assert seen.page.dialog is not None
        assert seen.page.dialog.message == "There is no file here."
        assert effect.error == "there is no file 'notes.txt'; there are: none"


async def test_a_picker_of_a_script_gets_the_browser_s_own_refusal() -> None:
    picks = (
        '<button onclick="showOpenFilePicker().catch(e => document.title = e.name)">pick</button>'
    )
    async with opened({"/": picks}, files=(NOTES,)) as session:
        await session.act(Click(x=20, y=18))
        seen = await session.observe()

        assert seen.page.dialog is None
        assert seen.page.title == "AbortError"


def attachment(body: bytes, name: str, *, kind: str = "text/csv") -> Handler:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "Content-Type": kind}
        return web.Response(body=body, headers=headers)

    return answer


LINKS = """
<a href=/data.csv>data</a><br><a href=/data.csv target=_blank>in a tab</a><br><a href=/x.pdf>paper</a><br>
<button id=make>make</button><script>make.onclick = () => {
  const a = document.createElement('a')
  a.download = 'made.txt'
  a.href = URL.createObjectURL(new Blob(['made here']))
  a.click()
}</script>"""


async def test_a_download_is_kept_whole_and_told() -> None:
    pages: Pages = {"/": LINKS, "/data.csv": attachment(b"a,b\n1,2\n", "data.csv")}
    async with opened(pages) as session:
        effect = await session.act(Click(x=15, y=18))

        [got] = effect.downloads
        assert (got.name, got.media_type, got.size) == ("data.csv", "text/csv", 8)
        assert got.sha256 == sha256_hex(b"a,b\n1,2\n")
        assert base64.b64decode(got.base64 or "") == b"a,b\n1,2\n"
        assert effect.result_text == '"data.csv" was downloaded (text/csv, 8 bytes)'
        assert session.downloads == (got,)
        assert (await session.observe()).page.url == ORIGIN + "/"
        assert (await session.act(Wait(ms=10))).downloads == ()


async def test_a_tab_that_only_downloads_is_none() -> None:
    pages: Pages = {"/": LINKS, "/data.csv": attachment(b"a,b\n", "data.csv")}
    async with opened(pages) as session:
        effect = await session.act(Click(x=15, y=36))
        seen = await session.observe()

        assert [one.name for one in effect.downloads] == ["data.csv"]
        assert (seen.page.url, seen.page.tab, seen.page.tabs) == (ORIGIN + "/", 0, ())
        assert (await session.act(Tab(operation=TabOperation.SWITCH, index=1))).error is not None


async def test_what_a_script_makes_is_downloaded_too() -> None:
    async with opened({"/": LINKS}) as session:
        effect = await session.act(Click(x=20, y=75))

        [got] = effect.downloads
        assert (got.name, got.size) == ("made.txt", 9)


async def test_a_pdf_is_a_download_and_says_that_it_is_not_shown() -> None:
    paper: Handler = attachment(b"%PDF-1.4", "x.pdf", kind="application/pdf")

    async def inline(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=b"%PDF-1.4", content_type="application/pdf")

    for answer in (paper, inline):
        async with opened({"/": LINKS, "/x.pdf": answer}) as session:
            effect = await session.act(Click(x=15, y=54))

            assert effect.result_text is not None
            assert "this browser does not show its pages" in effect.result_text


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a/b\\c", "x" * 10_000, "..", "con\x01.txt", ""]
)
async def test_a_download_s_name_is_a_name_alone_and_short(name: str) -> None:
    links = f"<a href=/f download={'x' * 9_000}>here</a>"
    pages: Pages = {"/": links, "/f": attachment(b"1", name.replace("\x01", ""))}
    async with opened(pages) as session:
        effect = await session.act(Click(x=15, y=15))

        [got] = effect.downloads
        assert got.size == 1
        assert 0 < len(got.name.encode()) <= session_files.MAX_NAME_BYTES
        assert "/" not in got.name
        assert "\\" not in got.name


async def endless(
    request: web.BaseRequest, *, piece: bytes, length: int | None
) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Disposition": "attachment; filename=big.bin"})
    response.content_length = length
    await response.prepare(request)
    while True:
        await response.write(piece)
        await asyncio.sleep(0 if len(piece) > 1 else 0.1)


@pytest.mark.parametrize(
    ("piece", "length", "why"),
    [
        (b"x" * 65_536, 2 * 2**30, "larger than"),
        (b"x" * 65_536, None, "larger than"),
        (b"x", None, "did not end"),
    ],
    ids=["2 GB", "no length", "never ends"],
)
async def test_a_download_without_end_is_cancelled_and_told(
    piece: bytes, length: int | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_files, "DOWNLOAD_SECONDS", 2.0)

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        return await endless(request, piece=piece, length=length)

    async with opened({"/": "<a href=/big>big</a>", "/big": answer}) as session:
        effect = await session.act(Click(x=15, y=15))

        [got] = effect.downloads
        assert got.problem is not None
        assert why in got.problem
        assert (got.size, got.sha256, got.base64) == (None, None, None)
        assert effect.result_text == f'"big.bin" was not downloaded: {got.problem}'
        assert (await session.act(Wait(ms=10))).error is None


async def test_a_large_download_is_known_by_its_hash_alone() -> None:
    body = b"x" * (session_files.MAX_ROW_BYTES + 1)
    async with opened({"/": "<a href=/f>f</a>", "/f": attachment(body, "f.bin")}) as session:
        [got] = (await session.act(Click(x=12, y=15))).downloads

        assert (got.size, got.sha256, got.base64) == (len(body), sha256_hex(body), None)


async def test_a_session_s_files_are_recorded_with_the_task_alone() -> None:
    assert "files" not in spec(files=(NOTES,)).model_dump(mode="json")


async def test_nothing_of_a_session_s_files_is_left_behind() -> None:
    async with opened(page(), files=(NOTES,)) as session:
        await session.act(ASK)
        await session.act(AnswerDialog(accept=True, text="notes.txt"))
        folder = session._files._folder
        assert [one.name for one in folder.rglob("*.txt")] == ["notes.txt"]

    assert not folder.exists()
