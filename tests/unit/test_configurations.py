"""The configurations for a GPU leave an episode the time and the tokens that it needs there.

Seconds are reckoned from each file's own numbers, so that more sessions, steps or tokens without more
time are found: all sessions share the engine, and a reply takes as long as it takes to serve each of
them once.
"""

import tomllib
from typing import cast

import pytest
from source_tree import ROOT

from flows.job.config_loader import Sources, load
from generators.endpoint_check.capacity_plan import TOKENS_PER_SECOND, Workload, tokens_per_step
from generators.engine.vllm.cache_blocks import KNOWN_BLOCKS, livelock
from generators.engine.vllm.command import flag_value
from generators.policy.dialects.registry import make_dialect
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import LimitsSection
from schemas.episodes.viewport import largest_viewport, picture_shapes

GPU = ("holotron-h100", "holo2-h100")
STEPS = 50
"""That an episode there must have time for."""

BROWSER_SECONDS = 4.0
"""Looking and acting, a step, on a machine that is busy."""

REPLY_SECONDS = {"with a prefix cache": 22.0, "without one": 111.0}
"""Of Holotron-12B on an H100 at 64 sessions, the median; simulated."""


def _config(name: str) -> RunConfig:
    return load(Sources(config=str(ROOT / f"configs/{name}.toml")), {})


def _reply_seconds(config: RunConfig) -> float:
    """Return how long a reply takes with no prefix cache, and when every one is at its longest."""
    (policy,) = config.mix
    dialect = make_dialect(policy.dialect or "")
    work = Workload(
        steps=STEPS,
        reply_tokens=policy.max_tokens,
        keep_images=policy.keep_images,
        slack_images=policy.slack_images,
    )
    tokens = tokens_per_step(dialect.image_tokens(*largest_viewport(config).picture), work)
    return _waiting(config) * tokens / TOKENS_PER_SECOND[dialect.name][0]


def _waiting(config: RunConfig) -> int:
    """Return how many episodes may wait for a reply at once."""
    return config.limits.live_episodes or config.browser.sessions


def _needed(reply_seconds: float) -> float:
    return STEPS * (reply_seconds + BROWSER_SECONDS)


@pytest.mark.parametrize("name", GPU)
def test_an_episode_has_time_for_its_steps_when_every_session_waits(name: str) -> None:
    config = _config(name)

    assert config.limits.steps >= STEPS
    assert config.limits.seconds >= _needed(_reply_seconds(config))
    assert LimitsSection().seconds < _needed(_reply_seconds(config)), "the default would do"


@pytest.mark.parametrize("seconds", REPLY_SECONDS.values(), ids=REPLY_SECONDS.keys())
def test_holotron_has_time_for_its_steps_at_the_latencies_that_were_simulated(
    seconds: float,
) -> None:
    config = _config("holotron-h100")

    assert config.limits.seconds >= _needed(seconds * _waiting(config) / 64)


MEASURED_LIVE = 32
"""Live episodes with which an H100 was fastest, of those that were measured: the governor must be free to find as many."""


def test_holotron_leaves_its_governor_room_to_find_how_many_episodes_live() -> None:
    config = _config("holotron-h100")

    assert flag_value(config.engine.args, "--mamba-ssm-cache-dtype") == "float32"
    assert _waiting(config) >= MEASURED_LIVE
    assert config.browser.sessions > _waiting(config), "replays wait for rollouts"


BLOCK_TOKENS = {
    "holotron-h100": KNOWN_BLOCKS["Hcompany/Holotron-12B"].wide_tokens,
    "holo2-h100": 16,
}
"""Tokens of a block of the prefix cache."""


@pytest.mark.parametrize("name", GPU)
def test_a_step_of_the_engine_encodes_the_pictures_that_one_block_touches(name: str) -> None:
    config = _config(name)
    (policy,) = config.mix
    dialect, kept = make_dialect(policy.dialect or ""), policy.keep_images + policy.slack_images
    pictures = {dialect.image_tokens(*dialect.sent_size(*one)) for one in picture_shapes(config)}
    needed = {size: size * min(2 + (BLOCK_TOKENS[name] - 2) // size, kept) for size in pictures}

    budget = int(flag_value(config.engine.args, "--max-num-batched-tokens") or 0)

    assert max(pictures) == {"holotron-h100": 3_328, "holo2-h100": 1_024}[name]
    assert max(needed.values()) == {"holotron-h100": 6_656, "holo2-h100": 2_048}[name]
    assert budget >= max(needed.values())


@pytest.mark.parametrize("name", GPU)
def test_a_single_reply_is_waited_for_longer_than_it_takes(name: str) -> None:
    config = _config(name)

    assert config.engine.patience_seconds >= 10 * _reply_seconds(config)


UNTRIED = ("holo4-h100", "holotron4-h100")


@pytest.mark.parametrize("name", UNTRIED)
def test_a_configuration_that_was_never_run_says_so_and_fits_what_is_known_of_its_model(
    name: str,
) -> None:
    config = _config(name)
    (policy,) = config.mix
    text = (ROOT / f"configs/{name}.toml").read_text(encoding="utf-8")
    dialect = make_dialect(policy.dialect, policy.dialect_options)
    blocks = KNOWN_BLOCKS[config.engine.model or ""]
    kept = policy.keep_images + policy.slack_images
    largest = max(dialect.image_tokens(*dialect.sent_size(*one)) for one in picture_shapes(config))
    budget = int(flag_value(config.engine.args, "--max-num-batched-tokens") or 0)

    assert "UNTRIED" in text
    assert policy.dialect_options["reconstructed"] is True
    assert kept == 3, "the published loops keep three screenshots"
    assert largest <= 1_024
    assert f"{blocks.wide_tokens:,} tokens" in text
    assert livelock(blocks.wide_tokens, budget, picture=largest, pictures=kept) is None
    assert config.limits.seconds >= STEPS * (BROWSER_SECONDS + 100)
    assert f'"image": {kept}' in (flag_value(config.engine.args, "--limit-mm-per-prompt") or "")


def test_a_model_that_thinks_before_its_reply_has_tokens_for_both() -> None:
    config = _config("holo2-h100")

    assert "--reasoning-parser" in config.engine.args
    assert config.mix[0].max_tokens == 4_096


@pytest.mark.parametrize("name", GPU)
def test_the_limits_stand_in_the_file(name: str) -> None:
    read = tomllib.loads((ROOT / f"configs/{name}.toml").read_text(encoding="utf-8"))

    assert {"steps", "seconds"} <= cast("dict[str, object]", read["limits"]).keys()
