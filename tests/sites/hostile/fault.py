"""What a hostile page is: what it does and when, what the policy does on it, and how that may end."""

from collections.abc import Sequence
from dataclasses import dataclass

from generators.sites.gateway import Handler
from schemas.episodes.action import Action, Click, TypeText, Wait

CLICKS: tuple[Action, ...] = (Click(x=60, y=60), Wait(ms=500), Click(x=60, y=61))
"""What the scripted policy does on most pages: the button is there."""

WON = r"finished 1\.0$"
"""The page did its worst, and the task could be done all the same."""

GIVEN_UP = r"(page|clock): \S|browser: too much memory$"
"""The page did not answer in time, was gone or took too much memory: its own fault, and not tried again."""

CLOSED = r"page: .*target_closed"
"""It closed its own window."""

FORGED = r"page: (the page's outcome is|the page threw)"
"""What the page gave for an outcome is none."""

FORGED_BADLY = r"page: Object "
"""What it gave cannot even be sent."""


@dataclass(frozen=True)
class Fault:
    """One page, and how an attempt at it may end."""

    ends: str
    """A pattern of the endings that are right."""
    click: str = ""
    """What the page does at a click."""
    load: str = ""
    """What it does while it loads."""
    body: str = ""
    """More of its markup."""
    serve: Handler | None = None
    """What answers in place of a page; None: the page is served."""
    acts: Sequence[Action] = CLICKS
    """What the policy does."""
    quick: bool = False
    """Whether it is tried by itself where there is little time; a whole run meets others then."""
    crashes: bool = False
    """Whether the page's process is ended when it has begun its problem."""


def typed(text: str, *, direction: str = "ltr") -> Fault:
    """A page that is won by typing a text: in any script, it arrives whole."""
    wanted = "".join(f"\\u{{{ord(character):x}}}" for character in text)
    return Fault(
        WON,
        click=f"if(document.querySelector('input').value==='{wanted}')win()",
        body=f"<p><input dir={direction} style='position:absolute;left:10px;top:200px;width:300px'>",
        acts=(TypeText(text=text, x=60, y=210), Click(x=60, y=60)),
    )
