"""The `dataset_info.json` beside training rows, by which LLaMA-Factory finds their columns.

LLaMA-Factory takes no dataset that such a file does not name, and looks for the file in its `dataset_dir`. The
one of an export names each split of its folder, so that the folder is a `dataset_dir` as it is. An entry
finds its rows by `script_url`, the one key that is a folder's path from where the file lies: `file_name` takes
one file, or a folder without any other, and `hf_hub_url` is a path from where the trainer was started.

Other trainers that these rows are for (TRL, ms-swift, verl) open the folder or its files without such a file.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from schemas.base import JsonObject
from schemas.configuration.sections import RowKind
from schemas.tasks.task import SPLITS

DATASET_INFO = "dataset_info.json"
"""The name of the file, which LLaMA-Factory looks for."""


@dataclass(frozen=True, slots=True)
class TrainerColumns:
    """Where LLaMA-Factory finds a kind of training rows."""

    kind: RowKind
    """Begins the names of the datasets: `sft_train`."""
    columns: Mapping[str, str]
    """The columns of the rows, by the trainer's words for them."""
    ranking: bool = False
    """Whether a row has two replies to compare."""


_SHARED = {"images": "images", "system": "system"}

TRAINER_COLUMNS: Mapping[RowKind, TrainerColumns] = {
    RowKind.SFT: TrainerColumns(RowKind.SFT, {"messages": "messages", **_SHARED}),
    RowKind.KTO: TrainerColumns(
        RowKind.KTO, {"messages": "messages", "kto_tag": "label", **_SHARED}
    ),
    RowKind.PREFERENCE: TrainerColumns(
        RowKind.PREFERENCE,
        {
            "messages": "conversation",
            "chosen": "chosen_message",
            "rejected": "rejected_message",
            **_SHARED,
        },
        ranking=True,
    ),
}
"""The kinds that LLaMA-Factory has a loader for; it has none for labels of steps or for grounding."""

_TAGS: JsonObject = {
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "system_tag": "system",
}
"""The keys and roles of our messages; without them those of ShareGPT are looked for."""


def dataset_info(rows: TrainerColumns, splits: Collection[str]) -> str:
    """Return the file of a folder that has rows of these splits."""
    entries = {
        f"{rows.kind.value}_{split}": {
            "script_url": ".",
            "split": split,
            "formatting": "openai",
            "ranking": rows.ranking,
            "columns": {**rows.columns},
            "tags": _TAGS,
        }
        for split in SPLITS
        if split in splits
    }
    return f"{json.dumps(entries, indent=2)}\n"
