"""What pages of today do: they move, stream, leave their opener's group, and have fields behind shadow roots and frames."""

import asyncio
import time

import pytest
from aiohttp import web
from pydantic import JsonValue
from source_tree import ROOT
from support.browsers.html_site import CLOCK, opened
from zoo.servers import stream

from generators.browser import clock
from generators.browser.session import ChromiumSession
from schemas.episodes.action import Click, Direction, Scroll, Select, TypeText, Wait
from schemas.episodes.observation import Observation

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

PAGES = ROOT / "tests" / "sites" / "pages"

OPENING_SECONDS = 5.0
"""In which a page opens that holds an endless answer; it took a whole deadline for its time to pass."""

CLICKS = 5

LATE_SECONDS = 0.4
"""After which an answer ends, or news come: less than a silent stream is given."""

LAG_SECONDS = 3.0
"""For how long a page is left alone before it is drawn."""

STREAM = """<button id=more>More</button><p id=live>no news</p><ol id=list></ol><script>
new EventSource('/stream').onmessage = (event) => { live.textContent = event.data };
let n = 0;
more.onclick = async () => {
  n += 1;
  const answer = await fetch('/list?' + n);
  list.innerHTML += '<li>' + await answer.text();
};
</script>"""


def _page(name: str) -> str:
    return (PAGES / f"{name}.html").read_text(encoding="utf-8")


def _middle(seen: Observation, words: str) -> tuple[float, float]:
    """Return the middle of the element that says these words."""
    left, top, width, height = next(
        one.bbox for one in seen.elements if words in (one.text or one.name)
    )
    return left + width / 2, top + height / 2


def _point(said: JsonValue) -> tuple[float, float]:
    """Return the point that a page has said."""
    assert isinstance(said, list)
    x, y = (float(str(one)) for one in said)
    return x, y


async def _play(session: ChromiumSession, button: str) -> Observation:
    """Press a button, let two seconds of the page's time pass, and look."""
    x, y = _middle(await session.observe(), button)
    await session.act(Click(x=x, y=y))
    await session.act(Wait(ms=2_000))
    return await session.observe()


@pytest.mark.parametrize(
    ("button", "words", "event"),
    [
        ("show", "Total 41", "animationend"),
        ("open", "Opened 57", "finish"),
        ("slide", "Landed 63", "finished"),
    ],
)
async def test_what_an_animation_brings_in_is_shown_and_its_end_is_told(
    button: str, words: str, event: str
) -> None:
    async with opened({"/": _page("motion")}) as session:
        seen = await _play(session, button)
        shown = [one.text for one in seen.elements if one.visible == 1]
        told = str(await session.evaluate("log.textContent")).split()

    assert (words in shown, event in told) == (True, True)


async def test_what_leaves_with_a_transition_is_gone() -> None:
    async with opened({"/": _page("motion")}) as session:
        await _play(session, "leave")

        assert not await session.evaluate("document.body.contains(document.querySelector('#dlg'))")
        assert "transitionend" in str(await session.evaluate("log.textContent"))


async def _apart(_: web.BaseRequest) -> web.StreamResponse:
    """Answer with a page that leaves its opener's group, as each page of a Django site does."""
    return web.Response(
        text="<!DOCTYPE html><title>Apart</title><p>Apart</p>",
        content_type="text/html",
        headers={"Cross-Origin-Opener-Policy": "same-origin"},
    )


async def test_a_page_that_leaves_its_opener_s_group_keeps_the_clock_and_is_drawn() -> None:
    async with opened({"/": _apart}) as session:
        passed = await session.evaluate("Date.now()")
        await asyncio.sleep(LAG_SECONDS)  # a clock that lags behind real time draws nothing
        seen = await session.observe()

    assert passed == CLOCK.start_ms + CLOCK.load_ms
    assert seen.page.title == "Apart"


async def _rows(request: web.BaseRequest) -> web.StreamResponse:
    await asyncio.sleep(0.3)
    return web.Response(text="row " + request.query_string)


async def test_a_page_with_an_endless_answer_opens_and_its_other_answers_are_awaited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clock, "EXPIRY_SECONDS", OPENING_SECONDS + 1)
    begun = time.monotonic()
    newest: list[list[str]] = []
    async with opened({"/": STREAM, "/stream": stream, "/list": _rows}) as session:
        opening = time.monotonic() - begun
        for _ in range(CLICKS):
            await session.act(Click(x=30, y=18))
            seen = await session.observe()
            newest.append([one.text for one in seen.elements if one.tag == "li"][-1:])

    assert newest == [[f"row {number}"] for number in range(1, CLICKS + 1)]
    assert opening < OPENING_SECONDS


LATE = """<p id=live>no news</p><p id=read>nothing</p><script>
new EventSource('/stream').onmessage = (event) => setTimeout(() => { live.textContent = event.data }, 300);
fetch('/pieces').then((answer) => answer.text()).then((text) => { read.textContent = text });
</script>"""


