"""A verdict is its finding with the address of the episode, and a verifier that breaks says how."""

from datetime import UTC, datetime

from support.browsers.scripted_rollouts import scripted_task
from support.episodes.altered_episodes import won

from generators.verify.panel import Panel
from schemas.configuration.sections import AcceptSection
from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Finding, Status

FINDING = Finding(status=Status.PASSED, score=0.5, reason="so", evidence={"a": [1]}, cost_usd=0.25)


class Says:
    """A verifier that finds what it was told to."""

    name, version = "says", "7"

    def __init__(self, finding: Finding | None) -> None:
        self._finding = finding

    async def examine(self, task: Task, episode: Episode) -> Finding:
        assert (task, episode.site) == (scripted_task(), "scripted")
        if self._finding is None:
            raise KeyError("gone")
        return self._finding


async def test_a_verdict_says_what_was_found_of_which_episode_and_when() -> None:
    episode, before = await won(), datetime.now(UTC)

    [verdict] = await Panel([Says(FINDING)], AcceptSection()).judge(scripted_task(), episode)

    assert {name: getattr(verdict, name) for name, _ in FINDING} == dict(FINDING)
    assert (verdict.episode_id, verdict.unit_id) == (episode.episode_id, episode.unit_id)
    assert (verdict.verifier, verdict.verifier_version, verdict.round) == ("says", "7", 0)
    assert before <= verdict.judged_at <= datetime.now(UTC)
    assert 0 <= verdict.seconds <= (datetime.now(UTC) - before).total_seconds() + 0.1


async def test_a_verifier_that_breaks_is_an_error_of_the_program() -> None:
    [verdict] = await Panel([Says(None)], AcceptSection()).judge(scripted_task(), await won())

    assert (verdict.status, verdict.score) == (Status.ERROR, None)
    assert verdict.evidence == {"failure_kind": "internal"}
    assert verdict.reason.startswith("says: KeyError: ")
