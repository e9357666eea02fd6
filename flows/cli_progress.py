"""How far a command is, for whoever watches: live on a terminal, a line now and then elsewhere."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from flows.cli_terminal import note
from flows.tally import Progress

LINE_SECONDS = 10.0
"""Between two lines where there is no terminal."""

_BAR_WIDTH = 30


@contextlib.asynccontextmanager
async def watching(progress: Callable[[], Progress]) -> AsyncIterator[None]:
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
    telling = asyncio.create_task(_tell(progress))
    try:
        yield
    finally:
        telling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await telling


async def _tell(progress: Callable[[], Progress]) -> None:
    while True:
        await asyncio.sleep(LINE_SECONDS)
        now = progress()
        note(f"[{now.seconds:.0f} s] {sentence(now)}")


def sentence(now: Progress) -> str:
    """Return how far it is, in a line."""
    parts = [
        f"{now.episodes}/{now.episodes_total} episodes",
        f"{now.accepted} accepted of {now.judged} judged",
        f"{now.steps_per_second:.1f} steps/s",
        f"{now.busy}/{now.sessions} sessions busy",
        f"{now.units}/{now.units_total} units committed",
    ]
    if now.units_failed:
        parts.append(f"{now.units_failed} units failed")
    if now.left is not None:
        parts.append(f"{clock(now.left)} left")
    return " · ".join(parts)


def clock(seconds: float) -> str:
    """Return a stretch of time as a person reads it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def render(now: Progress) -> RenderableType:
    """Return how far it is, as a bar and a line."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(
        ProgressBar(total=100.0, completed=now.percent, width=_BAR_WIDTH),
        Text(f"{now.percent:.0f} %"),
    )
    whole = Table.grid()
    whole.add_row(grid)
    whole.add_row(Text(sentence(now)))
    return whole
