"""Lists, suggestions and words on wrong fields are in the picture, and used by ordinary clicks and keys, in Chromium."""

import pytest
from effort import THOROUGH
from support.browsers.html_site import opened

from generators.browser.session import ChromiumSession
from schemas.episodes.action import (
    Click,
    Direction,
    Hover,
    Key,
    Scroll,
    Select,
    TypeText,
    Wait,
)
from schemas.episodes.observation import Observation

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

NOTES = """<script>
window.log = []
for (const type of ['mousedown', 'click', 'keydown', 'input', 'change', 'blur', 'focus'])
  document.addEventListener(type, (event) => log.push(`${type} ${event.target.localName}`), true)
</script>"""
FRUIT = """<select id=s style="position:absolute;left:10px;top:10px"><option>Apple<option>Banana
<option disabled>Cherry<optgroup label=Dry><option>Date<option>Fig</optgroup></select>"""
AT = Click(x=30, y=20)


def words(seen: Observation) -> list[str]:
    return [one.text for one in seen.sights or ()]


def option(seen: Observation, name: str) -> Click:
    """Return a click on a row of the list that the picture shows."""
    box = next(one.bbox for one in seen.elements if (one.role, one.name) == ("option", name))
    return Click(x=box[0] + box[2] / 2, y=box[1] + box[3] / 2)


async def value(session: ChromiumSession) -> object:
    return await session.evaluate("s.value")


async def test_an_open_list_is_in_the_picture_and_in_the_sights() -> None:
    async with opened({"/": FRUIT + "<p style='margin-top:60px'>below the list"}) as session:
        before = await session.observe()
        await session.act(AT)
        seen = await session.observe()

        assert words(seen)[-6:] == ["Apple", "Banana", "Cherry", "Dry", "Date", "Fig"]
        assert "below the list" in words(before)
        assert "below the list" not in words(seen), "what the list covers is not in sight"
        assert seen.screenshot.bytes != before.screenshot.bytes
        assert seen.page.dom_sha256 == before.page.dom_sha256


async def test_a_row_is_chosen_by_a_click_with_a_native_list_s_events() -> None:
    async with opened({"/": NOTES + FRUIT}) as session:
        await session.act(AT)
        await session.evaluate("log.length = 0")
        await session.act(option(await session.observe(), "Date"))

        assert await value(session) == "Date"
        assert await session.evaluate("log") == ["input select", "change select", "click select"]
        assert "Fig" not in words(await session.observe())


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        (["ArrowDown", "Enter"], "Banana"),
        (["ArrowDown", "ArrowDown", "Enter"], "Date"),
        (["End", "Enter"], "Fig"),
        (["End", "Home", "Enter"], "Apple"),
        (["d", "Enter"], "Date"),
        (["f", "i", "Enter"], "Fig"),
        (["ArrowDown", "Escape"], "Apple"),
        (["ArrowDown", "Tab"], "Banana"),
        (["PageDown", "Enter"], "Fig"),
    ][:: 1 if THOROUGH else 3],
)
async def test_a_row_is_chosen_by_keys(keys: list[str], chosen: str) -> None:
    async with opened({"/": FRUIT}) as session:
        await session.act(AT)
        for key in keys:
            await session.act(Key(key=key))

        assert await value(session) == chosen
        assert "Dry" not in words(await session.observe())


@pytest.mark.parametrize("key", ["Enter", *([" ", "Alt+ArrowDown", "F4"] if THOROUGH else [])])
async def test_a_list_in_focus_is_opened_by_keys(key: str) -> None:
    async with opened({"/": FRUIT}) as session:
        await session.act(Key(key="Tab"))
        await session.act(Key(key=key))
        assert "Dry" in words(await session.observe())
        await session.act(Key(key="Escape"))

        assert "Dry" not in words(await session.observe())


async def test_a_closed_row_and_a_group_cannot_be_chosen_and_a_press_beside_closes() -> None:
    async with opened({"/": FRUIT}) as session:
        await session.act(AT)
        seen = await session.observe()
        for name in ("Cherry", "Dry"):
            box = next(one.bbox for one in seen.sights or () if one.text == name)
            await session.act(Click(x=box[0] + 5, y=box[1] + 5))
        assert await value(session) == "Apple"
        assert "Dry" in words(await session.observe())
        await session.act(Click(x=400, y=300))

        assert "Dry" not in words(await session.observe())
        assert await value(session) == "Apple"


async def test_a_second_press_on_a_list_closes_it() -> None:
    async with opened({"/": FRUIT}) as session:
        await session.act(AT)
        await session.act(AT)

        assert "Dry" not in words(await session.observe())


async def test_a_long_list_is_scrolled_to_what_is_not_in_sight() -> None:
    many = "".join(f"<option>Row {n}" for n in range(200))
    async with opened({"/": f"<select id=s>{many}</select>"}) as session:
        await session.act(Click(x=30, y=18))
        assert "Row 100" not in words(await session.observe())
        await session.act(Scroll(direction=Direction.DOWN, amount=2_300, x=40, y=100))
        await session.act(option(await session.observe(), "Row 100"))

        assert await value(session) == "Row 100"


