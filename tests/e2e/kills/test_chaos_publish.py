"""Publications to a folder and to a bucket, killed with `kill -9`, and the next that ends them.

What is killed is `stepmill publish` in a process of its own: a first publication, and one that
brings a dataset from one version of a run to the next. Publishing again ends in the very bytes of
a publication that nothing happened to; and at any time, whatever was killed, the data files that
the manifest lists lie there whole. `make test-full` kills before every write there is; in `make test` publications
are stopped at every write by `test_interrupted`, in process, and those of a run by `test_chaos_sweep`, and
`test_chaos_points` kills a run in a bucket for real.
"""

import asyncio
import fnmatch
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import pytest
from effort import TIMEOUT
from support.runs.chaos import KILLED
from support.runs.kill_at import Instant
from support.runs.republished_run import Objects, Shelf, make_two_versions
from support.servers.seaweedfs import Weed

from schemas.base import sha256_hex
from storage.objects.urls import is_bucket
from storage.publish.plan.config_columns import TABLE_CONFIGS
from storage.publish.plan.manifest import CARD, MANIFEST, read_manifest

pytestmark = [pytest.mark.full, pytest.mark.timeout(TIMEOUT)]


WRITE = re.compile(r"(?!mkdir|rmdir).*\bto\b")
"""Events that change a file of the dataset, and not a folder, which may be there already."""


class Point(NamedTuple):
    """A point of a publication, as the event after it."""

    folder: str
    """Its name in a folder."""
    bucket: str
    """Its name in a bucket."""
    last: bool = False
    """The last event of the name, and not the first."""


HALFWAY = "with a data file half there"
HALF = Point("rename to/data/steps", "after part */to/data/steps")

FIRST = {
    "before the mark": Point("link to", "before put_new to"),
    "before the data": Point("open to/data/trajectories", "before put to/data/trajectories"),
    HALFWAY: HALF,
    **{
        f"after the file of {config}": Point(
            f"remove to/data/{config}", f"after put to/data/{config}"
        )
        for config in TABLE_CONFIGS
    },
    "before the card": Point("rename to", "before put to"),
    "before the manifest": Point("link to", "before put_new to", last=True),
    "after the manifest": Point("remove to", "after put_new to", last=True),
}
"""The points of a publication where nothing was."""

UPDATE = {
    "before the data": Point("open to/data/trajectories", "before put to/data/trajectories"),
    HALFWAY: HALF,
    "after the data": Point("remove to/data/calls", "after put to/data/calls"),
    "before the manifest": Point("rename to", "before replace to", last=True),
    "before old files go": Point("remove to/data/calls", "before delete to", last=True),
    "after old files went": Point("rmdir to/data", "after delete to", last=True),
}
"""The points of one that follows another."""


def cases(points: Mapping[str, Point]) -> list[tuple[str, str]]:
    """Return which points are tried in which place."""
    return [(place, name) for place in ("folder", "bucket") for name in points]


@dataclass
class Published:
    """What publications come to that nothing happens to."""

    shelf: Shelf
    """Where."""

    @cached_property
    def before(self) -> Objects:
        """The dataset of the first version."""
        self.shelf.lay({})
        self.shelf.publish_wholly(1)
        return self.shelf.objects()

    @cached_property
    def update(self) -> Sequence[str]:
        """The events of publishing the second over the first version."""
        self.shelf.lay(self.before)
        return self.shelf.publish_wholly()

    @cached_property
    def whole(self) -> Mapping[str, str]:
        """The hashes of the dataset of the second version, whatever was there before."""
        assert self.update
        return hashes(self.shelf.objects())

    @cached_property
    def first(self) -> Sequence[str]:
        """The events of publishing it where nothing was."""
        wanted = self.whole
        self.shelf.lay({})
        names = self.shelf.publish_wholly()
        assert hashes(self.shelf.objects()) == wanted
        return names

    def instant(self, point: Point, names: Sequence[str]) -> Instant:
        """Return when a point is, of a publication with these events."""
        name = point.bucket if is_bucket(self.shelf.to) else point.folder
        there = len(fnmatch.filter(names, name))
        assert there, f"there is no {name}"
        return Instant(name=name, number=there if point.last else 1)

    def assert_completed_after(self, at: Instant) -> None:
        """Kill a publication, look at what it left, and publish again."""
        killed = self.shelf.publish(at=at)
        assert killed.code == KILLED, f"it ended before {at}: {killed.err}"
        assert_what_is_listed_is_there(self.shelf.objects())
        again = self.shelf.publish()
        assert again.code == 0, again.err
        assert hashes(self.shelf.objects()) == self.whole, f"it was killed at {at}"


Publications = Callable[[str], Published]


@pytest.fixture(scope="module")
def publications(tmp_path_factory: pytest.TempPathFactory, weed: Weed) -> Iterator[Publications]:
    """Yield what publishes wholly in a folder or in a bucket, once in each."""

    @cache
    def make(place: str) -> Published:
        base = tmp_path_factory.mktemp("published")
        to = f"{weed.place()}/to" if place == "bucket" else str(base / "to")
        asyncio.run(make_two_versions(base / "run"))
        return Published(Shelf(base, to))

    with pytest.MonkeyPatch.context() as patch:
        for name, value in weed.environment.items():
            patch.setenv(name, value)
        yield make


@pytest.fixture
def published(request: pytest.FixtureRequest, publications: Publications) -> Published:
    return publications(request.param)


@pytest.mark.parametrize(("published", "name"), cases(FIRST), indirect=["published"])
def test_a_first_publication_killed_at_a_named_point_ends_in_the_same_bytes(
    published: Published, name: str
) -> None:
    at = published.instant(FIRST[name], published.first)
    published.shelf.lay({})

    published.assert_completed_after(at)


@pytest.mark.parametrize(("published", "name"), cases(UPDATE), indirect=["published"])
def test_an_update_killed_at_a_named_point_ends_in_the_same_bytes(
    published: Published, name: str
) -> None:
    at = published.instant(UPDATE[name], published.update)
    assert published.whole
    published.shelf.lay(published.before)

    published.assert_completed_after(at)


@pytest.mark.parametrize("published", ["folder", "bucket"], indirect=True)
def test_a_publication_killed_before_a_write_ends_in_the_same_bytes(published: Published) -> None:
    for there, names in (({}, published.first), (published.before, published.update)):
        writes = [
            Instant(name=name, number=names[:number].count(name))
            for number, name in enumerate(names, start=1)
            if WRITE.match(name)
        ]
        for at in writes:
            published.shelf.lay(there)
            published.assert_completed_after(at)


def hashes(objects: Objects) -> Mapping[str, str]:
    return {key: sha256_hex(data) for key, data in objects.items()}


def assert_what_is_listed_is_there(objects: Objects) -> None:
    """Hold the data files that the manifest lists, and those of the card, against what is there."""
    if MANIFEST in objects:
        listed = read_manifest(objects[MANIFEST], MANIFEST).files
        there = hashes(objects)
        assert all(there[file.path] == file.sha256 for file in listed if file.config is not None)
    named = set(re.findall(r"data/\w+/[\w-]+\.parquet", objects.get(CARD, b"").decode()))
    assert named <= objects.keys()
