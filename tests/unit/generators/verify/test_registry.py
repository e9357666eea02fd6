"""Each verifier finds what it is for, and says nothing else."""

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import JsonValue
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
from support.episodes.factories import make_episode, make_task

from generators.sites.protocol import Threshold
from generators.verify.outcome import OutcomeVerifier
from generators.verify.panel import MAX_ROUNDS, Panel
from generators.verify.protocol import Verifier
from generators.verify.registry import VERIFIER_NAMES, make_verifiers
from generators.verify.replay import Replay
from schemas.base import canonical_json
from schemas.configuration.sections import AcceptSection
from schemas.episodes.episode import Episode, StopReason, steps_sha256
from schemas.episodes.state_delta import Change, Delta
from schemas.errors import FailureKind, NotFound, RolloutFailure
from schemas.tasks.expectation import parse_expectation
from schemas.tasks.task import Task
from schemas.verdicts.acceptance import AcceptanceStatus, acceptance_status
from schemas.verdicts.verdict import Finding, Status, Verdict

SITES = {"scripted": ScriptedSite()}


def whole() -> Episode:
    return make_episode(make_task(), n_steps=3)


def with_steps(episode: Episode, number: int, **changes: Any) -> Episode:
    steps = list(episode.steps)
    steps[number] = steps[number].model_copy(update=changes)
    return episode.model_copy(
        update={"steps": tuple(steps), "content_sha256": steps_sha256(tuple(steps))}
    )


class Own(ScriptedSite):
    """A site with a template that has a threshold of its own."""

    def threshold(self, template_id: str) -> Threshold | None:
        return Threshold(reward=0.8, reason="Pixels.") if template_id == "pages" else None


@pytest.mark.parametrize(
    ("reward", "over", "status"),
    [
        (1.0, True, Status.PASSED),
        (0.9, True, Status.PASSED),
        (-1.0, True, Status.PASSED),
        (1.0, False, Status.FAILED),
        (None, True, Status.UNSUPPORTED),
        (float("nan"), True, Status.FAILED),
        (float("inf"), True, Status.FAILED),
    ],
)
@pytest.mark.parametrize("site", [ScriptedSite(), Own()])
async def test_whatever_is_done_with_a_finite_reward_is_an_outcome(
    site: ScriptedSite, reward: float | None, over: object, status: Status
) -> None:
    episode = whole().model_copy(update={"reward": reward, "done": over})

    finding = await OutcomeVerifier({"scripted": site}).examine(scripted_task(), episode)

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

    finding = await OutcomeVerifier({}).examine(make_task(), episode)

    assert finding.status is Status.FAILED
    assert finding.reason.startswith("the attempt failed (")


async def test_an_outcome_holds_the_sites_own_threshold_and_no_other() -> None:
    episode = whole().model_copy(update={"reward": 0.5, "done": True})

    own = await OutcomeVerifier({"scripted": Own()}).examine(scripted_task(), episode)
    none = await OutcomeVerifier({"scripted": ScriptedSite()}).examine(scripted_task(), episode)
    gone = await OutcomeVerifier({}).examine(scripted_task(), episode)

    facts = {"reward": 0.5, "done": True}
    told = [
        f"expected a reward of {enough}, found 0.5 after 3 actions, the last of which was click on 'Click Me!'"
        for enough in ("0.8", "1")
    ]
    own_facts = {"min_reward": 0.8, "min_reward_reason": "Pixels.", "unmet": told[:1]}
    assert own.evidence == {**facts, **own_facts}
    assert none.evidence == {
        **facts,
        "min_reward": None,
        "min_reward_reason": None,
        "unmet": told[1:],
    }
    assert none.reason == f"done with reward 0.5: {told[1]}"
    assert gone == none


