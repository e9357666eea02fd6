"""A publication to the Hub that is killed at any request, and the one that completes it.

What a kill would leave on the Hub is kept before every request of one publication, and each of these
Hubs is published to again. Large files go up by requests there. That this is what `kill -9` leaves is
shown by one that is real, while data goes up by Xet, past all requests; `make test-full` kills so at
every kind of request.
"""

import re
from functools import partial
from pathlib import Path

import pytest
from hub.publishing import DATASET, Moment, commits_of, killed, killed_uploading, published_to
from hub.server import TOKEN, LocalHub
from hub.witness import Left, left_by
from support.runs.memory_run import MemorySnapshot, two_versions

COMMIT_FILES = 3


def _both(word: str, method: str = "POST", *, body: str = "", spare: int = 0) -> list[Moment]:
    return [
        Moment(word, method=method, body=body, spare=spare, after=after) for after in (False, True)
    ]


FIRST = [
    *_both("/repos/create"),
    *_both("/preupload/", body=".publishing"),
    *_both("/preupload/", body="data/steps/"),
    *_both("/xet-write-token/", "GET", spare=2),
    *_both("/commit/"),
    *_both("/commit/", body="Publish version"),
    *_both("/preupload/", body="manifest.json"),
    *_both("/tag/"),
]

UPDATE = [
    *_both("/preupload/", body="data/steps/"),
    *_both("/commit/"),
    *_both("/commit/", body="Publish version"),
    *_both("/preupload/", body="manifest.json"),
    *_both("/tag/"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the files of a publication that nothing happened to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_TOKEN", TOKEN)
        folder: Path = tmp_path_factory.mktemp("whole")
        with LocalHub(folder / "hub") as hub:
            published_to(hub, two_versions()[1])
            return hub.files(DATASET)


def left_by_versions(tmp_path: Path, *versions: MemorySnapshot) -> list[Left]:
    """Return what a kill of the publication of the last of some versions would leave."""
    with commits_of(COMMIT_FILES):
        return left_by(tmp_path, *(partial(published_to, snapshot=version) for version in versions))


def assert_completed(hub: LocalHub, whole: dict[str, str], tags: list[str]) -> None:
    """Publish the second version to a Hub, and hold what is there against what is to be."""
    published_to(hub, two_versions()[1])
    repo = hub.repo(DATASET)
    assert hub.files(DATASET) == whole
    assert hub.files(DATASET, "v2") == whole
    assert list(repo.tags) == tags
    assert repo.tags["v2"] == repo.branches["main"]
    titles = [commit.title for commit in repo.commits]
    assert sum(title.startswith("Publish version") for title in titles) == len(tags)


def assert_loads(hub: LocalHub) -> None:
    """Hold the data files that the card names against what is there."""
    card = hub.text(DATASET, "README.md").decode()
    named = set(re.findall(r"data/\w+/[\w-]+\.parquet", card))
    assert named
    assert named <= hub.files(DATASET).keys()


@pytest.mark.usefixtures("_token")
def test_whatever_a_killed_first_publication_leaves_is_completed(
    tmp_path: Path, whole: dict[str, str]
) -> None:
    left = left_by_versions(tmp_path, two_versions()[1])
    assert len(left) > 5

    for number, one in enumerate(left):
        with one.hub(tmp_path / str(number)) as hub:
            try:
                assert_completed(hub, whole, ["v2"])
            except AssertionError as error:
                error.add_note(f"this is what a kill leaves before {one.request}")
                raise


@pytest.mark.full
@pytest.mark.usefixtures("_token")
def test_whatever_a_killed_update_leaves_loads_and_is_completed(
    tmp_path: Path, whole: dict[str, str]
) -> None:
    left = left_by_versions(tmp_path, *two_versions())
    assert len(left) > 3

    for number, one in enumerate(left):
        with one.hub(tmp_path / str(number)) as hub:
            try:
                assert_loads(hub)
                assert_completed(hub, whole, ["v1", "v2"])
            except AssertionError as error:
                error.add_note(f"this is what a kill leaves before {one.request}")
                raise


@pytest.fixture
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)


@pytest.mark.full
@pytest.mark.parametrize("moment", FIRST, ids=str)
def test_a_first_publication_killed_anywhere_is_completed(
    hub: LocalHub, whole: dict[str, str], moment: Moment
) -> None:
    assert killed(hub, 2, moment, commit_files=COMMIT_FILES)

    assert_completed(hub, whole, ["v2"])


@pytest.mark.parametrize(
    "stored", [pytest.param(2, marks=pytest.mark.full), 4, pytest.param(6, marks=pytest.mark.full)]
)
def test_a_first_publication_killed_while_it_uploads_is_completed(
    hub: LocalHub, whole: dict[str, str], stored: int
) -> None:
    _, snapshot = two_versions()

    assert killed_uploading(hub, 2, stored=stored, commit_files=COMMIT_FILES)
    there = hub.files(DATASET)
    published_to(hub, snapshot)

    assert "manifest.json" not in there
    assert hub.files(DATASET) == whole


@pytest.mark.full
@pytest.mark.parametrize("moment", UPDATE, ids=str)
def test_an_update_killed_anywhere_leaves_a_version_that_loads(
    hub: LocalHub, whole: dict[str, str], moment: Moment
) -> None:
    published_to(hub, two_versions()[0])

    assert killed(hub, 2, moment, commit_files=COMMIT_FILES)

    assert_loads(hub)
    assert_completed(hub, whole, ["v1", "v2"])
