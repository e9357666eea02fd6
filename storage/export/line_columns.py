"""The types of the columns of an export's lines, and the card that lists them.

A reader of JSON lines without types infers them from the first lines, and fails when a column that was
empty there has a value later: `datasets` 5.2 infers from the first chunk of the first split. So each
column of a format has one type, whatever the episodes hold. The `README.md` of the export's folder lists
the types in its front matter, in the spelling of `datasets`, so `load_dataset(FOLDER)` opens every split
with one schema. A column without fixed keys has the type `json` (from `datasets` 4.7 on).
"""

from collections.abc import Collection, Mapping

import yaml

from schemas.tasks.task import SPLITS

CARD = "README.md"
"""The name of the card in an export's folder."""

LineColumns = Mapping[str, str | tuple[str]]
"""The type of each column by its name, in order: a word of `datasets`, or a list of one."""


def columns_card(columns: LineColumns, splits: Collection[str]) -> str:
    """Return the card of a folder that has the files of these splits."""
    front = {
        "configs": [
            {
                "config_name": "default",
                "data_files": [
                    {"split": split, "path": f"{split}.jsonl"}
                    for split in SPLITS
                    if split in splits
                ],
            }
        ],
        "dataset_info": {
            "features": [
                {"name": name, "dtype": kind}
                if isinstance(kind, str)
                else {"name": name, "list": kind[0]}
                for name, kind in columns.items()
            ]
        },
    }
    return (
        f"---\n{yaml.safe_dump(front, sort_keys=False)}---\n\n"
        "Lines of JSON, a file for each split. This folder's path, given to `load_dataset`, opens them all\n"
        "with the types above; pictures lie beside, where lines name them relative to this folder.\n"
    )
