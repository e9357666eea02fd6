"""One browser process with its driver, from its start to its end.

It counts its sessions. A browser that misbehaved once is *retired*: it gets no new session, the open
ones may end in it, and it is ended with the last of them, by force if it does not answer. So a context
that does not close harms no other session.

Playwright gives its driver the whole environment of this process, the driver passes it on to the
browser, and there every renderer has it, beside an untrusted page. A launch takes an environment for the
browser, but Playwright has no parameter for the driver's; so the driver is started here with only the
variables that it and its browser need.

Nor has it a parameter for the session of processes. A terminal interrupts every process of the command's, and a driver that
has just begun would end, with the episode or the replay for which it begins; so each driver gets a session of its own.
"""

import asyncio
import contextlib
import os
import shutil
import socket
import tempfile
import uuid
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Self, TypedDict

import psutil
from playwright._impl import transport
from playwright._impl._driver import get_driver_env
from playwright.async_api import Browser, Error, Playwright, async_playwright

from generators.browser.devtools.connection import LISTEN_FLAGS, read_address
from generators.browser.devtools.websocket import Endpoint
from generators.browser.process.enclosure import Confinement, Containment, Enclosure
from generators.browser.process.memory import MemoryWatch
from generators.child_environment import BROWSER, inherit
from generators.process_folder import process_folder
from schemas.errors import NoBrowser

START_SECONDS = 60.0
"""Time limit of a start on a loaded machine, seconds."""

END_SECONDS = 5.0
"""Time that a browser gets to close before it is killed, seconds."""

PROFILE_OPTION = "--user-data-dir="
"""The option by which the driver passes a browser its profile."""

_ENVIRONMENT_FUNCTION = "get_driver_env"
"""The function that Playwright calls for the driver's environment."""

_STARTING_MODULE = "asyncio"
"""The name under which Playwright finds what starts the driver."""

_IN_OWN_SESSION = partial(asyncio.create_subprocess_exec, start_new_session=True)

_PLAYWRIGHT_VARIABLES = ("PW_LANG_NAME", "PW_LANG_NAME_VERSION", "PW_CLI_DISPLAY_VERSION")
"""Variables that Playwright itself adds."""


class BrowserProcess:
    """A running browser. `start` makes it and `end` ends it."""

    def __init__(
        self,
        driver: Playwright,
        browser: Browser,
        *,
        enclosure: Enclosure,
        address: tuple[int, str],
        mark: str,
        profile: Path,
        proxy: str,
        root: psutil.Process,
    ) -> None:
        self._driver = driver
        self.browser = browser
        """Playwright's object for it."""
        self._enclosure = enclosure
        self._watch = MemoryWatch(root)
        self.endpoint = Endpoint(
            *address, enclosure.make_socket, lambda: self._watch.has_just_ended_one
        )
        """The address at which it accepts DevTools connections."""
        self.proxy = proxy
        """The name under which it finds the proxies of its sessions."""
        self._mark = mark
        self._profile = profile
        self.gone = asyncio.Event()
        """Set once it has ended."""
        browser.on("disconnected", lambda _: self.gone.set())
        self.sessions = 0
        """Number of open sessions."""
        self.retired = False
        """Whether it gets no new session."""

    @classmethod
    async def start(
        cls, executable: Path, flags: Sequence[str], *, proxy: str, wanted: Confinement
    ) -> Self:
        """Start a browser and wait until it accepts connections; `flags` define the address of `proxy`.

        Raises:
            NoBrowser: it does not start, or not as required.
        """
        mark = f"--stepmill-browser={uuid.uuid4().hex}"
        driver: Playwright | None = None
        enclosure = Enclosure(wanted, executable)
        admitting = asyncio.create_task(enclosure.admit())
        try:
            async with asyncio.timeout(START_SECONDS):
                driver = await _start_driver()
                browser = await driver.chromium.launch(
                    executable_path=enclosure.path, **_launch_options([*flags, mark])
                )
                root, profile = _find_browser(mark)
                address = await read_address(profile)
        except (Error, TimeoutError) as error:
            await _stop(mark, driver, enclosure, *_profiles(mark))
            if admitting.done() and isinstance(refused := admitting.exception(), NoBrowser):
                raise refused from error
            lines = str(error).strip().splitlines()
            raise NoBrowser(
                f"{executable} does not start: {lines[0] if lines else 'no answer'}"
            ) from error
        except asyncio.CancelledError:
            await asyncio.shield(_stop(mark, driver, enclosure, *_profiles(mark)))
            raise
        finally:
            admitting.cancel()
        return cls(
            driver,
            browser,
            enclosure=enclosure,
            address=address,
            mark=mark,
            profile=profile,
            proxy=proxy,
            root=root,
        )

    @property
    def containment(self) -> Containment:
        """The achieved enclosure of the browser."""
        if self._enclosure.containment is None:
            raise AssertionError("a browser runs that was not admitted")
        return self._enclosure.containment

    def make_socket(self) -> socket.socket:
        """Return a new TCP socket in the browser's namespace.

        Raises:
            OSError: the browser is gone.
        """
        return self._enclosure.make_socket()

    def new_folder(self) -> Path:
        """Return a folder in the browser's profile that does not exist yet."""
        return self._profile / f"stepmill-{uuid.uuid4().hex}"

    @property
    def usable(self) -> bool:
        """Whether it can open a new session."""
        return not self.retired and self.browser.is_connected()

    @property
    def finished(self) -> bool:
        """Whether it has no session and will get none."""
        return not self.sessions and not self.usable

    async def end(self) -> None:
        """Close the browser, by force if it does not answer, and then stop its driver."""
        self._watch.stop()
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await self.browser.close()
        await _stop(self._mark, self._driver, self._enclosure, self._profile)


