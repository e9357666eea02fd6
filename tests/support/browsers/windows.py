"""A window that is served, and a browser that has its token, for tests."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page, async_playwright

from flows.viewing.app import open_window
from flows.viewing.guard import ENTER, new_token
from flows.viewing.opening import open_for_view
from flows.viewing.shown import Shown
from generators.browser.chromium import find_chromium
from storage.reading.lookup import cache_folder


@asynccontextmanager
async def window(places: Sequence[str], cache: Path) -> AsyncIterator[tuple[Page, str, list[str]]]:
    """Serve places and open a browser that has the token; yield its page, the address, and what went wrong on pages."""
    kept = cache_folder({"XDG_CACHE_HOME": str(cache)})
    os.environ["XDG_CACHE_HOME"] = str(cache)  # of the process that reads the places
    shown = [Shown(one, await open_for_view(one, dict(os.environ)), kept) for one in places]
    token, wrong = new_token(), list[str]()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with open_window(shown, token, listener, "ana"), async_playwright() as playwright:
            while not all(one.lookup.is_whole for one in shown):
                assert not any(one.problem for one in shown)
                await asyncio.sleep(0.05)
            browser = await playwright.chromium.launch(
                executable_path=str(find_chromium()), args=["--no-sandbox"]
            )
            page = await browser.new_page()
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on(
                "console", lambda told: wrong.append(told.text) if told.type == "error" else None
            )
            page.on("dialog", lambda dialog: wrong.append(dialog.message))
            page.on(
                "request",
                lambda asked: None if asked.url.startswith(address) else wrong.append(asked.url),
            )
            await page.goto(f"{address}/?{ENTER}={token}")
            yield page, address, wrong
            await browser.close()
