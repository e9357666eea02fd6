"""The folder that an export is written to: whose it is, and how being killed leaves it.

The folder is taken only if it is empty, or holds this very export, finished or not. A mark says
which export is under way; every file is written under a temporary name and renamed; `manifest.json`
comes last, and then the mark goes. An export that was killed is run again: it writes the same
bytes over what is there. Pictures are too many to be waited for one by one; if a machine goes down
with some of them, their sizes tell, and the same export writes them again. A lock that the kernel
drops with the process keeps two from one folder.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from pydantic import ValidationError

from schemas.base import JsonObject, Record, canonical_json
from schemas.errors import BadConfig, OtherRun, Unwritable
from storage.run_file import KEY as RUN_FILE

MANIFEST = "manifest.json"
"""Says what the export is made of and what is in it; written last."""

MARK = ".exporting"
"""Lies in the folder until the manifest does, and says what is being exported."""

_UNFINISHED = ".tmp-"


class LinesFile(Record):
    """A JSONL file of an export."""

    path: str
    """Relative to the folder."""
    lines: int
    """Lines in it."""
    bytes: int
    """Its size."""
    sha256: str
    """Of its bytes."""


class Manifest(Record):
    """An export's `manifest.json`."""

    made_of: JsonObject
    """The run, its version, the rule, the format and its options: what decides every byte."""
    episodes: int
    """Episodes read."""
    counts: dict[str, int]
    """What the format counted."""
    lines: tuple[LinesFile, ...]
    """Every JSONL file."""
    files: int
    """Other files: pictures and documents."""
    file_bytes: int
    """Their size."""


class Outlet:
    """A folder that one export is written to."""

    def __init__(self, root: Path, made_of: JsonObject) -> None:
        self._root = root
        self._made_of = made_of
        self._open: dict[str, _Lines] = {}
        self._files = 0
        self._file_bytes = 0

    def finished(self) -> Manifest | None:
        """Return the manifest if this very export lies here, whole; None if it must be written.

        Raises:
            BadConfig: the folder is a run's.
            OtherRun: another export lies here.
            Unwritable: something else does.
        """
        try:
            return self._finished()
        except OSError as error:
            raise Unwritable(f"{self._root}: cannot be read: {error.strerror}") from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder while the block runs.

        Raises:
            OtherRun: another export was here first.
            Unwritable: it cannot be written, is full, or another export is writing here.
        """
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise Unwritable(f"{self._root}: cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._begin()
            yield
        except BlockingIOError:
            raise Unwritable(f"{self._root}: another export is writing here; wait for it") from None
        except OSError as error:
            raise Unwritable(
                f"{self._root}: cannot be written: {error.strerror}; "
                "mend that, and run this again to go on"
            ) from error
        finally:
            for lines in self._open.values():
                with suppress(OSError):  # what a full disk did not take is tried once more here
                    lines.file.close()
            os.close(handle)

    def line(self, split: str, record: JsonObject) -> None:
        """Append a line to the file of a split."""
        path = f"{split}.jsonl"
        if path not in self._open:
            self._open[path] = _Lines(_temporary(self._root / path))
        self._open[path].append(record)

    def put(self, path: str, data: bytes) -> None:
        """Write a file of its own, in one step."""
        place = self._root / PurePosixPath(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        temporary = _temporary(place)
        temporary.write_bytes(data)
        temporary.replace(place)
        self._files += 1
        self._file_bytes += len(data)

    def finish(self, *, episodes: int, counts: dict[str, int]) -> Manifest:
        """Give the lines their names, write the manifest and take the mark away."""
        files = [self._open[path].finish(self._root / path) for path in sorted(self._open)]
        manifest = Manifest(
            made_of=self._made_of,
            episodes=episodes,
            counts=counts,
            lines=tuple(files),
            files=self._files,
            file_bytes=self._file_bytes,
        )
        _write(self._root / MANIFEST, f"{manifest.model_dump_json(indent=2)}\n")
        (self._root / MARK).unlink()
        return manifest

    def _begin(self) -> None:
        """Leave the mark, and clear what a killed export left half written."""
        self._finished()  # once more: somebody may have been here before the lock was ours
        if not (self._root / MARK).is_file():
            _write(self._root / MARK, canonical_json(self._made_of))
        for found in sorted(self._root.rglob(f"{_UNFINISHED}*")):
            found.unlink()

    def _finished(self) -> Manifest | None:
        self._refuse_run_folder()
        if not self._root.exists():
            return None
        mark, path = self._root / MARK, self._root / MANIFEST
        if path.is_file():
            return self._same(path, under_way=mark.is_file())
        if mark.is_file():
            self._refuse_other(_marked(mark))
            return None
        half = _temporary(mark).name
        first = min((i.name for i in self._root.iterdir() if i.name != half), default=None)
        if first is not None:
            raise Unwritable(
                f"{self._root}: is not empty and holds no export (there is {first}); "
                "export to an empty folder"
            )
        return None

    def _same(self, path: Path, *, under_way: bool) -> Manifest | None:
        try:
            manifest = Manifest.model_validate_json(path.read_bytes())
        except ValidationError:
            raise Unwritable(
                f"{self._root}: holds a {MANIFEST} that is no export's; export to an empty folder"
            ) from None
        self._refuse_other(manifest.made_of)
        return manifest if not under_way and self._whole(manifest) else None

    def _whole(self, manifest: Manifest) -> bool:
        """Say whether everything the manifest speaks of is still there, by count and size."""
        lines = {file.path: file.bytes for file in manifest.lines}
        files, size = 0, 0
        for path in self._root.rglob("*"):
            name = path.relative_to(self._root).as_posix()
            if not path.is_file() or name == MANIFEST:
                continue
            bytes_ = path.stat().st_size
            if name in lines:
                if lines.pop(name) != bytes_:
                    return False
            else:
                files, size = files + 1, size + bytes_
        return not lines and (files, size) == (manifest.files, manifest.file_bytes)

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

    def _refuse_run_folder(self) -> None:
        root = self._root.resolve()
        for place in (root, *root.parents):
            if (place / RUN_FILE).is_file() and (place / "tables").is_dir():
                raise BadConfig(
                    f"{self._root}: lies in the folder of a run ({place}); "
                    "export to a folder outside it"
                )


def _temporary(path: Path) -> Path:
    """Return what a file is called until it is whole; no pattern for its kind finds it."""
    return path.with_name(f"{_UNFINISHED}{path.name}.part")


def _write(path: Path, text: str) -> None:
    """Write a file whose words must outlive a machine that goes down, in one step."""
    temporary = _temporary(path)
    with temporary.open("wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _marked(mark: Path) -> object:
    """Return what a mark says is being exported."""
    try:
        said: object = json.loads(mark.read_bytes())
    except ValueError:
        raise Unwritable(
            f"{mark}: does not say which export is under way here; export to an empty folder"
        ) from None
    return said


class _Lines:
    """A JSONL file that is being written."""

    def __init__(self, temporary: Path) -> None:
        self._temporary = temporary
        self._sha256 = hashlib.sha256()
        self._lines = 0
        self._bytes = 0
        self.file: BinaryIO = temporary.open("wb")

    def append(self, record: JsonObject) -> None:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        data = f"{text}\n".encode()
        self.file.write(data)
        self._sha256.update(data)
        self._lines += 1
        self._bytes += len(data)

    def finish(self, path: Path) -> LinesFile:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        self._temporary.replace(path)
        return LinesFile(
            path=path.name, lines=self._lines, bytes=self._bytes, sha256=self._sha256.hexdigest()
        )
