"""Which keys of a configuration decide what a run makes, and which may differ when it is resumed."""

from collections.abc import Mapping
from typing import Any

import pytest

from schemas.configuration.config import RunConfig, identity, resolve
from schemas.tasks.task import MAX_SEED


def _dotted(table: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    out: dict[str, object] = {}
    for key, value in table.items():
        nested = isinstance(value, Mapping) and key not in {
            "min_scores",
            "dialect_options",
            "shares",
        }
        out |= _dotted(value, f"{prefix}{key}.") if nested else {f"{prefix}{key}": value}
    return out


DEFAULTS = _dotted(RunConfig().model_dump(mode="json"))


DECIDES = {
    "run.seed": 1,
    "engine.revision": "0123456789abcdef0123456789abcdef01234567",
    "tasks.source": "mine.jsonl",
    "tasks.sources": ["miniwob"],
    "tasks.sample": 10,
    "tasks.faults": 0.5,
    "tasks.include": ["a"],
    "tasks.exclude": ["a"],
    "tasks.seeds": [0, 1],
    "tasks.attempts": 2,
    "tasks.unit_size": 2,
    "policy.name": "clumsy",
    "policy.dialect": "holo",
    "policy.dialect_options": {"convention": "px"},
    "policy.temperature": 0.5,
    "policy.top_p": 0.5,
    "policy.max_tokens": 99,
    "policy.context_tokens": 999,
    "policy.logprobs": "raw",
    "policy.localizer": {"model": "m"},
    "policy.validator": {"model": "m"},
    "policy.keep_images": 2,
    "policy.slack_images": 0,
    "policies": [{"name": "clumsy"}],
    "engine.model": "m",
    "engine.args": ["--x"],
    "browser.viewport": [640, 480],
    "browser.viewports": [[640, 480], [390, 844]],
    "browser.device_scale_factor": 2.0,
    "browser.picture_side": [300, 400],
    "browser.margin": 0.5,
    "limits.steps": 2,
    "limits.seconds": 2.0,
    "limits.tokens": 2,
    "limits.stuck_steps": 2,
}
"""A change of each key that decides what a run makes."""

OPEN = {
    "run.url": "elsewhere",
    "run.name": "other",
    "engine.kind": "openai",
    "engine.urls": ["http://127.0.0.1:8000/v1"],
    "engine.usd_per_hour": 2.0,
    "engine.usd_per_million": {"prompt": 1.0, "completion": 2.0},
    "engine.command": ["vllm"],
    "engine.gpus": 2,
    "engine.replicas": 2,
    "engine.requests": 2,
    "seats.host": "127.0.0.2",
    "seats.port": 0,
    "seats.doors": ["run"],
    "seats.engines": ["http://127.0.0.1:8000"],
    "seats.splits": ["train"],
    **dict.fromkeys(
        (
            "seats.lease_seconds",
            "seats.silence_seconds",
            "seats.return_seconds",
            "seats.wait_seconds",
            "seats.commit_seconds",
        ),
        2.0,
    ),
    "seats.max_waiting": 2,
    "seats.max_staleness": 2,
    **dict.fromkeys(("engine.patience_seconds", "engine.wedged_seconds"), 2.0),
    "browser.sessions": 2,
    "browser.processes": 2,
    "browser.sandbox": "off",
    "browser.user": 4_711,
    "storage.private": False,
    "limits.live_episodes": 2,
    "limits.drain_seconds": 2.0,
    "limits.dollars": 2.0,
    "limits.hours": 2.0,
    "limits.accepted": 2,
    "verify.verifiers": ["structure"],
    "verify.rejected_too": ["replay"],
    "accept.passed": ["structure"],
    "accept.min_reward": 0.5,
    "accept.min_scores": {"judge": 0.5},
    "accept.reviews": "require",
    "storage.endpoint_url": "http://127.0.0.1:9000",
    "storage.region": "eu",
    "storage.shard_mb": 2,
    "select.where": "n_steps < 9",
    "select.max_per_task": 1,
    "select.max_per_template": 2,
    "select.max_per_family": 3,
    "select.shares": {"miniwob": 1.0},
    "publish.to": ["out"],
    "publish.append": True,
    "publish.fall_points": 5.0,
    "publish.best_of": 2,
    "publish.include_rejected": True,
    "publish.private": False,
    "publish.gated": "manual",
    "publish.license": "mit",
    "publish.training_rows": ["sft"],
    "publish.dialect": "holo2",
}
"""A change of each key that may differ when a run is resumed."""


def _changed(key: str, value: object) -> RunConfig:
    section, _, name = key.partition(".")
    return resolve([("--set", {section: {name: value} if name else value})])


@pytest.mark.parametrize(("key", "value"), DECIDES.items())
def test_what_decides_the_data_is_identity(key: str, value: object) -> None:
    assert identity(_changed(key, value)) != identity(RunConfig())


@pytest.mark.parametrize(("key", "value"), OPEN.items())
def test_what_decides_no_data_is_not_identity(key: str, value: object) -> None:
    changed = _changed(key, value)

    assert changed != RunConfig()
    assert identity(changed) == identity(RunConfig())


def test_the_seeds_in_effect_are_identity() -> None:
    assert identity(RunConfig())["tasks.seeds"] == [0, 4]
    assert identity(_changed("tasks.seeds", [0, 4])) == identity(RunConfig())
    assert identity(_changed("tasks.sample", 9))["tasks.seeds"] == [0, MAX_SEED]


def test_every_key_is_known_to_decide_or_not() -> None:
    told = set(DECIDES) | set(OPEN)

    assert set(DEFAULTS) - told <= {"policy.share", "policy.script"}
    assert told <= set(DEFAULTS)


def test_one_policy_alone_is_the_same_run_as_a_list_of_it() -> None:
    alone = resolve([("demo.toml", {"policy": {"name": "clumsy"}})])
    listed = resolve([("demo.toml", {"policies": [{"name": "clumsy"}]})])

    assert identity(alone) == identity(listed)
