"""A picture in a terminal that can show one, by the protocols of kitty and of iTerm2.

A terminal is asked nothing: what it is stands in its environment. Whatever is no terminal (a pipe, a file, a log) gets no
picture, and neither does a terminal behind tmux or screen, which eat the picture or spill it as text.

Sources: https://sw.kovidgoyal.net/kitty/graphics-protocol/ and https://iterm2.com/documentation-images.html.
"""

import base64
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TextIO

_CHUNK = 4_096


class Protocol(StrEnum):
    """How a terminal is sent a picture."""

    KITTY = "kitty"
    """As kitty, Ghostty and Konsole take it."""
    ITERM2 = "iterm2"
    """As iTerm2 and WezTerm take it."""


def protocol_of(stream: TextIO, environ: Mapping[str, str]) -> Protocol | None:
    """Return how `stream` is sent a picture; None if it can show none."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    multiplexed = "TMUX" in environ or term.startswith(("screen", "tmux"))
    if not stream.isatty() or multiplexed or term == "dumb":
        return None
    if program in ("iTerm.app", "WezTerm") or environ.get("LC_TERMINAL") == "iTerm2":
        return Protocol.ITERM2
    is_kitty = "KITTY_WINDOW_ID" in environ or term in ("xterm-kitty", "xterm-ghostty")
    if is_kitty or program == "ghostty" or "KONSOLE_VERSION" in environ:
        return Protocol.KITTY
    return None


def terminal_text(png: bytes, protocol: Protocol) -> str:
    """Return what shows a PNG at the cursor, a line break after it: control sequences and base64 alone."""
    data = base64.b64encode(png).decode()
    if protocol is Protocol.ITERM2:
        return f"\x1b]1337;File=inline=1;size={len(png)};preserveAspectRatio=1:{data}\a\n"
    return "".join(_kitty_chunks(data)) + "\n"


def _kitty_chunks(data: str) -> Iterator[str]:
    """Yield a picture in chunks; the first says what it is, and all but the last that more follow."""
    for start in range(0, len(data), _CHUNK):
        more = int(start + _CHUNK < len(data))
        head = f"a=T,f=100,q=2,m={more}" if start == 0 else f"m={more}"
        yield f"\x1b_G{head};{data[start : start + _CHUNK]}\x1b\\"
