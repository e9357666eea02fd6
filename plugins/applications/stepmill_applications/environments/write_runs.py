"""Write the runs that TensorBoard shows; its own environment runs this file: `python write_runs.py FOLDER`.

Four runs train for forty steps. Each has curves, a note and the settings that it was started with.
"""

import math
import sys
from pathlib import Path
from random import Random
from typing import Any

from tensorboard.compat.proto import event_pb2, summary_pb2  # type: ignore[import-not-found]
from tensorboard.compat.proto.tensor_pb2 import TensorProto  # type: ignore[import-not-found]
from tensorboard.compat.proto.types_pb2 import (  # type: ignore[import-not-found]
    DT_FLOAT,
    DT_STRING,
)
from tensorboard.plugins.scalar.metadata import (  # type: ignore[import-not-found]
    create_summary_metadata as about_scalar,
)
from tensorboard.plugins.text.metadata import (  # type: ignore[import-not-found]
    create_summary_metadata as about_text,
)
from tensorboard.summary.writer.record_writer import (  # type: ignore[import-not-found]
    RecordWriter,
)

BEGIN = 1_767_000_000.0
"""When the first run began, seconds since 1970."""

STEPS = 40

RUNS = {
    "amber": (0.9, "Started by Olga with the small net.", "Ran on heron, with two cards."),
    "birch": (
        0.6,
        "Started by Tariq after a cleaning of the data.",
        "Ran on otter, with four cards.",
    ),
    "cedar": (0.4, "Started by Mia with a larger batch.", "Ran on pike, with eight cards."),
    "delta": (1.3, "Started by Ines; it stopped early.", "Ran on gull, without cards."),
}
"""The runs: how high the loss begins, and two notes."""


def write_runs(folder: Path) -> None:
    """Write a folder for each run, with one file of events."""
    for place, (name, (height, *notes)) in enumerate(RUNS.items()):
        (folder / name).mkdir(parents=True)
        at = BEGIN + 86_400 * place
        with (folder / name / "events.out.tfevents.0.harbour").open("wb") as file:
            writer = RecordWriter(file)
            writer.write(
                event_pb2.Event(wall_time=at, file_version="brain.Event:2").SerializeToString()
            )
            for event in _events(name, height, notes, at):
                writer.write(event.SerializeToString())


def _events(name: str, height: float, notes: list[str], at: float) -> list[Any]:
    draw = Random(name)
    said = about_text(display_name="", description="")
    events = [
        _event(0, at, tag, said, text=it)
        for tag, it in zip(("note", "machine"), notes, strict=True)
    ]
    for step in range(STEPS if name != "delta" else STEPS // 2):
        loss = height * math.exp(-step / 12) + draw.random() / 50
        curves = {
            "train/loss": loss,
            "train/accuracy": 1 - loss / 2,
            "valid/loss": loss * 1.2,
            "rate": 0.01 * (1 - step / STEPS),
        }
        about = about_scalar(display_name="", description="")
        events += [_event(step, at + step * 60, tag, about, value=it) for tag, it in curves.items()]
    return events


def _event(
    step: int, at: float, tag: str, about: Any, *, value: float | None = None, text: str = ""
) -> Any:
    tensor = TensorProto(dtype=DT_FLOAT, float_val=[value]) if value is not None else None
    if tensor is None:
        tensor = TensorProto(dtype=DT_STRING, string_val=[text.encode()])
        tensor.tensor_shape.dim.add(size=1)
    one = summary_pb2.Summary.Value(tag=tag, tensor=tensor, metadata=about)
    return event_pb2.Event(step=step, wall_time=at, summary=summary_pb2.Summary(value=[one]))


if __name__ == "__main__":
    write_runs(Path(sys.argv[1]))
