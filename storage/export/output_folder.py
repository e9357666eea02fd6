"""The folder that an export is written to, its owner, and its state after a kill.

The order of the writes is that of a publication, and so are the file operations
(`storage.objects.durable_files`). The folder is accepted only if it is empty, or holds the same export,
finished or not. A mark names the export in progress; every file is written under a temporary name and
renamed; `manifest.json` comes last, and then the mark is removed. After a kill the same export is run
again, and writes the same bytes over the old ones. A lock keeps two exports out of one folder.

Unlike a store, the folder does not synchronise each picture to the disk: there are too many. If a
machine goes down and loses some of them, their sizes differ from the manifest's, and the same export
writes them again.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pydantic import ValidationError

from schemas.base import JsonObject, Record, canonical_json, parse_json, sha256_hex
from schemas.errors import OtherRun, Unwritable
from storage.export.dataset_info import DATASET_INFO, TrainerColumns, dataset_info
from storage.export.line_columns import CARD, LineColumns, columns_card
from storage.export.protocol import File, Line, Piece, RowFile, TableRow
from storage.lake.parquet_writer import ParquetWriter, Shard
from storage.objects.durable_files import create_draft, folder_lock, write_file
from storage.objects.protocol import UNFINISHED
from storage.objects.temp_object import Draft
from storage.run_file import refuse_run_folder

if TYPE_CHECKING:
    from storage.export.lance_steps import LanceWriter

MANIFEST = "manifest.json"
"""Describes the export and its files; written last."""

MARK = ".exporting"
"""Names the export in progress; removed once the manifest is written."""

SHARD_BYTES = 128 << 20
"""The maximum size of a Parquet file: some trainers read a whole file at once."""

GROUP_BYTES = 4 << 20
"""The maximum size of its row groups: a writer holds one for each split, more than once while it writes."""

_TEMPORARY_FILES = ".tmp-*"


class LinesFile(Record):
    """A JSONL, Parquet or Lance file of an export."""

    path: str
    """Relative to the folder."""
    lines: int
    """Lines or rows in it."""
    bytes: int
    """Its size."""
    sha256: str
    """Hash of its bytes."""


class GuideFile(Record):
    """A file of an export that tells a program how to read its lines or rows."""

    path: str
    """Relative to the folder."""
    bytes: int
    """Its size."""
    sha256: str
    """Hash of its bytes."""


class ExportManifest(Record):
    """An export's `manifest.json`."""

    made_of: JsonObject
    """The run, its version, the rule, the format and its options: together they decide every byte."""
    episodes: int
    """Episodes read."""
    counts: dict[str, int]
    """The format's own counts."""
    lines: tuple[LinesFile, ...]
    """Every JSONL, Parquet or Lance file."""
    guides: tuple[GuideFile, ...] = ()
    """The card that says the types of lines, or the `dataset_info.json` of rows; empty for a format that needs none."""
    files: int
    """Other files: pictures and documents."""
    file_bytes: int
    """The size of these."""

    @property
    def listed(self) -> dict[str, int]:
        """The size of each file that it lists, by path."""
        sizes = {file.path: file.bytes for file in self.lines}
        return sizes | {file.path: file.bytes for file in self.guides}


