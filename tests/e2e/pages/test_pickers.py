"""Pickers of days, weeks, months, times and colours are in the picture, and used by ordinary clicks and keys, in Chromium."""

import pytest
from effort import THOROUGH
from support.browsers.html_site import ORIGIN, browsing, opened, spec

from generators.browser.session import ChromiumSession
from schemas.episodes.action import Click, Direction, Key, Scroll, TypeText, Wait
from schemas.episodes.observation import Observation

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

NOTES = """<script>
window.log = []
for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click', 'keydown', 'wheel', 'input', 'change', 'blur', 'focus'])
  document.addEventListener(type, (event) => log.push(`${type} ${event.target.id}=${event.target.value}`), true)
</script>"""
PLACED = "<style>#s { position: absolute; left: 10px; top: 10px; width: 200px; box-sizing: border-box }</style>"
SIGN = Click(x=200, y=20)


def field(attributes: str) -> str:
    return f"{NOTES}{PLACED}<input id=s {attributes}>"


def named(seen: Observation, name: str) -> Click:
    """Return a click on what the picker shows under this name or text."""
    box = next(one.bbox for one in reversed(seen.elements) if name in (one.name, one.text))
    return Click(x=box[0] + box[2] / 2, y=box[1] + box[3] / 2)


def words(seen: Observation) -> list[str]:
    return [one.text for one in seen.sights or ()]


def shown(seen: Observation) -> list[str]:
    """Return the names of what can be pressed in a picker."""
    return [one.name for one in seen.elements if one.tag == "div" and one.role == "button"]


async def open_picker(session: ChromiumSession) -> Observation:
    """Press the field's sign, forget what the page heard of it, and look."""
    await session.act(SIGN)
    await session.evaluate("log.length = 0")
    return await session.observe()


async def press(session: ChromiumSession, *names: str) -> None:
    for name in names:
        await session.act(named(await session.observe(), name))


async def keys(session: ChromiumSession, *names: str) -> None:
    for name in names:
        await session.act(Key(key=name))


async def heard(session: ChromiumSession) -> list[str]:
    """Return what the page heard since it was asked last."""
    told = await session.evaluate("log.splice(0)")
    assert isinstance(told, list)
    return [str(one) for one in told]


async def is_open(session: ChromiumSession) -> bool:
    """Return whether our picker is open; a native one never is."""
    assert await session.evaluate("document.querySelector('input:open')") is None
    return await session._tab.channel.call("stepmill.drawn() !== null") is True


async def test_a_colour_is_chosen_by_a_click_on_its_swatch() -> None:
    async with opened({"/": field("type=color value=#ff8800")}) as session:
        before = await session.observe()
        seen = await open_picker(session)
        assert {"#ff0000", "#808080", "#ff8800"} <= set(shown(seen))
        assert seen.screenshot.bytes != before.screenshot.bytes
        assert seen.page.dom_sha256 == before.page.dom_sha256
        assert seen.page.form_sha256 == before.page.form_sha256
        await press(session, "#0080ff")

        assert await heard(session) == ["input s=#0080ff", "change s=#0080ff"]
        assert not await is_open(session)


async def test_a_colour_is_chosen_by_arrows_and_by_its_digits_and_kept_by_escape() -> None:
    async with opened({"/": field("type=color value=#ff0000")}) as session:
        await open_picker(session)
        await keys(session, "ArrowRight", "ArrowDown", "Enter")
        assert await heard(session) == ["input s=#804000", "change s=#804000"]
        await open_picker(session)
        await session.act(TypeText(text="12aB9f"))
        assert "#12ab9f" in words(await session.observe())
        await keys(session, "Escape")
        assert await heard(session) == []
        await open_picker(session)
        await session.act(TypeText(text="12aB9f"))
        await keys(session, "Enter")
        assert await heard(session) == ["input s=#12ab9f", "change s=#12ab9f"]