async def test_a_list_in_a_frame_and_one_in_a_modal_dialog_are_drawn_where_they_are() -> None:
    frame = "<iframe src=/frame style='position:absolute;left:100px;top:50px;width:300px;height:60px;border:0'></iframe>"
    pages = {
        "/": frame,
        "/frame": FRUIT,
        "/modal": f"<dialog id=d>{FRUIT}<br><br>text</dialog><script>d.showModal()</script>",
    }
    async with opened(pages) as session:
        await session.act(Click(x=130, y=70))
        await session.act(option(await session.observe(), "Fig"))
        assert await session.evaluate("frames[0].s.value") == "Fig"
    async with opened(pages, "/modal") as session:
        box = await session.evaluate("[s.getBoundingClientRect().x, s.getBoundingClientRect().y]")
        assert isinstance(box, list)
        await session.act(Click(x=float(str(box[0])) + 10, y=float(str(box[1])) + 8))
        await session.act(option(await session.observe(), "Fig"))
        assert await value(session) == "Fig"


async def test_suggestions_come_with_what_is_typed_and_are_taken_by_click_or_keys() -> None:
    field = "<input id=s list=l style='position:absolute;left:10px;top:10px'><datalist id=l><option>Red<option>Green<option>Grey</datalist>"
    async with opened({"/": NOTES + field}) as session:
        await session.act(TypeText(x=30, y=20, text="gr"))
        seen = await session.observe()
        assert words(seen)[-2:] == ["Green", "Grey"]
        await session.evaluate("log.length = 0")
        await session.act(option(seen, "Grey"))
        assert await value(session) == "Grey"
        assert await session.evaluate("log") == ["input input", "change input"]

        await session.act(TypeText(x=30, y=20, text="re", overwrite=True))
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            await session.act(Key(key=key))
        assert await value(session) == "Green"


async def test_the_word_on_a_wrong_field_is_shown_beside_it_for_a_while() -> None:
    form = "<form><input id=s required><button>Send</button></form>"
    async with opened({"/": form}) as session:
        await session.act(Click(x=200, y=18))
        seen = await session.observe()
        assert "Please fill out this field." in words(seen)
        assert seen.page.focus == "input#s:0"
        await session.act(Wait(ms=6_000))
        assert "Please fill out this field." not in words(await session.observe())

        await session.act(Click(x=200, y=18))
        await session.act(TypeText(text="Ann"))
        assert "Please fill out this field." not in words(await session.observe())


async def test_a_page_that_opens_nothing_or_asks_itself_gets_no_list() -> None:
    own = (
        FRUIT
        + "<script>s.addEventListener('mousedown', (event) => event.preventDefault())</script>"
    )
    off = FRUIT.replace("<select ", "<select disabled ")
    several = FRUIT.replace("<select ", "<select multiple ")
    for page in (own, off, several):
        async with opened({"/": page}) as session:
            await session.act(AT)
            assert await session._tab.channel.call("stepmill.drawn()") is None


async def test_the_list_moves_with_the_pointer_and_a_select_action_still_chooses() -> None:
    async with opened({"/": FRUIT}) as session:
        await session.act(AT)
        fig = option(await session.observe(), "Fig")
        await session.act(Hover(x=fig.x, y=fig.y))
        await session.act(Key(key="Enter"))
        assert await value(session) == "Fig"
        await session.act(Select(x=30, y=20, option="Banana"))
        assert await value(session) == "Banana"


DATE = "<input id=s type=date value=2024-03-05 style='position:absolute;left:10px;top:10px;width:125px'>"
SIGN = Click(x=122, y=20)


async def test_a_calendar_takes_clicks_and_keys_and_turns_its_months() -> None:
    async with opened({"/": NOTES + DATE}) as session:
        await session.act(SIGN)
        seen = await session.observe()
        assert "March 2024" in words(seen)
        await session.evaluate("log.length = 0")
        box = next(one.bbox for one in seen.elements if one.text == "21")
        await session.act(Click(x=box[0] + 5, y=box[1] + 5))
        assert await value(session) == "2024-03-21"
        assert await session.evaluate("log") == ["input input", "change input"]
        assert "March 2024" not in words(await session.observe())

        await session.act(SIGN)
        turn = next(one for one in (await session.observe()).elements if one.text == "\u2192")
        await session.act(Click(x=turn.bbox[0] + 5, y=turn.bbox[1] + 5))
        assert "April 2024" in words(await session.observe())
        for key in ("ArrowDown", "ArrowRight", "Enter"):
            await session.act(Key(key=key))
        assert await value(session) == "2024-04-29"


async def test_a_calendar_keeps_to_its_field_s_days_and_closes_without_a_change() -> None:
    bound = DATE.replace("type=date", "type=date min=2024-03-04 max=2024-03-06")
    async with opened({"/": bound}) as session:
        await session.act(SIGN)
        box = next(one.bbox for one in (await session.observe()).sights or () if one.text == "21")
        await session.act(Click(x=box[0] + 2, y=box[1] + 2))
        assert await value(session) == "2024-03-05"
        assert "March 2024" in words(await session.observe())
        await session.act(Key(key="Escape"))

        assert "March 2024" not in words(await session.observe())
        assert await value(session) == "2024-03-05"
