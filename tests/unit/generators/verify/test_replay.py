"""A replay compares every column that it can execute again, and names the one that differs."""

import contextlib
from collections.abc import AsyncIterator
from typing import cast

import pytest
from damaged_episodes import (
    BUTTON,
    Damage,
    Furnished,
    in_capsule,
    in_episode,
    in_step,
    on_element,
    on_page,
    on_target,
    recorded,
    replayed,
)
from scripted_rollouts import LIMITS, RUNNING, WON, attempt_it, clicks, pages, scripted_task
from scripted_session import Page, ScriptedSession, ScriptedSessions
from scripted_site import ScriptedSite

from generators.browser.protocol import SessionSpec
from generators.sites.protocol import Visit
from generators.verify.differences import ADDED_KEYS
from generators.verify.replay import MAX_REPLAYS, Replay, ReplayResult, replay
from schemas.action import Action, Answer, Click, NoAction
from schemas.base import JsonObject
from schemas.episode import Episode
from schemas.errors import FailureKind
from schemas.observation import Effect, Observation
from schemas.task import Task
from schemas.verdict import Finding, Status

DAMAGES: dict[str, tuple[int, Damage]] = {
    "site: 'other' → 'scripted'": (0, in_episode(site="other")),
    "start_url: 'http://x/' → 'http://scripted.localhost/'": (
        0,
        in_episode(start_url="http://x/"),
    ),
    "seed: 4 → 3": (0, in_episode(seed=4)),
    "clock_ms: 5 → 1700000000000": (0, in_episode(clock_ms=5)),
    "goal: 'Do it.' → 'Do number 3.'": (0, in_episode(instruction="Do it.")),
    "reward_before: 0.5 → 0.0": (0, in_episode(reward_before=0.5)),
    "reward_before: None → 0.0": (0, in_episode(reward_before=None)),
    "capsule.template_id: 'books' → 'pages'": (
        0,
        lambda episode: in_episode(capsule=episode.capsule | {"template_id": "books"})(episode),
    ),
    "capsule.site_version: '9' → '1'": (
        0,
        lambda episode: in_episode(capsule=episode.capsule | {"site_version": "9"})(episode),
    ),
    "capsule.visit.start_url: 'http://x/'": (0, in_capsule("visit", start_url="http://x/")),
    "capsule.visit.allowed_origins": (0, in_capsule("visit", allowed_origins=["http://x"])),
    "capsule.visit.allowed_paths: ['/x'] → []": (0, in_capsule("visit", allowed_paths=["/x"])),
    "capsule.visit.clock": (0, in_capsule("visit", clock=None)),
    "capsule.visit.seed: '4' → '3'": (0, in_capsule("visit", seed="4")),
    "capsule.visit.parameters: {'a': 1} → {}": (0, in_capsule("visit", parameters={"a": 1})),
    "capsule.visit.more: 1 → 'missing'": (0, in_capsule("visit", more=1)),
    "capsule.session.viewport_width: 5 → 100": (0, in_capsule("session", viewport_width=5)),
    "capsule.session.viewport_height: 5 → 80": (0, in_capsule("session", viewport_height=5)),
    "capsule.session.device_scale_factor: 2.0 → 1.0": (
        0,
        in_capsule("session", device_scale_factor=2.0),
    ),
    "capsule.session.allowed_origins": (0, in_capsule("session", allowed_origins=["http://x"])),
    "capsule.session.allowed_paths: ['/x'] → []": (
        0,
        in_capsule("session", allowed_paths=["/x"]),
    ),
    "capsule.session.clock": (0, in_capsule("session", clock={"start_ms": 1})),
    "width: 99 → 100": (1, in_step(1, width=99)),
    "height: 79 → 80": (1, in_step(1, height=79)),
    "url: 'http://x/' → 'http://scripted.localhost/'": (1, on_page(1, url="http://x/")),
    "title: 'x' → 'scripted'": (2, on_page(2, title="x")),
    "form_sha256: '0' →": (1, on_page(1, form_sha256="0")),
    "focus: 'input' → None": (1, on_page(1, focus="input")),
    "scroll_x: 1.0 → 0": (1, on_page(1, scroll_x=1.0)),
    "scroll_y: 1.0 → 0": (2, on_page(2, scroll_y=1.0)),
    "dom_sha256: '0' →": (1, on_page(1, dom_sha256="0")),
    "number of elements: 1 → 2": (1, in_step(1, elements=(BUTTON,))),
    "elements[1].role: 'link' → 'button'": (1, on_element(role="link")),
    "elements[1].name: 'Stop' → 'Go'": (1, on_element(name="Stop")),
    "elements[1].tag: 'a' → 'button'": (1, on_element(tag="a")),
    "elements[1].text: 'Stop' → 'Go'": (1, on_element(text="Stop")),
    "elements[1].bbox: (0, 0, 1, 1) → (1.0,": (1, on_element(bbox=(0, 0, 1, 1))),
    "elements[1].value: 'x' → None": (1, on_element(value="x")),
    "elements[1].interactive: False → True": (1, on_element(interactive=False)),
    "elements[1].visible: 0.5 → 1.0": (1, on_element(visible=0.5)),
    "elements[1].covered: True → False": (1, on_element(covered=True)),
    "elements[1].frame: 'x' → None": (1, on_element(frame="x")),
    "action_error: 'no' → None": (1, in_step(1, action_error="no")),
    "target: None → Target": (0, in_step(0, target=None)),
    "target.tag: 'p' → 'body'": (0, on_target(0, tag="p")),
    "target.role: 'link' → None": (0, on_target(0, role="link")),
    "target.name: 'x' → None": (0, on_target(0, name="x")),
    "target.text: 'x' → None": (0, on_target(0, text="x")),
    "target.bbox: (0, 0, 1, 1) → (0.0,": (0, on_target(0, bbox=(0, 0, 1, 1))),
    "target.visible: 1.0 → None": (0, on_target(0, visible=1.0)),
    "target.frame: 'x' → None": (0, on_target(0, frame="x")),
    "result_text: None → 'Hello'": (1, in_step(1, result_text=None)),
    "reward: 0.5 → 1.0": (1, in_step(1, reward=0.5)),
    "reward: None → 1.0": (1, in_step(1, reward=None)),
    "terminated: False → True": (1, in_step(1, terminated=False)),
    "terminated: True → False": (0, in_step(0, terminated=True)),
    "state_changed: False → True": (1, in_step(1, state_changed=False)),
    "state_changed: None → True": (0, in_step(0, state_changed=None)),
    "state_changed: True → None": (2, in_step(2, state_changed=True)),
    "action_error: 'late' → None": (2, in_step(2, action_error="late")),
    "result_text: 'late' → None": (2, in_step(2, result_text="late")),
    "reward: 1.0 → None": (2, in_step(2, reward=1.0)),
    "terminated: True → False (final)": (2, in_step(2, terminated=True)),
    "episode.reward: 0.5 → 1.0": (2, in_episode(reward=0.5)),
    "episode.done: False → True": (2, in_episode(done=False)),
    "episode.answer: 'yes' → None": (2, in_episode(answer="yes")),
    "final row: False → True": (
        1,
        lambda episode: in_episode(steps=in_step(1, state_changed=None)(episode).steps[:2])(
            episode
        ),
    ),
    "final row: True → False": (
        0,
        in_step(0, action=NoAction(), target=None, result_text=None, reward=None),
    ),
}


