"""What every verifier promises, shown on each that a configuration can name."""

from collections.abc import Callable

import pytest
from support.browsers.scripted_rollouts import (
    RUNNING,
    WON,
    attempt_it,
    clicks,
    pages,
    scripted_task,
)
from support.browsers.scripted_session import ScriptedSessions
from support.browsers.scripted_site import ScriptedSite
from support.episodes.factories import make_episode

from generators.verify.protocol import Verifier
from generators.verify.registry import VERIFIER_NAMES, make_verifiers
from schemas.base import canonical_json
from schemas.episodes.episode import Episode, StopReason
from schemas.errors import RolloutFailure
from schemas.verdicts.verdict import Finding, Status

Damage = Callable[[Episode], Episode]


def made(name: str, *last: object) -> Verifier:
    """Return a verifier; replays run on pages of which the last gives this outcome."""
    (verifier,) = make_verifiers(
        [name],
        sites={"scripted": ScriptedSite()},
        sessions=ScriptedSessions(pages(RUNNING, RUNNING, *(last or (WON,)))),
    )
    return verifier


async def won() -> Episode:
    """Return an episode of two clicks that won."""
    return await attempt_it(ScriptedSessions(pages(RUNNING, RUNNING, WON)), clicks(2))


def changed(**changes: object) -> Damage:
    return lambda episode: episode.model_copy(update=changes)


def blind(episode: Episode) -> Episode:
    """Return an episode whose first action points at nothing."""
    first, *rest = episode.steps
    pointless = first.model_copy(update={"target": None})
    return episode.model_copy(update={"steps": (pointless, *rest)})


REFUTED: dict[str, Damage] = {
    "structure": changed(n_steps=9),
    "outcome": changed(done=False),
    "seen": blind,
    "replay": changed(reward_before=0.5),
}
"""What each verifier that judges is there to find."""

LABELS = ("novelty", "steps")
"""The verifiers that pass every episode: what they found is in the evidence."""

ODD: dict[str, Damage] = {
    "no steps": changed(steps=(), n_steps=0),
    "no capsule": changed(capsule={}),
    "a capsule of other things": changed(capsule={"visit": [], "session": "x"}),
    "another site": changed(site="elsewhere"),
    "nothing reported": changed(reward=None, reward_before=None, done=False),
    "a failure": changed(stop_reason=StopReason.FAILED, failure_kind="page", reward=None),
    "a page with half a character": changed(instruction="half \ufffd"),
}


@pytest.fixture(params=VERIFIER_NAMES)
def name(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


def check(finding: Finding) -> None:
    """Fail where a finding is not what a row of `verdicts` and a reader can rely on."""
    assert finding.reason.strip()
    assert finding.score is None or 0 <= finding.score <= 1
    assert Finding.model_validate_json(finding.model_dump_json()) == finding
    canonical_json(finding.evidence)


def test_every_verifier_is_tested() -> None:
    assert sorted([*REFUTED, *LABELS]) == sorted(VERIFIER_NAMES)


def test_it_is_named_as_configurations_name_it(name: str) -> None:
    verifier = made(name)

    assert verifier.name == name
    assert verifier.version


async def test_an_episode_that_holds_passes(name: str) -> None:
    finding = await made(name).examine(scripted_task(), await won())

    assert finding.status is Status.PASSED, finding
    check(finding)


@pytest.mark.parametrize("name", REFUTED)
async def test_what_it_is_there_to_find_fails_with_a_reason(name: str) -> None:
    finding = await made(name).examine(scripted_task(), REFUTED[name](await won()))

    assert finding.status is Status.FAILED, finding
    check(finding)


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("damage", REFUTED.values(), ids=REFUTED.keys())
async def test_what_labels_alone_passes_what_others_refute(name: str, damage: Damage) -> None:
    finding = await made(name).examine(scripted_task(), damage(await won()))

    assert finding.status is Status.PASSED, finding
    assert finding.evidence
    check(finding)


async def test_examining_changes_nothing_and_finds_the_same_every_time(name: str) -> None:
    episode = await won()
    before = episode.model_dump_json()

    first = await made(name).examine(scripted_task(), episode)
    second = await made(name).examine(scripted_task(), episode)

    assert first == second
    assert episode.model_dump_json() == before


@pytest.mark.parametrize("damage", ODD.values(), ids=ODD.keys())
async def test_an_odd_episode_is_a_finding_or_a_named_failure(name: str, damage: Damage) -> None:
    episode = damage(await won())
    try:
        finding = await made(name).examine(scripted_task(), episode)
    except RolloutFailure:
        return  # the panel records it as `error`
    assert finding.status is not Status.ERROR, "that is the panel's to say"
    check(finding)


@pytest.mark.parametrize("name", REFUTED)
async def test_an_episode_of_another_task_is_not_passed(name: str) -> None:
    episode = make_episode().model_copy(update={"reward": None, "done": False})

    finding = await made(name).examine(scripted_task(), episode)

    assert finding.status in {Status.FAILED, Status.UNSUPPORTED}
    check(finding)


async def test_a_replay_whose_pages_part_from_the_episode_fails() -> None:
    finding = await made("replay", [0.5, True]).examine(scripted_task(), await won())

    assert finding.status is Status.FAILED
    check(finding)
