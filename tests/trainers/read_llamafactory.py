"""What LLaMA-Factory makes of the rows, by the files of `docs/training.md` and of the export itself.

`python read_llamafactory.py ROWS MODEL_DIR [SCRIPT]`, the script for rows of two replies or of labels. A row of
two replies gives two samples, the wanted one first.
"""

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from reading import Seen, batches_of_one, command_of, seen, tell


class Made(Exception):
    """A trainer was made and is about to train."""


def stand_in_for_sound() -> None:
    """Stand an empty module for torchaudio, which is imported at once and comes as a CUDA build."""
    module = ModuleType("torchaudio")
    module.__spec__ = ModuleSpec("torchaudio", None)
    sys.modules["torchaudio"] = module


def trainer_of(words: list[str], model: Path) -> Any:
    """Do what `llamafactory-cli train` does with these words, up to the training."""
    from llamafactory.train.tuner import run_exp  # type: ignore[import-not-found]  # noqa: PLC0415
    from transformers import Trainer  # type: ignore[import-not-found]  # noqa: PLC0415

    def stop(trainer: Any, **_: object) -> None:
        raise Made(trainer)

    # A CPU has no bfloat16 for transformers.
    words = ["llamafactory-cli", *words, f"model_name_or_path={model}", "bf16=false"]
    with patch.object(sys, "argv", words), patch.object(Trainer, "train", stop):
        try:
            run_exp()
        except Made as made:
            return made.args[0]
    raise AssertionError("no trainer was made")


def read(_: Path, model: Path, script: str | None = None) -> Iterator[Seen]:
    """Yield the rows, which the files name, as the collator of the trainer makes them."""
    stand_in_for_sound()
    words = ["llamafactory.yaml"] if script is None else command_of(script, "train")
    trainer = trainer_of(words, model)
    for batch in batches_of_one(trainer.train_dataset, trainer.data_collator):
        samples = len(batch["input_ids"])
        grids = batch["image_grid_thw"].chunk(samples)
        for tokens, labels, grid in zip(batch["input_ids"], batch["labels"], grids, strict=True):
            processor = trainer.data_collator.processor
            yield seen(tokens.tolist(), labels.tolist(), grid.tolist(), processor)


if __name__ == "__main__":
    tell(read)
