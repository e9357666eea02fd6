"""Repositories that are somebody else's, tokens that may not, names that cannot be: clear words."""

from collections.abc import Callable

import pytest
from hub.faults import Fault
from hub.publishing import DATASET, TO, published_to
from hub.server import TOKEN, LocalHub
from hub.state import Account
from support.runs.memory_run import STORAGE, small_run

from flows.job.publish_job import check_destination
from schemas.backoff import Backoff
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import PublishSection, RunSection
from schemas.errors import (
    BadConfig,
    Conflict,
    OtherRun,
    Refusal,
    StepmillError,
    Unfinished,
    Unwritable,
)
from storage.publish.destinations.hub import errors
from storage.publish.destinations.hub.destination import HubDestination

_OTHER = "hf_anothertokenofthetests"
_THEIRS = "f" * 32


def _knowing(hub: LocalHub, account: Account, patch: pytest.MonkeyPatch) -> None:
    hub.state.accounts[_OTHER] = account
    patch.setenv("HF_TOKEN", _OTHER)


def _foreign(hub: LocalHub) -> None:
    hub.state.create(DATASET, hub.state.accounts[TOKEN], private=True)
    hub.edit(DATASET, "thesis.txt", b"precious")


def _foreign_manifest(hub: LocalHub) -> None:
    hub.state.create(DATASET, hub.state.accounts[TOKEN], private=True)
    hub.edit(DATASET, "manifest.json", b'{"name": "a web app"}')


def _public(hub: LocalHub) -> None:
    hub.state.create(DATASET, hub.state.accounts[TOKEN], private=False)


def _other_run(hub: LocalHub) -> None:
    published_to(hub, small_run(alike=True).seal(), run_id=_THEIRS)


def _other_began(hub: LocalHub) -> None:
    hub.state.create(DATASET, hub.state.accounts[TOKEN], private=True)
    hub.edit(DATASET, ".publishing", _THEIRS.encode())


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (_foreign, Unwritable, r"is not empty .*thesis\.txt"),
        (_foreign_manifest, Unwritable, r"is not a manifest of a dataset"),
        (_public, BadConfig, r"is public, and publish\.private is true"),
        (_other_run, OtherRun, rf"another run \({_THEIRS}"),
        (_other_began, OtherRun, rf"another run \({_THEIRS}"),
    ],
)
def test_a_repository_that_is_something_else_is_left_alone(
    hub: LocalHub, make: Callable[[LocalHub], None], kind: type[Refusal], message: str
) -> None:
    make(hub)
    before = list(hub.repo(DATASET).commits)

    with pytest.raises(kind, match=message) as raised:
        published_to(hub, small_run(alike=True).seal())

    assert TO in str(raised.value)
    assert hub.repo(DATASET).commits == before


@pytest.mark.parametrize(
    ("account", "message"),
    [
        (Account("else", orgs=("other",)), r"the token is else's, who does not belong to org"),
        (Account("tester", orgs=("org",), role="read"), r"the token can only read"),
        (
            Account("tester", orgs=("org",), role="fineGrained", writes=("other",)),
            r"grant it write access to the contents of org's repositories, or of org/data",
        ),
    ],
)
async def test_a_token_that_cannot_write_is_refused_before_any_work(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch, account: Account, message: str
) -> None:
    _knowing(hub, account, monkeypatch)
    destination = HubDestination(TO, PublishSection(), endpoint=hub.url)

    with pytest.raises(BadConfig, match=message):
        await destination.probe()


@pytest.mark.parametrize("writes", ["org", "datasets/org/data"])
async def test_a_fine_grained_token_that_can_write_is_taken(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch, writes: str
) -> None:
    account = Account("tester", orgs=("org",), role="fineGrained", writes=(writes,))
    _knowing(hub, account, monkeypatch)

    await HubDestination(TO, PublishSection(), endpoint=hub.url).probe()


