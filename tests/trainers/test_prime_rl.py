"""The rows that are spelt for prime-rl have the columns and parts that its pages and code ask for.

It is on no package index, so its own code is not run: what it documents (`docs/training.md` and
`src/prime_rl/trainer/sft/data.py` of PrimeIntellect-ai/prime-rl) is held against the rows here.
"""

import base64
import io
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from datasets import load_dataset
from environments import Reader, Row, Trainer, rows_of
from PIL import Image

pytestmark = pytest.mark.timeout(3600)

PRIME_RL = Trainer("prime-rl", spelling="image_url", folder="demo-sft-prime-rl")
ROWS = 200
DATA_URI = "data:image/jpeg;base64,"


def without_nulls(value: Any) -> Any:
    """Return a value as prime-rl hands it on: without the keys that Arrow filled up."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def differences(row: Row) -> Iterator[str]:
    """Yield in what a row differs from what prime-rl documents, a sentence each."""
    if row.get("messages") is not None:
        yield "`messages` is taken before `prompt`"
    prompt, completion = without_nulls(row["prompt"]), without_nulls(row["completion"])
    if [turn["role"] for turn in completion] != ["assistant"]:
        yield "the completion is not one reply"
    for turn in [*prompt, *completion]:
        if turn["role"] not in ("system", "user", "assistant"):
            yield f"no role is {turn['role']!r}"
        for part in turn["content"]:
            yield from strange(part)


def strange(part: dict[str, Any]) -> Iterator[str]:
    """Yield what is no part of a message in OpenAI's words."""
    match part:
        case {"type": "text", "text": str(), **others} if not others:
            return
        case {"type": "image_url", "image_url": {"url": str(url), **more}, **others} if not (
            more or others
        ):
            try:
                Image.open(io.BytesIO(base64.b64decode(url.removeprefix(DATA_URI), validate=True)))
            except (OSError, ValueError) as error:
                yield f"no picture: {error}"
        case _:
            yield f"no part is {sorted(part)}"


def pictures_of(row: Row) -> int:
    """Return how many pictures stand in a row's prompt."""
    return sum(part["type"] == "image_url" for turn in row["prompt"] for part in turn["content"])


def test_rows_have_the_schema_that_prime_rl_documents_though_its_code_was_not_run(
    reader: Reader, exports: Callable[..., Path]
) -> None:
    export = exports("sft", "--spelling", PRIME_RL.spelling)
    written = rows_of(PRIME_RL, export, ROWS)
    reader.write(PRIME_RL, written, export)
    config = tomllib.loads((reader.folder / "prime_rl.toml").read_text(encoding="utf-8"))

    folder = reader.folder / config["data"]["name"]
    rows = load_dataset(
        str(folder), split="train", cache_dir=str(reader.folder / "cache")
    ).to_list()

    assert [row["id"] for row in rows] == [row["id"] for row in written]
    assert [sentence for row in rows for sentence in differences(row)] == []
    assert [pictures_of(row) for row in rows] == [pictures_of(row) for row in written]
    assert {pictures_of(row) for row in rows} >= {1, 2}


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"messages": []}, "taken before"),
        ({"completion": []}, "not one reply"),
        ({"completion": [{"role": "user", "content": []}]}, "not one reply"),
        ({"prompt": [{"role": "person", "content": []}]}, "no role is 'person'"),
        ({"prompt": [{"role": "user", "content": [{"type": "image"}]}]}, "no part is ['type']"),
        (
            {
                "prompt": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": f"{DATA_URI}AAAA"}}],
                    }
                ]
            },
            "no picture",
        ),
    ],
)
def test_a_row_that_prime_rl_would_not_take_is_told(lie: Row, sentence: str) -> None:
    reply = [{"role": "assistant", "content": [{"type": "text", "text": "Yes", "image_url": None}]}]
    row: Row = {"prompt": [], "completion": reply}
    assert list(differences(row)) == []

    (told,) = differences(row | lie)

    assert sentence in told
