"""The rows that belong to an episode: steps with their pictures, observations, calls.

Each episode is settled as soon as its last row is there: steps contiguous from 0 and one more
than actions, every picture decoding to the size and hash its row says, the episode's own hash
over its steps, one observation for each step, calls numbered from 0.
"""

import io
import json
from collections import defaultdict
from collections.abc import Iterator

from PIL import Image, UnidentifiedImageError

from schemas.base import sha256_hex
from schemas.call import Call
from schemas.episode import Step, steps_sha256
from schemas.tables import Row, from_row
from storage.audit.rows import Head, Rows

_BLANK = {"bytes": b"", "path": ""}


class Steps:
    """The rows of the episodes that `Rows` knows."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._notes = rows.notes
        self._open: defaultdict[str, list[Step]] = defaultdict(list)
        self._where: dict[str, str] = {}
        self._observed: defaultdict[str, set[int]] = defaultdict(set)
        self._calls: defaultdict[str, set[int]] = defaultdict(set)

    def step(self, key: str, row: Row) -> None:
        """Take a row of `steps`."""
        head = self._rows.owner(key, row)
        name = f"episode {row['episode_id']}, step {row['step']}"
        for problem in picture_problems(row):
            self._notes.finding(key, f"{name}: {problem}")
        self._notes.count("pictures")
        if head is None:
            return
        try:
            step = from_row(Step, row | {"screenshot": _BLANK})
        except ValueError as error:
            self._notes.finding(key, f"{name}: is no step: {error}")
            return
        episode_id = row["episode_id"]
        self._open[episode_id].append(step)
        self._where[episode_id] = key
        head.rows += 1
        if head.rows > head.n_steps and not head.broke:
            self._settle(episode_id, head)

    def close_steps(self) -> None:
        """Settle the episodes whose rows did not all come, once all steps were fed."""
        for episode_id in list(self._open):
            self._settle(episode_id, self._rows.heads[episode_id])
        for episode_id, head in self._rows.heads.items():
            if head.rows not in head.complete and head.unit_id not in self._rows.unread:
                self._notes.finding(
                    head.key,
                    f"episode {episode_id}: {head.rows} rows of steps for {head.n_steps} actions",
                )

    def observation(self, key: str, row: Row) -> None:
        """Take a row of `observations`."""
        if self._rows.owner(key, row) is None:
            return
        name = f"episode {row['episode_id']}, step {row['step']}"
        try:
            json.loads(row["elements"])
        except ValueError:
            self._notes.finding(key, f"{name}: its elements cannot be read")
        seen = self._observed[row["episode_id"]]
        if row["step"] in seen:
            self._notes.finding(key, f"{name}: was observed a second time")
        seen.add(row["step"])

    def close_observations(self) -> None:
        """Hold the observations against the steps, once all were fed."""
        for episode_id, head in self._rows.heads.items():
            seen = self._observed.pop(episode_id, set())
            if seen != set(range(head.rows)) and head.unit_id not in self._rows.unread:
                self._notes.finding(
                    head.key,
                    f"episode {episode_id}: {len(seen)} observations for {head.rows} steps",
                )

    def call(self, key: str, row: Row) -> None:
        """Take a row of `calls`."""
        head = self._rows.owner(key, row)
        if head is None:
            return
        name = f"episode {row['episode_id']}, call {row['call']}"
        try:
            call = from_row(Call, row)
        except ValueError as error:
            self._notes.finding(key, f"{name}: is no call: {error}")
            return
        if not 0 <= call.step <= head.n_steps:
            self._notes.finding(key, f"{name}: is of step {call.step}, which is not")
        made = self._calls[row["episode_id"]]
        if call.call in made:
            self._notes.finding(key, f"{name}: is there a second time")
        made.add(call.call)
        self._rows.refer(key, call.prompt_sha256)

    def close_calls(self) -> None:
        """Look for gaps between the calls, once all were fed."""
        for episode_id, made in self._calls.items():
            head = self._rows.heads[episode_id]
            if made != set(range(len(made))) and head.unit_id not in self._rows.unread:
                self._notes.finding(head.key, f"episode {episode_id}: calls are missing")
        self._calls.clear()

    def _settle(self, episode_id: str, head: Head) -> None:
        steps = sorted(self._open.pop(episode_id, []), key=lambda step: step.step)
        where = self._where.pop(episode_id, head.key)
        if head.unit_id in self._rows.unread:
            return
        if [step.step for step in steps] != list(range(len(steps))):
            self._notes.finding(where, f"episode {episode_id}: its steps are not 0, 1, 2, …")
        elif steps_sha256(tuple(steps)) != head.content_sha256:
            self._notes.finding(
                where, f"episode {episode_id}: its steps are not those that {head.key} hashed"
            )


def picture_problems(row: Row) -> Iterator[str]:
    """Yield what is wrong with the picture of a row of `steps`."""
    data = (row["screenshot"] or {}).get("bytes") or b""
    if sha256_hex(data) != row["screenshot_sha256"]:
        yield "the picture's hash is another one"
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.load()
            if image.size != (row["width"], row["height"]):
                yield f"the picture is {image.size}, its row says otherwise"
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        yield f"the picture does not decode: {error}"
