"""How a browser is launched, and what that leaves open; nothing here starts one.

`doctor` and a run's provenance read it from the same options that every launch gets, so the two
cannot differ.
"""

from collections.abc import Sequence
from typing import TypedDict

from generators.browser.devtools import LISTEN_FLAGS
from schemas.base import Record

_PORT = "--remote-debugging-port"
_NO_SANDBOX = "--no-sandbox"


class LaunchOptions(TypedDict):
    """What Playwright is asked for beside the program."""

    headless: bool
    chromium_sandbox: bool
    handle_sigint: bool
    handle_sigterm: bool
    handle_sighup: bool
    args: list[str]


def launch_options(arguments: Sequence[str] = ()) -> LaunchOptions:
    """Return how a browser is launched, with further arguments of its own."""
    return {
        "headless": True,
        # Chromium refuses its sandbox to root, which is what containers run as.
        "chromium_sandbox": False,
        # An interrupt is for the program, which lets sessions end first.
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
        "args": [*arguments, *LISTEN_FLAGS],
    }


class Exposure(Record):
    """What stands between the pages, the browser and the other users of the machine."""

    sandboxed: bool
    """Pages run in Chromium's sandbox."""
    port: bool
    """The browser can be steered through a port of the loopback address, which has no lock."""

    @property
    def sandbox(self) -> str:
        """The first, in words."""
        return "on" if self.sandboxed else f"none: the browser runs with {_NO_SANDBOX}"

    @property
    def devtools(self) -> str:
        """The second, in words."""
        if self.port:
            return "a port without a lock: other users of the machine can reach it"
        return "no port: no other program can reach it"


def exposure(options: LaunchOptions) -> Exposure:
    """Return what a launch with these options leaves open."""
    arguments = options["args"]
    return Exposure(
        sandboxed=options["chromium_sandbox"] and _NO_SANDBOX not in arguments,
        port=any(argument.partition("=")[0] == _PORT for argument in arguments),
    )
