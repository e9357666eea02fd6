"""Playwright's driver, started with the variables that are meant for it and its browser alone.

Playwright gives its driver the whole environment of this process, the driver passes it on to the
browser, and there every renderer has it, beside the page of a stranger. A launch takes an
environment for the browser; for the driver there is no parameter.
"""

from playwright._impl import transport
from playwright._impl._driver import get_driver_env
from playwright.async_api import Playwright, async_playwright

from generators.child_environment import BROWSER, inherited
from schemas.errors import NoBrowser

_ASKED = "get_driver_env"
"""What the module that starts the driver asks for its environment."""

_OWN = ("PW_LANG_NAME", "PW_LANG_NAME_VERSION", "PW_CLI_DISPLAY_VERSION")
"""What Playwright itself adds to it."""


async def start_driver() -> Playwright:
    """Start a driver; its browsers inherit its environment.

    Raises:
        Error: it does not start.
        NoBrowser: it is a Playwright that asks otherwise for its driver's environment.
    """
    # The one question is answered by us, always in the same way. Without the credentials in
    # os.environ for the time of a start, other threads would look for them in vain just then; a
    # PLAYWRIGHT_NODEJS_PATH that names a program which drops them would itself begin with them.
    if not hasattr(transport, _ASKED):
        raise NoBrowser(
            "this version of Playwright cannot be kept from the credentials of this program; "
            "install the one that requirements/core.txt holds"
        )
    setattr(transport, _ASKED, driver_environment)
    return await async_playwright().start()


def driver_environment() -> dict[str, str]:
    """Return the environment of a driver."""
    return inherited(get_driver_env(), (*BROWSER, *_OWN))
