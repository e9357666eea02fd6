"""Files that are being written and are no objects yet."""

import io
import threading
from pathlib import Path
from random import Random

import pytest

from schemas.base import sha256_hex
from schemas.errors import Unwritable
from storage.drafts import Draft
from storage.local import LocalStore

MEGABYTE = 1 << 20


class Full(io.BytesIO):
    """A disk with room for so many bytes."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room

    def write(self, data: object) -> int:
        """Write `data` if it fits."""
        size = memoryview(data).nbytes  # type: ignore[arg-type] # whatever has a buffer
        if self.tell() + size > self._room:
            raise OSError(28, "No space left on device")
        return super().write(data)  # type: ignore[arg-type] # the same


def pieces(number: int) -> list[bytes]:
    random = Random(0)
    return [random.randbytes(random.randint(1, MEGABYTE)) for _ in range(number)]


@pytest.mark.parametrize("number", [0, 3, 60], ids=["nothing", "small", "large"])
def test_what_is_written_is_read_back_and_hashed(tmp_path: Path, number: int) -> None:
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

    assert sha256_hex(draft.place.read_bytes()) == draft.sha256
    draft.close()


@pytest.mark.parametrize("room", [4 * MEGABYTE, 20 * MEGABYTE], ids=["soon", "later"])
def test_what_does_not_fit_is_said_before_anybody_takes_it_for_whole(room: int) -> None:
    draft = Draft(Full(room))

    def fill() -> None:
        for _ in range(30):
            draft.write(bytes(MEGABYTE))

    for take in (fill, draft.sync, lambda: draft.sha256, lambda: draft[:]):
        with pytest.raises(Unwritable, match="No space left"):
            take()
    draft.close()


def test_one_that_is_let_go_leaves_no_thread() -> None:
    before = threading.active_count()
    draft = Draft.nameless()
    for piece in pieces(30):
        draft.write(piece)
    draft.mute()
    draft.write(b"more")

    draft.close()

    assert threading.active_count() == before
