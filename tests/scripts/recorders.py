"""The recorders of others, at work on a page: that of Playwright's codegen, and that of Chrome's developer tools.

Playwright's records without a window, and writes the very lines of `playwright codegen --target=jsonl`. Chrome's needs its
developer tools for a window of its own; what listens to the page and computes selectors is a script of theirs, which is
bundled from their sources and injected as they inject it. What their session does with its steps, to put it before
them where it began and to merge what is typed, is done here.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import BrowserContext, Page

_WORLD = "devtools_recorder"
_START = """;DevToolsRecorder.startRecording({getAccessibleName, getAccessibleRole}, {
  debug: false, allowUntrustedEvents: false, selectorTypesToRecord: ["aria", "css", "text", "xpath", "pierce"],
  selectorAttribute: undefined, stopShortcuts: [],
});"""


class _Lines:
    """The lines of codegen, as its events tell them."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def action_added(self, _page: Page, _data: object, code: str) -> None:
        """Add a line."""
        self.lines.append(code)

    def action_updated(self, _page: Page, _data: object, code: str) -> None:
        """Write the last line anew."""
        self.lines[-1] = code

    def signal_added(self, _page: Page, _data: object, code: str) -> None:
        """Write the last line anew, if the signal is of its action."""
        if code:
            self.lines[-1] = code


@asynccontextmanager
async def codegen(context: BrowserContext) -> AsyncIterator[list[str]]:
    """Yield the lines of what is done in a context, whose pages are opened afterwards."""
    sink = _Lines()
    inner: Any = context._impl_obj
    await inner._start_recording({"language": "jsonl"}, sink)
    sink.lines.append(
        json.dumps({"browserName": "chromium", "launchOptions": {}, "contextOptions": {}})
    )
    try:
        yield sink.lines
    finally:
        await inner._stop_recording()


@asynccontextmanager
async def chrome_recorder(page: Page, script: str) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the steps of what is done on a page, which shows the start page; `script` is the recorder's own."""
    tools = await page.context.new_cdp_session(page)
    steps: list[dict[str, Any]] = [
        {
            "type": "setViewport",
            "deviceScaleFactor": 1,
            "isMobile": False,
            "hasTouch": False,
            "isLandscape": False,
            **(page.viewport_size or {}),
        },
        {
            "type": "navigate",
            "url": page.url,
            "assertedEvents": [
                {"type": "navigation", "url": page.url, "title": await page.title()}
            ],
        },
    ]
    typed = set[str]()
    tools.on("Runtime.bindingCalled", lambda event: _add(steps, typed, event))
    for command in ("Page.enable", "Runtime.enable", "Accessibility.enable"):
        await tools.send(command)
    for name in ("addStep", "stopShortcut"):
        await tools.send("Runtime.addBinding", {"name": name, "executionContextName": _WORLD})
    await tools.send(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": script + _START, "worldName": _WORLD, "includeCommandLineAPI": True},
    )
    await page.reload()
    yield steps
    await tools.detach()


def _add(steps: list[dict[str, Any]], typed: set[str], event: dict[str, Any]) -> None:
    """Add a step of the injected script, as `#appendStep` of the developer tools' `RecordingSession` does."""
    if event["name"] != "addStep":
        return
    step: dict[str, Any] = json.loads(event["payload"])
    if step["type"] == "beforeUnload":
        steps[-1].setdefault("assertedEvents", [{"type": "navigation"}])
        return
    if step["type"] == "change":
        while steps[-1]["type"] == "keyDown":
            typed.add(steps.pop()["key"])
        if steps[-1]["type"] == "change" and steps[-1]["selectors"] == step["selectors"]:
            steps.pop()
    elif step["type"] == "keyDown" and step["key"] in typed:
        return
    elif step["type"] == "keyUp" and step["key"] in typed:
        typed.discard(step["key"])
        return
    steps.append({**step, "target": "main"})
