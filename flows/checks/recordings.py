"""Verifies the reference of a recording: a browser carries it out, the judge says done, and a replay reproduces it.

A recorder writes an option of a list by its value, and Chrome's one writes what a list and a field were changed to
alike; a reference has the option's text. So the page is looked at while the reference is carried out, and the attempt is made
again with what it said.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from flows.checks.tasks import WatchedSite, attempt_watched
from flows.resources.browsers import Browsers
from generators.browser.protocol import Node
from generators.policy.named_elements import find
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.tasks.recordings.recording import Recorded, Recording
from generators.verify.replay import replay
from schemas.configuration.config import RunConfig
from schemas.episodes.episode import Episode
from schemas.errors import BadTasks
from schemas.tasks.reference import Do, ReferenceStep
from schemas.tasks.task import Task

_STEP = re.compile(r"step (?P<number>[0-9]+) of the reference: (?P<why>.*)", re.DOTALL)
_FILLS = {Do.TYPE, Do.CHOOSE}


@dataclass
class _Watcher:
    """A policy that carries a reference out, and notes which of its steps mean an option of a list."""

    inner: ReferencePolicy
    """Carries it out."""
    steps: tuple[ReferenceStep, ...]
    """The reference's steps."""
    options: dict[int, str] = field(default_factory=dict)
    """The texts of the options that steps mean, by the number of the step, from 0."""

    @property
    def card(self) -> PolicyCard:
        """The card of the policy that acts."""
        return self.inner.card

    async def act(self, turn: PolicyInput) -> Decision:
        """Look at the lists of the page, and return what the reference does next."""
        if turn.reader is not None and turn.observation.page.dialog is None:
            self._look(await turn.reader.read())
        return await self.inner.act(turn)

    def _look(self, root: Node) -> None:
        for number, step in enumerate(self.steps):
            if step.do in _FILLS and number not in self.options:
                named = find(root, step)
                text = None if named is None else _option(named, step.text or "")
                if text is not None:
                    self.options[number] = text


def _option(thing: Node, value: str) -> str | None:
    """Return the text of the option that a value means; None: it is no list of the browser's, or has none such."""
    if thing.tag != "select":
        return None
    options = [one for one in thing.walk() if one.tag == "option"]
    return next((one.text for one in options if one.attrs.get("value", one.text) == value), None)


async def verify_recording(
    config: RunConfig, browsers: Browsers, task: Task, recording: Recording
) -> Task:
    """Return the task with the reference that a recording comes to.

    Raises:
        BadTasks: the page does not show what a step acts on, the judge does not say done, or a replay parts.
        RolloutFailure: the site or the browser is broken.
    """
    made, episode, watched, options = await _attempt(config, browsers, task, recording)
    while (better := _with_options(recording, options)) != recording:
        recording = better
        made, episode, watched, options = await _attempt(config, browsers, task, recording)
    if episode.failure_message is not None:
        raise BadTasks(_explain(recording, episode.failure_message))
    if not episode.done or episode.reward is None or episode.reward < config.accept.min_reward:
        because = watched.because or f"the reward is {episode.reward}"
        raise BadTasks(f"{recording.path}: does not do the task: {because}")
    replayed = await replay(made, episode, sites=browsers.sites, sessions=browsers.replays)
    if not replayed.reproduced:
        raise BadTasks(f"{recording.path}: a replay parts from the attempt: {replayed.because}")
    return made


async def _attempt(
    config: RunConfig, browsers: Browsers, task: Task, recording: Recording
) -> tuple[Task, Episode, WatchedSite, Mapping[int, str]]:
    """Return the task with a recording's reference, an attempt by it, its site, and the options that its steps mean."""
    steps, watchers = recording.reference, list[_Watcher]()

    def watch() -> _Watcher:
        watchers.append(_Watcher(ReferencePolicy(steps), steps))
        return watchers[-1]

    made = task.model_copy(update={"reference": steps})
    episode, watched = await attempt_watched(config, browsers, made, watch)
    return made, episode, watched, watchers[-1].options if watchers else {}


def _with_options(recording: Recording, options: Mapping[int, str]) -> Recording:
    """Return a recording whose steps on lists choose options by their texts."""
    return replace(
        recording,
        steps=tuple(
            _chooses(one, options[number]) if number in options else one
            for number, one in enumerate(recording.steps)
        ),
    )


def _chooses(one: Recorded, text: str) -> Recorded:
    step = one.step.model_copy(update={"do": Do.CHOOSE, "text": text})
    return replace(one, step=step)


def _explain(recording: Recording, message: str) -> str:
    """Return why an attempt failed, in the recording's own terms."""
    found = _STEP.search(message)
    number = int(found["number"]) if found else 0
    if found is None or not 1 <= number <= len(recording.steps):
        return f"{recording.path}: the attempt failed: {message}"
    one = recording.steps[number - 1]
    by = f" (selector {one.selector})" if one.selector else ""
    return f"{recording.path}: {one.place}{by}: {found['why']}"
