"""Plays episodes with AgentLab's own experiments: `python play_agentlab.py URL EPISODES TEMPLATE …`.

The agent is AgentLab's generic one, with its own prompts and its own reading of replies; only the model is a script. It
prints a line of JSON for each episode.
"""

import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentlab.agents.dynamic_prompting import ActionFlags, ObsFlags
from agentlab.agents.generic_agent.generic_agent import GenericAgentArgs
from agentlab.agents.generic_agent.generic_agent_prompt import GenericPromptFlags
from agentlab.experiments.loop import ExpArgs, get_exp_result
from agentlab.llm.chat_api import BaseModelArgs
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.experiments.benchmark import HighLevelActionSetArgs
from scripted import next_action

from stepmill_trainers.agentlab_args import SeatArgs


class Script:
    """A model that reads the tree in AgentLab's prompt, and clicks by the ids that stand there."""

    def __init__(self, template: str) -> None:
        self._template, self._step = template, 0

    def __call__(self, messages: Any) -> dict[str, str]:
        text = str(messages)
        lines = re.findall(r"\[(\d+)\] (\S+) '(.*?)'", text)
        goal = re.search(r"# Goal:\s*(.*?)\n", text)
        elements = [f'{role} "{name}" at {bid},0' for bid, role, name in lines]
        action = next_action(self._template, goal[1] if goal else "", elements, self._step)
        self._step += 1
        calls = {
            "click": lambda: f"click('{action['x']}')",
            "scroll": lambda: "scroll(0, 200)",
            "answer": lambda: "send_msg_to_user('')",
        }
        return {"role": "assistant", "content": f"<action>{calls[action['type']]()}</action>"}

    def get_stats(self) -> dict[str, int]:
        return {}


@dataclass
class ScriptArgs(BaseModelArgs):
    """The model's arguments; its name is the template."""

    def make_model(self) -> Script:
        return Script(self.model_name)


def play(url: str, template: str, number: int, folder: Path) -> dict:
    flags = GenericPromptFlags(
        obs=ObsFlags(use_html=False, use_ax_tree=True, use_screenshot=False),
        action=ActionFlags(
            action_set=HighLevelActionSetArgs(subsets=("bid", "coord", "chat", "infeas"))
        ),
    )
    model = ScriptArgs(
        model_name=template, max_total_tokens=100_000, max_input_tokens=100_000, max_new_tokens=1000
    )
    experiment = ExpArgs(
        agent_args=GenericAgentArgs(chat_model_args=model, flags=flags),
        env_args=SeatArgs(template, task_seed=number, max_steps=10, url=url),
    )
    experiment.prepare(folder)
    experiment.run()
    summary = get_exp_result(experiment.exp_dir).summary_info
    return {
        "template": template,
        "reward": summary["cum_reward"],
        "steps": summary["n_steps"],
        "failure_kind": None,
        "error": summary["err_msg"],
    }


def main(url: str, episodes: int, templates: list[str]) -> None:
    assert HighLevelActionSet  # what AgentLab's own agents make their prompts of
    with tempfile.TemporaryDirectory() as folder:
        for number in range(episodes):
            told = play(url, templates[number % len(templates)], number, Path(folder))
            sys.__stdout__.write(f"{json.dumps(told)}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
