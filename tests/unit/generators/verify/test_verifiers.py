"""Each verifier finds what it is for, and says nothing else."""

from typing import Any

import pytest
from factories import make_episode, make_task
from scripted_rollouts import RUNNING, WON, attempt_it, clicks, pages, scripted_task
from scripted_session import ScriptedSessions
from scripted_site import ScriptedSite

from generators.sites.protocol import Threshold
from generators.verify.panel import Panel
from generators.verify.replay import Replay
from generators.verify.verifiers import OutcomeVerifier, make_verifiers
from schemas.acceptance import latest_verdicts
from schemas.base import canonical_json
from schemas.episode import Episode, StopReason, steps_sha256
from schemas.errors import FailureKind, NotFound, RolloutFailure
from schemas.task import Task
from schemas.verdict import Finding, Status

SITES = {"scripted": ScriptedSite()}


def whole() -> Episode:
    return make_episode(make_task(), n_steps=3)


def with_steps(episode: Episode, number: int, **changes: Any) -> Episode:
    steps = list(episode.steps)
    steps[number] = steps[number].model_copy(update=changes)
    return episode.model_copy(
        update={"steps": tuple(steps), "content_sha256": steps_sha256(tuple(steps))}
    )


@pytest.mark.parametrize(
    ("reward", "over", "status"),
    [
        (1.0, True, Status.PASSED),
        (0.9, True, Status.FAILED),
        (1.0, False, Status.FAILED),
        (-1.0, True, Status.FAILED),
        (None, True, Status.UNSUPPORTED),
        (float("nan"), True, Status.FAILED),
        (float("inf"), True, Status.FAILED),
    ],
)
async def test_only_done_with_enough_reward_is_a_success(
    reward: float | None, over: object, status: Status
) -> None:
    episode = whole().model_copy(update={"reward": reward, "done": over})

    finding = await OutcomeVerifier({}, min_reward=1.0).examine(make_task(), episode)

    assert finding.status is status
    canonical_json(finding.evidence)


@pytest.mark.parametrize(
    "changes",
    [{"stop_reason": StopReason.FAILED}, {"failure_kind": "browser"}],
    ids=["stopped", "named"],
)
@pytest.mark.parametrize("reward", [1.0, None])
async def test_an_attempt_that_failed_is_no_success_whatever_its_reward(
    changes: dict[str, object], reward: float | None
) -> None:
    episode = whole().model_copy(update={"reward": reward, "done": True, **changes})

    finding = await OutcomeVerifier({}, min_reward=1.0).examine(make_task(), episode)

    assert finding.status is Status.FAILED
    assert finding.reason.startswith("the attempt failed (")


async def test_a_family_may_name_its_own_threshold() -> None:
    class Lenient(ScriptedSite):
        def threshold(self, template_id: str) -> Threshold | None:
            return Threshold(reward=0.8, reason="Pixels.") if template_id == "pages" else None

    episode = whole().model_copy(update={"reward": 0.85, "done": True})
    verifier = OutcomeVerifier({"scripted": Lenient()}, min_reward=1.0)

    assert (await verifier.examine(scripted_task(), episode)).status is Status.PASSED


@pytest.mark.parametrize(("asked", "reward"), [(1.0, 0.85), (0.5, 0.75)])
async def test_a_familys_own_threshold_holds_whatever_the_run_asks_for_and_is_named(
    asked: float, reward: float
) -> None:
    class Own(ScriptedSite):
        def threshold(self, template_id: str) -> Threshold | None:
            return Threshold(reward=0.8, reason="Pixels.") if template_id == "pages" else None

    episode = whole().model_copy(update={"reward": reward, "done": True})
    own = await OutcomeVerifier({"scripted": Own()}, min_reward=asked).examine(
        scripted_task(), episode
    )
    runs = await OutcomeVerifier({}, min_reward=asked).examine(scripted_task(), episode)

    assert (own.status is Status.PASSED) == (reward >= 0.8)
    assert (runs.status is Status.PASSED) == (reward >= asked)
    assert "0.8, the threshold of pages itself" in own.reason
    assert (own.evidence["min_reward"], own.evidence["min_reward_reason"]) == (0.8, "Pixels.")
    assert (runs.evidence["min_reward"], runs.evidence["min_reward_reason"]) == (asked, None)


async def recorded() -> Episode:
    return await attempt_it(ScriptedSessions(pages(RUNNING, RUNNING, WON)), clicks(2))


