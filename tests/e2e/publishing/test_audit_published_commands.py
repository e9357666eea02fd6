"""Published copies as `stepmill audit` tells of them: in a folder, in a bucket and on the Hub."""

import asyncio
import json
from pathlib import Path

import pytest
from conftest import CopyRun
from hub.faults import Fault
from hub.publishing import BUCKET, DATASET, TO, TO_BUCKET
from hub.server import LocalHub
from huggingface_hub import HfApi
from support.episodes.factories import MadeRun
from support.runs.commands import Said, called
from support.runs.memory_run import STORAGE
from support.stores.copies import in_store, on_hub

from schemas.backoff import Backoff
from storage.audit.report import PublishedCopy
from storage.objects.local import LocalStore
from storage.objects.urls import open_store
from storage.publish.destinations.hub import errors
from storage.publish.destinations.store import FolderDestination
from storage.publish.plan.manifest import MANIFEST, read_manifest
from storage.publish.verify import Discrepancy

_ALTERED, _FOREIGN, _MISSING = Discrepancy.ALTERED, Discrepancy.FOREIGN, Discrepancy.MISSING


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_BACKOFF", Backoff(first_seconds=0.01, max_seconds=0.01, tries=5))


@pytest.fixture
def made(copy_run: CopyRun, tmp_path: Path) -> MadeRun:
    """A run in a folder."""
    return copy_run(tmp_path / "run")


@pytest.fixture
def known_hub(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> LocalHub:
    """A Hub that commands in this process know of: the client reads where it is when it is loaded."""
    monkeypatch.setattr(
        "storage.publish.destinations.hub.client.HfApi",
        lambda endpoint: HfApi(endpoint=endpoint or hub.url),
    )
    return hub


@pytest.fixture
def anywhere(known_hub: LocalHub, bucket_url: str, made: MadeRun, tmp_path: Path) -> list[str]:
    """Destinations of each kind, published to, that the run's configuration names."""
    del known_hub  # is known
    places = [str(tmp_path / "to"), f"{bucket_url}/to", TO, TO_BUCKET]
    config = made.folder / "run.json"
    told = json.loads(config.read_bytes())
    told["config"]["publish"]["to"] = places
    told["config"]["accept"]["passed"] = ["outcome"]
    config.write_text(json.dumps(told))
    for place in places:
        said = called("publish", made.url, f"--to={place}", "--no-prefect")
        assert said.code == 0, said.err
    return places


def _audited(made: MadeRun, *args: str) -> Said:
    return called("audit", made.url, "--json", *args)


def test_the_command_proves_every_copy_that_the_run_names(
    anywhere: list[str], hub: LocalHub, made: MadeRun, tmp_path: Path
) -> None:
    whole = _audited(made, "--deep")

    assert whole.code == 0, whole.out
    copies = [PublishedCopy.model_validate(copy) for copy in _list(whole, "published")]
    assert [(copy.destination, copy.version, copy.whole) for copy in copies] == [
        (place, 1, True) for place in anywhere
    ]
    assert (whole.answer["findings"], whole.answer["leftovers"]) == ([], [])

    path = next(path for path in hub.files(DATASET) if path.startswith("data/steps/"))
    hub.edit(DATASET, path, None)
    del hub.bucket(BUCKET).files[f"demo/{path}"]
    (tmp_path / "to" / path).unlink()
    asyncio.run(open_store(anywhere[1], STORAGE).put(path, b"PAR1"))
    harmed = _audited(made)

    assert harmed.code == 1
    assert [str(finding).partition("; ")[0] for finding in _list(harmed, "findings")] == [
        f"{anywhere[0]}/{path}: is missing",
        f"{anywhere[1]}/{path}: is 4 bytes, not {_size(tmp_path, path):,}",
        f"{anywhere[2]}/{path}: is missing",
        f"{anywhere[3]}/{path}: is missing",
    ]


def test_a_copy_that_cannot_be_proven_says_nothing_of_the_run(
    known_hub: LocalHub, made: MadeRun
) -> None:
    on_hub(known_hub).publish()
    known_hub.faults.append(Fault("/api/datasets/", status=401, times=99))
    to = f"--set=publish.to=['{TO}']"

    said, shown = _audited(made, to), called("audit", made.url, to)

    assert (said.code, shown.code) == (1, 1)
    assert (said.answer["whole"], said.answer["copies_whole"]) == (True, False)
    assert said.answer["run_findings"] == []
    [copy] = [PublishedCopy.model_validate(copy) for copy in _list(said, "published")]
    assert "does not know the token" in str(copy.unproven)
    assert [*copy.findings] == _list(said, "findings")
    assert f"{made.url}: whole (" in shown.out
    assert f"{TO}: NOT PROVEN" in shown.out
    assert f"\ncopy not proven: {TO}: cannot be proven: " in f"\n{shown.out}"
    assert "\nnot whole: " not in f"\n{shown.out}"


def test_a_harmed_copy_and_a_harmed_run_are_told_apart(made: MadeRun, tmp_path: Path) -> None:
    copy = in_store(lambda: FolderDestination(tmp_path / "to"), LocalStore(tmp_path / "to"))
    copy.publish()
    (tmp_path / "to" / copy.data("tasks")).unlink()
    to = f"--set=publish.to=['{tmp_path / 'to'}']"

    harmed_copy = called("audit", made.url, "--json", to)
    (made.folder / "foreign.txt").write_text("mine", encoding="utf-8")
    both, shown = called("audit", made.url, "--json", to), called("audit", made.url, to)

    assert (harmed_copy.code, both.code) == (1, 1)
    states = [(said.answer["whole"], said.answer["copies_whole"]) for said in (harmed_copy, both)]
    assert states == [(True, False), (False, False)]
    [own] = _list(both, "run_findings")
    assert str(own).startswith("foreign.txt: ")
    assert _list(both, "findings") == [own, *_list(harmed_copy, "findings")]
    assert f"{made.url}: NOT WHOLE (" in shown.out
    assert f"{tmp_path / 'to'}: NOT WHOLE" in shown.out
    assert f"not whole: {own}" in shown.out.splitlines()
    assert f"copy not whole: {_list(harmed_copy, 'findings')[0]}" in shown.out.splitlines()


def _list(said: Said, name: str) -> list[object]:
    found = said.answer[name]
    assert isinstance(found, list)
    return list(found)


def _size(tmp_path: Path, path: str) -> int:
    told = read_manifest((tmp_path / "to" / MANIFEST).read_bytes(), MANIFEST)
    return next(file.bytes for file in told.files if file.path == path)


def test_a_copy_that_is_not_there_yet_is_told_of_and_no_finding(
    made: MadeRun, tmp_path: Path
) -> None:
    to = tmp_path / "later"

    said = called("audit", made.url, f"--set=publish.to=['{to}']")

    assert said.code == 0
    assert f"{to}: no published version is to be seen there yet" in said.out