async def _pieces(request: web.BaseRequest) -> web.StreamResponse:
    """Answer in two pieces, the second long after the page has loaded."""
    answer = web.StreamResponse()
    await answer.prepare(request)
    await answer.write(b"first ")
    await asyncio.sleep(LATE_SECONDS)
    await answer.write(b"last")
    return answer


async def _late(request: web.BaseRequest) -> web.StreamResponse:
    """Send an event, long after the page has loaded."""
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(request)
    await asyncio.sleep(LATE_SECONDS)
    await answer.write(b"data: news\n\n")
    await asyncio.sleep(OPENING_SECONDS)
    return answer


async def test_the_first_picture_shows_what_comes_late() -> None:
    async with opened({"/": LATE, "/stream": _late, "/pieces": _pieces}) as session:
        seen = await session.observe()

    assert [one.text for one in seen.elements if one.tag == "p"] == ["news", "first last"]


FETCHED = """<button id=more>More</button><p id=live>no news</p><script>
more.onclick = async () => {
  const reader = (await fetch('/told')).body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part; !(part = await reader.read()).done;) live.textContent = part.value;
};
</script>"""

TOLD = 6


async def _told(request: web.BaseRequest) -> web.StreamResponse:
    """Send events to a script that reads them itself, for longer than a silent stream is given."""
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(request)
    for number in range(1, TOLD + 1):
        await asyncio.sleep(LATE_SECONDS)
        await answer.write(("*" * number).encode())
    return answer


async def test_the_picture_after_an_action_shows_all_of_a_fetched_stream() -> None:
    async with opened({"/": FETCHED, "/told": _told}) as session:
        await session.act(Click(x=30, y=18))
        seen = await session.observe()

    assert [one.text for one in seen.elements if one.tag == "p"] == ["*" * TOLD]


WORKING = """<p id=said>nothing</p><script>
new Worker('/worker.js').onmessage = (event) => { said.textContent = event.data };
</script>"""


async def _worker(_: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="postMessage('at work')", content_type="text/javascript")


async def test_a_page_with_a_worker_opens_at_once() -> None:
    begun = time.monotonic()
    async with opened({"/": WORKING, "/worker.js": _worker}) as session:
        opening = time.monotonic() - begun
        seen = await session.observe()

    assert [one.text for one in seen.elements if one.tag == "p"] == ["at work"]
    assert opening < OPENING_SECONDS, "nobody is told that the worker's script has come"


@pytest.mark.parametrize("field", ["plain", "shadow", "deep", "frame"])
async def test_a_field_is_overwritten_hashed_and_listed_wherever_it_stands(field: str) -> None:
    async with opened({"/": _page("shadow")}) as session:
        before = await session.observe()
        x, y = _point(await session.evaluate(f"place('{field}')"))
        effect = await session.act(TypeText(x=x, y=y, text="new", overwrite=True))
        after = await session.observe()
        value = await session.evaluate(f"field.{field}().value")

    assert (value, effect.error) == ("new", None)
    assert before.page.form_sha256 != after.page.form_sha256
    assert any(
        one.tag == "input" and one.bbox[1] <= y <= one.bbox[1] + one.bbox[3]
        for one in after.elements
    )


async def test_a_reader_finds_the_label_behind_a_shadow_root() -> None:
    async with opened({"/": _page("shadow")}) as session:
        root = await session.reader.read()

    assert any("City" in node.own_text for node in root.walk())


KIT = """<x-button>Archive</x-button><x-pane><p slot=main style="height:60px;margin:0">Inbox</p></x-pane>
<x-note></x-note><script>
const kit = {
  'x-button': '<button style="width:120px;height:40px"><slot></slot></button>',
  'x-pane': '<style>:host{display:block} slot{overflow:hidden}</style><slot name=main></slot>',
  'x-note': '<textarea rows=3>Call back on Monday</textarea>',
};
for (const [tag, inside] of Object.entries(kit))
  customElements.define(tag, class extends HTMLElement {
    constructor() { super(); this.attachShadow({ mode: 'open' }).innerHTML = inside; }
  });
</script>"""


async def test_what_a_component_is_given_is_the_text_of_what_is_around_its_slot() -> None:
    async with opened({"/": KIT}) as session:
        nodes = {node.tag: node for node in (await session.reader.read()).walk()}

    assert [nodes[tag].text for tag in ("button", "x-button", "p")] == [
        "Archive",
        "Archive",
        "Inbox",
    ]


async def test_a_component_is_hit_where_what_it_consists_of_or_is_given_is_hit() -> None:
    async with opened({"/": KIT}) as session:
        nodes = {node.tag: node for node in (await session.reader.read()).walk()}
        seen = await session.observe()

    assert [tag for tag in ("x-button", "button", "x-pane", "p") if nodes[tag].point is None] == []
    assert [one.tag for one in seen.elements if one.visible and one.covered] == []


