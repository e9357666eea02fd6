"""Warms a tiny policy on a teacher's rows and trains it by TRL's `GRPOTrainer` on live seats, judged by reward alone.

Run by the Python of an environment with TRL, from the root of this repository:
`python -m bench.tiny_policy.train PLAN RESULT`. PLAN is a file of JSON with what `Plan` has; the token of the seats is
in the environment variable `STEPMILL_TOKEN`. The warmed policy is trained twice: once as it is, and once, as a control,
with the rewards of each step dealt out anew among its episodes. RESULT gets what both earned on tasks that neither the
rows nor the training have, before and after.
"""

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import torch  # type: ignore[import-not-found,unused-ignore]
from datasets import Dataset  # type: ignore[import-untyped,unused-ignore]
from transformers import (  # type: ignore[import-not-found,unused-ignore]
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)
from trl import (  # type: ignore[import-not-found,unused-ignore]
    GRPOConfig,
    GRPOTrainer,
)

from bench.tiny_policy.policy import Row, make_model, make_tokenizer, warm, write_reply
from bench.tiny_policy.seats import Door, Played, TaskName
from bench.tiny_policy.texts import choices_of, page_text, reply_of


class Plan(NamedTuple):
    """What is done."""

    url: str
    """Where the seats are."""
    seats: int
    """How many episodes are played at a time."""
    teacher: str
    """The file with the teacher's episodes."""
    kinds: Sequence[str]
    """The templates."""
    seed: int
    """Of the model, of the order of rows and tasks, and of chance."""
    rows: int
    """How many replies of the teacher are learnt at most."""
    epochs: int
    """How often."""
    steps: int
    """How many steps GRPO takes."""
    groups: int
    """How many tasks a step has."""
    group: int
    """How many episodes of each task."""
    learning_rate: float
    """Of GRPO."""
    iterations: int
    """How often each episode is learnt."""
    train_seeds: tuple[int, int]
    """First and last seed of the tasks that are trained on."""
    held_out_seeds: tuple[int, int]
    """First and last seed of the tasks that are held out."""
    begun: float
    """When the work on this plan began, in seconds since the epoch."""


class Learner:
    """A tiny policy that plays and learns."""

    def __init__(
        self, plan: Plan, door: Door, tokenizer: PreTrainedTokenizerFast, model: LlamaForCausalLM
    ) -> None:
        self.plan, self.tokenizer, self.model = plan, tokenizer, model
        self._door = door
        self._chance = torch.Generator().manual_seed(plan.seed)
        self._deal = random.Random(plan.seed)
        self.shuffled = False
        """Whether the rewards of a step are dealt out anew among its episodes, so that they say nothing."""
        self.rewards: list[float] = []
        """The mean reward of the episodes of each step, before they are dealt anew."""
        self.failed = 0
        """Episodes, of these, in which something else failed than the policy."""

    def play(self, tasks: Sequence[TaskName]) -> list[Played]:
        """Play tasks with the model as it is."""
        self.model.eval()
        return self._door.play(
            tasks,
            self.tokenizer.encode,
            lambda tokens: write_reply(self.model, self.tokenizer, tokens, self._chance),
        )

    def measure(self) -> dict[str, list[float | None]]:
        """Return what the policy earns on the tasks that are held out, by kind."""
        first, last = self.plan.held_out_seeds
        tasks = [
            TaskName(kind, seed) for kind in self.plan.kinds for seed in range(first, last + 1)
        ]
        played = self.play(tasks)
        return {
            kind: [one.reward for one in played if one.task.kind == kind]
            for kind in self.plan.kinds
        }

    def roll_out(self, prompts: Sequence[str], _trainer: object) -> dict[str, Any]:
        """Play the tasks that prompts name, as `rollout_func`."""
        played = self.play([TaskName(kind, int(seed)) for kind, seed in map(str.split, prompts)])
        self.model.train()
        earned = [one.reward for one in played if one.reward is not None]
        self.failed += len(played) - len(earned)
        self.rewards.append(round(sum(earned) / max(1, len(earned)), 4))
        tell(shuffled=self.shuffled, step=len(self.rewards), reward=self.rewards[-1])
        return {
            "prompt_ids": [one.prompt for one in played],
            "completion_ids": [one.rest for one in played],
            "logprobs": [one.logprobs for one in played],
            "env_mask": [one.said for one in played],
            "earned": [one.reward for one in played],
        }

    def reward(self, earned: Sequence[float | None], **_: object) -> list[float | None]:
        """Return the rewards of a step, as a reward function."""
        rewards = list(earned)
        if self.shuffled:
            self._deal.shuffle(rewards)
        return rewards


