"""What ms-swift makes of the rows, as the file in `docs/training.md` sets it up."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from reading import Seen, batches_of_one, seen, tell

OVERRIDES = ("--model_type", "qwen2_vl", "--template", "qwen2_vl", "--torch_dtype", "float32")
"""What the name of a model on the Hub tells ms-swift, and a CPU's kind of number."""
IN_ORDER = ("--dataset_shuffle", "false")
"""Rows are compared in their order."""


def trainer_of(file: str, model: Path) -> Any:
    """Do what `swift sft` does with a file of the page, up to the training."""
    from swift import sft_main  # type: ignore[import-not-found]  # noqa: PLC0415
    from swift.cli.main import (  # type: ignore[import-not-found]  # noqa: PLC0415
        parse_yaml_args,
    )
    from swift.pipelines.train.sft import (  # type: ignore[import-not-found]  # noqa: PLC0415
        SwiftSft,
    )
    from swift.template.templates.qwen import (  # type: ignore[import-not-found]  # noqa: PLC0415
        Qwen2VLTemplate,
    )
    from transformers import AutoTokenizer  # type: ignore[import-not-found]  # noqa: PLC0415

    # The template has the number that the token has in Qwen's own, larger vocabulary.
    image = AutoTokenizer.from_pretrained(model).convert_tokens_to_ids("<|image_pad|>")
    words = [file]
    parse_yaml_args(words)
    with (
        patch.object(SwiftSft, "train", lambda _, trainer: trainer),
        patch.object(Qwen2VLTemplate, "image_token_id", image),
    ):
        trainer = sft_main([*words, "--model", str(model), *OVERRIDES, *IN_ORDER])
    trainer.template.image_token_id = image
    return trainer


def read(_: Path, model: Path) -> Iterator[Seen]:
    """Yield the rows, which the file names, as the collator of the trainer makes them."""
    trainer = trainer_of("swift.yaml", model)
    for batch in batches_of_one(trainer.train_dataset, trainer.data_collator):
        yield seen(
            batch["input_ids"][0].tolist(),
            batch["labels"][0].tolist(),
            batch["image_grid_thw"].tolist(),
            trainer.template.processor,
        )


if __name__ == "__main__":
    tell(read)
