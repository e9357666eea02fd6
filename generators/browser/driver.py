"""Playwright's driver, started with the environment variables that it and its browser need.

Playwright gives its driver the whole environment of this process, the driver passes it on to the
browser, and there every renderer has it, beside an untrusted page. A launch takes an environment
for the browser; Playwright has no parameter for the driver's.
"""

from playwright._impl import transport
from playwright._impl._driver import get_driver_env
from playwright.async_api import Playwright, async_playwright

from generators.child_environment import BROWSER, inherit
from schemas.errors import NoBrowser

_ENVIRONMENT_FUNCTION = "get_driver_env"
"""The function that Playwright calls for the driver's environment."""

_PLAYWRIGHT_VARIABLES = ("PW_LANG_NAME", "PW_LANG_NAME_VERSION", "PW_CLI_DISPLAY_VERSION")
"""Variables that Playwright itself adds."""


async def start_driver() -> Playwright:
    """Start a driver; its browsers inherit its environment.

    Raises:
        Error: it does not start.
        NoBrowser: this version of Playwright gets its driver's environment in another way.
    """
    # Our function takes the place of Playwright's for good. Taking the credentials out of os.environ
    # during a start would hide them from other threads; a PLAYWRIGHT_NODEJS_PATH that names a
    # program which drops them would itself start with them.
    if not hasattr(transport, _ENVIRONMENT_FUNCTION):
        raise NoBrowser(
            "this version of Playwright cannot be kept from the credentials of this program; "
            "install the one that requirements/core.txt holds"
        )
    setattr(transport, _ENVIRONMENT_FUNCTION, driver_environment)
    return await async_playwright().start()


def driver_environment() -> dict[str, str]:
    """Return the environment of a driver."""
    return inherit(get_driver_env(), (*BROWSER, *_PLAYWRIGHT_VARIABLES))