@pytest.mark.parametrize(("said", "number", "damage"), [(k, *v) for k, v in DAMAGES.items()])
async def test_what_differs_is_named_with_its_step(said: str, number: int, damage: Damage) -> None:
    found = await replayed(damage(await recorded()))

    assert not found.reproduced
    assert found.because.startswith(f"diverged at step {number} because ")
    assert said.removesuffix(" (final)") in found.because
    assert [len(step.differs) for step in found.steps if step.differs] == [1]
    # Only the observation after an action tells whether the page changed.
    assert len(found.steps) == min(3, number + 1 + said.startswith("state_changed"))


async def test_a_true_episode_is_reproduced() -> None:
    found = await replayed(await recorded())

    assert (found.reproduced, found.because) == (True, "all 3 states agree")
    assert [(step.picture_cells, step.picture_levels) for step in found.steps] == [(0, 0)] * 3


@pytest.mark.parametrize("answers", [["first"], ["first", "second"]])
async def test_the_last_answer_is_the_episodes(answers: list[str]) -> None:
    episode = await recorded(Click(x=5, y=5), Answer(text=answers[0]))
    steps = episode.steps
    assert episode.answer == answers[0]
    twice = (*steps[:-1], steps[-2].model_copy(update={"action": Answer(text=answers[-1])}))
    numbered = [step.model_copy(update={"step": at}) for at, step in enumerate(twice)]
    again = in_episode(steps=(*numbered[: len(answers) + 1], steps[-1]), answer=answers[-1])

    assert (await replayed(again(episode))).reproduced
    lying = in_episode(answer="another")(again(episode))
    assert "episode.answer: 'another' → " in (await replayed(lying)).because


