"""Exports the episodes that a version publishes, one after another, in a format.

The export has the episodes that the run's rule accepts, or all if the caller includes rejected ones. An
episode that is not complete stops it (see `EpisodeReader`). The same run, version, rule and options give
the same bytes, so a second export writes nothing.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from pydantic import JsonValue

from schemas.acceptance import AcceptanceStatus
from schemas.base import JsonObject, Record
from schemas.errors import BadConfig
from schemas.sections import AcceptSection, RowKind
from storage.export.atif import Atif
from storage.export.chat import Chat
from storage.export.openenv import OpenEnv
from storage.export.output_folder import OutputFolder
from storage.export.protocol import (
    Format,
    FormatCounts,
    FullEpisode,
    GroupFormat,
    Piece,
)
from storage.export.registry import (
    RENDERED,
    FormatName,
    MessageShape,
    Pictures,
    Spelling,
    StepChoice,
)
from storage.export.training import Grounding, Preference, TrainingRows
from storage.export.verifiers import Verifiers
from storage.publish.plan.episode_reader import EpisodeReader
from storage.publish.plan.rows import Tables, table_errors
from storage.publish.plan.selection import select
from storage.publish.training.options import SystemPrompt
from storage.publish.training.preference import PairMaker
from storage.publish.training.rows import RowMaker
from storage.publish.training.source import Renderer

LAYOUT = 5
"""Incremented when the same episodes are written differently."""

_OPTIONS: dict[FormatName, frozenset[str]] = {
    FormatName.CHAT: frozenset({"dialect", "shape", "pictures", "steps"}),
    FormatName.VERIFIERS: frozenset({"pictures"}),
    FormatName.SFT: frozenset({"dialect", "steps", "system", "spelling"}),
    FormatName.PREFERENCE: frozenset({"dialect", "system"}),
    FormatName.KTO: frozenset({"dialect", "system"}),
    FormatName.STEP_LABELS: frozenset({"dialect", "system"}),
    FormatName.OPENENV: frozenset({"pictures"}),
}
"""The options of each format that has any."""


NEEDS_REJECTED = (FormatName.PREFERENCE, FormatName.KTO)
"""Formats whose rows are made of rejected attempts too."""


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
    counts: dict[str, int]
    """The format's own counts."""
    lines: int
    """Lines of all JSONL files and rows of all Parquet files."""
    files: int
    """Pictures and documents."""
    bytes: int
    """Size of everything but the manifest."""
    written: bool
    """Whether it was written now; False if it was complete already."""


def check_options(name: FormatName, given: dict[str, JsonValue]) -> None:
    """Refuse options that a format does not have, before any work.

    Raises:
        BadConfig: the caller gave an option that the format does not have.
    """
    options = _OPTIONS.get(name, frozenset())
    for option, value in given.items():
        if value is not None and option not in options:
            formats = " and ".join(str(other) for other, has in _OPTIONS.items() if option in has)
            raise BadConfig(f"--{option}: '{name}' has no such option; it is for {formats}")


def check_rejected(name: FormatName, *, include_rejected: bool) -> None:
    """Refuse a format that is made of rejected attempts where these are left out, before any work.

    Raises:
        BadConfig: they are left out.
    """
    if name in NEEDS_REJECTED and not include_rejected:
        raise BadConfig(
            f"--format {name}: its rows tell good replies from bad ones, and rejected attempts, which "
            "have most of the bad ones, are left out; add --include-rejected, or "
            "--set publish.include_rejected=true"
        )


def make_format(
    name: FormatName,
    *,
    renderer: Renderer | None = None,
    shape: MessageShape = MessageShape.OPENAI,
    pictures: Pictures = Pictures.FILES,
    steps: StepChoice = StepChoice.ALL,
    system: SystemPrompt = SystemPrompt.ROW,
    spelling: Spelling = Spelling.COLUMNS,
) -> Format | GroupFormat:
    """Return the format of that name; those of `RENDERED` need a renderer."""
    match name:
        case FormatName.ATIF:
            return Atif()
        case FormatName.GROUNDING:
            return Grounding()
        case FormatName.VERIFIERS | FormatName.OPENENV:
            traces = Verifiers if name is FormatName.VERIFIERS else OpenEnv
            return traces(pictures=pictures)
    if renderer is None:
        raise ValueError(f"{name} needs a renderer, as {RENDERED} do")
    if name is FormatName.CHAT:
        return Chat(renderer, shape=shape, pictures=pictures, steps=steps)
    if name is FormatName.PREFERENCE:
        return Preference(PairMaker(renderer, system))
    maker = RowMaker(RowKind(name.value), renderer, system, only_good=steps is StepChoice.GOOD)
    return TrainingRows(maker, spelling=spelling)


def export(
    tables: Tables,
    format_: Format | GroupFormat,
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
    folder = OutputFolder(to, made_of)
    manifest = folder.existing()
    written = manifest is None
    with table_errors(f"version {tables.version} of the run"):
        selection = select(tables, rule, include_rejected=include_rejected)
    if manifest is None:
        with table_errors(f"version {tables.version} of the run"):
            reader = EpisodeReader(tables)
        with folder.writing():
            counts: Counter[str] = Counter()
            for split, piece in _output(format_, reader.read(selection.published), counts):
                folder.add(split, piece)
            episodes = sum(1 for _ in selection.published)
            manifest = folder.finish(episodes=episodes, counts=dict(sorted(counts.items())))
    return ExportReport(
        to=str(to),
        format=format_.name.value,
        version=tables.version,
        episodes=manifest.episodes,
        unjudged=selection.count(AcceptanceStatus.UNJUDGED),
        counts=manifest.counts,
        lines=sum(file.lines for file in manifest.lines),
        files=manifest.files,
        bytes=manifest.file_bytes + sum(file.bytes for file in manifest.lines),
        written=written,
    )


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
