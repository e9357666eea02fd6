"""The files of a session: those of its task, which its pages may be given, and those that they give to download.

The browser reads and writes them in a folder of its own profile, which is removed with the session. A policy
names a file of the task; no path is ever made from what it says. Downloads go on in real time, so the session
waits for those that have begun, for a while.
"""

import asyncio
import base64
import contextlib
import mimetypes
import os
import shutil
import time
from pathlib import Path
from typing import Any

from generators.browser.devtools.connection import Connection, DevToolsError
from generators.browser.devtools.patience import Patience
from generators.browser.devtools.websocket import Endpoint
from generators.browser.page_calls import CALL_SECONDS
from generators.browser.protocol import SessionSpec
from schemas.base import sha256_hex
from schemas.episodes.observation import Download
from schemas.errors import FailureKind, boundary
from schemas.truncation import truncate

MAX_DOWNLOAD_BYTES = 16 * 2**20
"""The largest download; a larger one is cancelled."""

MAX_ROW_BYTES = 2**20
"""The largest contents that a row holds, and all rows of an episode together four times as much."""

MAX_DOWNLOADS = 50
"""The most downloads of a session; each further one is cancelled."""

DOWNLOAD_SECONDS = 10.0
"""Time that a session waits for a download to end, after which it is cancelled, seconds."""

BEGIN_SECONDS = 1.0
"""Time that the browser gets to tell that a download has begun, seconds."""

MAX_NAME_BYTES = 255
"""The longest name of a download, bytes."""

_LOOK_SECONDS = 0.02
_PDF = "application/pdf"
_STARTED_MS = 1_700_000_000_000


