"""Small real episodes for tests: true pictures, true hashes, ids as a run would give them.

Whatever is made here passes an audit and is sound, so a test that wants something broken breaks it itself.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw

from generators.browser.picture import read_picture
from generators.browser.protocol import ClockSpec
from generators.sites.protocol import Visit
from schemas import ids
from schemas.base import JsonObject, sha256_hex
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import StorageSection, TasksSection
from schemas.episodes.action import Action, Click, NoAction
from schemas.episodes.call import Call, Prompt
from schemas.episodes.episode import (
    Episode,
    PolicyKind,
    Step,
    StopReason,
    ThoughtSource,
    browser_seconds,
    steps_sha256,
)
from schemas.episodes.observation import Element, PageState, Screenshot, Target
from schemas.packed import Logprobs, TokenIds
from schemas.tasks.task import Task, task_id
from schemas.verdicts.verdict import Status, Verdict
from storage.lake.lake import Lake
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store
from storage.run_file import RunFile, create_run

RUN_ID = "0123456789abcdef0123456789abcdef"
"""The run that everything here belongs to unless it is told otherwise."""

START = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
"""When the first episode began."""

CLOCK = ClockSpec(start_ms=1_767_322_800_000)
"""The virtual time of every episode."""

WIDTH, HEIGHT = 64, 48
"""Of the pictures and their viewport, px."""


@cache
def make_screenshot(seed: int, *, width: int = WIDTH, height: int = HEIGHT) -> Screenshot:
    """Return a JPEG that differs from that of any other seed."""
    picture = Image.new("RGB", (width, height), ((seed * 37) % 256, (seed * 91) % 256, 200))
    ImageDraw.Draw(picture).text((2, 2), str(seed), fill=(0, 0, 0))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=80, comment=str(seed).encode())
    return Screenshot(bytes=out.getvalue(), path=f"{seed}.jpg")


SPLIT_OF = {"click-test": "train", "click-color": "validation", "enter-text": "test"}
"""The split that the tasks of a template ask for; those of other templates ask for none."""


def make_task(
    seed: int = 0, *, template: str = "click-test", instruction: str | None = None
) -> Task:
    """Return a task of a template, with the goal of the template unless one is given."""
    if instruction is None:
        instruction = f"Click the button{'' if template == 'click-test' else f' of {template}'}."
    url = f"http://miniwob.localhost/miniwob/{template}.html"
    return Task(
        task_id=task_id(
            site="miniwob",
            site_version="1",
            template_id=template,
            seed=seed,
            start_url=url,
            instruction=None,
            parameters={},
        ),
        template_id=template,
        source="miniwob",
        site="miniwob",
        site_version="1",
        start_url=url,
        instruction=instruction,
        seed=seed,
        tags=("click",),
        split=SPLIT_OF.get(template, ""),
    )


def make_step(
    number: int, *, picture: int, action: Action, at: datetime = START, title: str = "Click Test"
) -> Step:
    """Return a step that saw the picture of seed `picture`."""
    screenshot = make_screenshot(picture)
    point = isinstance(action, Click)
    return Step(
        step=number,
        screenshot=screenshot,
        screenshot_sha256=sha256_hex(screenshot.bytes),
        screenshot_phash=read_picture(screenshot.bytes).difference_hash,
        width=WIDTH,
        height=HEIGHT,
        page=PageState(
            url="http://miniwob.localhost/miniwob/click-test.html",
            title=title,
            form_sha256=sha256_hex(b""),
            scroll_x=0.0,
            scroll_y=0.0,
            dom_sha256=sha256_hex(str(picture).encode()),
        ),
        thought=f"Step {number}." if point else None,
        thought_source=ThoughtSource.TEMPLATE if point else None,
        action=action,
        x_norm=action.x / WIDTH if isinstance(action, Click) else None,
        y_norm=action.y / HEIGHT if isinstance(action, Click) else None,
        target=Target(tag="button", role="button", name="Click Me!") if point else None,
        state_changed=True if point else None,
        observe_ms=5.25,
        at=at + timedelta(milliseconds=100 * number),
        elements=(
            Element(
                role="button",
                name="Click Me!",
                tag="button",
                text="Click Me!",
                bbox=(1.0, 2.0, 30.5, 20.0),
                interactive=True,
                visible=1.0,
                covered=False,
            ),
        ),
    )


@cache
def make_steps(
    n_steps: int, *, seed: int = 0, at: datetime = START, title: str = "Click Test"
) -> tuple[Step, ...]:
    """Return the rows of an episode of `n_steps` actions: one more, without an action."""
    actions: list[Action] = [Click(x=10.0 + n, y=12.0) for n in range(n_steps)]
    return tuple(
        make_step(number, picture=seed * 1_000 + number, action=action, at=at, title=title)
        for number, action in enumerate([*actions, NoAction()])
    )


def make_calls(n_steps: int, prompt: Prompt) -> tuple[Call, ...]:
    """Return one engine call for each action."""
    return tuple(
        Call(
            step=number,
            call=number,
            role="policy",
            engine="http://127.0.0.1:8000",
            model="scripted",
            prompt_sha256=prompt.prompt_sha256,
            messages=[{"role": "user", "content": f"step {number}"}],
            image_steps=(number,),
            reply="click",
            finish_reason="stop",
            completion_token_ids=TokenIds((1, 2, 3)),
            completion_logprobs=Logprobs((-0.5, -0.25, -0.125)),
            at=START,
        )
        for number in range(n_steps)
    )


def make_prompt(text: str = "You see a page.") -> Prompt:
    """Return a system prompt."""
    return Prompt(
        prompt_sha256=sha256_hex(text.encode()), dialect="plain", dialect_version="1", text=text
    )


def make_capsule(task: Task) -> JsonObject:
    """Return the capsule of an episode of `task`."""
    visit = Visit(
        start_url=task.start_url,
        allowed_origins=("http://miniwob.localhost",),
        clock=CLOCK,
        seed=str(task.seed),
        parameters=task.parameters,
    )
    spec = visit.session_spec(viewport_width=WIDTH, viewport_height=HEIGHT)
    return {
        "template_id": task.template_id,
        "site_version": task.site_version,
        "visit": visit.model_dump(mode="json"),
        "session": spec.model_dump(mode="json"),
    }


def make_episode(
    task: Task | None = None,
    *,
    attempt: int = 0,
    n_steps: int = 2,
    run_id: str = RUN_ID,
    unit_id: str | None = None,
    prompt: Prompt | None = None,
    salt: int = 0,
    stop_reason: StopReason = StopReason.FINISHED,
) -> Episode:
    """Return one attempt at `task`; another `salt` is another rollout of the same attempt.

    Without a `unit_id` the episode is alone in its unit; with a `prompt` it has engine calls.
    """
    task = task or make_task()
    started = START + timedelta(seconds=salt)
    title = "Click Test" if task.template_id == "click-test" else task.template_id
    seed = task.seed * 100 + attempt * 10 + salt
    steps = make_steps(n_steps, seed=seed, at=started + timedelta(milliseconds=10), title=title)
    if stop_reason is StopReason.FINISHED and n_steps:
        *before, last, final = steps
        steps = (*before, last.model_copy(update={"terminated": True, "reward": 1.0}), final)
    return Episode(
        episode_id=ids.episode_id(run_id, task.task_id, attempt),
        run_id=run_id,
        unit_id=unit_id or ids.unit_id(run_id, [task.task_id], 1),
        task_id=task.task_id,
        attempt=attempt,
        group_id=ids.group_id(run_id, task.task_id),
        instruction=task.instruction,
        site=task.site,
        start_url=task.start_url,
        policy="teacher" if prompt is None else "model",
        policy_kind=PolicyKind.TEACHER if prompt is None else PolicyKind.MODEL,
        privileged=prompt is None,
        prompt_sha256=prompt.prompt_sha256 if prompt else None,
        browser="chromium",
        browser_version="140.0",
        viewport_width=WIDTH,
        viewport_height=HEIGHT,
        device_scale_factor=1.0,
        clock_ms=CLOCK.start_ms,
        seed=task.seed,
        capsule=make_capsule(task),
        stop_reason=stop_reason,
        n_steps=n_steps,
        reward=1.0 if stop_reason is StopReason.FINISHED else None,
        done=stop_reason is StopReason.FINISHED,
        trainable=True,
        browser_seconds=browser_seconds(steps),
        wall_seconds=1.0,
        started_at=started,
        ended_at=started + timedelta(seconds=1),
        content_sha256=steps_sha256(steps),
        code_version="0.1.0",
        steps=steps,
        calls=make_calls(n_steps, prompt) if prompt else (),
        prompts=(prompt,) if prompt else (),
    )


def make_unit(
    tasks: Sequence[Task],
    *,
    attempts: int = 1,
    n_steps: int = 2,
    run_id: str = RUN_ID,
    prompt: Prompt | None = None,
    salt: int = 0,
) -> tuple[str, list[Episode]]:
    """Return a unit's id and an episode for every attempt at each of `tasks`."""
    unit_id = ids.unit_id(run_id, [task.task_id for task in tasks], attempts)
    return unit_id, [
        make_episode(
            task,
            attempt=attempt,
            n_steps=n_steps,
            run_id=run_id,
            unit_id=unit_id,
            prompt=prompt,
            salt=salt,
        )
        for task in tasks
        for attempt in range(attempts)
    ]


