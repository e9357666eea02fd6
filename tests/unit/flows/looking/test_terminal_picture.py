"""A picture is sent to terminals that can show one, and to nothing else."""

import base64
import io
import re

import pytest

from flows.looking.terminal_picture import Protocol, protocol_of, terminal_text


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "protocol"),
    [
        ({"TERM": "xterm-kitty"}, Protocol.KITTY),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, Protocol.KITTY),
        ({"TERM": "xterm-ghostty"}, Protocol.KITTY),
        ({"TERM": "xterm-256color", "KONSOLE_VERSION": "230800"}, Protocol.KITTY),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, Protocol.ITERM2),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, Protocol.ITERM2),
        ({"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2"}, Protocol.ITERM2),
        ({"TERM": "xterm-256color"}, None),
        ({"TERM": "dumb", "KITTY_WINDOW_ID": "1"}, None),
        ({"TERM": "screen-256color", "KITTY_WINDOW_ID": "1"}, None),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/x"}, None),  # noqa: S108 - a name alone
        ({"TERM": "tmux-256color", "TERM_PROGRAM": "iTerm.app"}, None),
        ({}, None),
    ],
)
def test_a_terminal_is_known_by_its_environment(
    environ: dict[str, str], protocol: Protocol | None
) -> None:
    assert protocol_of(_Terminal(), environ) is protocol
    assert protocol_of(io.StringIO(), environ) is None


@pytest.mark.parametrize("length", [1, 3_000, 100_000])
def test_kitty_gets_the_whole_picture_in_chunks_of_which_the_last_says_so(length: int) -> None:
    png = bytes(range(256)) * (length // 256 + 1)

    text = terminal_text(png, Protocol.KITTY)

    chunks = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text)
    assert "".join(f"\x1b_G{head};{data}\x1b\\" for head, data in chunks) + "\n" == text
    assert base64.b64decode("".join(data for _, data in chunks)) == png
    assert chunks[0][0].startswith("a=T,f=100,q=2,m=")
    assert [head[-1] for head, _ in chunks] == ["1"] * (len(chunks) - 1) + ["0"]
    assert all(len(data) <= 4_096 for _, data in chunks)


def test_iterm2_gets_the_whole_picture() -> None:
    text = terminal_text(b"picture", Protocol.ITERM2)

    told = re.fullmatch(r"\x1b\]1337;File=inline=1;size=7;[^:]*:([^\x07]*)\x07\n", text)
    assert told is not None
    assert base64.b64decode(told[1]) == b"picture"
