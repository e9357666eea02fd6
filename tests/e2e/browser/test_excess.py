"""What a page does too much of ends in time, with a clear result, and harms nobody: windows, motion, bytes, fields."""

import asyncio
import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web
from effort import THOROUGH
from support.browsers.excess import (
    GO,
    SAID,
    WENT_ON,
    Pages,
    beside_good,
    outcome,
    pressing,
    text,
    wait_for,
)
from support.browsers.html_site import ORIGIN, opened

from generators.browser import tabs
from generators.browser.session import ChromiumSession
from generators.browser.tabs import MAX_TABS
from generators.sites.gateway import Handler
from schemas.episodes.action import Click, Goto, Tab, TabOperation, Wait
from schemas.errors import RolloutFailure

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

MAX_ELEMENTS = 400
"""The most elements of an observation, as `page.js` has it."""

WINDOWS = 100 if THOROUGH else 12
TOO_MUCH_MEMORY = "browser: too much memory"
BUSY = r"page: the page was still busy after \d+ s"

SECOND = "<button style='position:fixed;left:80px;top:0;width:60px;height:36px' onclick='window.open(`/new`)'>new</button>"
"""A second button, which opens a window as pages do."""

NEW = Click(x=100, y=18)
FIRST = Tab(operation=TabOperation.SWITCH, index=0)


async def test_a_storm_of_windows_leaves_the_tabs_that_may_be_and_the_session_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tabs, "POPUP_SECONDS", 60.0)
    storm = pressing(f"for (let i = 0; i < {WINDOWS}; i++) window.open('/w?' + i)")
    async with beside_good({"/": storm, "/w": "w"}) as session:
        effect = await session.act(GO)
        seen = await session.observe()
        await session.act(FIRST)

        assert effect.error is None
        assert (seen.page.tab, len(seen.page.tabs or ())) == (MAX_TABS - 1, MAX_TABS)
        assert len(session._context.pages) == MAX_TABS
        assert (await session.observe()).page.url == ORIGIN + "/"


async def test_of_windows_that_open_windows_each_is_a_tab_or_closed() -> None:
    window = f"<script>n = +location.search.slice(1); if (n < {WINDOWS}) window.open('/w?' + (n + 1))</script>w"
    async with beside_good({"/": pressing("window.open('/w?1')"), "/w": window}) as session:
        await session.act(GO)
        for _ in range(2):
            await session.act(Wait(ms=100))

        assert len(session._tabs) <= MAX_TABS
        assert len(session._context.pages) == len(session._tabs)


async def test_a_window_that_came_too_late_is_not_taken_for_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pages: Pages = {
        "/": pressing("window.open('/late')", SAID + SECOND),
        "/late": "late",
        "/new": "new",
    }
    async with beside_good(pages) as session:
        monkeypatch.setattr(tabs, "POPUP_SECONDS", 0.0)
        await session.act(GO)
        monkeypatch.undo()
        await session.act(FIRST)
        await session.act(NEW)

        assert (await session.observe()).page.url == ORIGIN + "/new"


@pytest.mark.parametrize(
    "address",
    ["mailto:a@b.example", *(["data:text/html,x", "javascript:void 0"] if THOROUGH else [])],
)
async def test_a_window_that_shows_nothing_at_first_is_a_tab_once_it_does(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabs, "POPUP_SECONDS", 0.5)
    async with opened({"/": pressing(f"w = window.open('{address}')"), "/w": "w"}) as session:
        await session.act(GO)
        monkeypatch.undo()
        await session.evaluate("void (w.location = '/w')")
        for _ in range(50):  # real time decides when the browser tells of it
            await session.act(Wait(ms=100))
            if len(session._tabs) > 1:
                break

        assert (await session.observe()).page.url == ORIGIN + "/w"


WORD = "opensesame"
WAYS = {
    "open": "w = window.open('{}')",
    "location": "w = window.open('/w'); setTimeout(() => {{ w.location = '{}' }}, 100)",
    "link": "w = null; a.href = '{}'; a.click()",
}
HARMLESS = re.compile(
    rf"{ORIGIN}/w?|about:\w*(#blocked)?|blob:{ORIGIN}/[\w-]+|chrome-error://chromewebdata/|"
)
READ = "(() => { try { return w.location.href + ' ' + w.document.documentElement.textContent } catch (e) { return e.name } })()"


