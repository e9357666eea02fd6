"""`stepmill stream`: print the episodes of a run as they are committed, each as a line of JSON.

The run may be one that is made or served now, in a folder or a bucket, or one that has ended. A line has the cursor
with which the next command goes on after it.
"""

import asyncio
import os
from collections.abc import AsyncIterator

from flows import signals
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.job.stored_run import open_stored_run
from flows.serving.stream import POLL_SECONDS, BadCursor, EpisodeStream, StreamOptions
from flows.terminal import ExitCode, log_to_stderr, print_result
from schemas.base import JsonObject
from schemas.errors import BadConfig


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    if args.cursor < 0:
        raise BadConfig(f"--cursor: expected the cursor of a line, from 0 on, got {args.cursor}")
    signals.run(_print_lines(args))
    return ExitCode.DONE


async def _print_lines(args: Arguments) -> None:
    sources = Sources(config=args.config, settings=tuple(args.settings))
    stored = await open_stored_run(args.run, sources, os.environ)
    allowed = args.max_staleness
    options = StreamOptions(
        groups=args.groups,
        trace=args.trace,
        pictures=args.pictures,
        max_staleness=stored.config.seats.max_staleness if allowed is None else allowed,
    )
    stream = EpisodeStream(stored.store, stored.lake, attempts=stored.config.tasks.attempts)
    try:
        async for line in _lines(stream, args.cursor, options, follow=args.follow):
            print_result(line)
    except BadCursor as error:
        raise BadConfig(f"--{error}") from None
    finally:
        await stored.lake.close()


async def _lines(
    stream: EpisodeStream, cursor: int, options: StreamOptions, *, follow: bool
) -> AsyncIterator[JsonObject]:
    """Yield what there is after a cursor, and with `follow` what comes later, for ever."""
    await stream.refresh()
    stream.check(cursor)
    while True:
        known = stream.count
        read = stream.groups if options.groups else stream.episodes
        async for line in read(cursor, options, limit=max(1, known - cursor)):
            yield line
        cursor = known
        if not follow:
            break
        await asyncio.sleep(POLL_SECONDS)
        await stream.refresh()
    if options.groups:
        for line in stream.incomplete():
            yield {"cursor": cursor, **line}
