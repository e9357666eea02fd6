"""What an observation says is in sight: the texts and drawn things that a picture of the page shows."""

from collections.abc import AsyncIterator, Mapping

import pytest
from support.browsers.html_site import ORIGIN, opened

from generators.browser.session import ChromiumSession
from schemas.episodes.action import Click, Goto, Scroll, Tab, TabOperation
from schemas.episodes.action import Direction as Way
from schemas.episodes.observation import Observation

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

AT = "position:absolute;left:20px;top:20px;"
FRAME = f"<iframe style='{AT}width:120px;height:40px' srcdoc='%s'></iframe>"
TALL = "<div style='height:200px'></div>"
LONG = "Sed quis egestas. Eu porttitor venenatis a"

HIDDEN = {
    "given to no slot": f"<div id=host style='{AT}'>secret</div>"
    "<script>document.querySelector('#host').attachShadow({mode:'open'}).innerHTML='<p>x</p>'</script>",
    "transparent": f"<p style='{AT}opacity:0'>secret</p>",
    "transparent together": f"<div style='opacity:.3'><p style='{AT}opacity:.3'>secret</p></div>",
    "hidden": f"<p style='{AT}visibility:hidden'>secret</p>",
    "not displayed": "<p style='display:none'>secret</p>",
    "covered": f"<p style='{AT}'>secret</p><div style='{AT}width:200px;height:50px;background:#eee'></div>",
    "under a picture": f"<p style='{AT}'>secret</p><canvas width=200 height=80 style='{AT}'></canvas>",
    "clipped": f"<div style='{AT}width:80px;height:20px;overflow:hidden'>{TALL}secret</div>",
    "scrolled out": f"<div style='{AT}width:80px;height:40px;overflow:auto'>{TALL}secret</div>",
    "below the picture": "<p style='position:absolute;top:900px'>secret</p>",
    "beside the picture": "<p style='position:absolute;left:-500px'>secret</p>",
    "cut by a path": f"<p style='{AT}clip-path:inset(0 0 100% 0)'>secret</p>",
    "without ink": f"<p style='{AT}color:transparent'>secret</p>",
    "of its ground's colour": f"<p style='{AT}color:#123;background:#123'>secret</p>",
    "of no size": f"<p style='{AT}font-size:0'>secret</p>",
    "an option that is not chosen": f"<select style='{AT}'><option>one<option>secret</select>",
    "an option that is scrolled out": f"<select multiple style='{AT}height:40px'>"
    "<option>1<option>2<option>3<option>4<option>5<option>secret</select>",
    "a password": f"<input type=password style='{AT}' value=secret>",
    "a field that shows its start": f"<input style='{AT}width:60px' value='one two three secret'>",
    "an area that shows its start": f"<textarea style='{AT}width:90px;height:30px'>{LONG} secret</textarea>",
    "in a frame that is not displayed": "<iframe style='display:none' srcdoc='secret'></iframe>",
    "in a frame, scrolled out": FRAME % f"{TALL}secret",
    "in a frame that is covered": FRAME % "secret"
    + f"<div style='{AT}width:200px;height:90px;background:#eee'></div>",
    "a drawing's text, covered": f"<svg style='{AT}'><text x=5 y=15>secret</text>"
    "<rect width=90 height=40 fill=black></rect></svg>",
    "a drawing's text without ink": f"<svg style='{AT}'><text x=5 y=15 fill=none>secret</text></svg>",
    "an attribute": f"<button style='{AT}' aria-label=secret title=secret>x</button>",
}

SHADOW = (
    "<script>document.querySelector('#host').attachShadow({mode:'open'}).innerHTML=`%s`</script>"
)