class SessionFiles:
    """The folder, what is in it, and what has been downloaded."""

    def __init__(self, spec: SessionSpec, folder: Path) -> None:
        """`folder` is one that does not exist yet, within the browser's profile."""
        self._folder = folder
        self._files = {one.name: one for one in spec.files}
        self._written_ms = _STARTED_MS if spec.clock is None else spec.clock.start_ms
        self._connections = contextlib.AsyncExitStack()
        self._browser: Connection | None = None
        self._context = ""
        self._begun: dict[str, _Begun] = {}
        self._done: list[Download] = []
        self._taken = self._kept = self._expected = 0
        self._row_bytes_left = 4 * MAX_ROW_BYTES

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the task's files, in their order."""
        return tuple(self._files)

    @property
    def downloads(self) -> tuple[Download, ...]:
        """What has been downloaded so far, in order."""
        return tuple(self._done)

    def place(self, name: str) -> str:
        """Return the path at which the browser finds a file of the task.

        Raises:
            KeyError: the task has no such file.
        """
        file = self._files[name]
        above = self._folder / "given" / str(list(self._files).index(name))
        path = above / name
        if not path.exists():
            above.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.contents)
            seconds = self._written_ms / 1_000
            os.utime(path, (seconds, seconds))
        return str(path)

    async def follow(self, endpoint: Endpoint, context: str, patience: Patience) -> None:
        """Keep what the pages of a context download, in the browser that listens there.

        The browser tells its own connection alone of all downloads: those of a page tell of that page's.

        Raises:
            RolloutFailure: the browser refuses.
        """
        into = self._folder / "downloads"
        into.mkdir(parents=True)
        for one in (self._folder, into):
            # The browser may be another user's; the profile around it is closed to all others.
            one.chmod(0o777)
        with boundary(FailureKind.BROWSER, "following downloads"):
            self._browser = browser = await self._connections.enter_async_context(
                Connection.open_browser(endpoint, patience)
            )
            self._context = context
            browser.on("Browser.downloadWillBegin", self._on_begun)
            browser.on("Browser.downloadProgress", self._on_progress)
            await browser.send(
                "Browser.setDownloadBehavior",
                {
                    "behavior": "allowAndName",
                    "browserContextId": context,
                    "downloadPath": str(into),
                    "eventsEnabled": True,
                },
                seconds=CALL_SECONDS,
            )

    @property
    def frames(self) -> set[str]:
        """The ids of the frames in which downloads began."""
        return {one.frame for one in self._begun.values()}

    def _on_begun(self, event: dict[str, Any]) -> None:
        self._expected -= 1
        self._begun[event["guid"]] = _Begun(event)

    def _on_progress(self, event: dict[str, Any]) -> None:
        begun = self._begun.get(event["guid"])
        if begun is not None:
            begun.state = event["state"]
            begun.size = max(event["receivedBytes"], event["totalBytes"])

    def expect(self) -> None:
        """Expect one download more to begin, of which the browser tells a moment later."""
        self._expected += 1

    async def wait(self) -> None:
        """Wait until downloads have begun that are expected, and ended; cancel what is too large, too slow or too much."""
        late = time.monotonic() + BEGIN_SECONDS
        while self._expected > 0 and time.monotonic() < late:  # noqa: ASYNC110 - until real time ends it
            await asyncio.sleep(_LOOK_SECONDS)
        self._expected = 0
        while pending := [one for one in self._begun.values() if not one.download]:
            for one in pending:
                if problem := self._problem(one):
                    await self._cancel(one)
                    self._finish(one, one.record(problem=problem))
                elif one.state != "inProgress":
                    await self._keep(one)
            await asyncio.sleep(0 if all(one.download for one in pending) else _LOOK_SECONDS)

    def _problem(self, one: "_Begun") -> str | None:
        """Return why a download is not waited for; None: it is."""
        if self._kept >= MAX_DOWNLOADS:
            return f"there are {MAX_DOWNLOADS} downloads already"
        if one.state != "inProgress":
            return None
        if one.size > MAX_DOWNLOAD_BYTES:
            return f"it is larger than {MAX_DOWNLOAD_BYTES:,} bytes"
        if time.monotonic() - one.since > DOWNLOAD_SECONDS:
            return f"it did not end within {DOWNLOAD_SECONDS:g} s"
        return None

    async def _keep(self, one: "_Begun") -> None:
        path = self._folder / "downloads" / one.guid
        found: bytes | None = None
        with contextlib.suppress(OSError):
            if one.state == "completed" and path.stat().st_size <= MAX_DOWNLOAD_BYTES:
                found = await asyncio.to_thread(path.read_bytes)
        if found is None:
            self._finish(one, one.record(problem="it broke off"))
        else:
            self._kept += 1
            fits = len(found) <= min(MAX_ROW_BYTES, self._row_bytes_left)
            self._row_bytes_left -= len(found) if fits else 0
            self._finish(one, one.record(contents=found, fits=fits))
        with contextlib.suppress(OSError):
            path.unlink()

    def _finish(self, one: "_Begun", download: Download) -> None:
        one.download = download
        self._done.append(download)

    async def _cancel(self, one: "_Begun") -> None:
        with contextlib.suppress(OSError):
            (self._folder / "downloads" / one.guid).unlink()
        if one.state != "inProgress":
            return
        if self._browser is not None:
            with contextlib.suppress(DevToolsError, TimeoutError):
                await self._browser.send(
                    "Browser.cancelDownload",
                    {"guid": one.guid, "browserContextId": self._context},
                    seconds=DOWNLOAD_SECONDS,
                )

    def take(self) -> tuple[Download, ...]:
        """Return what has been downloaded since the last call."""
        new = self._done[self._taken :]
        self._taken = len(self._done)
        return tuple(new)

    async def remove(self) -> None:
        """Remove the folder, and follow no more."""
        await self._connections.aclose()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)


class _Begun:
    """A download that has begun."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.guid = str(event["guid"])
        self.frame = str(event["frameId"])
        name = str(event["suggestedFilename"]).replace("\\", "/").rpartition("/")[2]
        self._name = truncate(name, MAX_NAME_BYTES)
        self._media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        self.since = time.monotonic()
        self.state = "inProgress"
        self.size = 0
        self.download: Download | None = None

    def record(
        self, *, contents: bytes | None = None, fits: bool = False, problem: str | None = None
    ) -> Download:
        """Return its record; `fits` says whether rows hold its contents."""
        kept = contents is not None and fits
        return Download(
            name=self._name,
            media_type=self._media_type,
            size=None if contents is None else len(contents),
            sha256=None if contents is None else sha256_hex(contents),
            base64=base64.b64encode(contents or b"").decode() if kept else None,
            problem=problem,
        )


def download_text(download: Download) -> str:
    """Return what a policy is told of a download."""
    if download.problem is not None:
        return f'"{download.name}" was not downloaded: {download.problem}'
    told = f'"{download.name}" was downloaded ({download.media_type}, {download.size:,} bytes)'
    shown = "; this browser does not show its pages" if download.media_type == _PDF else ""
    return told + shown
