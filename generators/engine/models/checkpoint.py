"""Writes a checkpoint folder, each file whole or not at all and `config.json` last.

So a folder that has a `config.json` has everything else too. Writing it again changes no byte.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from generators.engine.models.configuration import (
    MODULE,
    SOURCE,
    config,
    generation_config,
    tokenizer_config,
)
from generators.engine.models.shape import Shape
from generators.engine.models.tokenizer import CHAT_TEMPLATE, tokenizer
from generators.engine.models.weights import safetensors, tensors
from schemas.base import JsonObject
from schemas.errors import Unwritable


def write_checkpoint(folder: Path, shape: Shape, *, seed: int | None) -> None:
    """Write a checkpoint of a shape, with weights drawn from `seed`, or without any.

    Raises:
        Unwritable: the folder cannot be made or written, or its disk is full.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _put(folder / "tokenizer.json", _json(tokenizer(shape.vocabulary)))
        _put(folder / "tokenizer_config.json", _json(tokenizer_config(shape)))
        _put(folder / "generation_config.json", _json(generation_config()))
        _put(folder / "chat_template.jinja", [CHAT_TEMPLATE.encode()])
        _put(folder / f"{MODULE}.py", [SOURCE.encode()])
        if seed is not None:
            _put(folder / "model.safetensors", safetensors(tensors(shape), seed))
        _put(folder / "config.json", _json(config(shape)))
    except OSError as error:
        raise Unwritable(f"{folder}: cannot be written: {error.strerror or error}") from None


def _json(document: JsonObject) -> list[bytes]:
    return [json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"]


def _put(path: Path, pieces: Iterable[bytes]) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
