"""`stepmill tasks show`: one task's real page, opened and observed once."""

import argparse
import io
import os
from pathlib import Path

from PIL import Image

from flows import signals
from flows.cli.tasks.sheet import FORMATS, check_picture_path
from flows.job.config_loader import Sources, check_policy_names, load
from flows.resources.browsers import open_browsers
from flows.terminal import ExitCode, print_error, print_lines, print_result, table
from generators.sites import miniwob
from generators.sites.miniwob_catalogue import catalogue
from generators.tasks.site_offers import make_template_task, site_offers
from generators.tasks.task_plan import refusal_of, stated_tasks
from schemas.base import JsonObject, Record
from schemas.configuration.config import RunConfig
from schemas.episodes.observation import Observation
from schemas.episodes.viewport import draw_viewport
from schemas.errors import BadTasks, RolloutFailure, Unwritable
from schemas.nearest import did_you_mean
from schemas.tasks.task import Task

_TEXT_CHARS = 40

_MAX_SEEDS = 20
"""Maximum number of seeds that an error names."""


class TaskPage(Record):
    """The page of a task."""

    goal: str
    """The goal as the page states it."""
    observation: Observation
    """The first observation."""


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    config = load(Sources(config=args.config, settings=tuple(args.settings)), os.environ)
    check_policy_names(config)
    task = find_task(config, args.template, seed=args.seed)
    to = None if args.to is None else check_picture_path("--to", Path(args.to))
    try:
        look = signals.run(_open_page(task, config))
    except RolloutFailure as failure:
        print_error(f"{task.start_url}: {failure.message}")
        return ExitCode.SHORT
    if to is not None:
        save_picture(look.observation, to)
    if args.json:
        print_result(_as_json(task, look, to))
    else:
        _print(task, look, to)
    return ExitCode.DONE


def find_task(config: RunConfig, name: str, *, seed: int | None) -> Task:
    """Return the task that a name means: one of the configuration's task files, or of MiniWoB++.

    `name` is a template, or the id of a file's task; `seed` None: the first of a file, or seed 0.

    Raises:
        BadTasks: there is no such task, or it cannot be attempted here.
    """
    stated = stated_tasks(config.tasks, applications=config.sites)
    offers = site_offers(config.sites)
    offer = offers[miniwob.NAME]
    named = [task for task in stated if name in (task.template_id, task.task_id)]
    if not named and name in offer.templates:
        return make_template_task(offer, name, seed=seed or 0, source=offer.name)
    if not named:
        templates = {task.template_id for task in stated}
        where = f"{offer.name} has no template" if not stated else "there is no template or task"
        raise BadTasks(f"{where} '{name}'{did_you_mean(name, [*templates, *offer.templates])}")
    found = next((task for task in named if seed in (None, task.seed)), None)
    if found is None:
        there = ", ".join(map(str, sorted({task.seed for task in named})[:_MAX_SEEDS]))
        raise BadTasks(f"there is no task of '{name}' with seed {seed} (there are: {there})")
    if (why := refusal_of(found, offers)) is not None:
        raise BadTasks(f"{name}: tasks of {found.site} cannot be attempted: {why}")
    return found


async def _open_page(task: Task, config: RunConfig) -> TaskPage:
    async with open_browsers(config.sites, needed={task.site}) as browsers:
        site = browsers.sites[task.site]
        viewport = draw_viewport(config, site.area(task.template_id), seed=task.task_id)
        async with site.open(task) as visit:
            spec = visit.session_spec(
                viewport_width=viewport.width,
                viewport_height=viewport.height,
                device_scale_factor=viewport.scale,
                task=task,
            )
            async with browsers.sessions.session(spec) as session:
                await session.open(visit.start_url)
                problem = await site.begin(visit, session)
                return TaskPage(goal=problem.goal, observation=await session.observe())


def save_picture(observation: Observation, path: Path) -> None:
    """Write an observation's picture in the format of the file's name.

    Raises:
        Unwritable: the file cannot be written.
    """
    data = observation.screenshot.bytes
    if FORMATS[path.suffix.lower()] == "PNG":
        out = io.BytesIO()
        with Image.open(io.BytesIO(data)) as picture:
            picture.save(out, "PNG")
        data = out.getvalue()
    try:
        path.write_bytes(data)
    except OSError as error:
        raise Unwritable(f"--to {path}: {error.strerror}") from error


def _as_json(task: Task, look: TaskPage, to: Path | None) -> JsonObject:
    return {
        "task_id": task.task_id,
        "site": task.site,
        "template": task.template_id,
        "seed": task.seed,
        "goal": look.goal,
        "url": look.observation.page.url,
        "title": look.observation.page.title,
        "tags": list(task.tags),
        "split": task.split,
        "note": _note(task),
        "width": look.observation.width,
        "height": look.observation.height,
        "elements": [element.model_dump(mode="json") for element in look.observation.elements],
        "picture": None if to is None else str(to),
    }


def _note(task: Task) -> str | None:
    """Return what is odd about a template; None: nothing is, or nobody has said."""
    return catalogue()[task.template_id].note if task.site == miniwob.NAME else None


def _print(task: Task, look: TaskPage, to: Path | None) -> None:
    observation, note = look.observation, _note(task)
    size = f"{observation.width} × {observation.height}"
    print_lines(
        [
            f"goal     {look.goal}",
            f"url      {observation.page.url}",
            f"site     {task.site}",
            f"task_id  {task.task_id}",
            f"seed     {task.seed}",
            f"tags     {' '.join(task.tags)}",
            f"picture  {to}, {size}" if to else f"picture  {size}; --to FILE saves it",
            *([f"note     {note}"] if note else []),
            "",
        ]
    )
    rows = [
        (
            element.role or element.tag,
            (element.name or element.text)[:_TEXT_CHARS],
            (element.value or "")[:_TEXT_CHARS],
            " ".join(f"{number:.0f}" for number in element.bbox),
            "yes" if element.interactive else "",
        )
        for element in observation.elements
    ]
    print_lines(table(("role", "name", "value", "x y width height", "interactive"), rows))