def make_verdict(
    episode: Episode,
    *,
    verifier: str = "outcome",
    version: str = "1",
    round_: int = 0,
    status: Status = Status.PASSED,
) -> Verdict:
    """Return what a verifier says of `episode`."""
    return Verdict(
        episode_id=episode.episode_id,
        unit_id=episode.unit_id,
        verifier=verifier,
        verifier_version=version,
        round=round_,
        status=status,
        score=1.0 if status is Status.PASSED else None,
        reason="The site said so.",
        evidence={"reward": 1.0},
        seconds=0.01,
        judged_at=START + timedelta(minutes=1),
    )


class Unit(NamedTuple):
    """What is committed at once."""

    unit_id: str
    tasks: list[Task]
    episodes: list[Episode]


@dataclass
class MadeRun:
    """A small run at rest."""

    place: Path | str
    store: ObjectStore
    run: RunFile
    units: list[Unit] = field(default_factory=list)

    @property
    def url(self) -> str:
        return str(self.place)

    @property
    def folder(self) -> Path:
        return Path(self.place)

    @property
    def run_id(self) -> str:
        return self.run.run_id

    def unit(self, first_seed: int, *, tasks: int = 2, salt: int = 0) -> Unit:
        """Return a unit of this run, not committed."""
        made = [make_task(first_seed + number) for number in range(tasks)]
        prompt = make_prompt()
        unit_id, episodes = make_unit(
            made, attempts=2, run_id=self.run_id, prompt=prompt, salt=salt
        )
        return Unit(unit_id, made, episodes)

    def lake(self, *, shard_mb: int = 256) -> Lake:
        """Return the run's lake, opened anew."""
        return Lake(self.url, self.store, StorageSection(shard_mb=shard_mb))


