"""How commands show their progress on standard error: live on a terminal, and a line every few seconds elsewhere."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from flows.terminal import print_note, strip_control_chars

LINE_SECONDS = 10.0
"""The time between two lines where there is no terminal."""

_BAR_WIDTH = 30


class ShownProgress(Protocol):
    """The progress of a command."""

    @property
    def percent(self) -> float:
        """Share of the work that is done, 0–100."""

    @property
    def seconds(self) -> float:
        """Time since the work began."""

    @property
    def sentence(self) -> str:
        """The progress, in a line for people."""


@contextlib.asynccontextmanager
async def show_progress(
    progress: Callable[[], ShownProgress], *, first_line: float | None = None
) -> AsyncIterator[None]:
    """Show `progress` on standard error until the work is over.

    Without a terminal the first line comes after `first_line` s; None: after as long as the others.
    """
    if sys.stderr.isatty():
        console = Console(stderr=True)
        with Live(
            get_renderable=lambda: render(progress()),
            console=console,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
        ):
            yield
        return
    printing = asyncio.create_task(_print_lines(progress, first_line))
    try:
        yield
    finally:
        printing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await printing


async def _print_lines(progress: Callable[[], ShownProgress], first_line: float | None) -> None:
    await asyncio.sleep(LINE_SECONDS if first_line is None else first_line)
    while True:
        now = progress()
        print_note(f"[{now.seconds:.0f} s] {now.sentence}")
        await asyncio.sleep(LINE_SECONDS)


def render(now: ShownProgress) -> RenderableType:
    """Return the progress as a bar and a line."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(
        ProgressBar(total=100.0, completed=now.percent, width=_BAR_WIDTH),
        Text(f"{now.percent:.0f} %"),
    )
    whole = Table.grid()
    whole.add_row(grid)
    whole.add_row(Text(strip_control_chars(now.sentence)))
    return whole
