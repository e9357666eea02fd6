"""Attempts at MiniWoB++ tasks that belong to no run: what benches roll out."""

from generators.rollout.episode_recorder import Attempt
from generators.sites.miniwob import NAME, MiniWob, start_url
from schemas.configuration.config import RunConfig
from schemas.episodes.viewport import draw_viewport
from schemas.tasks.task import Task


def make_attempt(
    site: MiniWob, template: str, number: int, *, seed: int, config: RunConfig
) -> Attempt:
    """Return an attempt at a template's task, at the viewport that a run of `config` draws."""
    task = Task(
        task_id=f"bench-{number}",
        template_id=template,
        source=NAME,
        site=NAME,
        start_url=start_url(template),
        instruction="",
        seed=seed,
        split="train",
    )
    viewport = draw_viewport(config, site.area(template), seed=task.task_id)
    return Attempt(
        run_id="bench",
        unit_id="bench",
        task=task,
        attempt=0,
        viewport_width=viewport.width,
        viewport_height=viewport.height,
        device_scale_factor=viewport.scale,
        code_version="bench",
    )