def _addresses(secret: Path) -> list[str]:
    """Return addresses of the machine and of the browser, the last of them harmless."""
    quick = [secret.as_uri(), "chrome://version/"]
    more = [
        f"view-source:{secret.as_uri()}",
        f"filesystem:{secret.as_uri()}",
        f"view-source:{ORIGIN}/",
        "devtools://devtools/bundled/inspector.html",
        "about:version",
        "about:srcdoc",
        "chrome-untrusted://print/",
        "data:text/html,x",
        "javascript:void 0",
    ]
    return [*quick, *(more if THOROUGH else ()), "' + blob + '"]


@pytest.fixture(scope="module")
def secret() -> Iterator[Path]:
    """A page of the machine, which each of its users may read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "secret.html"
        path.write_text(f"<title>{WORD}</title>{WORD}", encoding="utf-8")
        path.chmod(0o644)
        yield path


async def _look_everywhere(session: ChromiumSession) -> list[str]:
    """Return all that the shown tab and every window tell, and check their addresses."""
    seen = await session.observe()
    assert HARMLESS.fullmatch(seen.page.url), seen.page.url
    for one in session._context.pages:
        assert HARMLESS.fullmatch(one.url), one.url
    return [
        seen.model_dump_json(exclude={"screenshot"}),
        str(await session.evaluate(READ)),
        *(one.text for one in seen.sights or ()),
    ]


@pytest.mark.parametrize("way", WAYS if THOROUGH else ["location"])
async def test_no_window_shows_anything_of_the_machine(
    way: str, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabs, "POPUP_SECONDS", 1.0)  # none comes where the address is refused
    blob = "<script>blob = URL.createObjectURL(new Blob(['<p>made here'], { type: 'text/html' }))</script>"
    told = list[str]()
    for address in _addresses(secret):
        page = pressing(WAYS[way].format(address), f"<a id=a target=_blank>a</a>{blob}")
        async with opened({"/": page, "/w": "window"}) as session:
            await session.act(GO)
            told += await _look_everywhere(session)
            await session.act(Wait(ms=200))
            told += await _look_everywhere(session)
            await session.act(FIRST)
            assert (await session.observe()).page.url == ORIGIN + "/"

    assert not [one for one in told if WORD in one]
    assert "made here" in told, "what a window shows is seen"


@pytest.mark.full
async def test_no_action_opens_a_file_of_the_machine(secret: Path) -> None:
    async with opened({"/": "page"}) as session:
        for url in (secret.as_uri(), "chrome://version/", "javascript:alert(1)", "about:blank"):
            for action in (Goto(url=url), Tab(operation=TabOperation.OPEN, url=url)):
                error = (await session.act(action)).error
                assert error == f"{url} is not allowed here; allowed: {ORIGIN}"
        assert (await session.observe()).page.tabs == ()


@pytest.mark.full
async def test_the_browser_itself_may_read_the_file_that_no_page_shows(secret: Path) -> None:
    async with opened({"/": "page"}, clock=None) as session:
        await session._tab.channel.send("Page.navigate", {"url": secret.as_uri()})
        title = ""
        while title != WORD:
            with contextlib.suppress(RolloutFailure):  # the document is being replaced
                title = (await session.observe()).page.title


KEYFRAMES = 1_000_000 if THOROUGH else 20_000
MOVED = 10_000 if THOROUGH else 200
MOVES = f"""for (let i = 0; i < {MOVED}; i++) {{
  const d = said.appendChild(document.createElement('i'))
  d.textContent = 'x'
  d.animate([{{ opacity: 0.5 }}, {{ opacity: 1 }}], 900 + i / 10)
}}"""


@pytest.mark.full
@pytest.mark.parametrize(
    ("script", "endings"),
    [
        (
            f"said.animate(Array.from({{ length: {KEYFRAMES} }}, (_, i) => ({{ opacity: i % 2, left: i + 'px' }})), 900)",
            rf"{WENT_ON}|{TOO_MUCH_MEMORY}|{BUSY}" if THOROUGH else WENT_ON,
        ),
        (
            MOVES,
            rf"{WENT_ON}|{BUSY}" if THOROUGH else WENT_ON,
        ),
    ],
    ids=["keyframes", "elements"],
)
async def test_much_motion_ends_in_time(script: str, endings: str) -> None:
    async def move() -> None:
        await session.act(GO)
        await session.act(Wait(ms=1_000))
        assert await session.evaluate("document.getAnimations().length") == 0

    async with beside_good({"/": pressing(script)}) as session:
        ended = await outcome(move())
        if ended == WENT_ON:
            assert (await session.observe()).page.form_sha256 is not None

    assert re.fullmatch(endings, ended), ended


BODY_BYTES = 2**30 if THOROUGH else 48 * 2**20
PIECE = b"x" * 2**18


def _bytes(total: int) -> Handler:
    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        response.content_length = total
        await response.prepare(request)
        for _ in range(total // len(PIECE)):
            await response.write(PIECE)
            await asyncio.sleep(0)
        return response

    return answer


READS = """const reader = (await fetch('/big')).body.getReader()
let size = 0
for (let got = await reader.read(); !got.done; got = await reader.read()) size += got.value.length
said.textContent = 'read ' + size"""


@pytest.mark.full
async def test_a_body_that_a_page_reads_and_drops_is_read_to_its_end() -> None:
    async with beside_good({"/": pressing(READS), "/big": _bytes(BODY_BYTES)}) as session:
        await session.act(GO)

        assert await wait_for(session, r"read \d+") == f"read {BODY_BYTES}"


async def test_time_waits_for_a_body_that_a_page_reads_in_pieces() -> None:
    async def slow(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        response.content_length = 2
        await response.prepare(request)
        await response.write(b"x")
        await asyncio.sleep(2.0)
        await response.write(b"y")
        return response

    async with opened({"/": pressing(READS), "/big": slow}) as session:
        await session.act(GO)

        assert await text(session) == "read 2"


@pytest.mark.full
async def test_a_body_that_a_page_keeps_is_too_much_memory() -> None:
    keeps = pressing("kept = await (await fetch('/big')).arrayBuffer(); said.textContent = 'kept'")

    async def keep() -> None:
        await session.act(GO)
        while True:  # whoever watches the memory may be slow to look
            await session.act(Wait(ms=1_000))

    async with beside_good({"/": keeps, "/big": _bytes(BODY_BYTES)}) as session:
        assert await outcome(keep()) == TOO_MUCH_MEMORY


def _flood(*, pause: float) -> Handler:
    """Answer with events without end, and a pause after each."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        while True:
            await response.write(b"data: " + b"x" * 100 + b"\n\n")
            await asyncio.sleep(pause)

    return answer


