"""How often an episode is replayed, what is told of each try, and what pictures decide in it."""

import contextlib
from collections.abc import AsyncIterator
from typing import cast

import pytest
from support.browsers.scripted_rollouts import (
    LIMITS,
    RUNNING,
    WON,
    attempt_it,
    clicks,
    pages,
    scripted_task,
)
from support.browsers.scripted_session import Page, ScriptedSession, ScriptedSessions
from support.browsers.scripted_site import ScriptedSite
from support.episodes.damaged_episodes import Damage, in_episode, in_step

from generators.browser.protocol import SessionSpec
from generators.verify.replay import MAX_REPLAYS, Replay, ReplayResult, replay
from schemas.episodes.episode import Episode
from schemas.episodes.observation import Observation
from schemas.errors import FailureKind
from schemas.verdicts.verdict import Finding, Status


async def examined(episode: Episode, *scripts: list[Page]) -> tuple[Finding, int]:
    """Return what the verifier finds on these pages, and how often it replayed the episode."""
    sessions = ScriptedSessions(*scripts)
    verifier = Replay({"scripted": ScriptedSite()}, sessions=sessions)
    return await verifier.examine(scripted_task(), episode), sessions.opened


GOOD = pages(RUNNING, RUNNING, WON)
PARTING = pages(RUNNING, [0.5, True])


async def plain() -> Episode:
    return await attempt_it(ScriptedSessions(GOOD), clicks(2))


async def test_a_replay_that_agrees_is_not_tried_again() -> None:
    found, times = await examined(await plain(), GOOD)

    assert (found.status, found.reason, times) == (Status.PASSED, "all 3 states agree", 1)
    agreed = {"agreed": True, "parted_at": None, "because": "all 3 states agree"}
    assert found.evidence == {
        "tries": [agreed],
        "max_tries": MAX_REPLAYS,
        "states": 3,
        "pictures_differ_at": [],
        "pictures_differ_by": [],
        "site_version": "1",
        "browser_version": "scripted",
        "masked": None,
    }


async def test_a_pass_in_a_later_try_says_in_which_and_why_the_first_parted() -> None:
    found, times = await examined(await plain(), PARTING, GOOD)

    parted = "diverged at step 0 because reward: 0.0 → 0.5; terminated: False → True"
    assert (found.status, times) == (Status.PASSED, 2)
    assert found.reason == f"all 3 states agree, in try 2 of {MAX_REPLAYS}"
    assert found.evidence["tries"] == [
        {"agreed": False, "parted_at": 0, "because": parted},
        {"agreed": True, "parted_at": None, "because": "all 3 states agree"},
    ]


async def test_a_replay_is_tried_so_often_and_no_more() -> None:
    found, times = await examined(await plain(), *[PARTING] * MAX_REPLAYS, GOOD)

    assert (found.status, times) == (Status.FAILED, MAX_REPLAYS)
    parted = {"agreed": False, "parted_at": 0, "because": found.reason}
    assert (found.evidence["tries"], found.evidence["states"]) == ([parted] * MAX_REPLAYS, 1)
    assert found.reason.endswith("terminated: False → True")


async def test_a_try_that_breaks_after_one_that_parted_hides_it_not() -> None:
    breaking = [page.model_copy(update={"breaks": FailureKind.BROWSER}) for page in GOOD]

    found, times = await examined(await plain(), PARTING, breaking, GOOD)

    assert (found.status, times) == (Status.ABSTAINED, 2)
    parted, _, broke = found.reason.partition("; in try 2 of 2: ")
    assert found.evidence["tries"] == [
        {"agreed": False, "parted_at": 0, "because": parted},
        {"agreed": False, "parted_at": None, "because": broke},
    ]
    assert broke == "broke: the page breaks"


async def test_what_is_not_supported_is_not_tried_again() -> None:
    found, times = await examined(in_episode(capsule={})(await plain()), GOOD)

    assert (found.status, found.score, times) == (Status.UNSUPPORTED, None, 0)
    assert found.evidence["tries"] == []


