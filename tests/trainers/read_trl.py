"""What a trainer of TRL makes of the rows, as a script in `docs/training.md` sets it up.

`python read_trl.py ROWS MODEL_DIR [SCRIPT]`, the script for supervised training if none is named. A row
of two replies gives two samples, the wanted one first.
"""

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from reading import IGNORED, Seen, batches_of_one, seen, tell
from transformers import Trainer  # type: ignore[import-not-found]


def trainer_of(script: str, rows: Path, model: Path) -> Any:
    """Run a script of the page up to its training, and return its trainer."""
    with (
        patch.object(sys, "argv", [script, str(model), str(rows.parent)]),
        patch.object(Trainer, "train", autospec=True) as train,
        patch.object(Trainer, "save_model"),
    ):
        runpy.run_path(script, run_name="__main__")
    (trainer,) = train.call_args.args
    return trainer


def read(rows: Path, model: Path, script: str = "sft_trl.py") -> Iterator[Seen]:
    """Yield the rows as the collator of the trainer makes them."""
    trainer = trainer_of(script, rows, model)
    for batch in batches_of_one(trainer.train_dataset, trainer.data_collator):
        tokens = batch["input_ids"]
        # Those of two replies mask both completions; the loss makes one of the other.
        labels = batch.get("labels")
        if labels is None:
            labels = tokens.masked_fill(batch["completion_mask"] == 0, IGNORED)
        samples = len(tokens)
        for one, learnt, grids in zip(
            tokens, labels, batch["image_grid_thw"].chunk(samples), strict=True
        ):
            processor = trainer.processing_class
            yield seen(one.tolist(), learnt.tolist(), grids.tolist(), processor)


if __name__ == "__main__":
    tell(read)
