"""What trainers demand of a row, computed anew from what their code is known to do.

Nothing here uses the code that makes rows. Each function raises where the trainer would refuse, drop
or mistake the row.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

MEDIA = {"image": "<image>", "video": "<video>", "audio": "<audio>"}


def llama_factory(messages: Sequence[Mapping[str, str]], images: Sequence[object]) -> str:
    """Return the reply that is learnt with `mask_history`; converter.py and mm_plugin.py."""
    turns = list(messages)
    if turns[0]["role"] == "system":
        turns = turns[1:]
    for place, turn in enumerate(turns):
        assert turn["role"] == ("assistant" if place % 2 else "user"), "skipped with a warning"
    assert len(turns) % 2 == 0, "skipped with a warning"
    counted = sum(turn["content"].count("<image>") for turn in messages)
    assert counted == len(images), "the number of images does not match"
    for other in ("<video>", "<audio>"):
        assert not any(other in turn["content"] for turn in messages)
    return turns[-1]["content"]


def verl(messages: Sequence[Mapping[str, str]], images: Sequence[object]) -> list[list[str]]:
    """Return each message's segments; multiturn_sft_dataset.py."""
    found = [re.split("(<image>|<video>)", turn["content"]) for turn in messages]
    offset = sum(segments.count("<image>") for segments in found)
    assert offset == len(images)
    assert not any("<video>" in segments for segments in found)
    return found


def ms_swift(messages: Sequence[Mapping[str, str]], images: Sequence[object]) -> None:
    """Check a row as its templates do: tags in text are pictures, and each takes the next one."""
    text = "".join(turn["content"] for turn in messages)
    assert not re.search(r"<img>(.+?)</img>", text)
    assert len(re.findall("<image>", text)) == len(images)
    assert not any(tag in text for tag in ("<video>", "<audio>", "<bbox>", "<ref-object>"))


def trl(prompt: Sequence[Mapping[str, Any]], completion: Any, images: Sequence[object]) -> str:
    """Return the reply that is learnt; `prepare_multimodal_messages`."""
    parts = [part for turn in (*prompt, *completion) for part in turn["content"]]
    assert sum(part["type"] == "image" for part in parts) == len(images)
    for part in parts:
        assert part["type"] in ("image", "text")
        assert (part.get("text") is None) == (part["type"] == "image")
    assert [turn["role"] for turn in completion] == ["assistant"]
    assert prompt[-1]["role"] == "user"
    return "".join(part["text"] for part in completion[0]["content"])


def check_row(row: Mapping[str, Any]) -> None:
    """Check a row of one reply under every rule, and that all of them learn the same reply."""
    images = row["images"]
    learnt = trl(row["prompt"], row["completion"], images)
    assert llama_factory(row["messages"], images) == learnt
    ms_swift(row["messages"], images)
    segments = verl(row["messages"], images)
    for spelt, turn in zip(segments, (*row["prompt"], *row["completion"]), strict=True):
        parts = ["<image>" if part["type"] == "image" else part["text"] for part in turn["content"]]
        assert [item for item in spelt if item] == parts
