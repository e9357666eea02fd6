"""Prompts that a run sent, as one small file: texts and places of pictures, step by step, and a few of the pictures."""

import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from schemas.base import JsonObject
from schemas.episodes.episode import Episode

MIN_STEPS = 8
"""Shorter episodes are left out: the measured sessions have 8 to 40 steps."""

PICTURES, QUALITY = 32, 80
"""Pictures that are kept, and the quality of their JPEGs; each is sent with changes of its own."""

PICTURE = "picture"
"""Stands where a prompt has a picture."""

Part = str | dict[str, int]
Turn = tuple[str, list[Part]]


@dataclass(frozen=True)
class Recording:
    """What a run asked."""

    system: str
    """Its system prompt."""
    episodes: Sequence[Sequence[Sequence[Turn]]]
    """The messages after the system's, of each step of each episode: an author, and texts or the step of a picture."""
    pictures: Sequence[bytes]
    """Some of its pictures, JPEG."""

    @property
    def steps(self) -> int:
        """Steps of all episodes."""
        return sum(len(episode) for episode in self.episodes)


def record(episodes: Iterable[Episode]) -> Recording:
    """Return the prompts of the episodes that are long enough.

    Raises:
        ValueError: there is none, or rows hold no messages.
    """
    system, found, pictures = "", list[list[list[Turn]]](), list[bytes]()
    for episode in episodes:
        steps = [_turns(call.messages) for call in episode.calls if call.role == "policy"]
        if len(steps) < MIN_STEPS:
            continue
        system = system or episode.prompts[0].text
        found.append(steps)
        pictures += [step.screenshot.bytes for step in episode.steps]
    if not found:
        raise ValueError(f"no episode has {MIN_STEPS} steps with the prompts of a model")
    every = max(1, len(pictures) // PICTURES)
    return Recording(system, found, [_smaller(jpeg) for jpeg in pictures[::every][:PICTURES]])


def _turns(messages: object) -> list[Turn]:
    if not isinstance(messages, list):
        raise TypeError("a call's messages were not kept")
    return [(row["role"], [_part(part) for part in row["content"]]) for row in messages[1:]]


def _part(part: JsonObject) -> Part:
    return str(part["text"]) if part["type"] == "text" else {PICTURE: int(str(part["step"]))}


def _smaller(jpeg: bytes) -> bytes:
    smaller = io.BytesIO()
    Image.open(io.BytesIO(jpeg)).save(smaller, "JPEG", quality=QUALITY)
    return smaller.getvalue()


def write(recording: Recording, path: Path) -> None:
    """Write a recording as a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        whole = {"system": recording.system, "episodes": recording.episodes}
        archive.writestr("prompts.json", json.dumps(whole))
        for number, jpeg in enumerate(recording.pictures):
            archive.writestr(f"{number}.jpg", jpeg)


def read(path: Path) -> Recording:
    """Return what `write` wrote."""
    with zipfile.ZipFile(path) as archive:
        whole = json.loads(archive.read("prompts.json"))
        names = [name for name in archive.namelist() if name.endswith(".jpg")]
        return Recording(whole["system"], whole["episodes"], [archive.read(name) for name in names])
