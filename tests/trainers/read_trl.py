"""What TRL's `SFTTrainer` makes of the rows, as the script in `docs/training.md` sets it up."""

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from reading import Seen, batches_of_one, seen, tell
from trl import SFTTrainer  # type: ignore[import-not-found]


def trainer_of(script: str, rows: Path, model: Path) -> Any:
    """Run a script of the page up to its training, and return its trainer."""
    with (
        patch.object(sys, "argv", [script, str(model), str(rows.parent)]),
        patch.object(SFTTrainer, "train", autospec=True) as train,
        patch.object(SFTTrainer, "save_model"),
    ):
        runpy.run_path(script, run_name="__main__")
    (trainer,) = train.call_args.args
    return trainer


def read(rows: Path, model: Path) -> Iterator[Seen]:
    """Yield the rows as the collator of the trainer makes them."""
    trainer = trainer_of("train_trl.py", rows, model)
    for batch in batches_of_one(trainer.train_dataset, trainer.data_collator):
        yield seen(
            batch["input_ids"][0].tolist(),
            batch["labels"][0].tolist(),
            batch["image_grid_thw"].tolist(),
            trainer.processing_class,
        )


if __name__ == "__main__":
    tell(read)
