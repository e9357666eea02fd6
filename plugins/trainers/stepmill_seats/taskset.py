"""The tasks of a server as a taskset: each names what it asks the server for, and is drawn there.

The reward is the site's own, as the harness left it in `trace.info`. An episode without one, because something else
than the policy failed, has no reward, and no reward of 0.
"""

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

PROMPT = "Do the task in the browser."
"""verifiers asks for a prompt before the task is drawn; the goal stands beside the first picture."""

END = "stepmill"
"""The key in `trace.info` of how the episode ended."""


class SeatsData(vf.TaskData):
    """A task."""

    asked: dict[str, Any]
    """What a reset at the step door is asked for: `name`, `split`, `index`."""


class SeatsConfig(vf.TasksetConfig):
    """Which tasks."""

    templates: list[str] = Field(default_factory=list)
    """Templates by name, taken in turn; empty: any."""
    split: str = "train"
    """Their split: `train`, `validation` or `test`."""
    tasks: int = Field(100, ge=1)
    """How many tasks."""


class SeatsTask(vf.Task[SeatsData]):
    """A task in a seat."""

    @vf.reward
    async def site_reward(self, trace: vf.Trace) -> float:
        """Return the site's raw reward."""
        end = trace.info.get(END) or {}
        if end.get("reward") is None:
            raise vf.TaskError(f"the site reported no reward: {end or 'the episode has no end'}")
        return float(end["reward"])

    @vf.metric
    async def steps(self, trace: vf.Trace) -> float:
        """Return how many actions were carried out."""
        return float((trace.info.get(END) or {}).get("steps", 0))


class SeatsTaskset(vf.Taskset[SeatsTask, SeatsConfig]):
    """The tasks of a server."""

    def load(self) -> Iterator[SeatsTask]:
        """Yield the tasks."""
        names: list[str | None] = [*self.config.templates] or [None]
        for number in range(self.config.tasks):
            name, index = names[number % len(names)], number // len(names)
            asked = {"split": self.config.split, "index": index}
            if name is not None:
                asked["name"] = name
            title = f"{name or 'any'}/{self.config.split}/{index}"
            yield SeatsTask(SeatsData(name=title, prompt=PROMPT, asked=asked), self.config.task)