async def test_the_colours_that_a_field_suggests_come_before_all_others() -> None:
    page = field("type=color list=l value=#123456") + (
        "<datalist id=l><option>#123456<option>#00ff00<option>none</datalist>"
    )
    async with opened({"/": page}) as session:
        assert shown(await open_picker(session)) == ["#123456", "#00ff00", "Other…"]
        await press(session, "Other…")
        assert "#ff0080" in shown(await session.observe())
        await press(session, "#ff0080")
        assert await heard(session) == ["input s=#ff0080", "change s=#ff0080"]


async def test_a_time_follows_each_press_and_has_changed_when_its_picker_closes() -> None:
    async with opened({"/": field("type=time value=13:45")}) as session:
        seen = await open_picker(session)
        assert not any("second" in name for name in shown(seen))
        await press(session, "03 hours", "47 minutes", "AM")
        assert await heard(session) == ["input s=15:45", "input s=15:47", "input s=03:47"]
        await keys(session, "Enter")
        assert await heard(session) == ["change s=03:47"]

        await open_picker(session)
        await press(session, "PM")
        await session.act(Click(x=400, y=380))
        assert (await heard(session))[:3] == [
            "input s=15:47",
            "change s=15:47",
            "pointerdown =undefined",
        ]
        assert not await is_open(session)


async def test_a_time_follows_keys_and_escape_takes_it_back() -> None:
    async with opened({"/": field("type=time value=13:45")}) as session:
        await open_picker(session)
        await keys(session, "ArrowDown", "ArrowRight", "ArrowUp", "Tab", "ArrowDown")
        assert await heard(session) == ["input s=14:45", "input s=14:44", "input s=02:44"]
        await keys(session, "Escape")

        assert await heard(session) == ["input s=13:45"]
        assert not await is_open(session)


async def test_seconds_are_there_if_the_step_asks_and_a_step_leaves_the_others_out() -> None:
    async with opened({"/": field("type=time value=13:45:10 step=1")}) as session:
        await open_picker(session)
        await press(session, "12 seconds")
        assert await heard(session) == ["input s=13:45:12"]
    async with opened(
        {"/": field("type=time min=09:10 max=17:30 step=900 value=10:10")}
    ) as session:
        seen = await open_picker(session)
        minutes = [name for name in shown(seen) if "minute" in name]
        assert minutes == ["10 minutes", "25 minutes", "40 minutes", "55 minutes"]
        assert "08 hours" not in shown(seen)
        await press(session, "55 minutes", "05 hours")
        assert await heard(session) == ["input s=10:55", "input s=17:25"], "17:55 is out"


async def test_a_month_is_chosen_in_its_year_by_clicks_and_keys() -> None:
    async with opened({"/": field("type=month value=2024-03")}) as session:
        assert "2024" in words(await open_picker(session))
        await press(session, "→", "October 2025")
        assert await heard(session) == ["input s=2025-10", "change s=2025-10"]
        await open_picker(session)
        await keys(session, "ArrowRight", "ArrowDown", "Enter")
        assert await heard(session) == ["input s=2025-11", "input s=2026-03", "change s=2026-03"]


async def test_a_week_is_chosen_by_its_number_and_by_its_days() -> None:
    async with opened({"/": field("type=week value=2024-W10")}) as session:
        seen = await open_picker(session)
        assert "March 2024" in words(seen)
        await press(session, "2024-W12")
        assert await heard(session) == ["input s=2024-W12", "change s=2024-W12"]
        await open_picker(session)
        await press(session, "2024-03-10")
        assert await heard(session) == ["input s=2024-W10", "change s=2024-W10"], "its last day"
        await open_picker(session)
        await keys(session, "ArrowDown", "Escape")
        assert await heard(session) == ["input s=2024-W11", "input s=2024-W10"]


async def test_a_day_and_its_time_are_chosen_in_one_picker() -> None:
    async with opened({"/": field("type=datetime-local value=2024-03-05T13:45")}) as session:
        await open_picker(session)
        await press(session, "2024-03-07", "02 hours", "→")
        assert await heard(session) == ["input s=2024-03-07T13:45", "input s=2024-03-07T14:45"]
        await keys(session, "Tab", "ArrowDown", "Enter")
        assert await heard(session) == ["input s=2024-04-07T15:45", "change s=2024-04-07T15:45"]
        await open_picker(session)
        await press(session, "Clear")
        assert await heard(session) == ["input s=", "change s="]


