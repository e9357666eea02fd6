"""The environment's arguments for AgentLab: its experiments run their agents in seats of a server.

    ExpArgs(agent_args=agent, env_args=SeatArgs("click-button", task_seed=3, max_steps=10))

The token is read from the environment variable `STEPMILL_TOKEN` by whatever process makes the environment, so that no file
of an experiment holds it.
"""

from dataclasses import dataclass
from typing import Any

import gymnasium
from agentlab.experiments.loop import EnvArgs
from gymnasium.wrappers import TimeLimit

from stepmill_trainers.browser_env import BrowserEnv
from stepmill_trainers.door import Seat


@dataclass
class SeatArgs(EnvArgs):
    """A task at a server; `task_name` is the template's name."""

    url: str | None = None
    """The address of the server; None: that of the environment variable `STEPMILL_URL`."""
    split: str | None = None
    """The split of its tasks; None: any but `test`."""

    def make_env(self, *_args: object, **_kwargs: object) -> gymnasium.Env[dict[str, Any], str]:
        """Return the environment; actions are read by it, whatever mapping the agent has."""
        task = {"name": self.task_name, "policy": "agentlab"}
        if self.split is not None:
            task["split"] = self.split
        env = BrowserEnv(Seat(self.url), task=task)
        return env if self.max_steps is None else TimeLimit(env, self.max_steps)
