"""What a call of `tasks rephrase` has got and judged so far, in a file beside its target: a kill loses none of it.

The first line says what the file is about, each further one what became of one task or episode. Another call with the
same target goes on from there. A line that a kill has torn is dropped.
"""

import fcntl
import json
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from schemas.base import JsonObject
from schemas.errors import BadConfig

_ABOUT, _KEY = "about", "key"
_FIRST = f'{{"{_ABOUT}"'.encode()
"""How a file of replies begins."""

_FOREIGN = "it is not a file of replies: name another --to, or remove it"


class PaidReplies:
    """The file beside a target, held by one call at a time."""

    def __init__(self, target: Path, about: str) -> None:
        """Take up the file beside `target`, or begin one; `about` names what is rephrased.

        Raises:
            BadConfig: the file is about something else or nothing of ours, another call holds it, or its folder is missing.
        """
        if not target.parent.is_dir():
            raise BadConfig(f"--to {target}: there is no folder {target.parent}")
        self._target, self.path = target, target.with_name(f"{target.name}.part")
        """Where it lies."""
        self._file = self.path.open("a+b")
        try:
            self.done = self._take_up(about)
            """What became of each task or episode that earlier calls have done, by its identity."""
        except BaseException:
            self._file.close()
            raise

    def add(self, key: str, entry: JsonObject) -> None:
        """Write what became of a task or an episode."""
        self._write({_KEY: key, **entry})

    def finish(self, lines: Iterable[str]) -> None:
        """Write the target, whole, and remove the file."""
        whole = self._target.with_name(f"{self._target.name}.whole")
        whole.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        whole.replace(self._target)
        self.path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        if self.path.exists() and not self.path.read_bytes().partition(b"\n")[2]:
            self.path.unlink()

    def _take_up(self, about: str) -> dict[str, JsonObject]:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadConfig(f"{self.path}: another call is writing it") from None
        self._file.seek(0)
        data = self._file.read()
        whole, mark, torn = data.rpartition(b"\n")
        rows = [_row(line, self.path) for line in whole.splitlines()]
        if torn and not rows and not torn.startswith(_FIRST):
            raise BadConfig(f"{self.path}: {_FOREIGN}")
        if not rows:
            self._file.truncate(0)
            self._write({_ABOUT: about})
            return {}
        if rows[0].get(_ABOUT) != about:
            raise BadConfig(
                f"{self.path}: it holds replies about {rows[0].get(_ABOUT)}, not {about}: name another --to, or "
                f"remove it"
            )
        self._file.truncate(len(whole) + len(mark))
        return {str(row.pop(_KEY)): row for row in rows[1:]}

    def _write(self, row: JsonObject) -> None:
        self._file.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())
        self._file.flush()


def _row(line: bytes, path: Path) -> JsonObject:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise BadConfig(f"{path}: {_FOREIGN}")
    return row