async def test_an_outcome_says_what_was_expected_of_the_state_and_what_was_found() -> None:
    rule: JsonValue = {"table": "orders", "where": {"id": 12}, "set": {"status": "shipped"}}
    task = scripted_task().model_copy(
        update={"expect": parse_expectation({"changed": [rule]}, "a task")}
    )
    before: JsonValue = {"id": 12, "status": "pending", "note": ""}
    after: JsonValue = {"id": 12, "status": "pending", "note": "x"}
    changed = Change(at="/orders", key=12, before=before, after=after, fields=("note",))
    lost = {"reward": 0.0, "done": True}

    def ended(**more: object) -> Episode:
        return whole().model_copy(update=lost | more)

    verifier = OutcomeVerifier({})
    found = await verifier.examine(task, ended(delta=Delta(changed=(changed,))))
    won = await verifier.examine(task, ended(delta=Delta(changed=(changed,)), reward=1.0))
    unknown = await verifier.examine(task, ended(delta=None))

    assert found.evidence["unmet"] == [
        (
            'expected 1 row changed in /orders where id is 12 so that status becomes "shipped", found 0; '
            'of the row 12 the new status is "pending", expected "shipped"'
        ),
        "expected nothing else to differ, found note of row 12 of /orders changed",
    ]
    assert found.reason.startswith("done with reward 0: expected 1 row changed in /orders")
    assert "unmet" not in won.evidence
    assert "unmet" not in unknown.evidence


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
    assert "in try 2 of 2" in finding.reason


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

    assert (finding.status, finding.reason) == (Status.UNSUPPORTED, "unknown site 'scripted'")


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


NO_RULE = AcceptSection(passed=())


async def test_a_later_verifier_sees_only_what_no_earlier_one_failed() -> None:
    first, second = Says("a", Status.FAILED), Says("b", Status.PASSED)

    verdicts = await Panel([first, second], NO_RULE).judge(make_task(), whole())

    assert [(v.verifier, v.status) for v in verdicts] == [("a", Status.FAILED)]
    assert second.asked == 0


async def test_a_verifier_that_breaks_says_error_and_is_asked_again_in_the_next_round() -> None:
    flaky = Says("a", Status.ERROR, Status.PASSED)
    panel = Panel([flaky], NO_RULE)
    first = await panel.judge(make_task(), whole())
    assert [(v.round, v.status, v.reason) for v in first] == [(0, Status.ERROR, "it broke")]
    assert panel.needs_verdicts(first)

    second = await panel.judge(make_task(), whole(), first)

    assert [(v.round, v.status) for v in second] == [(1, Status.PASSED)]
    assert not panel.needs_verdicts([*first, *second])
    assert await panel.judge(make_task(), whole(), [*first, *second]) == []


async def test_another_version_of_a_verifier_is_asked_anew() -> None:
    said = await Panel([Says("a", Status.PASSED)], NO_RULE).judge(make_task(), whole())
    newer = Says("a", Status.FAILED)
    newer.version = "2"

    verdicts = await Panel([newer], NO_RULE).judge(make_task(), whole(), said)

    assert [(v.verifier_version, v.round, v.status) for v in verdicts] == [("2", 0, Status.FAILED)]


async def judged(panel: Panel, times: int, known: Sequence[Verdict] = ()) -> list[Verdict]:
    """Return all verdicts on an episode that a panel was asked about this often."""
    out = list(known)
    for _ in range(times):
        out += await panel.judge(make_task(), whole(), out, again=True)
    return out


async def test_a_version_judges_an_episode_three_times_however_often_it_is_asked() -> None:
    fickle = Says("a", *[Status.FAILED] * 5, Status.PASSED)
    panel = Panel([fickle], NO_RULE)

    verdicts = await judged(panel, 2)
    assert panel.spent(verdicts) == ()
    verdicts = await judged(panel, 9, verdicts)

    assert [one.round for one in verdicts] == list(range(MAX_ROUNDS)) == [0, 1, 2]
    assert panel.spent(verdicts) == ("a",)
    assert not panel.needs_verdicts(verdicts)
    fickle.version = "2"
    assert panel.spent(verdicts) == ()
    assert panel.needs_verdicts(verdicts)