async def test_a_site_that_does_not_repeat_itself_is_asked_for_all_but_the_dom() -> None:
    class Unsteady(ScriptedSite):
        repeatable = False

    odd = on_page(1, dom_sha256="0")(await recorded())

    assert not (await replayed(odd)).reproduced
    assert (await replayed(odd, site=Unsteady())).reproduced
    other = await replayed(on_page(1, title="x")(odd), site=Unsteady())
    assert "title" in other.because


@pytest.mark.parametrize("part", ["visit", "session"])
async def test_a_capsule_of_an_earlier_version_lacks_only_what_was_added(part: str) -> None:
    episode = await recorded()
    inner = episode.capsule[part]
    assert isinstance(inner, dict)

    def without(key: str) -> Episode:
        rest: JsonObject = {name: value for name, value in inner.items() if name != key}
        return in_episode(capsule=episode.capsule | {part: rest})(episode)

    for key in inner.keys() & ADDED_KEYS[part]:
        assert (await replayed(without(key))).reproduced
    for key in inner.keys() - ADDED_KEYS[part]:
        found = await replayed(without(key))
        assert f"capsule.{part}.{key}: 'missing' → " in found.because


@pytest.mark.parametrize("part", ["visit", "session"])
async def test_a_capsule_without_a_part_says_what_is_missing(part: str) -> None:
    episode = await recorded()
    capsule = {name: value for name, value in episode.capsule.items() if name != part}

    found = await replayed(in_episode(capsule=capsule)(episode))

    assert (found.supported, found.reproduced) == (False, False)
    assert found.because == "the capsule lacks the visit or the session"


async def test_a_task_in_real_time_cannot_be_replayed() -> None:
    class RealTime(ScriptedSite):
        async def visit(self, task: Task) -> Visit:
            return (await super().visit(task)).model_copy(update={"clock": None})

    found = await replayed(await recorded(), site=RealTime())

    assert (found.supported, found.because) == (False, "time is real on site 'scripted'")


async def test_the_task_decides_where_the_replay_goes() -> None:
    other = scripted_task(4)

    found = await replayed(await recorded(), task=other)

    assert "goal: 'Do number 3.' → 'Do number 4.'" in found.because
    assert "capsule.visit.seed: '3' → '4'" in found.because


async def test_an_episode_without_steps_is_not_reproduced() -> None:
    found = await replayed(in_episode(steps=())(await recorded()))

    assert found.supported
    assert not found.reproduced
    assert found.because == "diverged because the episode has no steps"
    assert found.score is None


async def test_a_long_difference_is_cut() -> None:
    found = await replayed(in_episode(instruction="x" * 5_000)(await recorded()))

    assert "more bytes" in found.because
    assert len(found.because) < 500


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


async def test_nothing_is_done_on_a_page_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = on_page(0, title="x")(await recorded())

    async def act(self: Furnished, action: Action) -> Effect:
        raise AssertionError(f"{self} was asked for {action}")

    monkeypatch.setattr(Furnished, "act", act)
    assert "title: 'x'" in (await replayed(episode)).because
