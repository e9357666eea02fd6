"""Long work says how far it is, on a terminal and elsewhere, and short work says nothing."""

import asyncio
import io
from dataclasses import dataclass

import pytest
from rich.console import Console

from flows.cli import live_progress
from flows.cli.live_progress import render, show_progress


@dataclass
class Now:
    """Progress that stands still."""

    percent: float = 40.0
    seconds: float = 2.4
    sentence: str = "2/5 episodes"


async def test_without_a_terminal_a_line_comes_at_the_first_moment_and_then_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_progress, "LINE_SECONDS", 0.0)
    said = ""

    async with show_progress(Now, first_line=0.0):
        while said.count("[2 s] 2/5 episodes\n") < 2:
            await asyncio.sleep(0)
            said += capsys.readouterr().err


async def test_work_that_is_over_before_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    async with show_progress(Now):
        await asyncio.sleep(0)

    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_bar_and_nothing_steers_the_terminal() -> None:
    out = io.StringIO()
    console = Console(file=out, width=60)

    console.print(render(Now(sentence="gates of task 1/2: \x1b[31madd")))

    assert "40 %" in out.getvalue()
    assert "gates of task 1/2: \N{REPLACEMENT CHARACTER}[31madd" in out.getvalue()