LISTENS = pressing(
    "let n = 0; new EventSource('/flood').onmessage = () => { said.textContent = ++n }"
)


@pytest.mark.full
async def test_a_stream_that_is_never_silent_costs_a_step_its_time_for_news() -> None:
    async with beside_good({"/": LISTENS, "/flood": _flood(pause=0.002)}) as session:
        await session.act(GO)
        first = int(await text(session))
        await session.act(Wait(ms=100))

        assert 0 < first < int(await text(session))


@pytest.mark.full
async def test_a_flood_of_events_ends_in_time() -> None:
    async with beside_good({"/": LISTENS, "/flood": _flood(pause=0.0)}) as session:
        ended = await outcome(session.act(GO))

    assert re.fullmatch(rf"{WENT_ON}|{BUSY}|clock: \d+ ms of virtual time did not pass", ended), (
        ended
    )


FIELDS = 100_000 if THOROUGH else 3_000
DEEP = 20_000 if THOROUGH else 400


@pytest.mark.parametrize(
    ("script", "change", "elements"),
    [
        (f"said.innerHTML = '<input value=x>'.repeat({FIELDS})", "said.lastChild.value = 'y'", 400),
        (
            f"said.innerHTML = '<select>' + '<option>one'.repeat({FIELDS}) + '<option>last</select>'",
            "said.firstChild.lastChild.selected = true",
            2,
        ),
        pytest.param(
            f"said.innerHTML = '<select multiple>' + '<option>one'.repeat({FIELDS}) + '<option>last</select>'",
            "said.firstChild.lastChild.selected = true",
            400,
            marks=pytest.mark.full,
        ),
    ],
    ids=["inputs", "options", "list"],
)
async def test_many_fields_are_hashed_to_the_last_and_listed_to_a_limit(
    script: str, change: str, elements: int
) -> None:
    async with beside_good({"/": pressing(script)}) as session:
        effect = await session.act(GO)
        before = await session.observe()
        await session.evaluate(f"void ({change})")
        after = await session.observe()

        assert effect.error is None
        assert len(before.elements) == elements <= MAX_ELEMENTS
        assert before.page.form_sha256 != after.page.form_sha256


@pytest.mark.full
async def test_deep_elements_are_seen_or_the_page_is_named() -> None:
    deep = f"let e = said; for (let i = 0; i < {DEEP}; i++) e = e.appendChild(document.createElement('div')); e.append('deep')"
    async with beside_good({"/": pressing(deep)}) as session:
        ended = await outcome(session.act(GO))
        if ended == WENT_ON:
            seen = await session.observe()
            assert "deep" in [one.text for one in seen.sights or ()]
            assert len(seen.elements) <= MAX_ELEMENTS

    assert re.fullmatch(rf"{WENT_ON}|page: .*the page crashed" if THOROUGH else WENT_ON, ended), (
        ended
    )
