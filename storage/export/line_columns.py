"""The types of the columns of an export's lines, and the card that tells them to a reader.

Who reads lines of JSON without being told types infers them from what comes first, and fails where
a column that was empty so far has a value: `datasets` 5.2 infers from the first chunk of the first split. So the
columns of a format have one type each, whatever a run's episodes hold, and the export's folder
has a `README.md` whose front matter names them as `datasets` spells them: `load_dataset(FOLDER)`
opens every split with one schema. What has no fixed keys is `json` (from `datasets` 4.7 on).
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
