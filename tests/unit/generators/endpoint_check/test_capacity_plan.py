"""What a viewport costs, against the figures that were published and simulated."""

import math

import pytest
from support.inputs.dialect_variants import variant

from generators.endpoint_check.capacity_plan import (
    VIEWPORTS,
    CapacityPlan,
    PlanRow,
    Workload,
    plan,
    tokens_per_step,
)
from schemas.configuration.picture_sizes import MODEL_VIEWPORT


def row(made: CapacityPlan, size: tuple[int, int]) -> PlanRow:
    return next(row for row in made.rows if (row.width, row.height) == size)


@pytest.mark.parametrize(
    ("steps", "tokens"), [(8, 9_700), (15, 11_200), (30, 13_700), (40, 15_300)]
)
def test_the_published_loops_tokens_are_met(steps: int, tokens: int) -> None:
    loop = Workload(steps=steps, keep_images=3, slack_images=0)

    assert tokens_per_step(2_560, loop) == pytest.approx(tokens, rel=0.01)


def test_a_window_without_slack_slides_and_one_with_slack_falls_back() -> None:
    bare = {"system_tokens": 0, "text_tokens": 0, "placeholder_tokens": 0, "reply_tokens": 0}

    def pictures(steps: int, keep: int, slack: int) -> float:
        window = Workload.model_validate(
            {**bare, "steps": steps, "keep_images": keep, "slack_images": slack}
        )
        return tokens_per_step(1, window) * steps

    assert pictures(6, 3, 0) == 1 + 2 + 3 + 3 + 3 + 3
    assert pictures(6, 1, 2) == 1 + 2 + 3 + 1 + 2 + 3


def test_rates_are_the_published_rate_over_the_tokens() -> None:
    made = plan(variant("holotron"))
    cheap = row(made, (1_024, 512))
    usual = row(made, (1_024, 1_024))

    assert cheap.steps_per_second == pytest.approx(8_900 / cheap.tokens_per_step)
    assert usual.image_tokens == 1_280
    assert usual.cached_tokens_per_step == pytest.approx(0.21 * 11_260, rel=0.01)
    assert "8.9k" not in made.rate_source
    assert "Holotron-12B" in made.rate_source


def test_the_default_viewport_lies_on_holotrons_grid() -> None:
    made = plan(variant("holotron"))
    defaults = [row for row in made.rows if row.default]

    assert [(row.width, row.height) for row in defaults] == [MODEL_VIEWPORT]
    assert all(row.on_grid and row.legibility == 1.0 for row in defaults)
    assert defaults[0].grid == (2, 2)


def test_a_squeezed_screen_is_shown_as_less_legible() -> None:
    squeezed = row(plan(variant("holotron")), (1_280, 720))

    assert (squeezed.seen_width, squeezed.seen_height) == (1_024, 512)
    assert squeezed.legibility == pytest.approx(512 / 720)
    assert not squeezed.on_grid


@pytest.mark.parametrize("name", ["holotron", "holo1_5", "holo2"])
def test_every_family_that_asks_has_a_table_from_cheap_to_dear(name: str) -> None:
    made = plan(variant(name))
    tokens = [row.image_tokens for row in made.rows]

    assert len(made.rows) == len({*VIEWPORTS, MODEL_VIEWPORT})
    assert tokens == sorted(tokens)
    assert all(row.legibility > 0 for row in made.rows)
    known = name != "holo1_5"
    assert all((row.steps_per_second is not None) == known for row in made.rows)
    assert all((row.grid is not None) == (name == "holotron") for row in made.rows)


def test_a_cache_is_reckoned_only_where_it_was_simulated() -> None:
    made = plan(variant("holotron"), workload=Workload(keep_images=3, slack_images=3))

    assert all(row.cached_tokens_per_step is None for row in made.rows)
    assert all(row.steps_per_second for row in made.rows)


def test_viewports_may_be_asked_for() -> None:
    made = plan(variant("holo2"), viewports=[(640, 480)])

    assert {(row.width, row.height) for row in made.rows} == {(640, 480), MODEL_VIEWPORT}
    assert row(made, (640, 480)).on_grid


def test_shares_go_on_past_the_simulated_pictures() -> None:
    made = plan(variant("holotron"), viewports=[(1_024, 768), (512, 512), (1_280, 800)])
    shares = [row.cached_tokens_per_step for row in made.rows]

    assert None not in shares
    assert shares == sorted(shares, key=lambda share: share or 0)


@pytest.mark.parametrize(
    ("name", "token", "states", "block"),
    [
        ("holotron", 24_576, 142, 1_312),
        ("holo2", 147_456, 0, 16),
        ("holo4", 20_480, 61, 1_056),
        ("holotron4", 6_144, 47, 2_096),
    ],
)
def test_a_plan_says_what_a_prompt_takes_of_memory(
    name: str, token: int, states: int, block: int
) -> None:
    memory = plan(variant(name)).memory

    assert memory is not None
    assert (memory.token_bytes, round(memory.state_bytes / 2**20)) == (token, states)
    assert memory.block_tokens == block


def test_blocks_are_as_many_tokens_as_a_state_takes() -> None:
    for name, layer, token in (("holo4", 2_146_304, 2_048), ("holotron4", 2_134_016, 1_024)):
        memory = plan(variant(name)).memory
        assert memory is not None
        assert memory.block_tokens == math.ceil(layer / token / 16) * 16


def test_a_family_of_many_sizes_has_no_such_figure() -> None:
    assert plan(variant("qwen3_vl")).memory is None
