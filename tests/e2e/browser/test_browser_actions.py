"""Every action of the contract, carried out on real pages in a real browser."""

from typing import Any

import pytest
from aiohttp import web
from support.browsers.html_site import ORIGIN, opened

from generators.browser.page_calls import Channel
from generators.sites.gateway import Handler
from schemas.episodes.action import (
    Answer,
    Back,
    Button,
    Click,
    Direction,
    Drag,
    Forward,
    Goto,
    Hover,
    Key,
    KeyDown,
    KeyUp,
    NoAction,
    Reload,
    Restart,
    Scroll,
    Select,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

LOG = "<script>window.log=[];const note=t=>log.push(t)</script>"


async def test_a_click_says_what_lay_under_it() -> None:
    page = (
        LOG
        + "<button aria-label=Go style='position:absolute;left:50px;top:50px' onclick=note('go')>x</button>"
    )
    async with opened({"/": page}) as session:
        effect = await session.act(Click(x=58, y=60))

        assert effect.error is None
        assert effect.target is not None
        assert (effect.target.tag, effect.target.role, effect.target.name) == (
            "button",
            "button",
            "x",
        )
        assert await session.evaluate("log") == ["go"]


async def test_buttons_and_counts_reach_the_page() -> None:
    page = (
        LOG + "<div id=a style='position:absolute;inset:0' ondblclick=note('double') "
        "oncontextmenu=note('menu') onauxclick='note(`aux${event.button}`)'></div>"
    )
    async with opened({"/": page}) as session:
        await session.act(Click(x=20, y=20, count=2))
        await session.act(Click(x=20, y=20, button=Button.RIGHT))
        await session.act(Click(x=20, y=20, button=Button.MIDDLE))

        assert await session.evaluate("log") == ["double", "menu", "aux2", "aux1"]


async def test_hovering_shows_what_hovering_shows() -> None:
    page = (
        "<style>#b{display:none}#a:hover+#b{display:block}</style><p id=a>menu</p><p id=b>item</p>"
    )
    async with opened({"/": page}) as session:
        await session.act(Hover(x=20, y=25))

        assert "item" in {element.text for element in (await session.observe()).elements}


async def test_a_drag_moves_in_small_steps_with_the_button_down() -> None:
    page = (
        LOG + "<div id=a style='position:absolute;inset:0' onmousedown=note('down') "
        "onmousemove='event.buttons&&note(event.clientX)' onmouseup='note(`up${event.clientX}`)'></div>"
    )
    async with opened({"/": page}) as session:
        await session.act(Drag(x=10, y=10, to_x=90, to_y=10))

        log = await session.evaluate("log")
        assert isinstance(log, list)
        assert log[0] == "down"
        assert log[-1] == "up90"
        assert len(log) > 4


async def test_a_native_drag_and_drop_is_carried_through() -> None:
    page = (
        LOG
        + "<p id=a draggable=true ondragstart=\"event.dataTransfer.setData('text/plain','hi')\">drag me</p>"
        "<div id=b style='position:absolute;left:200px;top:200px;width:100px;height:100px' "
        "ondragover=event.preventDefault() ondrop=\"note(event.dataTransfer.getData('text/plain'))\"></div>"
    )
    async with opened({"/": page}) as session:
        await session.act(Drag(x=20, y=25, to_x=250, to_y=250))
        await session.act(Click(x=400, y=300))

        assert await session.evaluate("log") == ["hi"]


async def test_typing_goes_to_the_point_and_may_overwrite_and_send() -> None:
    page = (
        LOG + "<form onsubmit=\"note('sent:'+a.value);return false\"><input id=a value=old></form>"
    )
    async with opened({"/": page}) as session:
        await session.act(TypeText(text="né w☃", x=30, y=20, overwrite=True, enter=True))

        assert await session.evaluate("log") == ["sent:né w☃"]


async def test_typing_without_a_point_goes_to_the_focus_key_by_key() -> None:
    page = LOG + "<input id=a autofocus onkeydown=note(event.key)><script>a.focus()</script>"
    async with opened({"/": page}) as session:
        await session.act(TypeText(text="ab"))

        assert await session.evaluate("log") == ["a", "b"]


async def test_a_long_text_is_pasted_whole() -> None:
    async with opened({"/": "<textarea id=a></textarea>"}) as session:
        await session.act(TypeText(text="word " * 2_000, x=20, y=20))

        assert await session.evaluate("a.value.length") == 10_000


async def test_an_option_is_chosen_by_its_text() -> None:
    page = (
        LOG + "<select id=a onchange=note(a.value)><option value=1>One<option value=2>Two</select>"
    )
    async with opened({"/": page}) as session:
        assert (await session.act(Select(x=20, y=18, option="Two"))).error is None
        missing = await session.act(Select(x=20, y=18, option="Three"))
        beside = await session.act(Select(x=300, y=300, option="Two"))

        assert await session.evaluate("log") == ["2"]
        assert missing.error == "the list has no option 'Three'"
        assert beside.error == "there is no list at that point"


async def test_a_name_that_is_typed_is_what_an_open_list_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("Samoa", "Senegal", "Serbia", "Solomon Islands", "Somalia", "Spain", "Sudan", "Syria")
    page = (
        "<select id=list style='position:absolute;left:20px;top:20px;width:150px'>"
        + "".join(f"<option>{name}</option>" for name in names)
        + "</select>"
    )
    moments: list[float] = []
    burst = Channel.burst

    async def watched(channel: Channel, method: str, events: list[dict[str, Any]]) -> None:
        moments.extend(event["timestamp"] for event in events)
        await burst(channel, method, events)

    monkeypatch.setattr(Channel, "burst", watched)
    async with opened({"/": page}) as session:
        for name in reversed(names):
            await session.act(Click(x=60, y=30))
            await session.act(TypeText(text=name))
            await session.act(Key(key="Enter"))

            assert await session.evaluate("list.value") == name

    assert len(moments) > sum(map(len, names))
    assert moments == sorted(set(moments))


async def test_chords_and_held_keys_modify_what_follows() -> None:
    page = (
        LOG
        + "<input id=a value=word autofocus><div style='position:absolute;top:100px;left:0;width:50px;"
        "height:50px' onclick='note(`ctrl:${event.ctrlKey}`)'></div><script>a.focus()</script>"
    )
    async with opened({"/": page}) as session:
        await session.act(Key(key="Control+a"))
        assert await session.evaluate("[a.selectionStart, a.selectionEnd]") == [0, 4]
        await session.act(Key(key="Delete"))
        assert await session.evaluate("a.value") == ""
        await session.act(KeyDown(key="ctrl"))
        await session.act(Click(x=20, y=120))
        await session.act(KeyUp(key="ctrl"))
        await session.act(Click(x=20, y=120))

        assert await session.evaluate("log") == ["ctrl:true", "ctrl:false"]
        assert (await session.act(Key(key="Hyper+q"))).error == "there is no key 'Hyper'"


async def test_the_wheel_scrolls_what_is_under_the_pointer() -> None:
    page = (
        "<div id=a style='overflow:auto;height:100px;width:100px'><div style='height:900px'></div></div>"
        "<div style='height:3000px'></div>"
    )
    async with opened({"/": page}) as session:
        await session.act(Scroll(direction=Direction.DOWN, amount=120, x=50, y=50))
        await session.act(Scroll(direction=Direction.DOWN, amount=200, x=300, y=300))

        assert await session.evaluate("[a.scrollTop, scrollY]") == [120, 200]
        assert (await session.observe()).page.scroll_y == 200


async def test_going_to_a_page_and_back_and_forward_and_again() -> None:
    pages = {"/": "one", "/two": "two<script>document.title='two'</script>"}
    async with opened(pages) as session:
        await session.act(Goto(url=ORIGIN + "/two"))
        assert (await session.observe()).page.title == "two"
        assert (await session.act(Back())).error is None
        assert (await session.observe()).page.url == ORIGIN + "/"
        await session.act(Forward())
        assert (await session.observe()).page.url == ORIGIN + "/two"
        await session.act(Reload())
        assert (await session.observe()).page.url == ORIGIN + "/two"
        assert (await session.act(Forward())).error == "there is no page to go forward to"
        await session.act(Restart())
        assert (await session.observe()).page.url == ORIGIN + "/"


@pytest.mark.parametrize(
    "url", ["http://example.com/", "file:///etc/hostname", "javascript:1", "x"]
)
async def test_a_forbidden_address_is_an_error_of_the_action(url: str) -> None:
    async with opened({"/": "one"}) as session:
        effect = await session.act(Goto(url=url))

        assert effect.error is not None
        assert "not allowed here" in effect.error
        assert (await session.observe()).page.url == ORIGIN + "/"


async def test_a_point_outside_the_viewport_is_an_error_of_the_action() -> None:
    async with opened({"/": "one"}) as session:
        assert (
            await session.act(Click(x=500, y=10))
        ).error == "(500, 10) is outside the 500×400 viewport"
        assert (await session.act(Drag(x=1, y=1, to_x=1, to_y=400))).error is not None


async def test_tabs_open_switch_and_close() -> None:
    pages = {"/": "<a id=a href=/two target=_blank>two</a>", "/two": "two"}
    async with opened(pages) as session:
        await session.act(Click(x=15, y=15))
        assert (await session.observe()).page.url == ORIGIN + "/two"
        await session.act(Tab(operation=TabOperation.SWITCH, index=0))
        assert (await session.observe()).page.url == ORIGIN + "/"
        await session.act(Tab(operation=TabOperation.SWITCH, index=1))
        assert (await session.observe()).page.url == ORIGIN + "/two"
        await session.act(Tab(operation=TabOperation.OPEN, url=ORIGIN + "/"))
        assert (await session.observe()).page.url == ORIGIN + "/"
        assert (await session.act(Tab(operation=TabOperation.SWITCH, index=7))).error is not None
        await session.act(Tab(operation=TabOperation.CLOSE))
        await session.act(Tab(operation=TabOperation.CLOSE, index=0))
        assert (await session.observe()).page.url == ORIGIN + "/two"
        assert (
            await session.act(Tab(operation=TabOperation.CLOSE))
        ).error == "the last tab cannot be closed"


async def test_a_window_that_closes_itself_shows_its_opener() -> None:
    opener = "<button onclick=\"window.open('/two')\">two</button>"
    closes = "<button onclick=\"setTimeout(() => { opener.document.title = 'said'; window.close() }, 300)\">yes</button>"
    async with opened({"/": opener, "/two": closes}) as session:
        await session.act(Click(x=20, y=18))
        assert (await session.observe()).page.url == ORIGIN + "/two"
        await session.act(Click(x=20, y=18))
        seen = await session.observe()

    assert (seen.page.url, seen.page.title) == (ORIGIN + "/", "said")


async def test_waiting_passes_exactly_that_much_of_the_pages_time() -> None:
    page = LOG + "<script>setInterval(()=>note(1),100)</script>"
    async with opened({"/": page}) as session:
        await session.evaluate("log.length = 0")
        await session.act(Wait(ms=2_000))

        assert await session.evaluate("log.length") == 25


async def test_an_answer_touches_nothing() -> None:
    async with opened(
        {"/": "<p id=a></p><script>setInterval(()=>a.textContent+=1,10)</script>"}
    ) as session:
        before = await session.observe()
        await session.act(Answer(text="done"))
        await session.act(NoAction())

        assert (await session.observe()).page == before.page


async def test_what_a_dialog_says_is_told_and_never_waited_for() -> None:
    async with opened({"/": "<button onclick=\"alert('Saved!')\">save</button>"}) as session:
        effect = await session.act(Click(x=20, y=18))

        assert effect.result_text == "The page said: Saved!"


async def test_a_form_that_posts_and_redirects_is_followed_to_its_end() -> None:
    async def accept(_: web.BaseRequest) -> web.StreamResponse:
        raise web.HTTPFound("/done")

    pages: dict[str, str | Handler] = {
        "/": "<form method=post action=/post><button>send</button></form>",
        "/post": accept,
        "/done": "thanks",
    }
    async with opened(pages) as session:
        await session.act(Click(x=20, y=18))

        assert (await session.observe()).page.url == ORIGIN + "/done"


async def test_without_a_clock_the_same_actions_work_in_real_time() -> None:
    pages = {"/": "<a href=/two>two</a>", "/two": "two"}
    async with opened(pages, clock=None) as session:
        await session.act(Click(x=15, y=15))
        await session.act(Wait(ms=50))

        assert (await session.observe()).page.url == ORIGIN + "/two"


async def test_a_frame_is_seen_aimed_at_and_typed_into() -> None:
    pages = {
        "/": "<iframe src=/inner style='border:0;position:absolute;left:100px;top:50px'></iframe>",
        "/inner": "<body style='margin:0'><input id=a aria-label=City>",
    }
    async with opened(pages) as session:
        found = next(e for e in (await session.observe()).elements if e.name == "City")
        assert found.bbox[:2] == (100, 50)
        assert found.frame == ORIGIN + "/inner"
        assert not found.covered
        before = (await session.observe()).page

        effect = await session.act(TypeText(text="Oslo", x=110, y=60))

        after = await session.observe()
        assert effect.target is not None
        assert (effect.target.name, effect.target.frame) == (None, ORIGIN + "/inner")
        assert next(e for e in after.elements if e.name == "City").value == "Oslo"
        assert after.page.form_sha256 != before.form_sha256
        assert after.page.focus == "iframe:0 input#a:0"
