"""The progress of a command: live on a terminal, elsewhere a line every few seconds."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from flows.job.progress import Progress
from flows.terminal import print_note

LINE_SECONDS = 10.0
"""Between two lines where there is no terminal."""

_BAR_WIDTH = 30


@contextlib.asynccontextmanager
async def show_progress(progress: Callable[[], Progress]) -> AsyncIterator[None]:
    """Show `progress` on standard error until the work is over."""
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
    telling = asyncio.create_task(_print_lines(progress))
    try:
        yield
    finally:
        telling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await telling


async def _print_lines(progress: Callable[[], Progress]) -> None:
    while True:
        await asyncio.sleep(LINE_SECONDS)
        now = progress()
        print_note(f"[{now.seconds:.0f} s] {now.sentence}")


def render(now: Progress) -> RenderableType:
    """Return how far it is, as a bar and a line."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(
        ProgressBar(total=100.0, completed=now.percent, width=_BAR_WIDTH),
        Text(f"{now.percent:.0f} %"),
    )
    whole = Table.grid()
    whole.add_row(grid)
    whole.add_row(Text(now.sentence))
    return whole
