"""The contact sheet: first pages that a rule chose, no two equal, on a picture of bounded size."""

import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image
from support.episodes.factories import make_screenshot, make_task, make_unit, make_verdict
from support.runs.memory_run import (
    RULE,
    MemoryRun,
    findings,
    later,
    make_run_file,
    published,
    tables_of,
)

from schemas.base import sha256_hex
from schemas.verdicts.verdict import Status
from storage.publish.card.contact_sheet import MAX_PAGES, contact_sheet, read_pages
from storage.publish.plan.manifest import CONTACT_SHEET
from storage.publish.plan.selection import select


def _run(
    *attempts: tuple[str, int], rejects: int = 0, urls: Sequence[str] | None = None
) -> MemoryRun:
    """Return a run of attempts, each with its template and the number of its first picture.

    The last `rejects` of them are rejected. `urls` are their first addresses; None: all have the same.
    """
    run = MemoryRun()
    for number, (template, picture) in enumerate(attempts):
        task = make_task(number, template=template)
        _, [made] = make_unit([task])
        seen = make_screenshot(picture)
        change: dict[str, object] = {
            "screenshot": seen,
            "screenshot_sha256": sha256_hex(seen.bytes),
        }
        if urls is not None:
            change["page"] = made.steps[0].page.model_copy(update={"url": urls[number]})
        first = made.steps[0].model_copy(update=change)
        whole = made.model_copy(update={"steps": (first, *made.steps[1:])})
        episode = later(whole, number)
        is_rejected = number >= len(attempts) - rejects
        status = Status.FAILED if is_rejected else Status.PASSED
        run.commit([task], [episode])
        run.judge([make_verdict(episode, verifier=name, status=status) for name in RULE.passed])
    return run


def _pages(run: MemoryRun) -> list[bytes]:
    tables = tables_of(run.seal())
    return list(read_pages(tables, select(tables, RULE, include_rejected=False)))


def _pictures(*numbers: int) -> list[bytes]:
    return [make_screenshot(number).bytes for number in numbers]


def test_families_and_their_templates_give_pages_in_turn() -> None:
    shop = [("shop/find", 1), ("shop/find", 2), ("shop/count", 3), ("shop/find", 4)]
    run = _run(*shop, ("library/find", 5), ("click-tab", 6), ("click-test", 7), ("click-tab", 8))

    assert _pages(run) == _pictures(6, 5, 1, 7, 3, 8, 2, 4)


def test_equal_pages_are_shown_once() -> None:
    assert _pages(_run(("a", 1), ("b", 1), ("a", 1), ("b", 2))) == _pictures(1, 2)


def test_another_address_goes_before_another_picture_of_the_same() -> None:
    one, other = "http://one.localhost/", "http://other.localhost/"
    run = _run(("a", 1), ("a", 2), ("a", 3), urls=(one, one, other))

    assert _pages(run) == _pictures(1, 3, 2)


def test_what_is_not_published_is_not_shown() -> None:
    assert _pages(_run(("a", 1), ("b", 2), rejects=1)) == _pictures(1)


def test_there_are_so_many_pages_at_most() -> None:
    shown = _pages(_run(*(("a", number) for number in range(MAX_PAGES + 2))))

    assert shown == _pictures(*range(MAX_PAGES))


def test_the_card_shows_the_sheet_and_none_where_nothing_is_published(tmp_path: Path) -> None:
    run = _run(("a", 1), ("b", 2))
    published(run.seal(), tmp_path, run_file=make_run_file())
    card = (tmp_path / "README.md").read_text()

    assert f"]({CONTACT_SHEET})" in card
    assert "The first pages of 2 trajectories" in card
    with Image.open(tmp_path / CONTACT_SHEET) as sheet:
        assert sheet.width <= 500
    assert findings(tmp_path) == []

    none = tmp_path / "none"
    published(_run(("a", 1), rejects=1).seal(), none, run_file=make_run_file())
    assert not (none / CONTACT_SHEET).exists()
    assert CONTACT_SHEET not in (none / "README.md").read_text()


@pytest.mark.parametrize("size", [(1, 1), (4_000, 30), (30, 4_000), (1_000, 1_000)])
def test_the_sheet_is_bounded_whatever_the_pages_are(size: tuple[int, int]) -> None:
    page = make_screenshot(1, width=size[0], height=size[1]).bytes
    sheet = contact_sheet([page] * MAX_PAGES)

    with Image.open(io.BytesIO(sheet)) as drawn:
        assert drawn.width <= 1_500
        assert drawn.height <= 1_200
    assert len(sheet) < 1 << 21
    assert sheet == contact_sheet([page] * MAX_PAGES)
