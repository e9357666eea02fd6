"""`stepmill tasks record`: what the recorders of others wrote becomes a reference that a browser has carried out."""

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright
from scripts.recorders import codegen
from scripts.running import serve_ledger
from source_tree import ROOT
from support.runs.commands import Said, stepmill
from support.servers.ledger_site import command

from generators.browser.chromium import find_chromium
from schemas.base import JsonObject
from schemas.tasks.reference import Do

pytestmark = pytest.mark.browser

PAGE = ROOT / "docs/tasks.md"
"""The page whose command is run as it stands."""

RECORDED = ROOT / "tests/scripts/recorded"
"""What Chrome's Recorder wrote: `tests/scripts/test_recorders.py` makes it anew."""


def folder(base: Path, recording: str) -> Path:
    """Return a folder with a recording, the task of a ledger to add Rope, and a configuration with that ledger."""
    (base / "recording.json").write_text(recording, "utf-8")
    task = {
        "site": "ledger",
        "template_id": "add",
        "seed": 1,
        "start_url": "/",
        "instruction": "Add Rope to the ledger.",
        "expect": {"added": [{"table": "entries", "where": {"text": "Rope"}}]},
    }
    (base / "task.jsonl").write_text(json.dumps(task), "utf-8")
    (base / "ledger.toml").write_text(
        f'origin = "http://ledger.localhost"\n[start]\ncommand = {json.dumps(command())}\n'
        '[reset]\nrequest = { path = "/reset?seed={seed}" }\n'
        '[state]\nrequest = { method = "GET", path = "/state" }\n'
    )
    (base / "run.toml").write_text('[sites]\nledger = "ledger.toml"\n')
    return base


def recorded(base: Path, recording: str) -> Said:
    """Return what the page's command says to a recording."""
    [line] = re.findall(r"^stepmill (tasks record .*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    return stepmill(*line.split(), cwd=folder(base, recording))


async def _codegen(act: Callable[[Page], Coroutine[None, None, None]]) -> str:
    with serve_ledger() as url:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=str(find_chromium()))
            context = await browser.new_context()
            async with codegen(context) as lines:
                page = await context.new_page()
                await page.goto(url)
                await act(page)
            await browser.close()
    return "\n".join(lines)


async def _add_rope(page: Page) -> None:
    """Act as a person does, by mouse and keyboard."""
    await page.get_by_label("Entry").click()
    await page.keyboard.type("Rope")
    await page.get_by_role("button", name="Add").click()
    await page.get_by_text("Rope").wait_for()


def row(base: Path) -> JsonObject:
    """Return the task that was written."""
    found: JsonObject = json.loads((base / "recorded.jsonl").read_text("utf-8"))
    return found


def test_what_playwright_s_recorder_writes_becomes_the_reference_of_a_task(tmp_path: Path) -> None:
    text = asyncio.run(_codegen(_add_rope))

    said = recorded(tmp_path, text)

    assert said.code == 0, said.err
    assert row(tmp_path)["reference"] == [
        {"do": Do.CLICK, "on": "Entry"},
        {"do": Do.TYPE, "on": "Entry", "text": "Rope"},
        {"do": Do.CLICK, "on": "Add"},
    ]
    broken = text.replace('"name":"Add"', '"name":"Burn"').replace(
        '[name=\\"Add\\"i]', '[name=\\"Burn\\"i]'
    )
    (tmp_path / "again").mkdir()
    refused = recorded(tmp_path / "again", broken)
    assert refused.code == 2
    assert re.search(
        r"line 6 \(selector internal:role=button\[name=\"Burn\"i\]\): .*no 'Burn'", refused.err
    )
    assert not (tmp_path / "again/recorded.jsonl").exists()


def test_what_chrome_s_recorder_writes_becomes_the_reference_of_a_task(tmp_path: Path) -> None:
    text = (RECORDED / "ledger.json").read_text("utf-8")

    said = recorded(tmp_path, text)

    assert said.code == 0, said.err
    assert [step["do"] for step in row(tmp_path)["reference"]] == [Do.CLICK, Do.TYPE, Do.CLICK]  # type: ignore[union-attr, index, call-overload]

    (tmp_path / "again").mkdir()
    refused = recorded(tmp_path / "again", text.replace("Rope", "Soap"))
    assert refused.code == 2
    assert "does not do the task" in refused.err
    assert not (tmp_path / "again/recorded.jsonl").exists()