async def commit_whole_unit(
    lake: Lake, unit_id: str, *, tasks: Sequence[Task], episodes: Sequence[Episode]
) -> bool:
    """Commit a unit at once; return False if it was committed before.

    `tasks` in the unit's order; `episodes` in any order.
    """
    order = {task.task_id: number for number, task in enumerate(tasks)}
    async with lake.unit(unit_id) as writer:
        if await lake.has(unit_id):
            return False
        for episode in sorted(episodes, key=lambda e: (order.get(e.task_id, -1), e.attempt)):
            await writer.add(episode)
        return await writer.commit(tasks)


async def make_run(place: Path | str) -> MadeRun:
    """Return a run without rows, with two attempts at each task."""
    store = open_store(str(place), StorageSection())
    config = RunConfig(tasks=TasksSection(attempts=2))
    run = await create_run(store, config, provenance={"version": "0.1.0"})
    return MadeRun(place=place, store=store, run=run)


async def make_whole_run(place: Path | str, *, units: int = 2) -> MadeRun:
    """Return a finished run: units with calls, verdicts on them, a sealed version."""
    made = await make_run(place)
    lake = made.lake()
    for number in range(units):
        unit = made.unit(number * 10)
        await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=unit.episodes)
        await lake.commit_verdicts(
            unit.unit_id,
            verifier="outcome",
            version="1",
            round_=0,
            verdicts=[make_verdict(episode) for episode in unit.episodes],
        )
        made.units.append(unit)
    await lake.seal()
    await lake.close()
    return made
