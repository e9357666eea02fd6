"""Whole runs in a bucket on bad days of its store: whatever it says, the same command ends them.

The store is real; a proxy before it fails, loses answers, or says no from some request on. Pages
are stand-ins. `make test` leaves a day of many faults to `test_s3_faults`, and three days of the week
out. What is refused before a run begins is `test_s3_refused_commands`'s matter.
"""

import asyncio
import json
import re
import shlex
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from effort import THOROUGH, TIMEOUT
from support.runs.chaos import assert_whole, carry_out, finish, fork
from support.runs.commands import Said
from support.runs.kill_at import Fate, Instant
from support.runs.small_runs import Trial, scripted_trial
from support.servers.s3_fault_proxy import (
    Asked,
    Denial,
    Flaky,
    Mood,
    Spoil,
    every,
    knows_no_checksums,
)
from support.servers.seaweedfs import ACCESS_KEY, LATER_KEY, RIGHTS, SECRET_KEY, Weed, credentials

from schemas.configuration.sections import StorageSection
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store
from storage.publish.plan.manifest import MANIFEST, read_manifest

pytestmark = pytest.mark.timeout(TIMEOUT)

LATER_SECRET = RIGHTS[LATER_KEY][0]

KINDS = {
    "run.json": r"run/run\.json",
    "an episode in the spool": r"run/spool/.*",
    "a shard": r"run/tables/\w+/[0-9a-f]{16,}-\d+-[0-9a-f]{64}\.parquet",
    "a commit": r"run/tables/\w+/_delta_log/\d{20}\.json",
    "a merged shard": r"run/tables/\w+/compact-.*",
    "a version": r"run/versions/.*",
    "a version that is kept": r"run/keeping/\d+\.json",
    "the mark of a dataset": r"to/\.publishing",
    "a manifest": r"to/manifest\.json",
}
"""Everything that is written under a condition."""


@pytest.fixture
def days(weed: Weed, monkeypatch: pytest.MonkeyPatch) -> Iterator["Days"]:
    with Flaky(weed.endpoint) as proxy:
        yield Days(weed, proxy, monkeypatch)


@pytest.fixture
def trial(tmp_path: Path, bucket_url: str) -> Trial:
    return scripted_trial(
        tmp_path / "trial",
        bucket=f"{bucket_url}/run",
        episodes=2,
        verifiers=("structure", "outcome"),
    )


class Days:
    """Decides whether commands find the store itself, or the proxy before it in a mood."""

    def __init__(self, weed: Weed, proxy: Flaky, patch: pytest.MonkeyPatch) -> None:
        self.proxy = proxy
        self._weed = weed
        self._patch = patch

    def bad(self, mood: Mood, **more: str) -> None:
        self.proxy.mood = mood
        self._set(credentials(self.proxy.endpoint) | more)

    def good(self) -> None:
        self._set(self._weed.environment)

    def _set(self, environ: Mapping[str, str]) -> None:
        for name, value in environ.items():
            self._patch.setenv(name, value)


def told(trial: Trial, *argv: str) -> Said:
    said = carry_out(trial.command(argv))
    assert said.code == 0, said.err
    return said


def everywhere(trial: Trial) -> tuple[str, ...]:
    """Return the command that makes the run and publishes it to a folder and beside itself."""
    return (*trial.argv, f"--set=publish.to={json.dumps([str(trial.to), beside(trial)])}")


def beside(trial: Trial) -> str:
    return f"{trial.url.removesuffix('/run')}/to"


async def assert_published(store: ObjectStore) -> None:
    """Hold what lies at a destination against its manifest."""
    manifest = read_manifest(await store.get(MANIFEST), "there")
    there = {item.key: item.size async for item in store.list()}
    assert there.pop(MANIFEST)
    assert there == {file.path: file.bytes for file in manifest.files}


@pytest.mark.full
def test_a_run_ends_well_on_a_day_when_every_tenth_request_fails(trial: Trial, days: Days) -> None:
    days.bad(every(10))
    days.proxy.silence = 0.5

    told(trial, *everywhere(trial))
    told(trial, "compact", trial.url)

    assert days.proxy.met.keys() > set(Spoil)
    days.good()
    finish(trial, carry_out)
    asyncio.run(assert_published(open_store(beside(trial), StorageSection())))


