"""The options with which a browser is launched, and how exposed it then is; nothing here starts one.

`doctor` and a run's provenance derive the exposure from the same options that every launch gets, so they
cannot differ from it.
"""

from collections.abc import Sequence
from typing import TypedDict

from generators.browser.devtools import LISTEN_FLAGS
from schemas.base import Record

_PORT = "--remote-debugging-port"
_NO_SANDBOX = "--no-sandbox"


class LaunchOptions(TypedDict):
    """Playwright's launch options, except the executable."""

    headless: bool
    chromium_sandbox: bool
    handle_sigint: bool
    handle_sigterm: bool
    handle_sighup: bool
    args: list[str]


def launch_options(arguments: Sequence[str] = ()) -> LaunchOptions:
    """Return the launch options with `arguments` before those that every browser gets."""
    return {
        "headless": True,
        # Chromium refuses its sandbox to root, which is what containers run as.
        "chromium_sandbox": False,
        # An interrupt goes to this program, which lets sessions end first.
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
        "args": [*arguments, *LISTEN_FLAGS],
    }


class Exposure(Record):
    """How pages and other users of the machine are kept away from the browser."""

    sandboxed: bool
    """Pages run in Chromium's sandbox."""
    port: bool
    """Any program on the machine can control the browser through a loopback port."""

    @property
    def sandbox(self) -> str:
        """`sandboxed` in words."""
        return "on" if self.sandboxed else f"none: the browser runs with {_NO_SANDBOX}"

    @property
    def devtools(self) -> str:
        """`port` in words."""
        if self.port:
            return "a port without a lock: other users of the machine can reach it"
        return "no port: no other program can reach it"


def exposure(options: LaunchOptions) -> Exposure:
    """Return how exposed a browser with these options is."""
    arguments = options["args"]
    return Exposure(
        sandboxed=options["chromium_sandbox"] and _NO_SANDBOX not in arguments,
        port=any(argument.partition("=")[0] == _PORT for argument in arguments),
    )
