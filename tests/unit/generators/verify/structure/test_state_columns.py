"""What a server's state was before and after an attempt: recorded, held together, and replayed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import JsonValue
from support.browsers.scripted_rollouts import attempt_it, clicks, scripted_task
from support.browsers.scripted_site import ScriptedSite
from support.episodes.altered_episodes import defects, examined
from support.episodes.damaged_episodes import FurnishedSessions, in_episode

from generators.browser.protocol import Session
from generators.sites.protocol import Judge, Outcome, Problem, Visit
from generators.sites.state import ServerState
from generators.verify.outcome import OutcomeVerifier
from generators.verify.replay import Replay, ReplayResult, replay
from schemas.configuration.masks import Masks
from schemas.episodes.action import Answer
from schemas.episodes.episode import Episode
from schemas.episodes.state_delta import Change, Delta
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Status

ADDED: dict[str, JsonValue] = {"rows": [{"id": 1, "name": "Rope"}]}
EMPTY: dict[str, JsonValue] = {"rows": []}


@dataclass
class Keeping(ScriptedSite):
    """The scripted site with a server: its state before the first action, and after the last."""

    before: JsonValue = field(default_factory=lambda: EMPTY)
    after: JsonValue = field(default_factory=lambda: ADDED)
    answers: list[str | None] = field(default_factory=list)
    asked: int = 0
    judge = Judge.SERVER

    def __post_init__(self) -> None:
        super().__init__()

    async def state(self, problem: Problem) -> ServerState | None:  # type: ignore[override]
        del problem
        self.asked += 1
        return ServerState(self.before if self.asked % 2 else self.after)

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        self.answers.append(answer)
        return await super().outcome(problem, session, answer=answer)


async def recorded(site: ScriptedSite | None = None) -> Episode:
    return await attempt_it(FurnishedSessions(), clicks(2), site=site or Keeping())


async def replayed(episode: Episode, site: ScriptedSite | None = None) -> ReplayResult:
    sites = {"scripted": site or Keeping()}
    return await replay(scripted_task(), episode, sites=sites, sessions=FurnishedSessions())


async def test_an_episode_says_what_changed_on_the_server() -> None:
    episode = await recorded()

    assert episode.delta is not None
    (added,) = episode.delta.added
    assert (added.at, added.after) == ("/rows", {"id": 1, "name": "Rope"})
    assert episode.state_before_sha256 is not None
    assert episode.state_after_sha256 not in {None, episode.state_before_sha256}
    assert defects(await examined(episode)) == []


async def test_where_nothing_changed_the_hashes_are_equal_and_the_delta_is_empty() -> None:
    episode = await recorded(Keeping(after=EMPTY))

    assert episode.delta == Delta()
    assert episode.state_before_sha256 == episode.state_after_sha256
    assert defects(await examined(episode)) == []


async def test_where_the_page_is_the_judge_there_is_no_state() -> None:
    episode = await recorded(ScriptedSite())

    assert episode.state_before_sha256 is episode.state_after_sha256 is None
    assert episode.delta is None


async def test_a_server_that_breaks_leaves_no_state() -> None:
    class Broken(Keeping):
        async def state(self, problem: Problem) -> ServerState | None:  # type: ignore[override]
            if self.asked:
                raise RolloutFailure(FailureKind.SITE, "it is gone")
            return await super().state(problem)

    episode = await recorded(Broken())

    assert episode.failure_message == "it is gone"
    assert episode.state_before_sha256 is None
    assert episode.delta is None
    assert defects(await examined(episode)) == []


@pytest.mark.parametrize("lacks", ["state_before_sha256", "state_after_sha256", "delta"])
async def test_state_is_stated_whole_or_not_at_all(lacks: str) -> None:
    episode = in_episode(**{lacks: None})(await recorded())

    assert defects(await examined(episode)) == [
        "of the server's state before and after and of what changed, a part is missing"
    ]


@pytest.mark.parametrize(
    ("after", "lie"),
    [(ADDED, {"delta": Delta()}), (EMPTY, {"delta": Delta(added=(Change(at="/rows", key=1),))})],
)
async def test_hashes_and_what_changed_must_agree(after: JsonValue, lie: dict[str, Any]) -> None:
    episode = in_episode(**lie)(await recorded(Keeping(after=after)))

    assert defects(await examined(episode)) == [
        "the server's state before and after, and what changed in it, contradict each other"
    ]


async def test_an_attempt_that_broke_states_no_change() -> None:
    class Broken(ScriptedSite):
        async def state(self, problem: Problem) -> ServerState | None:  # type: ignore[override]
            del problem
            raise RolloutFailure(FailureKind.SITE, "it is gone")

    whole, broken = await recorded(), await recorded(Broken())
    update = {
        name: getattr(whole, name)
        for name in ("state_before_sha256", "state_after_sha256", "delta")
    }

    assert "an attempt that broke states what changed on the server" in defects(
        await examined(broken.model_copy(update=update))
    )


async def test_a_replay_with_the_same_states_agrees() -> None:
    assert (await replayed(await recorded())).reproduced


@pytest.mark.parametrize(
    ("lie", "differs"),
    [
        ({"state_before_sha256": "0"}, "episode.state_before_sha256: '0' →"),
        ({"state_after_sha256": "0"}, "episode.state_after_sha256: '0' →"),
        ({"delta": Delta()}, "episode.delta: "),
        ({"delta": None}, "episode.delta: None →"),
    ],
)
async def test_a_replay_compares_each_column_of_the_state(
    lie: dict[str, Any], differs: str
) -> None:
    found = await replayed(in_episode(**lie)(await recorded()))

    assert not found.reproduced
    (difference,) = found.steps[-1].differs
    assert difference.startswith(differs)


async def test_a_replay_on_another_state_parts() -> None:
    found = await replayed(await recorded(), Keeping(after={"rows": [{"id": 1, "name": "Tar"}]}))

    assert not found.reproduced
    assert "Tar" in found.because


async def test_an_episode_of_a_page_that_states_a_servers_state_is_not_reproduced() -> None:
    episode = in_episode(state_before_sha256="0")(await recorded(ScriptedSite()))

    assert not (await replayed(episode, ScriptedSite())).reproduced


async def test_the_verdict_names_what_is_masked() -> None:
    verifier = Replay({"scripted": Keeping()}, sessions=FurnishedSessions())
    finding = await verifier.examine(scripted_task(), await recorded())

    assert finding.status is Status.PASSED
    assert finding.evidence["masked"] is None


class Masking(Keeping):
    """The same, whose visits mask a field."""

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        async with super().open(task) as visit:
            yield visit.model_copy(update={"masks": Masks(fields=("csrf",))})


async def test_the_verdict_names_a_field_that_is_masked() -> None:
    verifier = Replay({"scripted": Masking()}, sessions=FurnishedSessions())
    finding = await verifier.examine(scripted_task(), await recorded(Masking()))

    assert finding.status is Status.PASSED
    assert finding.evidence["masked"] == {"fields": ["csrf"], "patterns": [], "state": []}


async def test_an_answer_is_given_to_the_site_in_the_rollout_and_in_the_replay() -> None:
    first, again = Keeping(), Keeping()
    episode = await attempt_it(FurnishedSessions(), [*clicks(1), Answer(text="42")], site=first)

    assert first.answers == [None, None, "42"]
    assert (await replayed(episode, again)).reproduced
    assert again.answers == first.answers


async def test_the_outcome_says_that_a_server_was_probed_and_of_a_page_nothing() -> None:
    kept = OutcomeVerifier({"scripted": Keeping()})
    shown = OutcomeVerifier({"scripted": ScriptedSite()})

    assert (await kept.examine(scripted_task(), await recorded())).evidence["probed"] is True
    paged = await recorded(ScriptedSite())
    assert "probed" not in (await shown.examine(scripted_task(), paged)).evidence
