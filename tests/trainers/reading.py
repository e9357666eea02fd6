"""What a reader tells of each row that a trainer's dataset class yields; in any trainer's environment.

A reader is a script: `python read_NAME.py ROWS MODEL_DIR`, with the files of `docs/training.md` in the
current folder. It prints a line of JSON for each row and nothing else: whatever the trainer itself
prints goes to standard error.
"""

import io
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TextIO

IGNORED = -100
"""The label of a token that is not learnt."""


class Seen(NamedTuple):
    """A row as the trainer hands it to a model."""

    pictures: int
    """How many it hands on."""
    placeholders: int
    """Groups of picture tokens in its tokens."""
    learnt: str
    """The text under the loss."""


def seen(
    input_ids: Sequence[int], labels: Sequence[int], grids: Sequence[Sequence[int]], processor: Any
) -> Seen:
    """Return a row of a model of Qwen2-VL's kind.

    `grids` has the patches of each picture: frames, rows, columns.

    Raises:
        ValueError: a group of picture tokens has another length than its picture.
    """
    tokenizer = processor.tokenizer
    image = tokenizer.convert_tokens_to_ids("<|image_pad|>")
    groups = [len(list(group)) for token, group in groupby(input_ids) if token == image]
    merged = processor.image_processor.merge_size**2
    sizes = [int(frames) * int(high) * int(wide) // merged for frames, high, wide in grids]
    if len(groups) == len(sizes) and groups != sizes:
        raise ValueError(f"pictures of {sizes} tokens stand for groups of {groups}")
    learnt = [label for label in labels if label != IGNORED]
    return Seen(len(sizes), len(groups), tokenizer.decode(learnt))


def tell(read: Callable[..., Iterable[Seen]]) -> None:
    """Print what a reader yields for the rows and the model that the command line names, and its options."""
    rows, model, *options = sys.argv[1:]
    with lines() as told:
        for index, row in enumerate(read(Path(rows).resolve(), Path(model).resolve(), *options)):
            told.write(f"{json.dumps({'index': index, **row._asdict()})}\n")


def lines() -> TextIO:
    """Return standard output, and lead what others write there to standard error."""
    kept = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return kept


def command_of(script: str, module: str) -> list[str]:
    """Return the words that a script of the page hands to a Python module."""
    words = shlex.split(Path(script).read_text(encoding="utf-8").replace("\\\n", " "))
    return words[words.index(module) + 1 :]


def decode_by_pillow() -> None:
    """Have transformers open pictures that stand in messages by Pillow.

    torchvision comes as a CUDA build, whose own decoder does not load beside a torch for CPUs.
    """
    import numpy as np  # noqa: PLC0415
    import torch  # type: ignore[import-not-found]  # noqa: PLC0415
    from PIL import Image  # noqa: PLC0415
    from transformers import image_utils  # type: ignore[import-not-found]  # noqa: PLC0415

    def decode(data: Any, **_: object) -> Any:
        with Image.open(io.BytesIO(data.numpy().tobytes())) as picture:
            return torch.from_numpy(np.array(picture.convert("RGB"))).permute(2, 0, 1)

    image_utils.decode_image = decode


def batches_of_one(dataset: Any, collate: Callable[[list[Any]], Any]) -> Iterator[Any]:
    """Yield each row of a dataset in order, as the trainer's collator makes it: alone in its batch."""
    for index in range(len(dataset)):
        yield collate([dataset[index]])
