"""What Axolotl makes of the rows, as the two files in `docs/training.md` set it up."""

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from reading import Seen, batches_of_one, decode_by_pillow, seen, tell

FOR_A_TEST = {
    "bf16": False,
    "shuffle_merged_datasets": False,
    "lora_mlp_kernel": False,
    "lora_qkv_kernel": False,
    "lora_o_kernel": False,
}
"""What only a GPU computes; and rows are compared in their order."""


def import_without_triton() -> None:
    """Import the one module that wants triton, which compiles for GPUs, with a stand-in that is not called."""
    # What looks for triton itself comes first.
    importlib.import_module("torch")
    importlib.import_module("transformers.trainer")
    names = ("triton", "triton.language")
    for name in names:
        sys.modules[name] = MagicMock(__spec__=ModuleSpec(name, None))
    importlib.import_module("axolotl.monkeypatch.trainer.utils")
    for name in names:
        del sys.modules[name]


def trainer_of(file: str, model: Path) -> Any:
    """Do what `axolotl train` does with a file of the page, up to the training."""
    from axolotl.cli.config import load_cfg  # type: ignore[import-not-found]  # noqa: PLC0415
    from axolotl.common.datasets import (  # type: ignore[import-not-found]  # noqa: PLC0415
        load_datasets,
    )
    from axolotl.train import (  # type: ignore[import-not-found]  # noqa: PLC0415
        setup_model_and_trainer,
    )

    # As a command has it, in whose folder the plugin of the page lies.
    sys.path.insert(0, str(Path.cwd()))
    cfg = load_cfg(file, base_model=str(model), **FOR_A_TEST)
    trainer, *_ = setup_model_and_trainer(cfg, load_datasets(cfg=cfg))
    return trainer


def read(_: Path, model: Path) -> Iterator[Seen]:
    """Yield the rows, which the file names, as the collator of the trainer makes them."""
    import_without_triton()
    decode_by_pillow()
    trainer = trainer_of("axolotl.yaml", model)
    for batch in batches_of_one(trainer.train_dataset, trainer.data_collator):
        yield seen(
            batch["input_ids"][0].tolist(),
            batch["labels"][0].tolist(),
            batch["image_grid_thw"].tolist(),
            trainer.data_collator.processing_strategy.processor,
        )


if __name__ == "__main__":
    tell(read)
