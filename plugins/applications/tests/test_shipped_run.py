"""`configs/apps.toml`, the shipped run over both applications, where they are not installed."""

import json
from pathlib import Path

import pytest
from source_tree import ROOT

from flows.job.config_loader import Sources, load
from flows.job.validate import validate
from generators.sites.installable.registry import PACKAGE_OF, find_installation, what_is_missing
from schemas.errors import BadTasks
from stepmill_applications import parts
from stepmill_applications.application import SYSTEM, Installed
from stepmill_applications.parts import APPLICATIONS


def test_the_core_names_this_package_for_its_applications_and_for_no_others() -> None:
    assert dict.fromkeys(APPLICATIONS, "stepmill-applications") == PACKAGE_OF


def test_each_site_that_ships_needs_the_application_of_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "find_installed", lambda *_: None)
    monkeypatch.chdir(ROOT)
    sites = load(Sources(config="configs/apps.toml"), {}).sites
    assert sites.keys() == APPLICATIONS.keys()
    for name, site in sites.items():
        missing = f"{name} is not installed: stepmill sites install {name}"
        assert what_is_missing(site.start) == missing


def test_an_application_that_is_here_is_found_with_its_version_and_its_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = Installed(tree=tmp_path, version="2.21")
    monkeypatch.setattr(parts, "find_installed", lambda *_: here)
    found = find_installation("fossil", {})
    assert found is not None
    assert (found.version, found.folder) == ("2.21", tmp_path)


def test_two_applications_that_are_not_installed_are_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "find_installed", lambda *_: None)
    monkeypatch.chdir(ROOT)
    with pytest.raises(BadTasks) as refused:
        validate(load(Sources(config="configs/apps.toml"), {}))
    assert str(refused.value) == (
        "tasks: none of 72 tasks can be attempted: "
        "fossil is not installed: stepmill sites install fossil; "
        "none of 76 tasks can be attempted: "
        "mediawiki is not installed: stepmill sites install mediawiki"
    )


def test_a_task_without_a_reference_is_refused_whether_or_not_its_site_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki = Installed(tree=SYSTEM, version="1")
    monkeypatch.setattr(
        parts, "find_installed", lambda one, _: wiki if one.name == "mediawiki" else None
    )
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