class OutputFolder:
    """A folder that one export is written to."""

    def __init__(self, root: Path, made_of: JsonObject) -> None:
        self._root = root
        self._made_of = made_of
        self._drafts: dict[str, Draft] = {}
        self._lines: Counter[str] = Counter()
        self._columns: LineColumns | None = None
        self._trainer: TrainerColumns | None = None
        self._tables: dict[str, ParquetWriter | LanceWriter] = {}
        self._row_file = RowFile.PARQUET
        self._shards: list[LinesFile] = []
        self._files = 0
        self._file_bytes = 0

    def find_existing(self) -> ExportManifest | None:
        """Return the manifest if the folder has this export, complete; None if it must be written.

        Raises:
            BadConfig: the folder is a run's.
            OtherRun: it holds another export.
            Unwritable: it holds something else.
        """
        try:
            return self._manifest_there()
        except OSError as error:
            raise Unwritable(f"{self._root}: cannot be read: {error.strerror}") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder while the block runs.

        Raises:
            OtherRun: another export was first.
            Unwritable: it cannot be written, is full, or another export is writing to it.
        """
        try:
            self._root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unwritable(f"{self._root}: cannot be written: {error.strerror}") from error
        try:
            with folder_lock(self._root, wait=False), ExitStack() as stack:
                stack.callback(self._close_drafts)
                self._manifest_there()  # again, under the lock: another export may have been faster
                if not (self._root / MARK).is_file():
                    write_file(self._root / MARK, canonical_json(self._made_of).encode())
                for path in sorted(self._root.rglob(_TEMPORARY_FILES)):
                    _remove(path)  # an export that was killed left it
                yield
        except BlockingIOError:
            raise Unwritable(f"{self._root}: another export is writing here; wait for it") from None
        except (OSError, Unwritable) as error:
            cause = error.__cause__ if isinstance(error, Unwritable) else error
            if not isinstance(cause, OSError):
                raise
            raise Unwritable(
                f"{self._root}: cannot be written: {cause.strerror}; "
                "correct that, and run this again to continue"
            ) from error

    def add(self, split: str, piece: Piece) -> None:
        """Write a piece of an episode of a split."""
        match piece:
            case File():
                self.put(piece.path, piece.data)
            case Line():
                self._columns = piece.columns
                self.line(split, piece.record)
            case TableRow():
                self._trainer = piece.trainer
                self._row(split, piece)

    def line(self, split: str, record: JsonObject) -> None:
        """Append a line to the file of a split."""
        path = f"{split}.jsonl"
        if path not in self._drafts:
            self._drafts[path] = create_draft(self._root)
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        self._drafts[path].write(f"{text}\n".encode())
        self._lines[path] += 1

    def _row(self, split: str, piece: TableRow) -> None:
        """Append a row to the files of a split; a full one is written at once."""
        self._row_file = piece.file
        if split not in self._tables:
            self._tables[split] = self._writer(piece)
        for shard in self._tables[split].write([piece.row]):
            self._write_shard(split, shard)

    def _writer(self, piece: TableRow) -> "ParquetWriter | LanceWriter":
        if piece.file is RowFile.LANCE:
            # Its library is an extra, and slow to import.
            from storage.export.lance_steps import LanceWriter  # noqa: PLC0415

            return LanceWriter(piece.schema, self._root)
        return ParquetWriter(
            piece.schema,
            shard_bytes=SHARD_BYTES,
            group_bytes=GROUP_BYTES,
            begin=partial(create_draft, self._root),
        )

    def put(self, path: str, data: bytes) -> None:
        """Write a file of its own as a whole."""
        place = self._root / PurePosixPath(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, data, synchronise=False)
        self._files += 1
        self._file_bytes += len(data)

    def finish(self, *, episodes: int, counts: dict[str, int]) -> ExportManifest:
        """Rename the files of lines and rows, write the manifest and remove the mark."""
        for split, table in sorted(self._tables.items()):
            last = table.close()
            if last is not None:
                self._write_shard(split, last)
        lines = [*self._shards]
        for path, draft in sorted(self._drafts.items()):
            write_file(self._root / path, draft)
            lines.append(
                LinesFile(path=path, lines=self._lines[path], bytes=len(draft), sha256=draft.sha256)
            )
        manifest = ExportManifest(
            made_of=self._made_of,
            episodes=episodes,
            counts=counts,
            lines=tuple(sorted(lines, key=lambda file: file.path)),
            guides=tuple(self._write_guides()),
            files=self._files,
            file_bytes=self._file_bytes,
        )
        write_file(self._root / MANIFEST, f"{manifest.model_dump_json(indent=2)}\n".encode())
        (self._root / MARK).unlink()
        return manifest

    def _write_guides(self) -> Iterator[GuideFile]:
        """Write what tells other programs how to read the lines or rows."""
        guides: dict[str, str] = {}
        if self._columns is not None:
            splits = [path.removesuffix(".jsonl") for path in self._drafts]
            guides[CARD] = columns_card(self._columns, splits)
        if self._trainer is not None:
            guides[DATASET_INFO] = dataset_info(self._trainer, self._tables)
        for path, text in guides.items():
            data = text.encode()
            write_file(self._root / path, data)
            yield GuideFile(path=path, bytes=len(data), sha256=sha256_hex(data))

    def _write_shard(self, split: str, shard: Shard) -> None:
        number = sum(file.path.startswith(f"{split}-") for file in self._shards)
        path = f"{split}-{number:05d}.{self._row_file.value}"
        with closing(shard.draft) as draft:
            write_file(self._root / path, draft)
            self._shards.append(
                LinesFile(path=path, lines=shard.rows, bytes=len(draft), sha256=draft.sha256)
            )

    def _close_drafts(self) -> None:
        for table in self._tables.values():
            table.discard()
        for draft in self._drafts.values():
            draft.close()

    def _manifest_there(self) -> ExportManifest | None:
        refuse_run_folder(self._root, "export")
        if not self._root.exists():
            return None
        mark, path = self._root / MARK, self._root / MANIFEST
        if path.is_file():
            return self._read_manifest(path, in_progress=mark.is_file())
        if mark.is_file():
            try:
                made_of = parse_json(mark.read_bytes())
            except ValueError:
                raise Unwritable(
                    f"{mark}: does not name an export; export to an empty folder"
                ) from None
            self._refuse_other(made_of)
            return None
        names = (item.name for item in self._root.iterdir())
        first = min((name for name in names if not UNFINISHED.fullmatch(name)), default=None)
        if first is not None:
            raise Unwritable(
                f"{self._root}: is not empty and holds no export (it has {first}); "
                "export to an empty folder"
            )
        return None

    def _read_manifest(self, path: Path, *, in_progress: bool) -> ExportManifest | None:
        try:
            manifest = ExportManifest.model_validate_json(path.read_bytes())
        except ValidationError:
            raise Unwritable(
                f"{self._root}: holds a {MANIFEST} that is not an export's; export to an empty folder"
            ) from None
        self._refuse_other(manifest.made_of)
        return manifest if not in_progress and self._is_complete(manifest) else None

    def _is_complete(self, manifest: ExportManifest) -> bool:
        """Return whether the folder has every file of the manifest, by count and size."""
        listed = manifest.listed
        files, size = 0, 0
        for path in self._root.rglob("*"):
            name = path.relative_to(self._root).as_posix()
            if not path.is_file() or name == MANIFEST:
                continue
            file_size = path.stat().st_size
            if name in listed:
                if listed.pop(name) != file_size:
                    return False
            else:
                files, size = files + 1, size + file_size
        return not listed and (files, size) == (manifest.files, manifest.file_bytes)

    def _refuse_other(self, made_of: object) -> None:
        mine: dict[str, object] = dict(self._made_of)
        theirs = made_of if isinstance(made_of, dict) else {}
        other = sorted(
            key for key in mine.keys() | theirs.keys() if mine.get(key) != theirs.get(key)
        )
        if other:
            raise OtherRun(
                f"{self._root}: holds another export, which differs in {', '.join(other)}; "
                "export to an empty folder"
            )


def _remove(path: Path) -> None:
    """Remove a file, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
