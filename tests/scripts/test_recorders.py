"""What Chrome's Recorder writes of a page is what the kept recording says, and what `@puppeteer/replay` takes."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright

from generators.browser.chromium import find_chromium
from scripts.npm import chrome_recorder_script, count_steps
from scripts.recorders import chrome_recorder
from scripts.running import serve_ledger

pytestmark = pytest.mark.browser

KEPT = Path(__file__).with_name("recorded") / "ledger.json"


async def _record() -> dict[str, Any]:
    """Return the recording of a person who adds Rope to the ledger."""
    with serve_ledger() as url:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=str(find_chromium()))
            page = await browser.new_page(viewport={"width": 1024, "height": 768})
            await page.goto(url)
            async with chrome_recorder(page, chrome_recorder_script()) as steps:
                await page.get_by_label("Entry").click()
                await page.keyboard.type("Rope")
                await page.get_by_role("button", name="Add").click()
                await page.get_by_text("Rope").wait_for()
            await browser.close()
    return {"title": "Add Rope", "steps": steps}


def essence(recording: dict[str, Any]) -> list[tuple[object, ...]]:
    """Return what of each step does not depend on the port and on where things lie."""
    return [(s["type"], s.get("selectors"), s.get("value")) for s in recording["steps"]]


@pytest.mark.asyncio
async def test_the_kept_recording_is_what_the_recorder_writes_now(tmp_path: Path) -> None:
    made = await _record()
    path = tmp_path / "made.json"
    path.write_text(json.dumps(made), "utf-8")

    assert essence(made) == essence(json.loads(KEPT.read_text("utf-8")))
    assert count_steps(path) == count_steps(KEPT) == len(made["steps"])
