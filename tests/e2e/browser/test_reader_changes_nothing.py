"""The privileged reader only looks: a page that watches itself closely does not notice it.

Each page is asked in its own world, before and after, for everything that reading could touch.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass

import pytest
import pytest_asyncio
from support.browsers.html_site import HOST, handler, spec
from support.browsers.html_site import ORIGIN as OUR_ORIGIN
from support.browsers.one_browser import browser_and_gateway
from support.browsers.visits import visit_to

from generators.browser.chromium import Chromium
from generators.browser.protocol import SessionSpec
from generators.browser.session import ChromiumSession
from generators.sites.gateway import Handler
from generators.sites.miniwob import ORIGIN, MiniWob, start_url
from schemas.base import canonical_json
from schemas.episodes.action import Click, Direction, Scroll, TypeText
from schemas.tasks.task import Task

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

READS = 3


@dataclass
class Browser:
    """One browser for all tests here, with pages of our own and those of MiniWoB++."""

    chromium: Chromium
    miniwob: MiniWob
    pages: dict[str, str | Handler]

    @property
    def spec(self) -> SessionSpec:
        return spec()

    @contextlib.asynccontextmanager
    async def opened(self, page: str) -> AsyncIterator[ChromiumSession]:
        self.pages["/"] = page
        async with self.chromium.session(self.spec) as session:
            await session.open(f"{OUR_ORIGIN}/")
            yield session


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    pages: dict[str, str | Handler] = {}
    async with browser_and_gateway() as (chromium, gateway):
        gateway.mount(HOST, handler(pages))
        yield Browser(chromium, MiniWob(gateway), pages)


WATCHFUL = """
<body style="height:2000px">
<form id="form"><input id="name" value="first" data-note="visible">
<input id="box" type="checkbox" checked><textarea id="long">some text</textarea>
<select id="list"><option>one</option><option selected>two</option></select></form>
<div id="well" style="height:60px;overflow:auto"><div style="height:500px">deep</div></div>
<svg width="50" height="50"><circle id="dot" cx="20" cy="20" r="9"/></svg>
<div id="host"></div>
<script>
  window.secret = "the-script-variable";
  document.getElementById("name").secret = "the-expando";
  const hidden = "the-closure";
  window.tell = () => hidden;
  window.log = { events: 0, listeners: 0, calls: 0, changes: 0, timers: 0 };
  const types = ["focus", "blur", "focusin", "focusout", "mousemove", "mouseover", "mouseenter",
    "pointermove", "pointerover", "mousedown", "click", "keydown", "input", "change", "scroll",
    "select", "selectionchange", "resize", "beforeinput", "toggle", "copy", "custom"];
  for (const type of types)
    for (const place of [window, document])
      place.addEventListener(type, () => { window.log.events += 1; }, true);
  new MutationObserver((records) => { window.log.changes += records.length; }).observe(document, {
    subtree: true, childList: true, attributes: true, characterData: true });
  const count = (owner, name) => {
    const real = owner[name];
    owner[name] = function (...rest) { window.log.calls += 1; return real.apply(this, rest); };
  };
  for (const name of ["getBoundingClientRect", "getClientRects", "getAttribute", "contains",
                      "scrollIntoView", "closest", "querySelectorAll"])
    count(Element.prototype, name);
  count(document, "elementFromPoint");
  count(window, "getComputedStyle");
  count(EventTarget.prototype, "dispatchEvent");
  count(HTMLElement.prototype, "focus");
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (...rest) {
    window.log.listeners += 1; return add.apply(this, rest); };
  const later = window.setTimeout;
  window.setTimeout = (...rest) => { window.log.timers += 1; return later(...rest); };
  document.getElementById("host").attachShadow({ mode: "open" }).innerHTML = "<b>shade</b>";