async def test_the_last_verdict_of_a_spent_verifier_decides_about_the_later_ones() -> None:
    lost, later = Says("a", Status.PASSED, Status.PASSED, Status.FAILED), Says("b", Status.PASSED)

    verdicts = await judged(Panel([lost, later], NO_RULE), 9)

    assert [(one.verifier, one.round) for one in verdicts] == [
        *[("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]
    ]


async def test_abstentions_are_bounded_and_errors_are_not() -> None:
    abstaining, breaking = Says("a", Status.ABSTAINED), Says("b", Status.ERROR)

    verdicts = list[Verdict]()
    for _ in range(9):
        panel = Panel([abstaining, breaking], NO_RULE)
        assert panel.needs_verdicts(verdicts)
        verdicts += await panel.judge(make_task(), whole(), verdicts)

    assert (abstaining.asked, breaking.asked) == (MAX_ROUNDS, 9)
    assert not Panel([abstaining], NO_RULE).needs_verdicts(verdicts)
    assert Panel([breaking], NO_RULE).spent(verdicts) == ()


async def test_what_the_rule_rejects_is_not_examined_further() -> None:
    """The threshold decides who is asked: a lower one owes what a higher one did not."""
    episode = whole().model_copy(update={"reward": 0.7, "done": True})
    replay = Says("replay", Status.PASSED)
    verifiers: list[Verifier] = [OutcomeVerifier({}), replay]

    def panel(min_reward: float) -> Panel:
        return Panel(verifiers, AcceptSection(passed=("outcome", "replay"), min_reward=min_reward))

    known = await panel(1.0).judge(make_task(), episode)
    assert [(v.verifier, v.status) for v in known] == [("outcome", Status.PASSED)]
    assert not panel(1.0).needs_verdicts(known)
    assert panel(0.5).needs_verdicts(known)

    known += await panel(0.5).judge(make_task(), episode, known)

    assert [v.verifier for v in known] == ["outcome", "replay"]
    assert not panel(0.5).needs_verdicts(known)
    assert not panel(1.0).needs_verdicts(known)
    assert await panel(1.0).judge(make_task(), episode, known) == []
    assert replay.asked == 1


@pytest.mark.parametrize(
    ("first", "rule", "asked"),
    [
        ("a", NO_RULE, ["a", "replay"]),
        ("outcome", AcceptSection(passed=("outcome",)), ["outcome", "replay"]),
        ("structure", NO_RULE, ["structure"]),
    ],
)
async def test_who_examines_rejected_episodes_too_does_unless_they_are_not_whole(
    first: str, rule: AcceptSection, asked: list[str]
) -> None:
    verifiers = [
        Says(first, Status.FAILED),
        Says("b", Status.PASSED),
        Says("replay", Status.PASSED),
    ]
    without, with_ = Panel(verifiers, rule), Panel(verifiers, rule, rejected_too=("replay",))

    known = await without.judge(make_task(), whole())
    assert not without.needs_verdicts(known)
    assert with_.needs_verdicts(known) == (len(asked) == 2)
    known += await with_.judge(make_task(), whole(), known)

    assert [one.verifier for one in known] == asked
    assert not with_.needs_verdicts(known)
    assert acceptance_status(AcceptSection(passed=(first,)), known) is AcceptanceStatus.REJECTED


async def test_a_rejection_is_replayed_where_the_rule_alone_rejects_it() -> None:
    low = whole().model_copy(update={"reward": 0.7, "done": True})
    rule = AcceptSection(passed=("outcome", "replay"))
    verifiers: list[Verifier] = [OutcomeVerifier({}), Says("replay", Status.PASSED)]

    known = await Panel(verifiers, rule, rejected_too=("replay",)).judge(make_task(), low)

    assert [one.verifier for one in known] == ["outcome", "replay"]
    assert acceptance_status(rule, known) is AcceptanceStatus.REJECTED


async def test_verifiers_are_made_by_name_with_the_runs_sites_and_sessions() -> None:
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, WON))
    names = VERIFIER_NAMES[::-1]

    made = make_verifiers(names, sites={"scripted": Own()}, sessions=sessions)

    assert tuple(one.name for one in made) == names
    by_name, episode = dict(zip(names, made, strict=True)), await recorded()
    outcome = await by_name["outcome"].examine(scripted_task(), episode)
    assert outcome.evidence["min_reward"] == 0.8
    assert (await by_name["replay"].examine(scripted_task(), episode)).status is Status.PASSED
    assert sessions.opened == 1


def test_an_unknown_verifier_is_refused_with_the_nearest() -> None:
    with pytest.raises(NotFound, match="there is no verifier 'replays'; did you mean 'replay'"):
        make_verifiers(["replays"], sites={}, sessions=ScriptedSessions([]))
