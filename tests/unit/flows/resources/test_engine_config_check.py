"""An engine section that cannot be honoured is refused before any work."""

import pytest
from source_tree import ROOT

from flows.job.config_loader import Sources, load
from flows.resources.engine_config_check import check_encoder_budget, check_engine
from schemas.configuration.config import RunConfig
from schemas.errors import BadConfig, NoEngine

HOLOTRON = str(ROOT / "configs" / "holotron-h100.toml")


def _config(*settings: str, config: str = HOLOTRON) -> RunConfig:
    return load(Sources(config=config, settings=settings), {})


def _with_args(**flags: str) -> str:
    """Return the setting of Holotron's arguments, some of them with other values."""
    args = list(_config().engine.args)
    for name, value in flags.items():
        args[args.index(f"--{name.replace('_', '-')}") + 1] = value
    return "engine.args=" + str(args).replace("'{", "'''{").replace("}'", "}'''")


def test_the_configuration_that_ships_is_taken() -> None:
    check_engine(_config())


@pytest.mark.parametrize(
    ("settings", "numbers"),
    [
        ((_with_args(max_num_batched_tokens="2624"),), ("2624", "3840")),
        ((_with_args(max_num_batched_tokens="3839"),), ("3839", "3840")),
        (
            (_with_args(max_num_batched_tokens="2048", mamba_ssm_cache_dtype="float16"),),
            ("2048", "2560"),
        ),
        (("browser.viewport=[1024, 768]",), ("5248", "6656")),
        (("policy.slack_images=1", _with_args(max_num_batched_tokens="2400")), ("2400", "2560")),
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
        (_with_args(max_num_batched_tokens="3840"),),
        (_with_args(max_num_batched_tokens="2560", mamba_ssm_cache_dtype="float16"),),
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
