"""What a page of a world is looked at for: each defect is found, alone, and a usable page has none."""

import pytest
from html_site import opened

from flows.job.world_check import LOOK

pytestmark = pytest.mark.browser

BOX = "position:absolute;left:0;top:0;width:200px;height:100px"

USABLE = {
    "plain": "<p>Some words</p><a href=/>A link</a><button>Go</button>",
    "large contrast on a coloured ground": "<div style='background:#036'><p style='color:#fff'>Words</p></div>",
    "a picture behind is not judged": "<p style='background:url(/x.png);color:#fff'>Words</p>",
    "words that are not shown": "<p style='visibility:hidden;color:#fff'>Words</p><p hidden>x</p>",
    "what is off cannot be used": "<button disabled style='color:#fefefe;background:#fff'>Off</button>",
    "an ellipsis says that words go on": (
        "<p style='width:40px;overflow:hidden;white-space:nowrap;text-overflow:ellipsis'>Many long words</p>"
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
    "'Many long words' is cut off": (
        "<p style='width:40px;overflow:hidden;white-space:nowrap'>Many long words</p>"
    ),
    "'A link' is covered by 'Over it'": f"<a href=/>A link</a><div style='{BOX}'>Over it</div>",
}


async def found(page: str) -> list[object]:
    async with opened({"/": page}) as session:
        said = await session.evaluate(LOOK)
        assert isinstance(said, list)
        return list(said)


@pytest.mark.parametrize("page", USABLE.values(), ids=USABLE)
async def test_a_page_that_can_be_used_has_no_defect(page: str) -> None:
    assert await found(page) == []


@pytest.mark.parametrize(("said", "page"), DEFECTS.items(), ids=DEFECTS)
async def test_a_defect_is_found_alone(said: str, page: str) -> None:
    (one,) = await found(page)

    assert said in str(one)