async def test_a_day_follows_arrows_as_well() -> None:
    async with opened({"/": field("type=date value=2024-03-05")}) as session:
        await open_picker(session)
        await keys(session, "ArrowRight", "ArrowDown", "Enter")
        assert await heard(session) == [
            "input s=2024-03-06", "input s=2024-03-13", "change s=2024-03-13",
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("attributes", "closed"),
    [
        ("type=month value=2024-03 min=2024-02 max=2024-04", "June 2024"),
        ("type=week value=2024-W10 max=2024-W10", "2024-W11"),
        ("type=date value=2024-03-05 step=2", "2024-03-06"),
        ("type=datetime-local value=2024-03-05T13:45 min=2024-03-05T12:00", "2024-03-04"),
        ("type=datetime-local value=2024-03-05T13:45 min=2024-03-05T12:00", "AM"),
        ("type=time value=13:45 max=14:00 min=13:00", "AM"),
    ],
)
async def test_what_a_field_does_not_take_is_not_chosen(attributes: str, closed: str) -> None:
    async with opened({"/": field(attributes)}) as session:
        seen = await open_picker(session)
        if closed == "AM":
            assert "AM" not in words(seen)
        else:
            await press(session, closed)
        assert await heard(session) == []
        assert await is_open(session)
        await keys(session, "Escape")
        assert await heard(session) == []


KINDS = (
    "type=color value=#ff0000",
    "type=time value=13:45",
    "type=month value=2024-03",
    "type=week value=2024-W10",
    "type=datetime-local value=2024-03-05T13:45",
    "type=date value=2024-03-05",
)


@pytest.mark.parametrize("kind", KINDS if THOROUGH else KINDS[:2])
async def test_a_field_that_is_closed_opens_nothing_and_fires_nothing(kind: str) -> None:
    closed = ["disabled"] if "color" in kind else ["disabled", "readonly"]
    for how in closed:
        page = (
            field(f"{kind} {how}")
            + "<button onclick='try { s.showPicker() } catch (e) { log.push(e.name) }'>Ask"
        )
        async with opened({"/": page + "<style>button { margin: 60px 10px }</style>"}) as session:
            value = await session.evaluate("s.value")
            await session.act(SIGN)
            await keys(session, "F4", "Enter")
            assert not await is_open(session)
            await session.act(Click(x=25, y=70))
            assert "InvalidStateError" in (await heard(session))
            assert not await is_open(session)
            assert await session.evaluate("s.value") == value


@pytest.mark.parametrize("kind", KINDS if THOROUGH else KINDS[:2])
async def test_a_script_opens_a_picker_where_a_browser_lets_it(kind: str) -> None:
    page = (
        field(kind)
        + "<style>button { margin: 60px 10px }</style><button onclick='s.showPicker()'>Ask"
    )
    async with opened({"/": page}) as session:
        denied = "(() => { try { s.showPicker() } catch (error) { return error.name } })()"
        assert await session.evaluate(denied) == "NotAllowedError"
        assert not await is_open(session)
        await session.act(Click(x=25, y=70))
        assert await is_open(session)


async def test_a_script_opens_a_list_and_the_suggestions_of_a_field() -> None:
    several = "<option>Red<option>Green"
    fields = (
        f"<select id=a>{several}</select><input id=b list=l><datalist id=l>{several}</datalist>"
    )
    one, two = (
        f"<button onclick='{name}.showPicker()'>{text}</button>"
        for name, text in (("a", "One"), ("b", "Two"))
    )
    page = f"{fields}<p style='margin-top: 90px'>{one}{two}"
    async with opened({"/": page}) as session:
        for name in ("One", "Two"):
            await press(session, name)
            assert words(await session.observe())[-2:] == ["Red", "Green"]