async def test_the_same_pages_reproduce_an_episode() -> None:
    replay = Replay(SITES, sessions=ScriptedSessions(pages(RUNNING, RUNNING, WON)))

    finding = await replay.examine(scripted_task(), await recorded())

    assert (finding.status, finding.score) == (Status.PASSED, 1.0)
    assert finding.reason == "all 3 states agree"


async def test_a_replay_that_parts_says_where_and_why_after_one_retry() -> None:
    other = pages(RUNNING, RUNNING, [0.5, True])
    sessions = ScriptedSessions(other)

    finding = await Replay(SITES, sessions=sessions).examine(scripted_task(), await recorded())

    assert finding.status is Status.FAILED
    assert finding.reason == "diverged at step 1 because reward: 1.0 → 0.5"
    assert sessions.opened == 2


async def test_a_replay_that_parts_once_and_then_agrees_is_reproduced() -> None:
    sessions = ScriptedSessions(pages(RUNNING, [0, True]), pages(RUNNING, RUNNING, WON))

    finding = await Replay(SITES, sessions=sessions).examine(scripted_task(), await recorded())

    assert finding.status is Status.PASSED
    assert finding.evidence["tries"] == 2


async def test_a_picture_that_differs_is_evidence_and_no_verdict() -> None:
    episode = await recorded()
    first = episode.steps[0]
    odd = first.screenshot.model_copy(update={"bytes": first.screenshot.bytes + b"x"})
    episode = with_steps(episode, 0, screenshot=odd)
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, WON))

    finding = await Replay(SITES, sessions=sessions).examine(scripted_task(), episode)

    assert finding.status is Status.PASSED
    assert finding.score == pytest.approx(2 / 3)
    assert finding.evidence["pictures_differ_at"] == [0]


async def test_an_episode_without_a_capsule_cannot_be_replayed() -> None:
    episode = (await recorded()).model_copy(update={"capsule": {}})

    finding = await Replay(SITES, sessions=ScriptedSessions(pages(WON))).examine(
        scripted_task(), episode
    )

    assert (finding.status, finding.score) == (Status.UNSUPPORTED, None)


async def test_an_episode_of_a_site_that_is_not_here_cannot_be_replayed() -> None:
    finding = await Replay({}, sessions=ScriptedSessions(pages(WON))).examine(
        scripted_task(), await recorded()
    )

    assert finding.reason == "unknown site 'scripted'"


class Says:
    """A verifier that says what it was told to, and counts."""

    version = "1"

    def __init__(self, name: str, *statuses: Status) -> None:
        self.name = name
        self._statuses = statuses
        self.asked = 0

    async def examine(self, task: Task, episode: Episode) -> Finding:
        del task, episode
        status = self._statuses[min(self.asked, len(self._statuses) - 1)]
        self.asked += 1
        if status is Status.ERROR:
            raise RolloutFailure(FailureKind.BROWSER, "it broke")
        return Finding(status=status, reason="because")


async def test_a_later_verifier_sees_only_what_no_earlier_one_failed() -> None:
    first, second = Says("a", Status.FAILED), Says("b", Status.PASSED)

    verdicts = await Panel([first, second]).judge(make_task(), whole())

    assert [(v.verifier, v.status) for v in verdicts] == [("a", Status.FAILED)]
    assert second.asked == 0


async def test_a_verifier_that_breaks_says_error_and_is_asked_again_in_the_next_round() -> None:
    flaky = Says("a", Status.ERROR, Status.PASSED)
    panel = Panel([flaky])
    first = await panel.judge(make_task(), whole())
    assert [(v.round, v.status, v.reason) for v in first] == [(0, Status.ERROR, "it broke")]
    assert panel.needs_verdicts(latest_verdicts(first))

    second = await panel.judge(make_task(), whole(), latest_verdicts(first))

    assert [(v.round, v.status) for v in second] == [(1, Status.PASSED)]
    assert not panel.needs_verdicts(latest_verdicts([*first, *second]))
    assert await panel.judge(make_task(), whole(), latest_verdicts([*first, *second])) == []


async def test_another_version_of_a_verifier_is_asked_anew() -> None:
    said = latest_verdicts(await Panel([Says("a", Status.PASSED)]).judge(make_task(), whole()))
    newer = Says("a", Status.FAILED)
    newer.version = "2"

    verdicts = await Panel([newer]).judge(make_task(), whole(), said)

    assert [(v.verifier_version, v.round, v.status) for v in verdicts] == [("2", 0, Status.FAILED)]


def test_an_unknown_verifier_is_refused_with_the_nearest() -> None:
    with pytest.raises(NotFound, match="unknown verifier 'replays'; did you mean 'replay'"):
        make_verifiers(["replays"], sites={}, sessions=ScriptedSessions([]), min_reward=1.0)
