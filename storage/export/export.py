"""Exports the episodes that a version publishes, one after another, in a format.

The export has the episodes that the run's rule accepts, or all if the caller includes rejected ones. An
episode that is not complete stops it (see `EpisodeReader`). The same run, version, rule and options give
the same bytes, so a second export writes nothing.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from schemas.base import JsonObject, Record
from schemas.configuration.sections import AcceptSection
from schemas.configuration.select_section import SelectSection
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.export.format_factory import FORMATS
from storage.export.output_folder import OutputFolder
from storage.export.protocol import (
    Format,
    FormatCounts,
    FullEpisode,
    GroupFormat,
    Piece,
)
from storage.export.thoughts import Thoughts
from storage.publish.plan.episode_reader import EpisodeReader
from storage.publish.plan.rows import Tables, table_errors
from storage.publish.plan.selection import select

LAYOUT = 7
"""Incremented when the same episodes are written differently."""


class ExportReport(Record):
    """The result of an export."""

    to: str
    """The folder's path."""
    format: str
    """The format's name."""
    version: int
    """The version of the run exported."""
    episodes: int
    """Episodes read."""
    unjudged: int
    """Episodes of the version that lack a verdict that the rule asks for."""
    left_out: dict[str, int]
    """Episodes that each key of the selection leaves out; empty: none."""
    counts: dict[str, int]
    """The format's own counts."""
    lines: int
    """Lines of all JSONL files and rows of all Parquet files."""
    files: int
    """Pictures, documents, and what tells other programs how to read the lines or rows."""
    bytes: int
    """Size of everything but the manifest."""
    written: bool
    """Whether it was written now; False if it was complete already."""


def export(
    tables: Tables,
    format_: Format | GroupFormat,
    to: Path,
    *,
    run_id: str,
    rule: AcceptSection,
    include_rejected: bool = False,
    section: SelectSection | None = None,
    thoughts: Thoughts | None = None,
) -> ExportReport:
    """Write the episodes that a version publishes to the folder `to`; `thoughts` stand in place of their own.

    `section` selects among them; None: all.

    Raises:
        BadConfig: the folder is a run's, a thought is of another step, or the selection selects nothing.
        NotFound: the version has no episodes.
        OtherRun: the folder holds another export.
        Unwritable: the folder holds something else, or cannot be written.
        Damaged: the run's tables are not complete.
    """
    made_of: JsonObject = {
        "run": run_id,
        "version": tables.version,
        "rule": rule.model_dump(mode="json"),
        "include_rejected": include_rejected,
        "layout": LAYOUT,
        **({"select": section.stated} if section and section.stated else {}),
        **({"thoughts": thoughts.sha256} if thoughts else {}),
    }
    folder = OutputFolder(to, _format_of(format_) | made_of)
    manifest = folder.find_existing()
    written = manifest is None
    with table_errors(f"version {tables.version} of the run"):
        selection = select(tables, rule, include_rejected=include_rejected, section=section)
    if manifest is None:
        with table_errors(f"version {tables.version} of the run"):
            reader = EpisodeReader(tables)
        with folder.lock():
            counts: Counter[str] = Counter()
            sources = reader.read(selection.published)
            sources = sources if thoughts is None else thoughts.within(sources)
            for split, piece in _output(format_, sources, counts):
                folder.add(split, piece)
            episodes = sum(1 for _ in selection.published)
            manifest = folder.finish(episodes=episodes, counts=dict(sorted(counts.items())))
    return ExportReport(
        to=str(to),
        format=str(format_.name),
        version=tables.version,
        episodes=manifest.episodes,
        unjudged=selection.count(AcceptanceStatus.UNJUDGED),
        left_out=dict(selection.left_out),
        counts=manifest.counts,
        lines=sum(file.lines for file in manifest.lines),
        files=manifest.files + len(manifest.guides),
        bytes=manifest.file_bytes + sum(manifest.listed.values()),
        written=written,
    )


def _format_of(format_: Format | GroupFormat) -> JsonObject:
    """Return what an export is made of, of its format."""
    plugin = FORMATS.plugin(str(format_.name))
    return {
        "format": str(format_.name),
        "options": format_.options,
        **({"plugin": plugin.origin} if plugin else {}),
    }


def _output(
    format_: Format | GroupFormat, sources: Iterator[FullEpisode], counts: FormatCounts
) -> Iterator[tuple[str, Piece]]:
    """Yield every piece with its split; attempts at one task come one after another."""
    if isinstance(format_, GroupFormat):
        for _, members in groupby(sources, key=lambda source: source.episode.group_id):
            group = list(members)
            for piece in format_.group_pieces(group, counts):
                yield group[0].acceptance.split, piece
        return
    for source in sources:
        for piece in format_.pieces(source, counts):
            yield source.acceptance.split, piece
