"""The figures of pictures and points, and that each limit is missed where it should be."""

import io
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image
from support.runs.memory_run import published, small_run

from bench.measuring.pictures import (
    BARE,
    Figures,
    Quarter,
    area_share,
    content_share,
    measure,
    open_tables,
    summarise,
)

EVEN: Counter[Quarter] = Counter(
    {(right, lower): 25 for right in (False, True) for lower in (False, True)}
)


def _picture(content: int) -> bytes:
    """Return a picture whose upper rows are content, so many of 100."""
    picture = Image.new("RGB", (50, 100), BARE)
    picture.paste("white", (0, 0, 50, content))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _figures(content: float, clicks: Counter[Quarter]) -> dict[str, object]:
    return summarise(Figures({"a": [content]}, [content], {"a": clicks}, Counter()))


@pytest.mark.parametrize("content", [0, 40, 100])
def test_what_has_not_the_colour_of_the_bare_page_is_content(content: int) -> None:
    assert content_share(_picture(content)) == pytest.approx(content / 100)


@pytest.mark.parametrize("left", [0, 2, 60])
def test_a_picture_that_is_missing_or_cut_shows_nothing(left: int) -> None:
    assert content_share(_picture(100)[:left]) == 0.0


def test_the_area_that_a_site_states_is_measured_beside_it() -> None:
    assert area_share("click-test", 160, 210) == 1.0
    assert area_share("click-test", 320, 420) == 0.25
    assert area_share("use-autocomplete", 160, 264) == 1.0


def test_each_limit_is_missed_alone() -> None:
    corner = Counter(EVEN | Counter({(False, False): 400}))

    assert _figures(0.95, EVEN)["held"]
    assert not _figures(0.85, EVEN)["held"]
    assert not _figures(0.95, corner)["held"]
    assert not _figures(0.95, Counter({(False, False): 5}))["held"]


def test_the_emptiest_quarter_and_who_clicks_there_are_named() -> None:
    clicks = Counter({(False, False): 90, (True, True): 6, (False, True): 50, (True, False): 54})

    assert _figures(0.95, clicks)["emptiest"] == {"quarter": "lower right", "templates": {"a": 6}}


def test_a_published_dataset_is_measured(tmp_path: Path) -> None:
    report = published(small_run().seal(), tmp_path / "to")

    found = measure(open_tables(str(tmp_path / "to")))

    assert len(found.areas) == report.rows["steps"]
    assert sum(found.clicks.values(), Counter()).total() > 0
