"""`configs/apps.toml`, the shipped run over all applications, where they are not installed."""

import json
import tomllib
from pathlib import Path

import pytest
from source_tree import ROOT

from flows.job.config_loader import Sources, load
from flows.job.validate import validate
from generators.sites.installable.registry import PACKAGE_OF, find_installation, what_is_missing
from schemas.errors import BadTasks
from stepmill_applications.sources.debian import Debian
from stepmill_applications.sources.npm import Npm
from stepmill_applications.sources.pypi import PyPI
from stepmill_applications.sources.source import SYSTEM, Installed


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no application be on this machine, and the shipped run be here."""
    for source in (Debian, Npm, PyPI):
        monkeypatch.setattr(source, "find", lambda *_: None)
    monkeypatch.chdir(ROOT)


def test_the_core_names_this_package_for_its_applications_and_for_no_others() -> None:
    offered = tomllib.loads((ROOT / "plugins/applications/pyproject.toml").read_text())
    names = offered["project"]["entry-points"]["stepmill.applications"]
    assert dict.fromkeys(names, "stepmill-applications") == PACKAGE_OF


@pytest.mark.usefixtures("nowhere")
def test_each_site_that_ships_needs_the_application_of_its_name() -> None:
    sites = load(Sources(config="configs/apps.toml"), {}).sites
    assert sites.keys() == PACKAGE_OF.keys()
    for name, site in sites.items():
        missing = f"{name} is not installed: stepmill sites install {name}"
        assert what_is_missing(site.start) == missing


def test_an_application_that_is_here_is_found_with_its_version_and_its_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = Installed(tree=tmp_path, version="2.21")
    monkeypatch.setattr(Debian, "find", lambda *_: here)
    found = find_installation("fossil", {})
    assert found is not None
    assert (found.version, found.folder) == ("2.21", tmp_path)


@pytest.mark.usefixtures("nowhere")
def test_applications_that_are_not_installed_are_refused_each_in_its_line() -> None:
    with pytest.raises(BadTasks) as refused:
        validate(load(Sources(config="configs/apps.toml"), {}))
    said = str(refused.value)
    assert said.startswith("tasks: none of ")
    assert "\n" not in said
    for name in PACKAGE_OF:
        assert (
            f" tasks can be attempted: {name} is not installed: stepmill sites install {name}"
            in said
        )


def test_a_task_without_a_reference_is_refused_whether_or_not_its_site_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki = Installed(tree=SYSTEM, version="1")
    monkeypatch.setattr(Debian, "find", lambda _, name, __: wiki if name == "mediawiki" else None)
    monkeypatch.chdir(ROOT)
    row = {"site": "fossil", "start_url": "/", "instruction": "Go.", "expect": {"answer": "1"}}
    path = tmp_path / "fossil.jsonl"
    sources = f"tasks.sources=['configs/apps/mediawiki.jsonl', '{path}']"
    config = load(Sources(config="configs/apps.toml", settings=(sources,)), {})
    path.write_text(json.dumps(row | {"reference": [{"do": "answer", "text": "1"}]}))
    assert len(validate(config).waiting) == 1
    path.write_text(json.dumps(row))
    with pytest.raises(BadTasks, match="1 of 77 tasks have no reference, as fossil"):
        validate(config)
