"""What verl's `MultiTurnSFTDataset` makes of the rows, under the command that `docs/training.md` gives."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from reading import IGNORED, Seen, batches_of_one, command_of, seen, tell

# verl's trainer imports the worker that computes on GPUs, and with it what serves an engine.
WORKERS = ModuleType("verl.workers.engine_workers")
WORKERS.TrainingWorker = object  # type: ignore[attr-defined]
sys.modules[WORKERS.__name__] = WORKERS

import hydra  # type: ignore[import-not-found]  # noqa: E402
from verl.trainer.sft_trainer import (  # type: ignore[import-not-found]  # noqa: E402
    SFTTensorCollator,
    create_sft_dataset,
)
from verl.utils import hf_processor, hf_tokenizer  # type: ignore[import-not-found]  # noqa: E402


def configuration(*more: str) -> Any:
    """Return what the trainer reads of the page's command, and of more words of its kind."""
    given = command_of("verl.sh", "verl.trainer.sft_trainer")
    with hydra.initialize_config_module("verl.trainer.config", version_base=None):
        return hydra.compose("sft_trainer_engine", [*given, *more])


def read(_: Path, model: Path) -> Iterator[Seen]:
    """Yield the rows, which the command names, as the collator of the trainer makes them."""
    data = configuration(f"model.path={model}").data
    processor = hf_processor(model)
    dataset = create_sft_dataset(data.train_files, data, hf_tokenizer(model), processor)
    for batch in batches_of_one(dataset, SFTTensorCollator(data.pad_mode)):
        ids = batch["input_ids"][0].tolist()
        learnt = batch["loss_mask"][0].tolist()
        (media,) = batch["multi_modal_inputs"]
        yield seen(
            ids,
            [token if one else IGNORED for token, one in zip(ids, learnt, strict=True)],
            media.data["image_grid_thw"].tolist(),
            processor,
        )


if __name__ == "__main__":
    tell(read)
