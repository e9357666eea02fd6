"""A publication to the Hub that is killed at any request, and the one that completes it.

What goes up by Xet goes past the Hub's requests, so there it is killed by what has arrived.
"""

import re
from pathlib import Path

import pytest
from hub.publishing import DATASET, Moment, killed, killed_uploading, published_to
from hub.server import TOKEN, LocalHub
from support.runs.memory_run import two_versions

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


@pytest.mark.parametrize("moment", FIRST, ids=str)
def test_a_first_publication_killed_anywhere_is_completed(
    hub: LocalHub, whole: dict[str, str], moment: Moment
) -> None:
    _, snapshot = two_versions()

    assert killed(hub, 2, moment, commit_files=COMMIT_FILES)
    published_to(hub, snapshot)

    repo = hub.repo(DATASET)
    assert hub.files(DATASET) == whole
    assert repo.tags == {"v2": repo.branches["main"]}
    assert sum(commit.title.startswith("Publish version") for commit in repo.commits) == 1


@pytest.mark.parametrize("stored", [2, 4, 6])
def test_a_first_publication_killed_while_it_uploads_is_completed(
    hub: LocalHub, whole: dict[str, str], stored: int
) -> None:
    _, snapshot = two_versions()

    assert killed_uploading(hub, 2, stored=stored, commit_files=COMMIT_FILES)
    there = hub.files(DATASET)
    published_to(hub, snapshot)

    assert "manifest.json" not in there
    assert hub.files(DATASET) == whole


@pytest.mark.parametrize("moment", UPDATE, ids=str)
def test_an_update_killed_anywhere_leaves_a_version_that_loads(
    hub: LocalHub, whole: dict[str, str], moment: Moment
) -> None:
    before, after = two_versions()
    published_to(hub, before)

    assert killed(hub, 2, moment, commit_files=COMMIT_FILES)

    card = hub.text(DATASET, "README.md").decode()
    named = set(re.findall(r"data/\w+/[\w-]+\.parquet", card))
    assert named
    assert named <= hub.files(DATASET).keys()
    published_to(hub, after)
    assert hub.files(DATASET) == whole
    assert list(hub.repo(DATASET).tags) == ["v1", "v2"]
    assert hub.files(DATASET, "v2") == whole
