"""Attempts at MiniWoB++ tasks that belong to no run: what benches roll out."""

from generators.rollout.episode_recorder import Attempt
from generators.sites.miniwob import NAME, start_url
from schemas.sections import VIEWPORT
from schemas.task import Task


def make_attempt(template: str, number: int, *, seed: int) -> Attempt:
    """Return an attempt at a template's task, at the viewport that ships."""
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
    width, height = VIEWPORT
    return Attempt(
        run_id="bench",
        unit_id="bench",
        task=task,
        attempt=0,
        viewport_width=width,
        viewport_height=height,
        device_scale_factor=1.0,
        code_version="bench",
    )
