"""Without a browser nothing begins, and who has none is told every way to get one."""

import pytest

from generators.browser.chromium import Chromium, find_chromium
from generators.sites.gateway import Gateway
from schemas.errors import NoBrowser


def test_a_browser_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPMILL_CHROMIUM", "/nowhere/chromium")

    with pytest.raises(NoBrowser, match="STEPMILL_CHROMIUM=/nowhere/chromium"):
        find_chromium()


async def test_a_browser_that_does_not_start_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPMILL_CHROMIUM", "/bin/false")

    async def start() -> None:
        async with Chromium(network=Gateway()):
            pass

    with pytest.raises(NoBrowser, match="/bin/false does not start"):
        await start()


def test_where_no_browser_is_the_message_names_every_way_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.delenv("STEPMILL_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))

    with pytest.raises(NoBrowser) as refusal:
        find_chromium()

    for way in ("STEPMILL_CHROMIUM", "apt-get", "playwright install", "distribution"):
        assert way in str(refusal.value)
