"""What `make measure` counts, on a small tree whose numbers are known."""

from pathlib import Path

import pytest

from bench.measuring.house import House, callers, cycles, figures, importers, read_house

TREE = {
    "flows/__init__.py": "",
    "flows/run.py": "from storage.lake.read import read\nimport schemas.base\n",
    "storage/__init__.py": "",
    "storage/lake/__init__.py": "",
    "storage/lake/read.py": (
        "import schemas.base\n\ndef read():\n    return _once() + _twice()\n\n"
        "def _once():\n    return _twice()\n\ndef _twice():\n    return _twice\n"
    ),
    "schemas/__init__.py": "",
    "schemas/base.py": "",
    "generators/__init__.py": "",
}


@pytest.fixture
def house(tmp_path: Path) -> House:
    for name, text in TREE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return read_house(tmp_path)


def test_importers_are_counted_for_modules_alone(house: House) -> None:
    assert importers(house) == {"flows.run": 0, "storage.lake.read": 1, "schemas.base": 2}


def test_a_function_does_not_call_itself(house: House) -> None:
    assert callers(house.modules["storage.lake.read"]) == {"_once": 1, "_twice": 2}


def test_a_cycle_among_folders_is_named(house: House, tmp_path: Path) -> None:
    assert cycles(house) == []

    (tmp_path / "storage/lake/read.py").write_text("import flows.run\n")

    (circle,) = cycles(read_house(tmp_path))
    assert circle.startswith("top: ")
    assert {"flows", "storage"} <= set(circle.removeprefix("top: ").split(" > "))


def test_lines_and_shares(house: House) -> None:
    values = {figure.what: figure.value for figure in figures(house)}

    assert values["product lines"] == 12
    assert values["modules"] == 3
    assert values["modules with exactly one importer, %"] == 33.3
    assert values["private functions with one caller, %"] == 50.0


@pytest.mark.usefixtures("house")
def test_a_long_file_and_a_long_function_are_named(tmp_path: Path) -> None:
    body = "    x = 1\n" * 400
    (tmp_path / "schemas/base.py").write_text(f"def long():\n{body}")

    missed = {figure.what: figure.where for figure in figures(read_house(tmp_path)) if figure.where}

    assert missed["functions over 60 lines"] == ("schemas.base.long",)
    assert missed["files over 300 lines"] == ("schemas.base (401)",)
