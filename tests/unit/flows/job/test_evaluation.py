"""A check adds up episodes by template, worst first, and knows whose failure is whose."""

from contextlib import AbstractAsyncContextManager

import pytest
from support.episodes.factories import make_episode, make_task, make_verdict

from flows.job.evaluation import (
    PolicyEvaluation,
    TemplateCheck,
    check_of,
    evaluate,
    sum_by_template,
)
from flows.resources.browsers import Browsers
from generators.browser.protocol import Session, SessionSpec
from generators.policy.factory import PolicyFactory
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob
from generators.tasks.task_plan import load_tasks
from schemas.base import JsonObject
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import AcceptSection, TasksSection
from schemas.episodes.episode import Episode
from schemas.errors import FailureKind, NoBrowser, RolloutFailure, StepmillError
from schemas.verdicts.verdict import Status, Verdict


def share(
    episode: Episode,
    outcome: Status,
    replay: Status | None = None,
    evidence: JsonObject | None = None,
) -> TemplateCheck:
    verdicts: list[Verdict] = [make_verdict(episode, status=outcome)]
    if replay is not None:
        said = make_verdict(episode, verifier="replay", status=replay)
        verdicts.append(said.model_copy(update={"evidence": evidence or {}}))
    return check_of(make_task(7), episode, verdicts, AcceptSection(passed=("outcome",)))


def test_a_reproduced_episode_counts_its_pictures() -> None:
    found: JsonObject = {"tries": 1, "states": 3, "pictures_differ_at": [2]}
    one = share(make_episode(), Status.PASSED, Status.PASSED, found)
    assert (one.passed, one.reproduced, one.broken) == (1, 1, 0)
    assert (one.states, one.pictures_equal) == (3, 2)
    assert one.problems == ()


def test_an_episode_that_did_not_pass_says_why_and_what_was_thought_last() -> None:
    one = share(make_episode(n_steps=2), Status.FAILED)
    assert (one.passed, one.reproduced, one.broken) == (0, 0, 0)
    assert one.problems == ('seed 7: outcome: failed: The site said so.; last thought: "Step 1."',)


def test_an_episode_that_parts_in_replay_passed_but_is_not_reproduced() -> None:
    one = share(make_episode(), Status.PASSED, Status.FAILED)
    assert (one.passed, one.reproduced, one.broken) == (1, 0, 0)
    assert len(one.problems) == 1


def test_a_verifier_that_breaks_is_nobodys_lack_of_skill() -> None:
    assert share(make_episode(), Status.PASSED, Status.ERROR).broken == 1


@pytest.mark.parametrize(
    ("kind", "broken"), [(FailureKind.POLICY, 0), (FailureKind.BROWSER, 1), (FailureKind.PAGE, 1)]
)
def test_a_failure_counts_as_broken_unless_it_is_the_policys(
    kind: FailureKind, broken: int
) -> None:
    failure = {"failure_kind": kind.value, "failure_message": "it broke"}
    one = share(make_episode().model_copy(update=failure), Status.FAILED)
    assert one.broken == broken
    assert one.problems == ("seed 7: it broke",)


def check(template: str, *, episodes: int, passed: int, reproduced: int = 0) -> TemplateCheck:
    return TemplateCheck(
        template=template,
        episodes=episodes,
        passed=passed,
        reproduced=reproduced,
        broken=0,
        states=2 * passed,
        pictures_equal=passed,
        steps=episodes,
    )


def test_templates_are_added_up_and_the_worst_comes_first() -> None:
    templates = sum_by_template(
        [
            check("good", episodes=1, passed=1, reproduced=1),
            check("parting", episodes=1, passed=1),
            check("bad", episodes=1, passed=0),
            check("good", episodes=1, passed=1, reproduced=1),
            check("fair", episodes=2, passed=1, reproduced=1),
        ]
    )
    assert [one.template for one in templates] == ["bad", "fair", "parting", "good"]
    assert templates[-1] == check("good", episodes=2, passed=2, reproduced=2)


def test_a_report_counts_mastered_templates_and_shares() -> None:
    report = PolicyEvaluation(
        templates=(
            check("bad", episodes=20, passed=18, reproduced=18),
            check("just", episodes=20, passed=19, reproduced=18),
        ),
        seconds=1.0,
    )
    assert report.mastered == 1
    assert report.reproduction == 36 / 37
    assert report.pictures == 0.5
    assert not report.has_failures


def test_a_check_in_which_nothing_passed_is_short_and_has_no_shares() -> None:
    report = PolicyEvaluation(templates=(check("bad", episodes=1, passed=0),), seconds=1.0)
    assert report.has_failures
    assert report.reproduction is None
    assert report.pictures is None


class NoSessions:
    """A browser that gives no session."""

    version = ""

    def __init__(self, error: StepmillError) -> None:
        self._error = error

    def session(self, spec: SessionSpec) -> AbstractAsyncContextManager[Session]:
        del spec
        raise self._error


def config_of_three() -> RunConfig:
    return RunConfig(tasks=TasksSection(include=("click-test",), seeds=(0, 2)))


async def check_with(error: StepmillError) -> PolicyEvaluation:
    sessions = NoSessions(error)
    browsers = Browsers(sites={"miniwob": MiniWob(Gateway())}, sessions=sessions, replays=sessions)
    config = config_of_three()
    return await evaluate(
        browsers,
        PolicyFactory(config),
        config,
        load_tasks(config.tasks),
        on_episode=lambda *_: None,
    )


async def test_a_browser_that_breaks_every_session_makes_a_short_check() -> None:
    report = await check_with(RolloutFailure(FailureKind.BROWSER, "no context"))
    (click_test,) = report.templates
    assert (click_test.episodes, click_test.passed, click_test.broken) == (3, 0, 3)
    assert click_test.problems == tuple(f"seed {seed}: no context" for seed in range(3))
    assert report.has_failures


async def test_a_browser_that_does_not_start_again_ends_the_check_as_what_it_is() -> None:
    with pytest.raises(NoBrowser, match="gone"):
        await check_with(NoBrowser("gone"))