async def test_what_lets_clicks_through_is_reached_where_what_it_is_in_takes_them() -> None:
    page = (
        "<div style='padding:20px'><span style='pointer-events:none'>City</span></div><p>Below</p>"
    )
    async with opened({"/": page}) as session:
        found = next(node for node in (await session.reader.read()).walk() if node.tag == "span")

    assert found.point is not None


async def test_the_words_of_a_heading_and_a_line_of_a_link_are_hit_not_the_space_beside_them() -> (
    None
):
    page = (
        "<h1>Inbox</h1><p style='width:120px;font:16px monospace;line-height:40px'>See "
        "<a href='/all'>all the letters of May</a></p>"
    )
    async with opened({"/": page}) as session:
        nodes = {node.tag: node for node in (await session.reader.read()).walk()}
        lines = [one.bbox for one in (await session.observe()).sights or ()]

    for tag in ("h1", "a"):
        point = nodes[tag].point
        assert point is not None
        assert any(
            left <= point[0] <= left + width and top <= point[1] <= top + height
            for left, top, width, height in lines
        )


SPARKS = """<style>i{opacity:1} i.away{opacity:0;transition:opacity 100ms}</style><button id=go>Go</button>
<script>let gone = 0;
const spark = (left) => requestAnimationFrame(() => {
  const one = document.body.appendChild(document.createElement('i'));
  one.ontransitionend = () => { gone += 1; };
  requestAnimationFrame(() => one.classList.add('away'));
  if (left > 1) spark(left - 1);
});
go.onclick = () => spark(20);</script>"""


async def test_a_transition_begins_between_two_frames_of_the_page() -> None:
    async with opened({"/": SPARKS}) as session:
        await _play(session, "Go")

        assert await session.evaluate("gone") == 20


async def test_what_a_long_field_behind_a_shadow_root_holds_is_in_sight() -> None:
    async with opened({"/": KIT}) as session:
        seen = await session.observe()

    assert "Call back on Monday" in " ".join(one.text for one in seen.sights or ())


async def _choose(name: str, option: str) -> tuple[bool, object, object]:
    """Choose an option of a list; return whether that was refused, the list's value and its log."""
    box = f"document.querySelector('#{name}').getBoundingClientRect()"
    async with opened({"/": _page("select")}) as session:
        x, y = _point(await session.evaluate(f"(({{left, top}}) => [left + 10, top + 10])({box})"))
        effect = await session.act(Select(x=x, y=y, option=option))
        said = await session.evaluate(f"[document.querySelector('#{name}').value, log.textContent]")
        assert isinstance(said, list)
        value, log = said
    return effect.error is not None, value, log


async def test_an_option_that_can_be_chosen_is_chosen() -> None:
    assert await _choose("fine", "two") == (False, "two", "fine=two ")


@pytest.mark.parametrize(("name", "option"), [("gone", "sold out"), ("off", "two")])
async def test_what_no_mouse_can_choose_is_refused_and_changes_nothing(
    name: str, option: str
) -> None:
    assert await _choose(name, option) == (True, "one", "")


async def test_of_two_options_of_one_name_none_is_chosen_for_somebody() -> None:
    refused, _, log = await _choose("twice", "Paris")

    assert (refused, log) == (True, "")


SENDS = """<textarea id=box style="position:absolute;left:0;top:0;width:300px;height:80px"></textarea><ol id=sent></ol>
<script>box.onkeydown = (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  sent.innerHTML += '<li>' + box.value.length;
  box.value = '';
}</script>"""


@pytest.mark.parametrize("length", [399, 401])
async def test_a_line_break_is_the_enter_key_however_long_the_text_is(length: int) -> None:
    first = "x" * (length // 2)
    async with opened({"/": SENDS}) as session:
        await session.act(TypeText(x=20, y=20, text=f"{first}\n{first}"))
        said = await session.evaluate("[sent.textContent, box.value.length]")

    assert said == [str(len(first)), len(first)]


async def test_of_many_elements_those_in_sight_and_near_are_listed_and_the_rest_counted() -> None:
    rows = "".join(f"<li style='height:20px'><a href=/{n}>link {n}</a></li>" for n in range(1_000))
    page = f"<ul style='margin:0;padding:0;list-style:none'>{rows}</ul>"
    async with opened({"/": page}) as session:
        await session.act(Scroll(direction=Direction.DOWN, amount=10_000))
        seen = await session.observe()

    names = [int(one.name.removeprefix("link ")) for one in seen.elements if one.tag == "a"]
    in_sight = [one for one in seen.elements if one.visible > 0 and one.tag == "a"]
    assert names == sorted(names)
    assert {f"link {n}" for n in range(500, 518)} <= {one.name for one in in_sight}
    assert len(seen.elements) == len(names) == 400
    assert names == list(range(names[0], names[0] + 400))
    assert names[0] < 320
    assert seen.elements_left_out == 600