async def test_no_token_is_refused_with_where_to_put_one(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")

    with pytest.raises(BadConfig, match=r"there is no token; set HF_TOKEN, or run `hf auth login`"):
        await HubDestination(TO, PublishSection(), endpoint=hub.url).probe()


@pytest.mark.parametrize("work", ["probe", "publish"])
async def test_a_token_the_hub_does_not_know_is_named_and_not_shown(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_expiredlongago")
    destination = HubDestination(TO, PublishSection(), endpoint=hub.url)

    with pytest.raises(BadConfig, match="the Hub does not know the token") as raised:
        await (destination.probe() if work == "probe" else destination.owned_listing("0" * 32))

    assert "hf_expired" not in str(raised.value)


def test_no_right_to_write_is_told_by_the_hub(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    _knowing(hub, Account("else"), monkeypatch)

    with pytest.raises(Unwritable, match=r"does not allow it \(403\).* rights to create"):
        published_to(hub, small_run(alike=True).seal())


def test_a_full_storage_is_told_and_what_was_there_stays(hub: LocalHub) -> None:
    published_to(hub, small_run(alike=True).seal())
    before = hub.files(DATASET)
    hub.state.quota = 1_000

    with pytest.raises(Unfinished, match=r"storage limit reached"):
        published_to(hub, small_run(alike=True).seal(), terms=PublishSection(include_rejected=True))

    assert hub.files(DATASET) == before
    hub.state.quota = None
    published_to(hub, small_run(alike=True).seal(), terms=PublishSection(include_rejected=True))


def test_a_licence_that_the_hub_refuses_all_the_same_is_told(hub: LocalHub) -> None:
    with pytest.raises(BadConfig, match=r"the Hub refuses this: .*license"):
        published_to(hub, small_run(alike=True).seal(), terms=PublishSection(license="wtfpl"))


def test_a_licence_that_the_hub_does_not_know_is_refused_before_it_is_asked(hub: LocalHub) -> None:
    with pytest.raises(
        BadConfig, match=r"publish\.license: .*'cc-by-40'; the nearest are cc-by-4\.0"
    ):
        published_to(hub, small_run(alike=True).seal(), terms=PublishSection(license="cc-by-40"))

    assert not hub.state.repos


@pytest.mark.parametrize(
    "url",
    [
        "hf://datasets/org",
        "hf://datasets/org/data/more",
        "hf://models/org/data",
        "hf://datasets/org/da--ta",
        "hf://datasets/org/-data",
        "hf://datasets/org/data.git",
        f"hf://datasets/org/{'x' * 97}",
        "hf://datasets/org/dätä",
        "hf://datasets/org/data@",
        "hf://datasets/org/data@refs/pr/1",
        "hf://datasets/org/data@a..b",
    ],
)
def test_a_url_that_names_no_dataset_is_refused(url: str) -> None:
    with pytest.raises(BadConfig, match="hf://"):
        HubDestination(url, PublishSection())


def test_a_hub_that_must_not_be_asked_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    with pytest.raises(BadConfig, match="HF_HUB_OFFLINE is set"):
        HubDestination(TO, PublishSection())


def test_a_repository_that_goes_while_it_is_published_to_is_told(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "_BACKOFF", Backoff(first_seconds=0.01, max_seconds=0.01, tries=4))
    hub.faults.append(Fault("/commit/", call=hub.state.repos.clear))

    with pytest.raises(StepmillError, match=r"hf://datasets/org/data: .*(removed|no such)"):
        published_to(hub, small_run(alike=True).seal())


async def test_a_token_in_an_answer_is_blotted_out(hub: LocalHub) -> None:
    hub.faults.append(
        Fault("/whoami", status=403, headers=(("X-Error-Message", f"no {TOKEN} here"),))
    )

    with pytest.raises(Unwritable) as raised:
        await HubDestination(TO, PublishSection(), endpoint=hub.url).probe()

    assert TOKEN not in str(raised.value)
    assert "***" in str(raised.value)


@pytest.mark.parametrize("to", ["hf://datasets/org", "HF://x"])
async def test_a_run_does_not_begin_towards_a_url_that_names_no_dataset(to: str) -> None:
    config = RunConfig(run=RunSection(url="a-run"), storage=STORAGE)

    with pytest.raises(BadConfig, match="write hf://datasets/ORG/NAME"):
        await check_destination(to, config, None)


def test_somebody_elses_edit_is_named_with_what_to_do(hub: LocalHub) -> None:
    published_to(hub, small_run(alike=True).seal())
    data = next(path for path in hub.files(DATASET) if path.startswith("data/"))
    hub.edit(DATASET, data, b"theirs")

    with pytest.raises(Conflict, match=r"revert that commit, or delete the file"):
        published_to(hub, small_run(alike=True).seal())