SHOWN = {
    "given to a slot": f"<div id=host style='{AT}'><p style='{AT}'>secret</p></div>"
    + SHADOW % "<section><slot></slot></section>",
    "words given to a slot": f"<div id=host style='{AT}'>secret</div>"
    + SHADOW % "<button><slot></slot></button>",
    "words given to a slot without more": f"<div id=host style='{AT}'>secret</div>"
    + SHADOW % "<slot></slot>",
    "what a slot has of its own": f"<div id=host style='{AT}'></div>"
    + SHADOW % "<b><slot>secret</slot></b>",
    "plain": f"<p style='{AT}'>secret</p>",
    "faint": f"<p style='{AT}opacity:.5'>secret</p>",
    "under glass": f"<p style='{AT}'>secret</p><div style='{AT}width:200px;height:80px'></div>",
    "that no click reaches": f"<p style='{AT}pointer-events:none'>secret</p>",
    "a drawing's": f"<svg style='{AT}'><rect width=90 height=40 fill=red></rect>"
    "<text x=5 y=15 style='pointer-events:none'>secret</text></svg>",
    "a field's": f"<input style='{AT}' value=secret>",
    "a field's hint": f"<input style='{AT}' placeholder=secret>",
    "a button's value": f"<input type=submit style='{AT}' value=secret>",
    "the chosen option": f"<select style='{AT}'><option>secret<option>two</select>",
    "an option of an open list": f"<select multiple style='{AT}'><option>one<option>secret</select>",
    "an area's": f"<textarea style='{AT}'>secret</textarea>",
    "in a frame": FRAME % "secret",
    "the word of a line that is not clipped": f"<div style='{AT}width:48px;overflow:hidden;"
    "white-space:nowrap'>secret and more of it</div>",
    "out of a clipping box": "<div style='width:5px;height:5px;overflow:hidden'>"
    f"<p style='{AT}'>secret</p></div>",
}


def texts(seen: Observation) -> str:
    assert seen.sights is not None
    return " | ".join(sight.text for sight in seen.sights)


async def each_of(pages: Mapping[str, str]) -> AsyncIterator[tuple[str, ChromiumSession]]:
    """Yield the name of each page, and a session that shows it."""
    paths = {f"/{number}": page for number, page in enumerate(pages.values())}
    async with opened({"/": "", **paths}) as session:
        for name, path in zip(pages, paths, strict=True):
            assert (await session.act(Goto(url=ORIGIN + path))).error is None
            yield name, session


async def test_what_a_picture_does_not_show_is_not_in_sight(subtests: pytest.Subtests) -> None:
    async for how, session in each_of(HIDDEN):
        seen = await session.observe()
        with subtests.test(msg=how):
            assert "secret" not in texts(seen)


async def test_text_that_a_picture_shows_is_in_sight_with_its_box(
    subtests: pytest.Subtests,
) -> None:
    async for how, session in each_of(SHOWN):
        seen = await session.observe()
        with subtests.test(msg=how):
            [sight] = [sight for sight in seen.sights or () if "secret" in sight.text]
            left, top, width, height = sight.bbox
            assert sight.text == "secret"
            assert 8 <= left <= 60
            assert 8 <= top <= 60
            assert 20 <= width <= 400
            assert 10 <= height <= 80


async def test_an_area_shows_more_lines_once_it_is_scrolled() -> None:
    area = f"<textarea style='{AT}width:90px;height:30px'>{LONG} secret</textarea>"
    async with opened({"/": area}) as session:
        first = await session.observe()
        await session.act(Scroll(direction=Way.DOWN, amount=500, x=40, y=30))
        last = await session.observe()

    assert texts(first).startswith("Sed quis")
    assert texts(last).endswith("secret")
    assert "Sed" not in texts(last)


async def test_lines_are_apart_and_drawn_things_have_no_text() -> None:
    page = (
        f"<div style='{AT}width:80px'>wraps over several lines</div>"
        "<div style='position:absolute;left:200px;top:20px;width:10px;height:12px;background:red'></div>"
        "<div style='position:absolute;left:300px;top:20px;width:10px;height:12px'></div>"
    )
    async with opened({"/": page}) as session:
        seen = await session.observe()

    assert texts(seen) == "wraps over | several lines | "
    assert seen.sights is not None
    assert seen.sights[-1].bbox == (200, 20, 10, 12)


