"""A run on the Hub: one commit, one tag, the difference only, and who else is there."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hub.faults import Fault
from hub.publishing import DATASET, TO, commits_of, published_to
from hub.server import LocalHub
from support.runs.memory_run import (
    TRAIN,
    MemoryRun,
    commit_unit,
    contents,
    published,
    small_run,
    two_versions,
)

from schemas.backoff import Backoff
from schemas.configuration.sections import Gate, PublishSection
from schemas.errors import Conflict, Refusal, Unfinished
from storage.publish.destinations.hub import errors
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.plan.manifest import read_manifest
from storage.publish.verify import verify_published


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_BACKOFF", Backoff(first_seconds=0.01, max_seconds=0.01, tries=7))


def _titles(hub: LocalHub, revision: str = "main") -> list[str]:
    """Return the titles of a branch's commits but the first."""
    repo = hub.repo(DATASET)
    head = repo.commits.index(repo.at(revision))
    return [commit.title for commit in repo.commits[1 : head + 1]]


def _asked(hub: LocalHub, *kinds: str) -> int:
    return sum(count for name, count in hub.requests.items() if name in kinds)


def test_a_first_publication_is_one_commit_with_a_tag(hub: LocalHub) -> None:
    report = published_to(hub, small_run(alike=True).seal())

    repo = hub.repo(DATASET)
    assert repo.private
    assert len(_titles(hub)) == 1
    assert repo.tags == {"v1": repo.branches["main"]}
    manifest = read_manifest(hub.text(DATASET, "manifest.json"), "here")
    assert {file.path: file.sha256 for file in manifest.files} == {
        path: sha256 for path, sha256 in hub.files(DATASET).items() if path != "manifest.json"
    }
    assert report.put == report.files + 1
    assert report.destination == TO
    assert report.loading[1] == 'data = load_dataset("org/data", "steps", split="train")'


def test_the_data_files_are_those_of_a_folder(hub: LocalHub, tmp_path: Path) -> None:
    snapshot = small_run(alike=True).seal()
    published_to(hub, snapshot)
    published(snapshot, tmp_path / "to")

    names = {path for path in contents(tmp_path / "to") if path.startswith("data/")}
    assert names == {path for path in hub.files(DATASET) if path.startswith("data/")}


def test_data_files_go_up_in_chunks(hub: LocalHub) -> None:
    published_to(hub, small_run(alike=True).seal())

    files = hub.repo(DATASET).at("main").files
    data = [file for path, file in files.items() if path.startswith("data/")]
    assert data
    assert all(file.xet for file in data)


