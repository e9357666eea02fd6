"""The look-up of a run or a dataset: heads, places and words of its episodes, made once in a folder of the user's cache.

It is made stage by stage: the heads first, which lists and figures need, then the places, by which an episode is opened,
then the words, which are searched. Each stage can be used as soon as it is there. A process that was killed leaves what
it had, and the next one goes on from there. What it was made of is in the folder's name, so a run that has grown gets
another one, and the one before is removed when the new one is whole. What verdicts and reviews decide is in files of
their own, which are made anew when somebody has judged.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from schemas.errors import Unwritable
from storage.reading.heads import HEADS, heads_of
from storage.reading.opened import Opened
from storage.reading.places import PLACES, Places, places_of
from storage.reading.row_files import read_errors
from storage.reading.words import Piece, Words, text_batches

PLACES_FILE, WORDS_FILE, WHOLE = "places.arrow", "words.sqlite", "whole"
"""Files of a look-up; the last one is there when all words are in."""

_TEXTS = ("steps", "observations")
_PIECE_ROWS = 2_000
_BATCH_ROWS = 512
_BATCHES = 32
"""Batches of rows whose words are added together."""

T = TypeVar("T")

Progress = Callable[[float], None]
"""Is told the share that is done, 0-1."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of all look-ups, which is this user's alone; it is made unless it is there.

    Raises:
        Unwritable: it cannot be made, or is another user's.
    """
    home = environ.get("XDG_CACHE_HOME") or str(
        Path(environ.get("HOME") or "~").expanduser() / ".cache"
    )
    folder = Path(home) / "stepmill" / "view"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
        if state.st_uid != os.getuid():
            raise Unwritable(
                f"{folder}: belongs to another user: set XDG_CACHE_HOME to a folder of your own"
            )
        folder.chmod(0o700)  # goals and thoughts are nobody else's to read
    except OSError as error:
        raise Unwritable(
            f"{folder}: {error.strerror or error}: set XDG_CACHE_HOME to a folder that can be written"
        ) from None
    return folder


def place_folder(cache: Path, address: str) -> Path:
    """Return the folder with the look-ups of one place."""
    return cache / hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def lookup_folder(cache: Path, opened: Opened) -> Path:
    """Return the folder of the look-up of what is opened."""
    return place_folder(cache, opened.address) / opened.identity[:32]


def forget(cache: Path, address: str) -> bool:
    """Remove all look-ups of a place; return whether there was one.

    Raises:
        Unwritable: they cannot be removed.
    """
    folder = place_folder(cache, address)
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Unwritable(f"{folder}: {error.strerror or error}") from None
    return True


def make_lookup(opened: Opened, folder: Path, progress: Progress) -> None:
    """Make the look-up in a folder, or go on with it; this blocks. One that is whole is left as it is.

    Raises:
        Damaged: a file cannot be read.
        Unwritable: the folder cannot be written, as when its disk is full.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(folder):
            _make(opened, folder, progress)
            (folder / WHOLE).touch()
            for other in folder.parent.iterdir():
                if other != folder:
                    shutil.rmtree(other, ignore_errors=True)
    except OSError as error:
        raise Unwritable(
            f"{folder}: {error.strerror or error}: make room there, or set XDG_CACHE_HOME to another folder"
        ) from None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process makes this look-up; a killed one holds nothing."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _make(opened: Opened, folder: Path, progress: Progress) -> None:
    heads, judged, places = (*_judged_files(opened, folder), folder / PLACES_FILE)
    if not judged.exists():
        _write(judged, places_of(opened, judging=True), PLACES)
    if not heads.exists():
        _write(heads, _read_from(opened, heads_of(opened)), HEADS, by="started")
    progress(0.05)
    if not places.exists():
        _write(places, places_of(opened, judging=False), PLACES)
    progress(0.1)
    for old in {*folder.glob("heads-*"), *folder.glob("judged-*")} - {heads, judged}:
        old.unlink(missing_ok=True)
    if (folder / WHOLE).exists():
        return
    known = _read(heads)
    words = Words(folder / WORDS_FILE)
    try:
        _add_heads(words, known)
        numbers = {str(id_): at for at, id_ in enumerate(known["id"].to_pylist())}
        rows = max(1, 2 * ((pc.sum(known["n_steps"]).as_py() or 0) + known.num_rows))
        seen = 0
        for table in _TEXTS:
            for _ in _add_texts(words, opened, table, numbers):
                seen += _BATCH_ROWS
                progress(0.1 + 0.9 * min(1.0, seen / rows))
    finally:
        words.close()
    progress(1.0)


