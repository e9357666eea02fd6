"""Which bytes of a published file readers had from a server, and how many were of pictures.

The local Hub keeps such a record itself; a bucket is watched by a proxy before it.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
from aiohttp import web

PICTURES = "screenshot.bytes"


class Read(NamedTuple):
    """A part of a file that was given out."""

    path: str
    start: int
    stop: int


def read_of(path: str, answer: web.StreamResponse) -> Read | None:
    """Return what part of a file an answer holds; None if it is no part of one."""
    if answer.status == 206:
        span = answer.headers["Content-Range"].removeprefix("bytes ").partition("/")[0]
        first, _, last = span.partition("-")
        return Read(path, int(first), int(last) + 1)
    if answer.status == 200:
        return Read(path, 0, int(answer.headers["Content-Length"]))
    return None


Spans = Mapping[str, list[tuple[int, int]]]
"""Where the pictures lie in the files of each name."""


def pictures_in(files: Iterable[Path]) -> Spans:
    """Return from where to where there are pictures in Parquet files, one span a row group."""
    return {path.name: list(_spans(path)) for path in files}


def _spans(path: Path) -> Iterable[tuple[int, int]]:
    metadata = pq.read_metadata(path)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            column = group.column(place)
            if column.path_in_schema == PICTURES:
                begin: int = column.data_page_offset
                yield begin, begin + column.total_compressed_size


def bytes_read(reads: Iterable[Read], spans: Spans) -> tuple[int, int]:
    """Return how many bytes of these files were given out, and how many of them were pictures."""
    every = pictures = 0
    for read in reads:
        name = read.path.rpartition("/")[2]
        if name in spans:
            every += read.stop - read.start
            pictures += sum(
                max(0, min(read.stop, stop) - max(read.start, start)) for start, stop in spans[name]
            )
    return every, pictures