def test_data_files_that_the_hub_wants_in_git_are_in_the_commit(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    published_to(hub, small_run(alike=True).seal())
    whole = hub.files(DATASET)
    hub.state.repos.clear()
    monkeypatch.setattr("hub.state.LARGE_SUFFIXES", set())

    published_to(hub, small_run(alike=True).seal())

    assert hub.files(DATASET) == whole
    assert not any(file.large for file in hub.repo(DATASET).at("main").files.values())
    there = HubDestination(TO, PublishSection(), endpoint=hub.url)
    assert asyncio.run(verify_published(there, deep=True)).findings == ()


def test_the_same_version_again_asks_little_and_changes_nothing(hub: LocalHub) -> None:
    published_to(hub, small_run(alike=True).seal())
    head = hub.repo(DATASET).branches["main"]
    hub.requests.clear()

    report = published_to(hub, small_run(alike=True).seal())

    assert (report.put, report.deleted) == (0, 0)
    assert hub.repo(DATASET).branches["main"] == head
    assert {name.split()[0] for name in hub.requests} == {"GET"}
    assert hub.requests.total() <= 10


def test_a_later_version_is_one_more_commit_and_moves_no_tag(hub: LocalHub) -> None:
    before, after = two_versions()
    published_to(hub, before)
    first = hub.repo(DATASET).tags["v1"]
    old = hub.files(DATASET)
    hub.requests.clear()

    report = published_to(hub, after)

    new = hub.files(DATASET)
    assert len(_titles(hub)) == 2
    assert hub.repo(DATASET).tags == {"v1": first, "v2": hub.repo(DATASET).branches["main"]}
    assert hub.files(DATASET, "v1") == old
    assert report.put == len({path for path in new if new[path] != old.get(path)})
    assert report.deleted == len(old.keys() - new.keys()) > 0
    assert _asked(hub, "POST preupload") == report.put
    hub.state.repos.clear()
    published_to(hub, after)
    assert hub.files(DATASET) == new


def test_a_version_published_by_another_rule_gets_a_tag_of_its_own(hub: LocalHub) -> None:
    snapshot = small_run(alike=True).seal()
    published_to(hub, snapshot)
    everything = PublishSection(include_rejected=True)

    for _ in range(2):
        published_to(hub, snapshot, terms=everything)

    tags = hub.repo(DATASET).tags
    assert list(tags) == ["v1", "v1.1"]
    assert tags["v1.1"] == hub.repo(DATASET).branches["main"]


def test_a_tag_that_is_missing_is_made(hub: LocalHub) -> None:
    snapshot = small_run(alike=True).seal()
    published_to(hub, snapshot)
    hub.repo(DATASET).tags.clear()

    published_to(hub, snapshot)

    assert list(hub.repo(DATASET).tags) == ["v1"]


def test_many_files_are_a_few_commits_and_the_manifest_is_in_the_last(hub: LocalHub) -> None:
    published_to(hub, small_run(alike=True).seal())
    whole = hub.files(DATASET)
    hub.state.repos.clear()

    with commits_of(5):
        published_to(hub, small_run(alike=True).seal())

    assert hub.files(DATASET) == whole
    commits = hub.repo(DATASET).commits
    assert [c.title for c in commits[1:]][:-1] == ["Add 5 files"] * (len(commits) - 2)
    assert len(commits) == 6
    assert [("manifest.json" in c.files, "README.md" in c.files) for c in commits[:-1]] == [
        (False, False)
    ] * 5
    assert ".publishing" in commits[1].files
    assert ".publishing" not in commits[-1].files


@pytest.mark.parametrize(
    "fault",
    [
        Fault("/commit/", status=500),
        Fault("/commit/", status=500, after=True),
        pytest.param(Fault("/commit/", status=504, after=True), marks=pytest.mark.full),
        pytest.param(Fault("/commit/"), marks=pytest.mark.full),
        pytest.param(Fault("/commit/", after=True), marks=pytest.mark.full),
        Fault("/commit/", status=429, headers=(("Retry-After", "1"),)),
        Fault("/commit/", status=412),
        Fault("/commit/", status=409, times=3),
        Fault("/repos/create", status=503),
        pytest.param(Fault("/repos/create", after=True), marks=pytest.mark.full),
        Fault("/tag/", status=500, after=True),
        Fault("/refs", status=429, headers=(("Retry-After", "1"),)),
        pytest.param(Fault("/revision/main", times=2), marks=pytest.mark.full),
        pytest.param(Fault("/preupload/", status=503, spare=3), marks=pytest.mark.full),
        Fault("/preupload/", spare=5),
        Fault("/xet-write-token/", status=500, spare=2),
    ],
    ids=lambda f: f"{f.word.strip('/')} {f.status or 'cut'}{' after' if f.after else ''}",
)
def test_what_goes_wrong_on_the_way_does_not_change_where_it_ends(
    hub: LocalHub, fault: Fault
) -> None:
    hub.faults.append(fault)

    published_to(hub, small_run(alike=True).seal())

    assert fault.times == 0
    assert len(_titles(hub)) == 1
    assert list(hub.repo(DATASET).tags) == ["v1"]
    manifest = read_manifest(hub.text(DATASET, "manifest.json"), "here")
    assert {f.path for f in manifest.files} | {"manifest.json"} == hub.files(DATASET).keys()


def test_a_hub_that_asks_for_too_much_patience_is_left_alone(hub: LocalHub) -> None:
    hub.faults.append(Fault("/commit/", status=429, headers=(("Retry-After", "3600"),)))

    with pytest.raises(Unfinished, match=r"a pause of 3600 s: run the same command again"):
        published_to(hub, small_run(alike=True).seal())
    hub.requests.clear()
    published_to(hub, small_run(alike=True).seal())

    assert len(_titles(hub)) == 1


def test_a_hub_that_never_answers_is_given_up(hub: LocalHub) -> None:
    hub.faults.append(Fault("/commit/", status=502, times=100))

    with pytest.raises(Unfinished, match=r"is not well \(502\).* what was uploaded is not lost"):
        published_to(hub, small_run(alike=True).seal())

    assert _asked(hub, "POST commit") == 7


def test_publications_of_the_same_version_at_once_end_as_one(hub: LocalHub) -> None:
    snapshot = small_run(alike=True).seal()
    with ThreadPoolExecutor(3) as pool:
        reports = [pool.submit(published_to, hub, snapshot) for _ in range(3)]
        assert {r.result().bytes for r in reports} == {reports[0].result().bytes}

    assert len(_titles(hub)) == 1
    assert list(hub.repo(DATASET).tags) == ["v1"]


def _meddle(hub: LocalHub, path: str, data: bytes) -> None:
    """Have somebody commit just before the next commit is carried out."""

    def commit() -> None:
        hub.edit(DATASET, path, data)

    hub.faults.append(Fault("/commit/", status=412, call=commit))


def test_somebody_elses_file_that_came_meanwhile_stays(hub: LocalHub) -> None:
    _meddle(hub, "LICENSE", b"theirs")

    published_to(hub, small_run(alike=True).seal())

    assert _titles(hub)[0] == "Edit LICENSE"
    assert len(_titles(hub)) == 2
    assert hub.text(DATASET, "LICENSE") == b"theirs"


def test_somebody_elses_change_of_ours_is_not_overwritten(hub: LocalHub) -> None:
    before, after = two_versions()
    published_to(hub, before)
    _meddle(hub, "README.md", b"theirs")

    with pytest.raises(Conflict, match=r"changed README\.md meanwhile .* run this again"):
        published_to(hub, after)

    assert hub.text(DATASET, "README.md") == b"theirs"
    with pytest.raises(Conflict, match=r"README\.md was changed since it was published"):
        published_to(hub, after)
    assert hub.text(DATASET, "README.md") == b"theirs"


def test_what_somebody_deleted_is_put_back(hub: LocalHub) -> None:
    snapshot = small_run(alike=True).seal()
    published_to(hub, snapshot)
    whole = hub.files(DATASET)
    for path in ("README.md", next(path for path in whole if "data/steps" in path)):
        hub.edit(DATASET, path, None)

    report = published_to(hub, snapshot)

    assert hub.files(DATASET) == whole
    assert report.put == 2
    assert list(hub.repo(DATASET).tags) == ["v1"]


def test_a_branch_holds_a_dataset_of_its_own(hub: LocalHub) -> None:
    other = MemoryRun()
    commit_unit(other, 1, TRAIN)
    published_to(hub, small_run(alike=True).seal())
    main = hub.files(DATASET)

    report = published_to(hub, other.seal(), to=f"{TO}@nightly", run_id="f" * 32)

    assert hub.files(DATASET) == main
    assert hub.files(DATASET, "nightly").keys() != main.keys()
    assert list(hub.repo(DATASET).tags) == ["v1", "nightly-v1"]
    assert len(_titles(hub, "main")) == 1
    assert 'split="train", revision="nightly")' in report.loading[1]
    assert b'revision="nightly"' in hub.text(DATASET, "README.md", "nightly")


def test_the_terms_of_a_dataset_are_on_the_hub(hub: LocalHub) -> None:
    terms = PublishSection(private=False, gated=Gate.MANUAL, license="cc-by-4.0")

    published_to(hub, small_run(alike=True).seal(), terms=terms)

    repo = hub.repo(DATASET)
    assert (repo.private, repo.gated) == (False, "manual")
    assert b'\nlicense: "cc-by-4.0"\n' in hub.text(DATASET, "README.md")
    published_to(
        hub, small_run(alike=True).seal(), terms=terms.model_copy(update={"gated": Gate.AUTO})
    )
    assert repo.gated == "auto"


def test_a_dataset_in_front_of_which_the_gate_fails_is_not_published(hub: LocalHub) -> None:
    hub.faults.append(Fault("/settings", status=400, times=9))

    with pytest.raises(Refusal):
        published_to(hub, small_run(alike=True).seal(), terms=PublishSection(gated=Gate.AUTO))

    assert hub.files(DATASET) == {}


def test_the_card_names_every_file_that_is_there(hub: LocalHub) -> None:
    published_to(hub, small_run(alike=True).seal())

    card = hub.text(DATASET, "README.md").decode()
    data = {path for path in hub.files(DATASET) if path.startswith("data/")}
    assert all(f"path: {path}\n" in card for path in data)
    assert json.loads(hub.text(DATASET, "manifest.json"))["version"] == 1