def test_a_store_that_knows_no_checksums_is_served_where_none_are_asked_for(
    trial: Trial, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.objects.s3.bulk_requests.MULTIPART_BYTES", 20_000)
    asked = ("AWS_REQUEST_CHECKSUM_CALCULATION", "AWS_RESPONSE_CHECKSUM_VALIDATION")
    days.bad(knows_no_checksums, **dict.fromkeys(asked, "when_required"))

    told(trial, *everywhere(trial))
    told(trial, "compact", trial.url)

    assert days.proxy.met.keys() == {None}
    finish(trial, carry_out)
    asyncio.run(assert_published(open_store(beside(trial), StorageSection())))


class Forgetting:
    """The mood to lose the answer to the first write of every object that has a condition."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.lost: set[str] = set()

    def __call__(self, asked: Asked) -> Spoil | None:
        place = "/".join(asked.path.split("/")[3:])
        whole = asked.method == "PUT" or (asked.method == "POST" and "uploadId" in asked.query)
        with self._lock:
            if not (whole and asked.conditional) or ".tmp-" in place or place in self.lost:
                return None
            self.lost.add(place)
            return Spoil.LOST

    def kinds(self) -> set[str]:
        return {
            name
            for name, kind in KINDS.items()
            if any(re.fullmatch(kind, place) for place in self.lost)
        }


@pytest.mark.full
def test_every_write_whose_answer_is_lost_counts_once(trial: Trial, days: Days) -> None:
    mood = Forgetting()
    days.bad(mood)

    told(trial, *everywhere(trial))
    told(trial, "compact", trial.url)
    told(trial, "publish", trial.url, f"--to={beside(trial)}", "--no-prefect")

    assert mood.kinds() == KINDS.keys()
    assert len(mood.lost) == days.proxy.met[Spoil.LOST]
    days.good()
    asyncio.run(assert_published(open_store(beside(trial), StorageSection())))
    finish(trial, carry_out)


@pytest.mark.full
def test_a_manifest_whose_replacement_is_not_answered_is_there_once(
    trial: Trial, days: Days
) -> None:
    told(trial, *everywhere(trial))
    told(trial, "verify", trial.url, "--verifiers=structure", "--no-prefect")
    mood = Forgetting()
    days.bad(mood)

    said = told(trial, "publish", trial.url, f"--to={beside(trial)}", "--no-prefect", "--json")

    assert mood.kinds() == {"a manifest", "a version that is kept"}
    assert said.answer["version"] == 2
    days.good()
    asyncio.run(assert_published(open_store(beside(trial), StorageSection())))


def from_then_on(method: str, place: str, denial: Denial) -> Mood:
    """Return the mood to deny everything from the first request of a kind on."""
    begun = threading.Event()

    def mood(asked: Asked) -> Denial | None:
        if asked.method == method and place in asked.path:
            begun.set()
        return denial if begun.is_set() else None

    return mood


WEEK = (
    (
        "/spool/",
        Denial(400, "ExpiredToken", more="<Token-0>planted</Token-0>"),
        r"the credentials have expired; get new ones .* run the same command again",
    ),
    (
        "/tables/observations/",
        Denial(403, "AccessDenied", more="<Message>planted</Message>"),
        r"the credentials do not allow it; see `A run in a bucket`",
    ),
    (
        "/tables/tasks/_delta_log/",
        Denial(403, "RequestTimeTooSkewed"),
        r"this machine's clock is .* the store's; set it",
    ),
    (
        "/tables/steps/_delta_log/",
        Denial(400, "ExpiredToken", more="<Token-0>planted</Token-0>"),
        r"the credentials have expired; get new ones .* run the same command again",
    ),
    (
        "/tables/verdicts/",
        Denial(507, "XMinioStorageFull"),
        r"the store is full; make room, and run the same command again",
    ),
    ("/versions/", Denial(404, "NoSuchBucket"), r"there is no such bucket"),
)
"""What puts an end to a run each day, from which write on, and what is said."""


def test_a_run_that_is_denied_everything_midway_says_why_and_goes_on_later(
    trial: Trial, days: Days
) -> None:
    finished: Mapping[str, object] = {}
    for place, denial, words in WEEK if THOROUGH else WEEK[::2]:
        days.bad(from_then_on("PUT", place, denial))

        said = fork(trial.doom())

        assert days.proxy.met[denial], place
        assert said.code == 1, said.err
        assert re.search(rf"s3://\S+: cannot (be \w+|commit): {words}", said.err), said.err
        assert "Traceback" not in said.err
        assert "planted" not in said.err + said.out
        days.good()
        before, finished = finished, trial.finished()
        assert finished.items() >= before.items()
    assert len(finished) == trial.episodes
    finish(trial, carry_out)


@pytest.mark.full
def test_credentials_that_are_renewed_midway_are_used_from_then_on(
    trial: Trial, days: Days, tmp_path: Path
) -> None:
    """The first ones end a moment after there are others; who keeps them is refused."""
    keys = tmp_path / "keys.json"
    renewed = threading.Event()
    by_key: dict[str, set[str]] = {ACCESS_KEY: set(), LATER_KEY: set()}

    def mood(asked: Asked) -> Denial | None:
        key = asked.signed.partition("/")[0]
        by_key[key].add("delta" if "_delta_log" in asked.path else "store")
        if asked.method == "PUT" and "/observations/_delta_log/" in asked.path:
            keys.write_text(renewable(LATER_KEY, LATER_SECRET))
            threading.Timer(1.5, renewed.set).start()
        stale = renewed.is_set() and key == ACCESS_KEY
        return Denial(400, "ExpiredToken") if stale else None

    keys.write_text(renewable(ACCESS_KEY, SECRET_KEY))
    config = tmp_path / "config"
    config.write_text(f"[default]\ncredential_process = cat {shlex.quote(str(keys))}\n")
    none = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "")
    days.bad(mood, AWS_CONFIG_FILE=str(config), **none)

    told(trial, *everywhere(trial))

    assert by_key == {ACCESS_KEY: {"delta", "store"}, LATER_KEY: {"delta", "store"}}
    days.good()
    asyncio.run(assert_whole(trial))
    finish(trial, carry_out)


def renewable(key: str, secret: str) -> str:
    """Return credentials as a program gives them that are to be asked for again soon."""
    end = datetime.now(UTC) + timedelta(minutes=5)
    told = {"Version": 1, "AccessKeyId": key, "SecretAccessKey": secret}
    return json.dumps(told | {"Expiration": end.isoformat()})


def test_a_full_disk_under_what_is_being_written_is_said_and_the_run_goes_on_later(
    trial: Trial,
) -> None:
    """A shard lies on this machine until it is whole."""
    said = fork(trial.doom(at=Instant(name="after put_new run/spool"), fate=Fate.FULL))

    assert said.code == 1
    assert "cannot write a temporary file for the store: File too large" in said.err
    assert "set TMPDIR to another one" in said.err
    assert "Traceback" not in said.err
    finish(trial, carry_out)