</script></body>
"""

STATE = """(() => {
  const controls = [...document.querySelectorAll("input,textarea,select")];
  const globals = {};
  for (const name of Object.getOwnPropertyNames(window).sort()) {
    const value = window[name];
    globals[name] = ["string", "number", "boolean"].includes(typeof value) ? value : typeof value;
  }
  return {
    html: document.documentElement.outerHTML,
    form: controls.map((c) => [c.value, c.checked, c.selectedIndex ?? null]),
    marked: controls.map((c) => "selectionStart" in c && c.type !== "checkbox"
      ? [c.selectionStart, c.selectionEnd] : null),
    focus: document.activeElement && document.activeElement.outerHTML.slice(0, 80),
    hasFocus: document.hasFocus(),
    selection: String(document.getSelection()),
    scroll: [...document.querySelectorAll("*")].map((e) => [e.scrollLeft, e.scrollTop]),
    window: [scrollX, scrollY, innerWidth, innerHeight, history.length, location.href],
    hovered: [...document.querySelectorAll(":hover")].map((e) => e.tagName),
    expandos: Object.keys(document.documentElement).concat(Object.keys(document.body)),
    cookies: document.cookie,
    now: Date.now(),
    globals,
    log: window.log ? { ...window.log } : null,
  };
})()"""


async def _unsettle(session: ChromiumSession) -> None:
    """Give the page a focus, a marked text and positions that reading could spoil."""
    root = await session.reader.read()
    by_id = {node.attrs.get("id"): node for node in root.walk()}
    long, well = by_id["long"].point, by_id["well"].point
    assert long is not None
    assert well is not None
    await session.act(TypeText(text="typed", x=long[0], y=long[1], overwrite=True))
    await session.act(Click(x=long[0], y=long[1], count=2))
    await session.act(Scroll(direction=Direction.DOWN, amount=40, x=well[0], y=well[1]))


async def test_a_page_that_watches_itself_notices_nothing(browser: Browser) -> None:
    async with browser.opened(WATCHFUL) as session:
        await _unsettle(session)
        before = await session.evaluate(STATE)
        for _ in range(READS):
            await session.reader.read()
        after = await session.evaluate(STATE)

    assert after == before


async def test_the_watching_page_would_notice(browser: Browser) -> None:
    async with browser.opened(WATCHFUL) as session:
        before = await session.evaluate(STATE)
        await session.evaluate("document.getElementById('name').setAttribute('data-note', 'x')")
        await session.evaluate("document.getElementById('name').focus()")
        after = await session.evaluate(STATE)

    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert {key for key in before if before[key] != after[key]} >= {"html", "focus", "log"}


async def test_reading_twice_reads_the_same(browser: Browser) -> None:
    async with browser.opened(WATCHFUL) as session:
        assert await session.reader.read() == await session.reader.read()


async def test_no_script_variable_is_read(browser: Browser) -> None:
    async with browser.opened(WATCHFUL) as session:
        text = canonical_json(asdict(await session.reader.read()))

    assert "visible" in text
    for hidden in ("the-script-variable", "the-expando", "the-closure"):
        assert hidden not in text


async def test_the_readers_world_holds_none_of_the_pages_variables(browser: Browser) -> None:
    page = "<script>var secret = 'x'; function tell() {}</script>"
    async with browser.opened(page) as session:
        inside = await session._tab.channel.call("[typeof secret, typeof tell]")
        outside = await session.evaluate("[typeof secret, typeof tell, typeof stepmill]")

    assert inside == ["undefined", "undefined"]
    assert outside == ["string", "function", "undefined"]


async def test_a_page_cannot_lie_to_the_reader(browser: Browser) -> None:
    lies = """<p id="true" style="background: rgb(1, 2, 3)">true</p><script>
      Element.prototype.getBoundingClientRect = () => ({ left: 7, top: 7, width: 7, height: 7 });
      window.getComputedStyle = () => ({ getPropertyValue: () => "lie" });
      Object.defineProperty(HTMLElement.prototype, "innerText", { get: () => "lie" });
      document.elementFromPoint = () => null;
    </script>"""
    async with browser.opened(lies) as session:
        (found,) = [n for n in (await session.reader.read()).walk() if n.attrs.get("id") == "true"]

    assert found.text == "true"
    assert found.style["background-color"] == "rgb(1, 2, 3)"
    assert found.box[2] > 7
    assert found.point is not None


async def _fingerprint(session: ChromiumSession, site: MiniWob, task: Task, *, reads: int) -> str:
    """Return a page's state after its problem was drawn, and what its randomness gives next."""
    visit = await visit_to(site, task)
    await session.open(visit.start_url)
    problem = await site.begin(visit, session)
    for _ in range(reads):
        await session.reader.read()
    # A frame and its time pass either way, so that what reading set off would show.
    await session.act(Scroll(direction=Direction.DOWN, amount=1))
    state = await session.evaluate(STATE)
    chance = await session.evaluate("[Math.random(), Math.random()]")
    outcome = await site.outcome(problem, session)
    return canonical_json([state, chance, outcome.reward, outcome.done])


FAMILIES = (
    "choose-date",
    "click-menu",
    "drag-box",
    "email-inbox",
    "terminal",
    "text-editor",
    "use-slider",
)

FEW = ("choose-date", "email-inbox", "text-editor")
"""A widget of days, a list with menus, and a text that is edited."""


def _task(family: str) -> Task:
    return Task(
        task_id="x",
        template_id=family,
        source="test",
        site="miniwob",
        start_url=start_url(family),
        instruction="",
        seed=5,
        split="train",
    )


@pytest.mark.parametrize(
    "family",
    [pytest.param(family, marks=[] if family in FEW else pytest.mark.full) for family in FAMILIES],
)
async def test_a_page_that_was_read_goes_on_as_one_that_was_not(
    family: str, browser: Browser
) -> None:
    prints = []
    for reads in (0, READS):
        spec = browser.spec.model_copy(update={"allowed_origins": (ORIGIN,)})
        async with browser.chromium.session(spec) as session:
            prints.append(await _fingerprint(session, browser.miniwob, _task(family), reads=reads))

    assert prints[0] == prints[1]
