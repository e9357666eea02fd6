"""What a page of a world is looked at for: each defect is found, alone, and a usable page has none."""

from collections.abc import Mapping

import pytest
from support.browsers.html_site import HOST, opened

from flows.checks.world_pages import find_defects, open_in_place
from schemas.episodes.action import Goto

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

BOX = "position:absolute;left:0;top:0;width:200px;height:100px"

USABLE = {
    "plain": "<p>Some words</p><a href=/>A link</a><button>Go</button>",
    "large contrast on a coloured ground": "<div style='background:#036'><p style='color:#fff'>Words</p></div>",
    "a picture behind is not judged": "<p style='background:url(/x.png);color:#fff'>Words</p>",
    "words that are not shown": "<p style='visibility:hidden;color:#fff'>Words</p><p hidden>x</p>",
    "what is off cannot be used": "<button disabled style='color:#fefefe;background:#fff'>Off</button>",
    "a box beside its label": "<label><input type=checkbox> Near</label><input placeholder='Search here'>",
    "an ellipsis says that words go on": (
        "<p style='width:40px;overflow:hidden;white-space:nowrap;text-overflow:ellipsis'>Many long words</p>"
    ),
    "what is closed is not looked at": (
        f"<details><summary>More</summary><a href=/>A link</a></details><div style='{BOX};top:40px'>Words</div>"
    ),
    "what can be scrolled to is not cut off": (
        "<div style='width:60px;overflow:auto;white-space:nowrap'><a href=/>Many</a> <a href=/x>long words</a></div><p>Words</p>"
    ),
    "what stays in place covers by design": (
        f"<a href=/>A link</a><div style='{BOX};position:fixed'>Cookies</div>"
    ),
}

DEFECTS = {
    "px wide": "<div style='width:900px;height:9px'></div>",
    "'Pale words' has a contrast of 1.2 to 1": "<p style='color:#eaeaea'>Pale words</p>",
    "'Dark words' has a contrast of": "<div style='background:#222'><p style='color:#333'>Dark words</p></div>",
    "'Thin words' has a contrast of": "<p style='color:rgb(0 0 0 / 20%)'>Thin words</p>",
    "'Search here' has a contrast of": "<style>::placeholder{color:#ddd}</style><input placeholder='Search here'>",
    "'Far words' is far from its box": (
        "<input type=radio id=far style='float:left'><label for=far style='float:right'>Far words</label>"
    ),
    "'Letters' has a letter a line": "<p style='width:9px;overflow-wrap:anywhere'>Letters</p>",
    "'Many long words' is cut off": (
        "<p style='width:40px;overflow:hidden;white-space:nowrap'>Many long words</p>"
    ),
    "'Long words here' is cut off": (
        "<div style='width:40px;overflow:hidden;white-space:nowrap'><span>Long words here</span></div>"
    ),
    "'Unbroken-words' runs out of what it is in": "<p style='width:40px;white-space:nowrap'>Unbroken-words</p>",
    "'First words' lies over 'Second words'": (
        f"<p style='{BOX}'>First words</p><p style='{BOX};pointer-events:none'>Second words</p>"
    ),
    "'A link' is covered by 'Over it'": f"<a href=/>A link</a><div style='{BOX};padding-top:40px'>Over it</div>",
}


async def found(pages: Mapping[str, str]) -> dict[str, list[str]]:
    """Return what is found of each page, by what it is called."""
    async with opened(
        {"/": "", **{f"/{at}": page for at, page in enumerate(pages.values())}}
    ) as session:
        said = dict[str, list[str]]()
        for at, name in enumerate(pages):
            await session.act(Goto(url=f"http://{HOST}/{at}"))
            said[name] = await find_defects(session)
    return said


async def test_a_page_that_can_be_used_has_no_defect() -> None:
    assert [name for name, each in (await found(USABLE)).items() if each] == []


async def test_a_defect_is_found_alone() -> None:
    said = await found(DEFECTS)

    assert {name: len(each) for name, each in said.items()} == dict.fromkeys(DEFECTS, 1)
    assert [name for name, each in said.items() if name not in each[0]] == []


async def test_what_a_page_opens_over_itself_is_opened() -> None:
    page = "<main><a data-place=dialog onclick=\"this.textContent = 'Opened'; return false\" href=/>Open</a></main>"
    async with opened({"/": page, "/none": "<main></main>"}) as session:
        assert await open_in_place(session)
        assert await session.evaluate("document.querySelector('a').textContent") == "Opened"