async def test_a_hidden_colour_is_opened_through_the_button_that_stands_for_it() -> None:
    page = field("type=color style='opacity:0;pointer-events:none'") + (
        "<style>button { margin: 60px 10px }</style><button onclick='s.click()'>Colour"
    )
    async with opened({"/": page}) as session:
        await session.act(Click(x=25, y=70))
        await press(session, "#00ff00")
        assert await session.evaluate("s.value") == "#00ff00"


async def test_a_page_decides_about_its_picker_and_may_keep_the_click_to_itself() -> None:
    prevented = "<script>s.addEventListener('click', (event) => event.preventDefault())</script>"
    kept = "<script>document.body.addEventListener('click', (event) => event.stopPropagation())</script>"
    for script, expected in ((prevented, False), (kept, True)):
        async with opened({"/": field("type=time value=13:45") + script}) as session:
            await session.act(SIGN)
            assert await is_open(session) is expected


@pytest.mark.parametrize(
    ("style", "x", "expected"),
    [
        ("position: absolute; width: 100%; opacity: 0", 60, True),
        ("display: none", 200, False),
        ("color: red", 60, False),
    ],
)
async def test_a_page_may_lay_the_sign_over_its_field_or_take_it_away(
    style: str, x: float, *, expected: bool
) -> None:
    rule = f"@media all {{ input::-webkit-calendar-picker-indicator {{ {style} }} }}"
    async with opened({"/": field("type=date") + f"<style>{rule}</style>"}) as session:
        await session.act(Click(x=x, y=20))
        assert await is_open(session) is expected


@pytest.mark.parametrize("kind", KINDS if THOROUGH else KINDS[:2])
async def test_a_second_press_closes_and_keys_open(kind: str) -> None:
    async with opened({"/": field(kind)}) as session:
        await session.act(SIGN)
        assert await is_open(session)
        await session.act(SIGN)
        assert not await is_open(session)
        await keys(session, "Space")
        assert await is_open(session)
        await session.act(Click(x=450, y=380))
        assert not await is_open(session)


async def test_a_minute_that_is_not_in_sight_is_scrolled_to() -> None:
    async with opened({"/": field("type=time value=13:05")}) as session:
        hour = named(await open_picker(session), "03 hours")
        minute = named(await session.observe(), "07 minutes")
        assert "40" not in words(await session.observe())
        await session.act(Scroll(direction=Direction.DOWN, amount=1_190, x=minute.x, y=minute.y))
        seen = await session.observe()
        assert "40" in words(seen)
        await session.act(named(seen, "41 minutes"))
        assert await session.evaluate("s.value") == "13:41"
        assert named(await session.observe(), "03 hours") == hour


async def test_what_is_pressed_in_a_picker_is_unheard_by_the_page() -> None:
    async with opened({"/": field("type=datetime-local value=2024-03-05T13:45")}) as session:
        await open_picker(session)
        await press(session, "→", "←")
        await keys(session, "Tab", "ArrowRight", "Tab")
        await session.act(Wait(ms=500))

        assert await heard(session) == []
        assert await session.evaluate("document.activeElement.id") == "s"


async def test_a_picker_in_a_frame_is_drawn_where_its_field_is() -> None:
    frame = "<iframe src=/frame style='position:absolute;left:100px;top:50px;width:300px;height:60px;border:0'></iframe>"
    async with opened({"/": frame, "/frame": field("type=month value=2024-03")}) as session:
        await session.act(Click(x=SIGN.x + 100, y=SIGN.y + 50))
        await press(session, "May 2024")
        assert await session.evaluate("frames[0].s.value") == "2024-05"


async def test_a_session_that_draws_no_lists_draws_no_picker() -> None:
    pages = {"/": field("type=month value=2024-03")}
    earlier = spec().model_copy(update={"draws_lists": False})
    async with browsing(pages) as (chromium, _), chromium.session(earlier) as session:
        await session.open(ORIGIN + "/")
        await session.act(SIGN)
        assert await session._tab.channel.call("stepmill.drawn()") is None
