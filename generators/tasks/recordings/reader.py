"""Reads a file of either recorder, which is told by its first line."""

import json
from pathlib import Path

from generators.tasks.recordings.chrome_recorder import read_recorder
from generators.tasks.recordings.playwright_codegen import read_codegen
from generators.tasks.recordings.recording import Recording, parse, recording_of
from schemas.errors import BadTasks, NotFound
from schemas.tasks.task import Task

MAX_BYTES = 16 * 2**20
"""The largest file that is read, bytes."""


def read_recording(path: Path, task: Task) -> Recording:
    """Return the recording in a file, for a task.

    Raises:
        NotFound: there is no such file.
        BadTasks: it is none of either recorder's, or none that can be the task's reference; the message names the place.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise BadTasks(f"{path}: has {len(data):,} bytes; expected at most {MAX_BYTES:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadTasks(f"{path}: is no UTF-8 at byte {error.start}") from None
    if not text.strip():
        raise BadTasks(f"{path}: is empty; expected a recording")
    if _is_lines(text):
        return recording_of(path, read_codegen(text, path), task)
    value = parse(text, path)
    if not isinstance(value, dict):
        raise BadTasks(f"{path}: expected a recording: an object with a 'title' and 'steps'")
    return recording_of(path, read_recorder(value, path), task)


def _is_lines(text: str) -> bool:
    """Return whether a file has one value on each line, as codegen writes it."""
    try:
        first = json.loads(text.lstrip().partition("\n")[0])
    except json.JSONDecodeError:
        return False
    return not (isinstance(first, dict) and "steps" in first)