async def test_a_tab_that_is_not_shown_is_not_in_sight() -> None:
    async with opened({"/": "secret", "/other": "another"}) as session:
        await session.act(Tab(operation=TabOperation.OPEN, url="http://pages.localhost/other"))
        seen = await session.observe()

    assert texts(seen) == "another"


FIELD = "style='position:absolute;left:100px;top:20px;width:90px;height:20px'"
NAMED = {
    "its own words": ("<button {at}>Go</button>", "Go", "Go"),
    "its label": ("<label>City <input {at} value=Oslo></label>", "City", "Oslo"),
    "a label for it": ("<label for=a>City</label><input id=a {at}>", "City", None),
    "what hints at it": ("<input {at} placeholder=City>", "City", "City"),
    "a label that is hidden": (
        "<label for=a style='visibility:hidden'>City</label><input id=a {at}>",
        None,
        None,
    ),
    "words for a screen reader": ("<button {at} aria-label=Close>x</button>", "x", "x"),
    "words under a resting pointer": ("<button {at} title=Close></button>", None, None),
    "what stands for a picture": ("<img {at} alt=Cat src=data:,>", None, None),
    "what a form calls it": ("<input {at} name=city>", None, None),
    "words too small to see": ("<div {at}><b style='font-size:0'>17</b></div>", None, None),
    "its tag": ("<canvas {at}></canvas>", None, None),
}
"""What could name a target: the page, the name and the text that it has in the picture."""


async def test_a_target_is_named_by_what_the_picture_shows(subtests: pytest.Subtests) -> None:
    async for what, session in each_of(
        {what: page.format(at=FIELD) for what, (page, _, _) in NAMED.items()}
    ):
        effect = await session.act(Click(x=140, y=30))
        with subtests.test(msg=what):
            assert effect.target is not None
            assert (effect.target.name, effect.target.text) == NAMED[what][1:]


CLOBBERED = (
    "children childNodes parentNode parentElement attributes tagName nodeName localName namespaceURI nodeType "
    "ownerDocument innerText textContent getAttribute hasAttribute getBoundingClientRect getClientRects contains "
    "closest compareDocumentPosition getRootNode shadowRoot labels id isContentEditable clientWidth clientHeight "
    "scrollWidth scrollHeight scrollTop scrollLeft"
)
"""What elements are asked for, as names of fields, which a form then has in its place."""


async def test_fields_that_are_called_as_properties_hide_nothing_of_their_form() -> None:
    fields = "".join(f"<input name={name} value={name}>" for name in CLOBBERED.split())
    page = f"<form tabindex=0 aria-label=Order>secret {fields}</form>"
    async with opened({"/": page}) as session:
        await session.act(Click(x=12, y=16))
        seen, root = await session.observe(), await session.reader.read()

    form = next(node for node in root.walk() if node.tag == "form")
    assert texts(seen).split(" | ") == ["secret", *CLOBBERED.split()]
    assert ("form", "Order") in {(one.tag, one.name) for one in seen.elements}
    assert form.text.startswith("secret")
    assert len(form.children) == len(CLOBBERED.split())
    assert form.inner > (0, 0)


DATED = {
    "a day": ("date value=2024-07-02", "07/02/2024"),
    "no day": ("date", "mm/dd/yyyy"),
    "an hour": ("time value=13:05", "01:05 PM"),
    "no hour": ("time", "--:-- --"),
}


async def test_fields_of_days_and_times_are_in_sight_as_they_are_drawn() -> None:
    page = "<br>".join(f"<input type={kind}>" for kind, _ in DATED.values())
    async with opened({"/": page}) as session:
        seen = await session.observe()

    assert texts(seen) == " | ".join(text for _, text in DATED.values())
