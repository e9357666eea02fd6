"""What SkyRL's `SFTTrainer` makes of the rows, under the command that `docs/training.md` gives."""

import typing
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import typing_extensions
from reading import IGNORED, Seen, command_of, decode_by_pillow, seen, tell

# A record of its server is a TypedDict that pydantic takes from typing_extensions alone before Python 3.12.
with patch.object(typing, "TypedDict", typing_extensions.TypedDict):
    from skyrl.train.config.sft_config import SFTConfig  # type: ignore[import-not-found]
    from skyrl.train.sft_trainer import SFTTrainer  # type: ignore[import-not-found]


def trainer_of(script: str, *more: str) -> SFTTrainer:
    """Return the trainer that the command of a script sets up, without its workers on GPUs."""
    given = command_of(script, "skyrl.train.main_sft")
    trainer = SFTTrainer(SFTConfig.from_cli_overrides([*given, *more]))
    with patch.object(SFTTrainer, "_init_workers"), patch.object(SFTTrainer, "_init_tracker"):
        trainer.setup()
    return trainer


def read(_: Path, model: Path) -> Iterator[Seen]:
    """Yield the rows, which the command names, as the trainer's collator makes them."""
    decode_by_pillow()
    trainer = trainer_of("skyrl.sh", f"model.path={model}")
    for row in trainer.load_dataset():
        batch = trainer.collator([row], batch_size=1)
        ids = batch["sequences"][0].tolist()
        learnt = batch["loss_mask"][0].tolist()
        labels = [IGNORED] * (len(ids) - len(learnt)) + [
            token if one else IGNORED
            for token, one in zip(ids[-len(learnt) :], learnt, strict=True)
        ]
        (grids,) = batch["image_grid_thw"]
        yield seen(ids, labels, grids.tolist(), trainer.processor)


if __name__ == "__main__":
    tell(read)
