"""The faults that a world's server can have on one visit: what goes wrong once, and lets itself be mended.

A task names its fault, so that the same task can be attempted with and without it.
"""

from enum import StrEnum


class Fault(StrEnum):
    """What goes wrong, once in a visit."""

    SAVE_FAILS = "save_fails"
    """The first form that could be saved is not: its page says so, and holds what was entered."""
    STALE_ROW = "stale_row"
    """While the first form of a row is open, somebody else changes another field of the row: the form says so, has the
    present values, and what was entered is to be entered again."""
    SESSION_ENDS = "session_ends"
    """When the first form is sent, the session has ended: after the name was entered, the form is there as at first."""
    SLOW_PAGE = "slow_page"
    """The rows of the first list come some seconds after its page."""
    PAGE_FAILS = "page_fails"
    """The first view that is opened answers with an error; loaded again it is there."""
    DIALOG = "dialog"
    """A window about something else opens over the page when the second page is shown, until it is closed."""


MENDS_A_FORM = (Fault.SAVE_FAILS, Fault.STALE_ROW, Fault.SESSION_ENDS)
"""The faults of a form that is sent."""
