"""A replay compares every column that it can execute again, and names the one that differs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.browsers.scripted_rollouts import clicks, scripted_task
from support.browsers.scripted_site import ScriptedSite
from support.episodes.damaged_episodes import (
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

from generators.sites.protocol import Visit
from generators.verify.differences import ADDED_KEYS
from schemas.base import JsonObject
from schemas.episodes.action import Action, Answer, Click, NoAction
from schemas.episodes.episode import Episode
from schemas.episodes.observation import Effect, Target
from schemas.tasks.task import Task

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
    "elements_left_out: 3 → 0": (1, in_step(1, elements_left_out=3)),
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
    "target: Target(": (2, in_step(2, target=Target(tag="p"))),
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
        @asynccontextmanager
        async def open(self, task: Task) -> AsyncIterator[Visit]:
            async with super().open(task) as visit:
                yield visit.model_copy(update={"clock": None})

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


async def test_an_action_that_is_refused_is_refused_again() -> None:
    episode = await recorded(Click(x=500, y=5), *clicks(2))
    refused = "that is outside the viewport"
    assert [step.action_error for step in episode.steps] == [refused, None, None, None]

    assert (await replayed(episode)).reproduced
    lie = await replayed(in_step(0, action_error=None)(episode))
    assert f"action_error: None → '{refused}'" in lie.because


async def test_nothing_is_done_on_a_page_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    episode = on_page(0, title="x")(await recorded())

    async def act(self: Furnished, action: Action) -> Effect:
        raise AssertionError(f"{self} was asked for {action}")

    monkeypatch.setattr(Furnished, "act", act)
    assert "title: 'x'" in (await replayed(episode)).because
