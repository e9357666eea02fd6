"""Flags with which vLLM can stand still for ever over pictures are known before it is started."""

import pytest

from generators.engine.vllm.cache_blocks import block_tokens, livelock, step_tokens

HOLOTRON = "Hcompany/Holotron-12B"
CACHED = ("--enable-prefix-caching", "--mamba-ssm-cache-dtype")


@pytest.mark.parametrize(
    ("args", "tokens"),
    [
        ((*CACHED, "float32"), 1_312),
        ((*CACHED, "float16"), 672),
        ((*CACHED, "bfloat16", "--dtype", "bfloat16"), 672),
        (("--enable-prefix-caching",), 1_312),
        (("--enable_prefix_caching", "--mamba_ssm_cache_dtype=auto"), 1_312),
        (("--mamba-cache-mode", "align"), 1_312),
        ((*CACHED, "float32", "--tensor-parallel-size", "1"), 1_312),
    ],
)
def test_a_block_is_as_large_as_a_state(args: tuple[str, ...], tokens: int) -> None:
    assert block_tokens(HOLOTRON, args) == tokens


@pytest.mark.parametrize(
    ("model", "args"),
    [
        ("Hcompany/Holo2-8B", (*CACHED, "float32")),
        (None, (*CACHED, "float32")),
        (HOLOTRON, ()),
        (HOLOTRON, (*CACHED, "float32", "--no-enable-prefix-caching")),
        (HOLOTRON, ("--enable-prefix-caching", "--disable-prefix-caching")),
        (HOLOTRON, ("--no-enable-prefix-caching", "--mamba-cache-mode", "align")),
        (HOLOTRON, (*CACHED, "float32", "--mamba-cache-mode", "all")),
        (HOLOTRON, (*CACHED, "float32", "--block-size", "64")),
        (HOLOTRON, (*CACHED, "float32", "--kv-cache-dtype=fp8")),
        (HOLOTRON, (*CACHED, "float32", "-tp", "2")),
    ],
)
def test_of_other_models_and_other_blocks_nothing_is_said(
    model: str | None, args: tuple[str, ...]
) -> None:
    assert block_tokens(model, args) is None


@pytest.mark.parametrize(
    ("args", "tokens"),
    [
        (("--max-num-batched-tokens", "2624"), 2_624),
        (("--max_num_batched_tokens=4k",), 4_000),
        (("--max-num-batched-tokens", "1.5K"), 1_536),
        (("--max-num-batched-tokens", "1m"), 1_000_000),
        ((), None),
        (("--max-num-batched-tokens",), None),
        (("--max-num-batched-tokens", "many"), None),
    ],
)
def test_the_tokens_of_a_step_are_read_as_vllm_reads_them(
    args: tuple[str, ...], tokens: int | None
) -> None:
    assert step_tokens(args) == tokens


@pytest.mark.parametrize(
    ("block", "step", "picture", "pictures", "needed"),
    [
        (1_312, 2_624, 1_280, 3, 3_840),  # as it was seen to stand still
        (1_312, 3_839, 1_280, 3, 3_840),
        (1_312, 3_840, 1_280, 3, None),
        (1_312, 5_248, 1_280, 3, None),
        (1_312, 2_624, 1_280, 2, None),  # a third picture is never there
        (1_312, 5_248, 3_328, 3, 6_656),
        (1_312, 2_560, 1_311, 9, 2_622),
        (1_312, 3_929, 1_310, 9, 3_930),
        (672, 2_559, 1_280, 3, 2_560),
        (672, 2_560, 1_280, 3, None),
        (672, 100, 1_280, 1, None),  # the largest picture is always encoded
    ],
)
def test_a_step_must_encode_the_pictures_that_a_block_can_touch(
    block: int, step: int, picture: int, pictures: int, needed: int | None
) -> None:
    problem = livelock(block, step, picture=picture, pictures=pictures)

    if needed is None:
        assert problem is None
    else:
        assert problem is not None
        assert f"at most {max(step, picture)} tokens" in problem
        assert problem.endswith(f"give --max-num-batched-tokens at least {needed}")
