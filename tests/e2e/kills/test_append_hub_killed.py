"""A night that is killed at any request to the Hub: the version before it stays whole, and the next try ends it.

What a kill would leave is kept before every request of the publication, and each of these Hubs gets the night again.
"""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from hub.publishing import DATASET, TO, commits_of
from hub.server import TOKEN, LocalHub
from hub.witness import left_by
from support.stores.nights import add_to, night

from schemas.configuration.sections import PublishSection
from storage.publish.destinations.hub.destination import HubDestination
from storage.publish.plan.manifest import read_manifest
from storage.publish.verify import verify_published

COMMIT_FILES = 3
"""In a commit, so that a night takes several."""


def _place(hub: LocalHub) -> HubDestination:
    return HubDestination(TO, PublishSection(append=True), endpoint=hub.url)


def _add(hub: LocalHub, number: int) -> None:
    add_to(lambda: _place(hub), night(number, alike=True), number)


def test_a_night_killed_anywhere_is_completed_and_the_version_before_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with commits_of(COMMIT_FILES):
        left = left_by(tmp_path, partial(_add, number=1), partial(_add, number=2))
    assert len(left) > 3

    wholes = list[dict[str, str]]()
    for number, one in enumerate(left):
        with one.hub(tmp_path / str(number)) as hub:
            before, tags = hub.files(DATASET, "v1"), [*hub.repo(DATASET).tags]
            listed = read_manifest(hub.text(DATASET, "manifest.json"), one.request)
            assert {file.path for file in listed.files} <= hub.files(DATASET).keys(), one.request
            assert tags == ["v1"], one.request

            _add(hub, 2)

            assert hub.files(DATASET, "v1") == before
            assert [*hub.repo(DATASET).tags] == ["v1", "v2"], one.request
            assert hub.repo(DATASET).tags["v2"] == hub.repo(DATASET).branches["main"]
            audit = asyncio.run(verify_published(_place(hub), deep=True))
            assert (audit.findings, audit.leftovers) == ((), ()), one.request
            wholes.append(hub.files(DATASET))
    assert all(whole == wholes[0] for whole in wholes)
