"""`docs/tasks.md` and the JSON schema of a row: both say what the record says, and the reader agrees."""

import json
import re
from pathlib import Path

import pytest
import tasks
from columns import renewed
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from source_tree import ROOT

from generators.tasks.files import BadRow, TaskRow, make_task, parse_row
from generators.tasks.site_offers import site_offers

PAGE = (ROOT / "docs/tasks.md").read_text(encoding="utf-8")
GOOD = {"site": "miniwob", "template_id": "click-test", "seed": 7}


def test_the_page_says_what_the_record_says() -> None:
    assert renewed(PAGE, tasks.PARTS) == PAGE, "docs/tasks.md is stale: `make docs`"


@pytest.mark.parametrize("path", tasks.SCHEMAS, ids=lambda path: path.parent.name)
def test_the_schema_is_that_of_the_record(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == tasks.schema_text(), "it is stale: `make docs`"


def test_the_schema_explains_every_column() -> None:
    columns = tasks.schema()["properties"]
    assert list(columns) == list(TaskRow.model_fields)
    assert all(column["description"] for column in columns.values())


def test_the_row_on_the_page_is_a_task() -> None:
    (row,) = re.findall(r"^```json\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL)
    task = make_task(parse_row(row.encode()), sites=site_offers(), source="page")
    assert (task.template_id, task.seed, task.split) == ("click-test", 7, "test")
    Draft202012Validator(tasks.schema()).validate(json.loads(row))


@pytest.mark.parametrize(
    ("row", "holds"),
    [
        (GOOD, True),
        (GOOD | {"parameters": {"a": 1}}, True),
        (GOOD | {"parameters": '{"a": 1}'}, True),
        (GOOD | {"tags": None}, True),
        (GOOD | {"sead": 1}, False),
        ({"seed": 1}, False),
        (GOOD | {"seed": -1}, False),
        (GOOD | {"seed": "1"}, False),
        (GOOD | {"split": "dev"}, False),
        (GOOD | {"instruction": ""}, False),
        (GOOD | {"parameters": [1]}, False),
        (GOOD | {"max_steps": 10_001}, False),
    ],
)
def test_the_schema_and_the_reader_agree(row: dict[str, object], *, holds: bool) -> None:
    assert Draft202012Validator(tasks.schema()).is_valid(row) is holds
    if holds:
        parse_row(row)
    else:
        with pytest.raises(BadRow):
            parse_row(row)