class _LaunchOptions(TypedDict):
    """Playwright's launch options, except the executable."""

    headless: bool
    artifacts_dir: str
    chromium_sandbox: bool
    handle_sigint: bool
    handle_sigterm: bool
    handle_sighup: bool
    args: list[str]


def _launch_options(arguments: Sequence[str]) -> _LaunchOptions:
    """Return the launch options with `arguments` before those that every browser gets."""
    return {
        "headless": True,
        # The folder for downloads, traces and videos, which are not made. Without this option the driver
        # makes a folder, and leaves it behind if it is stopped just after its browser was killed.
        "artifacts_dir": tempfile.gettempdir(),
        # Where the sandbox cannot start, `enclosed_start.py` switches it off.
        "chromium_sandbox": True,
        # An interrupt goes to this program, which lets sessions end first.
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
        "args": [*arguments, *LISTEN_FLAGS],
    }


async def _start_driver() -> Playwright:
    """Start a driver; its browsers inherit its environment.

    Raises:
        Error: it does not start.
        NoBrowser: this version of Playwright gets its driver's environment in another way.
    """
    # What is ours takes the place of Playwright's for good. Taking the credentials out of os.environ
    # during a start would hide them from other threads; a PLAYWRIGHT_NODEJS_PATH that names a
    # program which drops them would itself start with them.
    if not (hasattr(transport, _ENVIRONMENT_FUNCTION) and hasattr(transport, _STARTING_MODULE)):
        raise NoBrowser(
            "this version of Playwright would pass the credentials of this program on to the browser; "
            "install the version in requirements/core.txt"
        )
    own = {**vars(asyncio), "create_subprocess_exec": _IN_OWN_SESSION}
    setattr(transport, _STARTING_MODULE, SimpleNamespace(**own))
    setattr(
        transport,
        _ENVIRONMENT_FUNCTION,
        lambda: {
            **inherit(get_driver_env(), (*BROWSER, *_PLAYWRIGHT_VARIABLES)),
            "TMPDIR": str(_folder_for_profiles()),
        },
    )
    return await async_playwright().start()


def _folder_for_profiles() -> Path:
    """Return the parent folder of profiles: a folder of this process, removed by a later one after a kill.

    It is in TMPDIR, or in /tmp if other users cannot enter TMPDIR: a browser started by root is another user's.
    """
    usual = Path(tempfile.gettempdir()).resolve()
    if os.geteuid() != 0 or all(one.stat().st_mode & 0o001 for one in (usual, *usual.parents)):
        return process_folder(usual)
    return process_folder(Path("/tmp"))  # noqa: S108 - a new folder of its own


async def _stop(
    mark: str, driver: Playwright | None, enclosure: Enclosure, *profiles: Path
) -> None:
    """Kill the remaining processes of a browser, stop its driver, and remove the browser's profile."""
    enclosure.close()
    for process in _marked_processes(mark):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    if driver is not None:
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                await driver.stop()
    for profile in profiles:
        await asyncio.to_thread(shutil.rmtree, profile, ignore_errors=True)


def _marked_processes(mark: str) -> list[psutil.Process]:
    """Return this process's descendants with `mark` on their command line."""
    if not mark:
        return []
    found: list[psutil.Process] = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            if mark in process.cmdline():
                found.append(process)
    return found


def _profiles(mark: str) -> list[Path]:
    """Return the profile of a starting browser; empty if it has ended.

    A browser that has run a page could name any folder here.
    """
    with contextlib.suppress(Error):
        return [_find_browser(mark)[1]]
    return []


def _find_browser(mark: str) -> tuple[psutil.Process, Path]:
    """Return the first process of the browser with `mark` on its command line, and its profile.

    Raises:
        Error: the browser has ended already.
    """
    for process in _marked_processes(mark):
        with contextlib.suppress(psutil.NoSuchProcess):
            for argument in process.cmdline():
                if argument.startswith(PROFILE_OPTION):
                    return process, Path(argument.removeprefix(PROFILE_OPTION))
    raise Error("the browser ended while it was starting")
