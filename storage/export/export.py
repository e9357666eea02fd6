"""Exports the episodes that a version publishes, one after another, in a format.

The export has the episodes that the run's rule accepts, or all if the caller includes rejected ones.
One piece of the tables is in memory at a time. The same run, version, rule and options give the same
bytes, so a second export writes nothing.
"""

from collections import Counter
from pathlib import Path

from schemas.base import JsonObject, Record
from schemas.sections import AcceptSection
from storage.export.episode_reader import Reader
from storage.export.output_folder import ExportManifest, OutputFolder
from storage.export.protocol import File, Format
from storage.publish.plan.rows import Tables, table_errors
from storage.publish.plan.selection import select

LAYOUT = 3
"""Incremented when the same episodes are written differently."""


class ExportReport(Record):
    """The result of an export."""

    to: str
    """The folder."""
    format: str
    """The format."""
    version: int
    """The version of the run exported."""
    episodes: int
    """Episodes read."""
    counts: dict[str, int]
    """The format's own counts."""
    lines: int
    """Lines of all JSONL files."""
    files: int
    """Pictures and documents."""
    bytes: int
    """Size of everything but the manifest."""
    written: bool
    """Whether it was written now; False if it was complete already."""


def export(
    tables: Tables,
    format_: Format,
    to: Path,
    *,
    run_id: str,
    rule: AcceptSection,
    include_rejected: bool = False,
) -> ExportReport:
    """Write the episodes that a version publishes to the folder `to`.

    Raises:
        BadConfig: the folder is a run's.
        NotFound: the version has no episodes.
        OtherRun: the folder holds another export.
        Unwritable: the folder holds something else, or cannot be written.
        Damaged: the run's tables are not complete.
    """
    made_of: JsonObject = {
        "format": format_.name.value,
        "options": format_.options,
        "run": run_id,
        "version": tables.version,
        "rule": rule.model_dump(mode="json"),
        "include_rejected": include_rejected,
        "layout": LAYOUT,
    }
    outlet = OutputFolder(to, made_of)
    manifest = outlet.existing()
    written = manifest is None
    if manifest is None:
        with table_errors(f"version {tables.version} of the run"):
            chosen = select(tables, rule, include_rejected=include_rejected)
            reader = Reader(tables)
        with outlet.writing():
            counts: Counter[str] = Counter()
            episodes = 0
            for source in reader.read(chosen):
                episodes += 1
                for piece in format_.pieces(source, counts):
                    if isinstance(piece, File):
                        outlet.put(piece.path, piece.data)
                    else:
                        outlet.line(source.acceptance.split, piece.record)
            manifest = outlet.finish(episodes=episodes, counts=dict(sorted(counts.items())))
    return _report(manifest, to, format_, tables.version, written=written)


def _report(
    manifest: ExportManifest, to: Path, format_: Format, version: int, *, written: bool
) -> ExportReport:
    return ExportReport(
        to=str(to),
        format=format_.name.value,
        version=version,
        episodes=manifest.episodes,
        counts=manifest.counts,
        lines=sum(file.lines for file in manifest.lines),
        files=manifest.files,
        bytes=manifest.file_bytes + sum(file.bytes for file in manifest.lines),
        written=written,
    )
