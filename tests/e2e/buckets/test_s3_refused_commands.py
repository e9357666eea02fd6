"""Whole commands on a store that cannot be used: refused before anything is written, by name.

`generate` would begin a run there, `publish` would publish there a run that lies in a folder. Both
end with 2 and one line that says what, where and what to do; neither leaves anything anywhere.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from support.episodes.factories import make_whole_run
from support.runs.commands import SMALL, Said, called
from support.servers.s3_fault_proxy import Asked, Denial, Flaky, knows_no_checksums
from support.servers.seaweedfs import (
    NOBODY_KEY,
    READER_KEY,
    RIGHTS,
    UNLISTING_KEY,
    Weed,
    credentials,
)
from support.stores.faulty_lake import fingerprint

from schemas.backoff import Backoff

PLANTED = "planted"
"""Is in every secret and in every message of the store here."""

UNKNOWN_KEY = "AKIAUNKNOWNUNKNOWN00"
RIGHTS_WORDS = r"the credentials do not allow it; see `A run in a bucket` in docs/storing\.md"


class Bad(NamedTuple):
    """A store that cannot be used."""

    environ: Mapping[str, str]
    url: str


Make = Callable[[Weed, str, ExitStack], Bad]


def of_key(key: str, secret: str | None = None) -> Make:
    def make(weed: Weed, place: str, _: ExitStack) -> Bad:
        known = RIGHTS[key][0] if secret is None else secret
        return Bad(credentials(weed.endpoint, key=key, secret=known), place)

    return make


def no_bucket(weed: Weed, _: str, __: ExitStack) -> Bad:
    return Bad(weed.environment, "s3://no-such-bucket/x")


def no_credentials(weed: Weed, place: str, _: ExitStack) -> Bad:
    none = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "")
    return Bad(credentials(weed.endpoint) | none, place)


def nobody_there(_: Weed, place: str, __: ExitStack) -> Bad:
    return Bad(credentials("http://127.0.0.1:9"), place)


def denied(denial: Denial) -> Make:
    def make(weed: Weed, place: str, stack: ExitStack) -> Bad:
        proxy = stack.enter_context(Flaky(weed.endpoint))
        proxy.mood = lambda _: denial
        return Bad(credentials(proxy.endpoint) | {"AWS_SESSION_TOKEN": "planted-token"}, place)

    return make


def knowing_no_checksums(weed: Weed, place: str, stack: ExitStack) -> Bad:
    proxy = stack.enter_context(Flaky(weed.endpoint))
    proxy.mood = knows_no_checksums
    return Bad(credentials(proxy.endpoint), place)


def an_hour_ahead(weed: Weed, place: str, stack: ExitStack) -> Bad:
    there = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    skewed = Denial(403, "RequestTimeTooSkewed", headers=(("Date", there),))
    return denied(skewed)(weed, place, stack)


BAD: Mapping[str, tuple[Make, str]] = {
    "bucket missing": (no_bucket, r"cannot be \w+: there is no such bucket; create it, or correct"),
    "no right at all": (of_key(NOBODY_KEY), rf"cannot be read: {RIGHTS_WORDS}"),
    "no right to write": (of_key(READER_KEY), rf"cannot be written: {RIGHTS_WORDS}"),
    "no right to list": (of_key(UNLISTING_KEY), rf"cannot be listed: {RIGHTS_WORDS}"),
    "unknown key": (of_key(UNKNOWN_KEY, "planted"), r"does not know these credentials; check AWS_"),
    "wrong secret": (of_key(READER_KEY, "planted"), r"the secret key is not the access key's"),
    "no credentials": (no_credentials, r"there are no credentials; set AWS_ACCESS_KEY_ID and"),
    "nobody there": (nobody_there, r"the store does not answer; check storage\.endpoint_url"),
    "expired": (
        denied(Denial(400, "ExpiredToken", more="<Token-0>planted-token</Token-0>")),
        r"the credentials have expired; get new ones \(`aws sso login`, .* same command again",
    ),
    "clock": (an_hour_ahead, r"clock is 3[56]\d\d s behind the store's; set it"),
    "another region, named": (
        denied(Denial(301, "PermanentRedirect", headers=(("x-amz-bucket-region", "eu-west-1"),))),
        r'the bucket is in another region; set storage\.region = "eu-west-1"',
    ),
    "another region, in the answer": (
        denied(Denial(400, "AuthorizationHeaderMalformed", more="<Region>eu-west-1</Region>")),
        r'the bucket is in another region; set storage\.region = "eu-west-1"',
    ),
    "another region, unnamed": (
        denied(Denial(301, "PermanentRedirect")),
        r"the bucket is in another region; set storage\.region to its region",
    ),
    "always unwell": (denied(Denial(503, "SlowDown")), r"the store keeps failing; run the same"),
    "checksums": (
        knowing_no_checksums,
        r"if it is the checksums that it does not know, set AWS_REQUEST_CHECKSUM_CALCULATION=when_required",
    ),
    "full": (denied(Denial(507, "XMinioStorageFull")), r"the store is full; make room"),
}


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "storage.objects.s3.retry.BACKOFF", Backoff(first_seconds=0.1, max_seconds=0.1, tries=2)
    )


@pytest.fixture(params=list(BAD.values()), ids=list(BAD))
def bad(request: pytest.FixtureRequest, weed: Weed) -> Iterator[tuple[Bad, str]]:
    make, words = request.param
    with ExitStack() as stack:
        yield make(weed, weed.place(), stack), words


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at: Path = tmp_path_factory.mktemp("run")
    asyncio.run(make_whole_run(at))
    return at


def objects(weed: Weed, place: str) -> list[str]:
    """Return what lies at a place, by its key."""
    bucket, _, prefix = place.removeprefix("s3://").partition("/")
    if bucket == "no-such-bucket":
        return []
    found = weed.client().list_objects_v2(Bucket=bucket, Prefix=prefix)
    return [item["Key"] for item in found.get("Contents", ())]


def assert_refused(said: Said, place: str, words: str) -> None:
    bucket = "/".join(place.split("/")[:3])
    assert said.code == 2, said.err
    assert said.out == ""
    assert re.fullmatch(rf"stepmill: {bucket}\S*: .*{words}.*\n", said.err), said.err
    assert PLANTED not in said.err
    assert "<" not in said.err


def test_no_run_is_begun_there(bad: tuple[Bad, str], weed: Weed) -> None:
    (environ, url), words = bad

    said = called("generate", "--no-prefect", "--json", *SMALL, f"--run={url}", env=environ)

    assert_refused(said, url, words)
    assert objects(weed, url) == []


def test_nothing_is_published_there(bad: tuple[Bad, str], weed: Weed, run: Path) -> None:
    (environ, url), words = bad
    before = fingerprint(run)

    said = called("publish", str(run), f"--to={url}", "--no-prefect", "--json", env=environ)

    assert_refused(said, url, words)
    assert objects(weed, url) == []
    assert fingerprint(run) == before


@pytest.mark.parametrize("command", ["show", "audit", "compact", "export", "verify"])
def test_other_commands_refuse_a_run_they_cannot_reach(
    weed: Weed, tmp_path: Path, command: str
) -> None:
    more = {
        "export": ("--format=atif", f"--to={tmp_path / 'out'}"),
        "verify": ("--no-prefect",),
    }.get(command, ())
    for make, words in (BAD["no right at all"], BAD["bucket missing"], BAD["nobody there"]):
        with ExitStack() as stack:
            environ, url = make(weed, weed.place(), stack)
            said = called(command, url, *more, env=environ)
        assert_refused(said, url, words.replace("read", r"\w+"))
    assert not (tmp_path / "out").exists()


def test_a_bucket_in_another_region_is_found_where_the_store_names_it(
    weed: Weed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for the wrong region is told the right one, as AWS does, and asks there."""
    region = "eu-west-1"
    wrong = Denial(
        400,
        "AuthorizationHeaderMalformed",
        more=f"<Region>{region}</Region>",
        headers=(("x-amz-bucket-region", region),),
    )
    right = Denial(200, "", headers=(("x-amz-bucket-region", region),))
    asked: set[str] = set()

    def mood(one: Asked) -> Denial | None:
        asked.add(one.signed.split("/")[2])
        if f"/{region}/" not in one.signed:
            return wrong
        return right if one.method == "HEAD" and one.path.count("/") == 1 else None

    with Flaky(weed.endpoint) as proxy:
        proxy.mood = mood
        for name, value in credentials(proxy.endpoint).items():
            monkeypatch.setenv(name, value)
        place = weed.place()
        run = asyncio.run(make_whole_run(place))
        audited = called("audit", place, "--deep")

    assert audited.code == 0, audited.err
    assert asked == {region, "us-east-1"}
    assert len(run.units) == 2