async def test_the_last_try_is_told_of_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generators.verify.replay.MAX_REPLAYS", 3)
    breaking = [page.model_copy(update={"breaks": FailureKind.BROWSER}) for page in GOOD]

    found, times = await examined(await plain(), PARTING, PARTING, breaking)

    assert (found.status, times) == (Status.ABSTAINED, 3)
    assert found.reason.endswith("; in try 3 of 3: broke: the page breaks")


async def test_a_page_changes_by_its_state_where_its_picture_does_not() -> None:
    script = [
        page.model_copy(update={"colour": (0, 0, 0)}) for page in pages(RUNNING, [0.25, False], WON)
    ]
    episode = await attempt_it(ScriptedSessions(script), clicks(2))
    assert len({step.screenshot_sha256 for step in episode.steps}) == 1

    assert (await examined(episode, script))[0].status is Status.PASSED
    lie, _ = await examined(in_step(0, state_changed=False)(episode), script)
    assert "state_changed: False → True" in lie.reason


def shown(number: int, picture: bytes) -> Damage:
    return lambda episode: in_step(
        number, screenshot=episode.steps[number].screenshot.model_copy(update={"bytes": picture})
    )(episode)


async def test_a_picture_that_hardly_differs_is_told_and_costs_score_alone() -> None:
    episode = await plain()
    picture = episode.steps[1].screenshot.bytes

    found, _ = await examined(shown(1, picture + b"x")(episode), GOOD)

    assert found.status is Status.PASSED
    assert found.score == pytest.approx(2 / 3)
    assert found.reason == "all 3 states agree, 2 of their pictures byte by byte"
    assert found.evidence["pictures_differ_at"] == [1]
    assert found.evidence["pictures_differ_by"] == [{"cells": 0, "levels": 0}]


@pytest.mark.parametrize(
    ("taken", "said"), [(0, "it differs by"), (2, "it differs by"), (None, "100.00% of its cells")]
)
async def test_a_picture_of_another_step_or_of_nothing_parts(taken: int | None, said: str) -> None:
    episode = await plain()
    picture = b"" if taken is None else episode.steps[taken].screenshot.bytes

    found, times = await examined(shown(1, picture)(episode), GOOD)

    assert (found.status, times) == (Status.FAILED, 2)
    assert found.score == pytest.approx(2 / 3)
    assert found.reason.startswith(f"diverged at step 1 because picture: {said}")
    assert found.evidence["pictures_differ_at"] == [1]
    [by] = cast("list[dict[str, float]]", found.evidence["pictures_differ_by"])
    assert (by["cells"] == 1, by["levels"] > 10) == (taken is None, True)


class Drawing(ScriptedSession):
    """A page whose state is always the same, whatever its picture shows."""

    async def observe(self) -> Observation:
        seen = await super().observe()
        same = {"form_sha256": "0", "dom_sha256": "0"}
        return seen.model_copy(update={"page": seen.page.model_copy(update=same)})


class DrawingSessions(ScriptedSessions):
    """Sessions over pages of one state."""

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[ScriptedSession]:
        async with super().session(spec):
            yield Drawing(self._scripts[0], spec)


async def redrawn(script: list[Page], damage: Damage) -> ReplayResult:
    """Record and damage an episode of a drawing, and replay it."""
    episode = await attempt_it(DrawingSessions(script), clicks(2), limits=LIMITS)
    sites = {"scripted": ScriptedSite()}
    return await replay(
        scripted_task(), damage(episode), sites=sites, sessions=DrawingSessions(script)
    )


async def test_whether_a_page_of_one_state_changed_is_seen_by_its_picture() -> None:
    still, moving = pages(RUNNING), pages(RUNNING, RUNNING, WON)

    for script, changed in ((still, False), (moving, True)):
        assert (await redrawn(script, in_step(0, state_changed=changed))).reproduced
        lying = await redrawn(script, in_step(0, state_changed=not changed))
        assert f"state_changed: {not changed} → {changed}" in lying.because


@pytest.mark.parametrize("changed", [False, True])
async def test_where_only_a_recorded_picture_is_unequal_either_is_right(changed: object) -> None:
    def noisy(episode: Episode) -> Episode:
        picture = episode.steps[1].screenshot.bytes + b"x"
        return in_step(0, state_changed=changed)(shown(1, picture)(episode))

    assert (await redrawn(pages(RUNNING), noisy)).reproduced
