"""What `make measure` counts, on a small tree whose numbers are known."""

from pathlib import Path

import pytest

from bench.measuring.house import (
    Figure,
    figures,
    idiom_figures,
    line,
    reader_figures,
    size_figures,
    walk_figures,
)
from bench.measuring.modules import House, callers, cycles, importers, read_house
from bench.measuring.source import ROOT

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

BESIDE = {
    "plugins/shop/__init__.py": "\n",
    "plugins/shop/shop.py": "\n" * 3,
    "plugins/shop/tests/test_shop.py": "\n" * 5,
    "tests/unit/test_run.py": "\n" * 7,
    "tests/unit/test_read.py": "\n" * 11,
    "tests/golden/rows.json": "\n" * 13,
    "tests/durations.json": "\n" * 13,
    "storage/form.json": "\n" * 17,
    "storage/page.html": "\n" * 19,
    "bench/page.html": "\n" * 23,
    "bench/results/rows.toml": "\n" * 13,
    "configs/demo.toml": "\n" * 29,
    "pyproject.toml": "\n" * 2,
    ".venv/page.js": "\n" * 13,
}


def plant(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def by_name(found: list[Figure]) -> dict[str, Figure]:
    return {figure.what: figure for figure in found}


@pytest.fixture
def house(tmp_path: Path) -> House:
    plant(tmp_path, TREE)
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

    assert values["modules"] == 3
    assert values["lines of a module, median"] == 2
    assert values["lines of the longest module"] == 10
    assert values["modules with exactly one importer, %"] == 33.3
    assert values["private functions with one caller, %"] == 50.0


def test_imports_of_a_module_are_those_of_the_project(house: House) -> None:
    found = by_name(figures(house))

    assert found["project modules that a module imports, mean"].value == 1.0
    assert found["project modules that a module imports, max"].value == 2
    assert found["project modules that a module imports, max"].where == ("flows.run",)


@pytest.mark.usefixtures("house")
def test_a_library_is_no_import_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "schemas/base.py").write_text("import json\nimport schemas\n")

    found = by_name(figures(read_house(tmp_path)))

    assert found["project modules that a module imports, max"].value == 2
    assert read_house(tmp_path).imports["schemas.base"] == {"schemas"}


@pytest.mark.usefixtures("house")
def test_a_long_file_and_a_long_function_are_named(tmp_path: Path) -> None:
    body = "    x = 1\n" * 400
    (tmp_path / "schemas/base.py").write_text(f"def long():\n{body}")

    named = {figure.what: figure.where for figure in figures(read_house(tmp_path)) if figure.where}

    assert named["functions over 60 lines"] == ("schemas.base.long",)
    assert named["files over 300 lines"] == ("schemas.base (401)",)


@pytest.mark.usefixtures("house")
@pytest.mark.parametrize(("files", "verdict"), [(23, "held"), (24, "missed")])
def test_a_folder_has_23_modules_beside_its_init(tmp_path: Path, files: int, verdict: str) -> None:
    plant(tmp_path, {f"flows/job/m{number}.py": "" for number in range(files)})
    plant(tmp_path, {"flows/job/__init__.py": "", "flows/job/m.toml": ""})

    folder = by_name(figures(read_house(tmp_path)))["modules in the largest folder"]

    assert (folder.value, folder.verdict) == (files, verdict)
    assert folder.where == (("flows.job (24)",) if verdict == "missed" else ())


@pytest.mark.usefixtures("house")
def test_lines_are_those_of_core_plug_ins_and_tests(tmp_path: Path) -> None:
    plant(tmp_path, BESIDE)

    values = {figure.what: figure.value for figure in size_figures(tmp_path)}

    assert values["Python lines, core"] == 12
    assert values["Python lines, core and plug-ins"] == 12 + 1 + 3
    assert values["Python lines, tests"] == 5 + 7 + 11
    assert values["modules in the largest folder of tests"] == 2


@pytest.mark.usefixtures("house")
def test_lines_of_other_kinds_leave_out_what_is_generated(tmp_path: Path) -> None:
    plant(tmp_path, BESIDE)

    found = by_name(size_figures(tmp_path))

    assert found["HTML lines"].value == 19 + 23
    assert found["HTML lines"].note == "19 of them in the packages"
    assert found["TOML lines"].value == 29 + 2
    assert found["JSON lines"].value == 17
    assert found["JavaScript lines"].value == found["CSS lines"].value == 0


@pytest.mark.usefixtures("house")
def test_idiom_is_counted_in_the_product_and_in_worlds(tmp_path: Path) -> None:
    prose = '"""The page of a row."""\n' * 99
    plant(tmp_path, {"flows/run.py": prose, "schemas/worlds/world.py": prose})
    everywhere, worlds = idiom_figures(tmp_path)
    assert (everywhere.value, everywhere.verdict) == (0, "held")

    plant(tmp_path, {"schemas/worlds/world.py": prose + '"""A page that nobody is told of."""\n'})
    plant(tmp_path, {"tests/test_run.py": '"""Nobody is told."""\n'})

    everywhere, worlds = idiom_figures(tmp_path)
    assert (everywhere.value, everywhere.verdict) == (round(2_000 / 209, 1), "missed")
    assert (worlds.value, worlds.verdict) == (20, "missed")


def test_the_walks_through_this_code_can_be_traced() -> None:
    world, task = walk_figures(ROOT)

    assert (world.what, task.what) == ("family → world: returns", "world → task: returns")
    for walk in (world, task):
        names = int(walk.note.partition(" names")[0].rpartition(" ")[2])
        assert names > 20, f"{walk.what}: the walk begins with a cached function, or at a wrong one"


def test_a_walk_that_cannot_be_traced_has_no_number(tmp_path: Path) -> None:
    script = tmp_path / "walks.py"
    script.write_text("raise SystemExit('no such function')\n")

    (walk,) = walk_figures(tmp_path, script)

    assert (walk.value, walk.verdict) == (None, "")
    assert walk.note == "not traced: no such function; mend walks.py"


def test_a_reader_is_told_how_the_other_figures_are_taken() -> None:
    guessed, opened = reader_figures()

    assert line(guessed).split()[-3:] == ["-m", "bench.measuring.questions", "paths"]
    assert "≤ 1" in line(opened)


@pytest.mark.parametrize(
    ("figure", "printed"),
    [
        (Figure("lines", 7, 8, ("a",)), "lines 7 ≤ 8 held"),
        (Figure("lines", 9, 8, ("a", "b", "c")), "lines 9 ≤ 8 missed a, b, 1 more"),
        (Figure("names", 21, 22, at_least=True), "names 21 ≥ 22 missed"),
        (Figure("names", 22, 22, at_least=True), "names 22 ≥ 22 held"),
        (Figure("lines", 1_234, note="all"), "lines 1,234 all"),
        (Figure("names", None, 22), "names – ≤ 22"),
    ],
)
def test_a_number_is_printed_beside_its_target(figure: Figure, printed: str) -> None:
    assert " ".join(line(figure, 2).split()) == printed
