"""The notebook of the pages runs as it stands, from the wheel, where nothing of the checkout is to be found."""

import json
import shutil
from pathlib import Path

import pytest
from source_tree import ROOT
from support.inputs.installed_wheel import build_wheel, install_wheel, must

pytestmark = pytest.mark.browser

NOTEBOOK = ROOT / "docs/first-run.ipynb"

EXECUTE = """
import nbclient, nbformat, sys
book = nbformat.read(sys.argv[1], 4)
nbformat.validate(book)
nbclient.execute(book, timeout=200)
nbformat.write(book, sys.argv[1])
"""


def test_the_notebook_runs_from_the_wheel(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path / "dist")
    there = install_wheel(wheel, tmp_path, "ipykernel", "nbclient", "polars")
    copy = tmp_path / "copy.ipynb"
    shutil.copyfile(NOTEBOOK, copy)

    must(there / "python", "-c", EXECUTE, copy, cwd=tmp_path)

    cells = json.loads(copy.read_text(encoding="utf-8"))["cells"]
    made, shown, yields = (cell["outputs"] for cell in cells if cell["cell_type"] == "code")
    assert "".join(made[-1]["data"]["text/plain"]) == "(3, 3, ())"
    pictures = [out for out in shown if "image/png" in out.get("data", {})]
    assert len(pictures) == 5
    assert "click-button" in "".join(yields[-1]["data"]["text/plain"])


def test_the_notebook_is_kept_without_what_it_printed() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]

    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
