"""Files that are being written and are no objects yet."""

import io
import os
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from schemas.base import sha256_hex
from schemas.errors import Unwritable
from storage.objects.local import LocalStore
from storage.objects.temp_object import Draft

if TYPE_CHECKING:
    from typing_extensions import Buffer

MEGABYTE = 1 << 20


class Full(io.FileIO):
    """A file on a disk with room for so many bytes."""

    def __init__(self, path: Path, room: int) -> None:
        super().__init__(path, "w+")
        self._room = room

    def write(self, data: "Buffer") -> int:
        """Write `data` if it fits."""
        size = memoryview(data).nbytes
        if self.tell() + size > self._room:
            raise OSError(28, "No space left on device")
        return super().write(data)


def pieces(number: int) -> list[bytes]:
    random = Random(0)
    return [random.randbytes(random.randint(1, MEGABYTE)) for _ in range(number)]


@pytest.mark.parametrize("number", [0, 3, 60], ids=["nothing", "small", "large"])
def test_what_is_written_is_read_back_and_split_by_hash(tmp_path: Path, number: int) -> None:
    written = pieces(number)
    whole = b"".join(written)
    for draft in (LocalStore(tmp_path).draft("a"), Draft.nameless(), Draft.in_memory()):
        for piece in written:
            assert draft.write(piece) == len(piece)
        assert len(draft) == draft.tell() == len(whole)
        assert draft[:] == draft.reader().read() == whole
        assert draft[5:900_000] == whole[5:900_000]
        assert draft.sha256 == sha256_hex(whole)
        draft.sync()
        draft.close()
        assert draft.closed
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_its_path_shows_all_that_was_written(tmp_path: Path) -> None:
    draft = LocalStore(tmp_path).draft("a")
    for piece in pieces(30):
        draft.write(piece)

    assert sha256_hex(draft.open_path.read_bytes()) == draft.sha256
    draft.close()


def test_what_does_not_fit_is_said_at_once(tmp_path: Path) -> None:
    draft = Draft(io.BufferedRandom(Full(tmp_path / "a", 20 * MEGABYTE)), tmp_path / "a")
    for _ in range(20):
        draft.write(bytes(MEGABYTE))

    with pytest.raises(Unwritable, match="a: cannot be written: No space left"):
        draft.write(bytes(MEGABYTE))
    draft.close()


TAKEN: dict[str, Callable[[Draft], object]] = {
    "to the disk": Draft.sync,
    "to be hashed": lambda draft: draft.sha256,
    "to be read": lambda draft: draft[:],
}


@pytest.mark.parametrize("take", TAKEN.values(), ids=TAKEN)
def test_what_waits_and_does_not_fit_is_said_before_anybody_takes_it_for_whole(
    tmp_path: Path, take: Callable[[Draft], object]
) -> None:
    draft = Draft(io.BufferedRandom(Full(tmp_path / "a", 0)), tmp_path / "a")
    draft.write(b"little")

    with pytest.raises(Unwritable, match="No space left"):
        take(draft)
    draft.close()


def test_one_that_was_cut_short_by_others_has_no_hash(tmp_path: Path) -> None:
    draft = LocalStore(tmp_path).draft("a")
    draft.write(bytes(100))
    draft.sync()
    os.truncate(draft.open_path, 10)

    with pytest.raises(Unwritable, match="cannot be read back"):
        assert draft.sha256
    draft.close()


def test_one_that_is_let_go_leaves_no_thread() -> None:
    before = threading.active_count()
    draft = Draft.nameless()
    for piece in pieces(30):
        draft.write(piece)
    draft.discard_writes()
    draft.write(b"more")

    draft.close()

    assert threading.active_count() == before
