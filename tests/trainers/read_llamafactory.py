"""What LLaMA-Factory makes of the rows, as the two files in `docs/training.md` set it up."""

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from reading import Seen, batches_of_one, seen, tell


class Made(Exception):
    """A trainer was made and is about to train."""


def stand_in_for_sound() -> None:
    """Stand an empty module for torchaudio, which is imported at once and comes as a CUDA build."""
    module = ModuleType("torchaudio")
    module.__spec__ = ModuleSpec("torchaudio", None)
    sys.modules["torchaudio"] = module


def trainer_of(file: str, model: Path) -> Any:
    """Do what `llamafactory-cli train` does with a file of the page, up to the training."""
    from llamafactory.train.sft.trainer import (  # type: ignore[import-not-found]  # noqa: PLC0415
        CustomSeq2SeqTrainer,
    )
    from llamafactory.train.tuner import run_exp  # type: ignore[import-not-found]  # noqa: PLC0415

    def stop(trainer: Any, **_: object) -> None:
        raise Made(trainer)

    # A CPU has no bfloat16 for transformers.
    words = ["llamafactory-cli", file, f"model_name_or_path={model}", "bf16=false"]
    with patch.object(sys, "argv", words), patch.object(CustomSeq2SeqTrainer, "train", stop):
        try:
            run_exp()
        except Made as made:
            return made.args[0]
    raise AssertionError("no trainer was made")


def read(_: Path, model: Path) -> Iterator[Seen]:
    """Yield the rows, which the files name, as the collator of the trainer makes them."""
    stand_in_for_sound()
    trainer = trainer_of("llamafactory.yaml", model)
    for batch in batches_of_one(trainer.train_dataset, trainer.data_collator):
        yield seen(
            batch["input_ids"][0].tolist(),
            batch["labels"][0].tolist(),
            batch["image_grid_thw"].tolist(),
            trainer.data_collator.processor,
        )


if __name__ == "__main__":
    tell(read)