def read_rows(file: Path, plan: Plan) -> list[Row]:
    """Return replies of the teacher, as many of each kind, each under the pages before it."""
    episodes = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    random.Random(plan.seed).shuffle(episodes)
    found: dict[str, list[Row]] = {kind: [] for kind in plan.kinds}
    for episode in episodes:
        rows = _rows_of(episode)
        learnt = found.get(episode["kind"])
        if learnt is not None and len(learnt) + len(rows) <= plan.rows // len(plan.kinds):
            learnt.extend(rows)
    return [row for rows in found.values() for row in rows]


def _rows_of(episode: Mapping[str, Any]) -> list[Row]:
    rows: list[Row] = []
    before = ""
    for step in episode["steps"]:
        choices = choices_of(step["lines"])
        at = (step["x"], step["y"])
        page = page_text(choices, None if rows else episode["instruction"])
        nearest = min(
            range(len(choices)),
            key=lambda number: abs(choices[number].x - at[0]) + abs(choices[number].y - at[1]),
        )
        rows.append(Row(before + page, reply_of(nearest)))
        before += page + reply_of(nearest) + "\n"
    return rows


def tasks_of(plan: Plan) -> Dataset:
    """Return the tasks that are trained on, in an order drawn by the plan's seed; as many of each kind."""
    first, last = plan.train_seeds
    chance = random.Random(plan.seed)
    columns = [chance.sample(range(first, last + 1), plan.steps * plan.groups) for _ in plan.kinds]
    names = [
        f"{kind} {seed}"
        for seeds in zip(*columns, strict=True)
        for kind, seed in zip(plan.kinds, seeds, strict=True)
    ]
    return Dataset.from_dict({"prompt": names})


def train(learner: Learner) -> None:
    """Train a learner by GRPO."""
    plan = learner.plan
    with tempfile.TemporaryDirectory() as folder:
        args = GRPOConfig(
            output_dir=folder,
            max_steps=plan.steps * plan.iterations,
            per_device_train_batch_size=plan.groups * plan.group,
            num_generations=plan.group,
            gradient_accumulation_steps=1,
            num_iterations=plan.iterations,
            learning_rate=plan.learning_rate,
            lr_scheduler_type="constant",
            weight_decay=0.0,
            shuffle_dataset=False,
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            disable_tqdm=True,
            seed=plan.seed,
        )
        GRPOTrainer(
            model=learner.model,
            processing_class=learner.tokenizer,
            reward_funcs=learner.reward,
            rollout_func=learner.roll_out,
            train_dataset=tasks_of(plan),
            args=args,
        ).train()


def run(plan: Plan) -> Iterator[dict[str, Any]]:
    """Warm, measure, train with and without rewards that say something; yield what has come of it, at each stage."""
    rows = read_rows(Path(plan.teacher), plan)
    tokenizer = make_tokenizer([row.prompt + row.reply for row in rows])
    model = make_model(tokenizer, plan.seed)
    loss = warm(model, tokenizer, rows, epochs=plan.epochs, seed=plan.seed)
    warmed = {
        "parameters": sum(weights.numel() for weights in model.parameters()),
        "rows": len(rows),
        "loss": round(loss, 4),
        "warm_seconds": since(plan.begun),
    }
    door = Door(plan.url, os.environ["STEPMILL_TOKEN"], seats=plan.seats)
    before = Learner(plan, door, tokenizer, model).measure()
    tell(before=shares(before), seconds=since(plan.begun))
    trained = _arm(Learner(plan, door, tokenizer, deepcopy(model)))
    so_far = {**warmed, "before": before, "trained": trained, "seconds": since(plan.begun)}
    yield so_far
    control = _arm(Learner(plan, door, tokenizer, deepcopy(model)), shuffled=True)
    yield {**so_far, "control": control, "seconds_with_control": since(plan.begun)}


def _arm(learner: Learner, *, shuffled: bool = False) -> dict[str, Any]:
    learner.shuffled = shuffled
    begun = time.time()
    train(learner)
    after = learner.measure()
    tell(shuffled=shuffled, after=shares(after), seconds=since(begun))
    return {
        "after": after,
        "rewards": learner.rewards,
        "failed": learner.failed,
        "seconds": since(begun),
    }


def shares(earned: Mapping[str, Sequence[float | None]]) -> dict[str, float]:
    """Return the share of successes by kind."""
    return {kind: round(sum(filter(None, got)) / len(got), 3) for kind, got in earned.items()}


def since(begun: float) -> float:
    """Return the seconds since a time."""
    return round(time.time() - begun, 1)


def tell(**figures: object) -> None:
    """Print how far it is."""
    print(json.dumps(figures), file=sys.stderr, flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    plan_file, result = map(Path, sys.argv[1:])
    for told in run(Plan(**json.loads(plan_file.read_text(encoding="utf-8")))):
        result.write_text(json.dumps(told), encoding="utf-8")
