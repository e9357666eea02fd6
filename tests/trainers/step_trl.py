"""A few real steps of TRL's trainer, and the loss on the same rows before and after them.

`python step_trl.py ROWS MODEL_DIR` prints one line of JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch  # type: ignore[import-not-found]
from read_trl import trainer_of
from reading import lines

STEPS = 4
LEARNING_RATE = 0.01
"""So high that few steps suffice: the model is random."""


def loss(trainer: Any) -> float:
    """Return the loss of the trainer's model on a batch of all rows."""
    rows = [trainer.train_dataset[number] for number in range(len(trainer.train_dataset))]
    trainer.model.eval()
    with torch.no_grad():
        return float(trainer.model(**trainer.data_collator(rows)).loss)


def losses(rows: Path, model: Path) -> dict[str, float]:
    """Return the loss before and after the steps."""
    trainer = trainer_of("sft_trl.py", rows, model)
    trainer.args.max_steps = STEPS
    trainer.args.learning_rate = LEARNING_RATE
    before = loss(trainer)
    trainer.train()
    return {"before": before, "after": loss(trainer)}


if __name__ == "__main__":
    paths = [Path(argument).resolve() for argument in sys.argv[1:]]
    with lines() as told:
        told.write(f"{json.dumps(losses(*paths))}\n")
