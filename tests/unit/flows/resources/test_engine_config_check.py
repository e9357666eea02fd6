"""An engine section that cannot be honoured is refused before any work."""

import pytest
from source_tree import ROOT

from flows.job.config_loader import Sources, load
from flows.resources.engine_config_check import check_encoder_budget, check_engine
from generators.policy.dialects.registry import make_dialect
from generators.sites.miniwob_catalogue import catalogue
from schemas.configuration.config import RunConfig
from schemas.episodes.viewport import draw_viewport
from schemas.errors import BadConfig, NoEngine

MINIWOB_AREA = (160, 210)
HOLOTRON = str(ROOT / "configs" / "holotron-h100.toml")


SQUARE = "browser.viewport=[1024, 1024]"
"""Fixes the shape of pictures: each takes 1,280 tokens."""

OTHER_ROLE = (
    'policy.name="surfer"',
    'policy.dialect="holo2"',
    'policy.validator={ dialect = "holotron", max_tokens = 200 }',
)
"""The policy's own pictures take 1,024 tokens at most, and the validator's are tiled."""


def _config(*settings: str, config: str = HOLOTRON) -> RunConfig:
    return load(Sources(config=config, settings=settings), {})


def _with_args(**flags: str) -> str:
    """Return the setting of Holotron's arguments, some of them with other values."""
    args = list(_config().engine.args)
    for name, value in flags.items():
        args[args.index(f"--{name.replace('_', '-')}") + 1] = value
    return "engine.args=" + str(args).replace("'{", "'''{").replace("}'", "}'''")


def test_the_configuration_that_ships_is_taken_at_the_sizes_that_its_tasks_draw() -> None:
    config = _config()
    dialect = make_dialect(config.policy.dialect)
    sizes = set()
    for area in {entry.area or MINIWOB_AREA for entry in catalogue().values()}:
        pictures = [draw_viewport(config, area, seed=str(seed)).picture for seed in range(40)]
        sizes |= {dialect.image_tokens(*dialect.sent_size(*picture)) for picture in pictures}

    assert max(sizes) == 3_328, "a task of 160×210 px is nearly 3:4"
    check_engine(config)


@pytest.mark.parametrize(
    ("settings", "numbers"),
    [
        ((SQUARE, _with_args(max_num_batched_tokens="2624")), ("2624", "3840")),
        ((SQUARE, _with_args(max_num_batched_tokens="3839")), ("3839", "3840")),
        (
            (SQUARE, _with_args(max_num_batched_tokens="2048", mamba_ssm_cache_dtype="float16")),
            ("2048", "2560"),
        ),
        (
            (SQUARE, "policy.slack_images=1", _with_args(max_num_batched_tokens="2400")),
            ("2400", "2560"),
        ),
        (
            ("browser.viewport=[1024, 768]", _with_args(max_num_batched_tokens="5248")),
            ("5248", "6656"),
        ),
        ((_with_args(max_num_batched_tokens="6655"),), ("6655", "6656")),
        (
            ("policy.dialect_options.tiles=9", _with_args(max_num_batched_tokens="5119")),
            ("5119", "5120"),
        ),
        (
            ("policy.dialect_options.tiles=4", _with_args(max_num_batched_tokens="3839")),
            ("3839", "3840"),
        ),
        ((*OTHER_ROLE, _with_args(max_num_batched_tokens="6655")), ("6655", "6656")),
    ],
)
def test_flags_that_can_stand_still_for_ever_are_refused_with_both_numbers(
    settings: tuple[str, ...], numbers: tuple[str, str]
) -> None:
    config = _config(*settings)
    for check in (check_encoder_budget, check_engine):
        with pytest.raises(BadConfig) as refused:
            check(config)

        said = str(refused.value)
        assert said.startswith("engine.args: --max-num-batched-tokens")
        assert all(number in said for number in numbers)
        assert f"give --max-num-batched-tokens at least {numbers[1]}" in said


@pytest.mark.parametrize(
    "settings",
    [
        (SQUARE, _with_args(max_num_batched_tokens="3840")),
        (SQUARE, _with_args(max_num_batched_tokens="2560", mamba_ssm_cache_dtype="float16")),
        ("policy.dialect_options.tiles=9", _with_args(max_num_batched_tokens="5120")),
        ("policy.dialect_options.tiles=4", _with_args(max_num_batched_tokens="3840")),
        ("browser.viewport=[1024, 512]", _with_args(max_num_batched_tokens="2304")),
        (_with_args(max_num_batched_tokens="2624"), "policy.slack_images=0"),
        (_with_args(max_num_batched_tokens="2624"), 'engine.model="org/other"'),
        (_with_args(max_num_batched_tokens="2624"), 'policy.name="teacher"'),
    ],
)
def test_flags_that_cannot_are_taken_and_of_other_models_nothing_is_said(
    settings: tuple[str, ...],
) -> None:
    check_encoder_budget(_config(*settings))


def test_vllms_own_balancing_is_refused_before_any_work() -> None:
    with pytest.raises(NoEngine, match="--data-parallel-size"):
        check_engine(_config('engine.args=["--data-parallel-size", "2"]'))