def _read_from(opened: Opened, found: Iterator[T]) -> Iterator[T]:
    """Yield what is found in the place's files, whose errors are told in our words; the cache's own are not among them."""
    with read_errors(opened.address):
        yield from found


def _judged_files(opened: Opened, folder: Path) -> tuple[Path, Path]:
    """Return the files of the heads and of the places of verdicts, which are named by what judged."""
    names = (f"{kind}-{opened.judgement[:32]}.arrow" for kind in ("heads", "judged"))
    heads, judged = (folder / name for name in names)
    return heads, judged


def _add_texts(words: Words, opened: Opened, table: str, numbers: dict[str, int]) -> Iterator[None]:
    """Add the words of a table's rows that are not in yet; yield after each batch of rows."""
    done = words.done(table)
    waiting: list[tuple[int, list[Piece]]] = []
    found = text_batches(opened.files.get(table, ()), table, numbers)
    for batch, pieces in enumerate(_read_from(opened, found)):
        if batch >= done:
            waiting.append((batch, pieces))
        if len(waiting) == _BATCHES:
            words.add(table, waiting)
            waiting = []
        yield
    if waiting:
        words.add(table, waiting)


def _add_heads(words: Words, heads: pa.Table) -> None:
    done = words.done("heads")
    for batch, start in enumerate(range(0, heads.num_rows, _PIECE_ROWS)):
        if batch < done:
            continue
        part = heads.slice(start, _PIECE_ROWS)
        texts = zip(part["goal"].to_pylist(), part["answer"].to_pylist(), strict=True)
        pieces = [
            Piece(start + at, goal=goal or "", answer=answer or "")
            for at, (goal, answer) in enumerate(texts)
        ]
        words.add("heads", [(batch, pieces)])


def _write(
    path: Path, batches: Iterator[pa.RecordBatch], schema: pa.Schema, by: str | None = None
) -> None:
    table = pa.Table.from_batches(batches, schema=schema)
    if by is not None:
        table = table.sort_by([(by, "ascending"), ("id", "ascending")])
    table = table.unify_dictionaries().combine_chunks()
    draft = path.with_suffix(".draft")
    with ipc.new_file(str(draft), schema) as file:
        file.write_table(table)
    draft.rename(path)


def _read(path: Path) -> pa.Table:
    return ipc.open_file(pa.memory_map(str(path))).read_all()


class Lookup:
    """A look-up that is being made or is whole, for reading."""

    def __init__(self, opened: Opened, folder: Path) -> None:
        self.opened = opened
        """What it is of."""
        self._folder = folder
        self._heads, self._judged = _judged_files(opened, folder)

    @property
    def can_be_shown(self) -> bool:
        """Whether episodes can be listed and opened yet."""
        files = (self._heads, self._judged, self._folder / PLACES_FILE)
        return all(one.exists() for one in files)

    @property
    def is_whole(self) -> bool:
        """Whether all of it is there."""
        return self.can_be_shown and (self._folder / WHOLE).exists()

    @cached_property
    def heads(self) -> pa.Table:
        """The heads, by when the episodes began (`storage.reading.heads.HEADS`); a row's number is the episode's."""
        return _read(self._heads)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each episode, by its id."""
        return {str(id_): at for at, id_ in enumerate(self.heads["id"].to_pylist())}

    @cached_property
    def places(self) -> Places:
        """Where the rows of episodes lie."""
        found = [_read(self._folder / PLACES_FILE), _read(self._judged)]
        return Places(self.opened, pa.concat_tables(found))

    @cached_property
    def words(self) -> Words:
        """The words, as far as they are in."""
        return Words(self._folder / WORDS_FILE)
