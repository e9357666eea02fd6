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
from schemas.base import JsonObject, Record
from schemas.configuration.config import RunConfig
from schemas.episodes.observation import Observation
from schemas.episodes.viewport import draw_viewport
from schemas.errors import BadTasks, RolloutFailure, Unwritable
from schemas.nearest import did_you_mean
from schemas.tasks.task import Task

_TEXT_CHARS = 40


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
    offer = site_offers()[miniwob.NAME]
    if args.template not in offer.templates:
        hint = did_you_mean(args.template, offer.templates)
        raise BadTasks(f"{offer.name} has no template '{args.template}'{hint}")
    task = make_template_task(offer, args.template, seed=args.seed, source=offer.name)
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


async def _open_page(task: Task, config: RunConfig) -> TaskPage:
    async with open_browsers() as browsers:
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
        "template": task.template_id,
        "seed": task.seed,
        "goal": look.goal,
        "url": look.observation.page.url,
        "title": look.observation.page.title,
        "tags": list(task.tags),
        "split": task.split,
        "note": catalogue()[task.template_id].note,
        "width": look.observation.width,
        "height": look.observation.height,
        "elements": [element.model_dump(mode="json") for element in look.observation.elements],
        "picture": None if to is None else str(to),
    }


def _print(task: Task, look: TaskPage, to: Path | None) -> None:
    observation, note = look.observation, catalogue()[task.template_id].note
    size = f"{observation.width} × {observation.height}"
    print_lines(
        [
            f"goal     {look.goal}",
            f"url      {observation.page.url}",
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
