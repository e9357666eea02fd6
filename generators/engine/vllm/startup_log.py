"""What a server's log says: how far its start is, what it lacks, why it died, what to start instead.

The log is a file, so that a server never waits for a reader and its last lines outlive everybody. It
is read as it grows. vLLM names the cause of its death long before its last line, so both are kept:
the first errors and the end.

Two causes are mended here, each once and in the command alone: fewer requests fit at a time than the
server was set to take, and this vLLM does not know a flag that Stepmill adds by itself. Anything
else that the configuration asks for is the user's to mend.
"""

import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from generators.engine.vllm.command import USAGE_FLAGS, ServeCommand, flag_value

LAST_LINES = 12
"""Lines at the end of a log that an error shows."""

FIRST_ERRORS = 3
"""Errors that are shown beside them: the first ones, which cause the others."""

MAX_LINE_CHARS = 500
"""Of one line that is shown."""

PHASES = (
    (re.compile(r"Resolved architecture"), "starting the engine"),
    (
        re.compile(r"Starting to load model|Loading (?:model weights|safetensors)"),
        "loading weights",
    ),
    (re.compile(r"Loading weights took|Model loading took"), "warming up"),
    (re.compile(r"[Cc]apturing CUDA graph"), "capturing graphs"),
    (re.compile(r"init engine .*took"), "opening the door"),
)
"""Which line of the log begins which phase, in the order of a start."""

_TOO_MANY = re.compile(r"exceeds available Mamba cache blocks \((\d+)\)")
_ERROR = re.compile(r"\b[A-Za-z]*(?:Error|Exception)\b: |\berror: ")


class StartupLog:
    """The log of one start, read as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._at = path.stat().st_size if path.exists() else 0
        self._unfinished = b""
        self._phase = -1
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._errors: list[str] = []
        self.max_sequences: int | None = None
        """The most requests at once that fit, where the server died because it was set to more."""
        self.refused_flags: set[str] = set()
        """Flags of ours that the server named in an error."""

    def read(self) -> Iterator[str]:
        """Read the new lines; yield the phases that they begin."""
        with self.path.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        self._at += len(new)
        *lines, self._unfinished = re.split(rb"[\r\n]+", self._unfinished + new)
        for line in lines:
            yield from self._parse_line(line.decode("utf-8", "replace").strip())

    @property
    def size(self) -> int:
        """Bytes read so far; a start is alive while it grows."""
        return self._at

    def summary(self) -> str:
        """Return what an error shows of the log: its first errors, its last lines, its path."""
        last = list(self._last)
        if rest := self._unfinished.decode("utf-8", "replace").strip():
            last.append(rest[:MAX_LINE_CHARS])
        causes = [line for line in self._errors if line not in last]
        lines = [*causes, *(["…"] if causes else []), *last] or ["(nothing)"]
        return "\n".join([f"the end of its log, {self.path}:", *(f"  {line}" for line in lines)])

    def _parse_line(self, line: str) -> Iterator[str]:
        if not line:
            return
        self._last.append(line[:MAX_LINE_CHARS])
        if found := _TOO_MANY.search(line):
            self.max_sequences = int(found[1])
        if _ERROR.search(line):
            self.refused_flags.update(flag for flag in USAGE_FLAGS if flag in line)
            if len(self._errors) < FIRST_ERRORS:
                self._errors.append(line[:MAX_LINE_CHARS])
        for number in range(self._phase + 1, len(PHASES)):
            pattern, phase = PHASES[number]
            if pattern.search(line):
                self._phase = number
                yield phase
                return


def adapted_command(command: ServeCommand, startup: StartupLog) -> tuple[ServeCommand, str] | None:
    """Return a command for the next start and why it differs; None: the log names no remedy."""
    refused = sorted(startup.refused_flags & set(command.argv))
    if refused:
        return command.without_flags(refused), (
            f"this vLLM does not take {' and '.join(refused)}; starting again without, so its replies "
            "will not report token details or times"
        )
    if startup.max_sequences and _exceeds(command, startup.max_sequences):
        return command.with_max_sequences(startup.max_sequences), (
            f"the engine's memory holds {startup.max_sequences} requests at once, fewer than it was "
            f"told; starting again with --max-num-seqs {startup.max_sequences}"
        )
    return None


def _exceeds(command: ServeCommand, sequences: int) -> bool:
    """Return whether the command asks for more requests at once than `sequences`."""
    told = flag_value(command.argv, "--max-num-seqs")
    return told is None or not told.isdigit() or int(told) > sequences
