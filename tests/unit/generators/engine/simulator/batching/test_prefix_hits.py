"""What a server finds again of a prompt, under each rule of which states it keeps."""

import pytest
from support.engines.batching import BLOCK, SMALL, ask, serve, work

from generators.engine.simulator.batching.presets import StateRule
from generators.engine.simulator.batching.scheduler import Batcher


def _server(rule: StateRule, **changed: object) -> Batcher:
    return Batcher(SMALL.model_copy(update={"rule": rule, **changed}))


@pytest.mark.parametrize("rule", [StateRule.CHUNKS, StateRule.JUNCTIONS])
@pytest.mark.parametrize("tokens", [BLOCK + 1, 5 * BLOCK + 3, 9 * BLOCK + 1])
def test_a_prompt_sent_again_is_served_up_to_its_last_whole_block(
    rule: StateRule, tokens: int
) -> None:
    server, again = _server(rule), ask((1, tokens))
    serve(server, ask((1, tokens)))
    serve(server, again)

    assert again.cached == tokens // BLOCK * BLOCK


@pytest.mark.parametrize("rule", [StateRule.CHUNKS, StateRule.JUNCTIONS])
def test_a_prompt_of_nothing_but_whole_blocks_is_not_served_at_once(rule: StateRule) -> None:
    server = _server(rule, batched_tokens=9 * BLOCK)
    second, third = ask((1, 5 * BLOCK)), ask((1, 5 * BLOCK))
    for request in (ask((1, 5 * BLOCK)), second, third):
        serve(server, request)

    # Its last token is read in any case, so that the state at its very end is of no use.
    assert (second.cached, second.junction) == (0, 4 * BLOCK)
    assert third.cached == 4 * BLOCK


def test_a_longer_prompt_is_served_up_to_where_the_last_one_was_cut() -> None:
    for rule in (StateRule.CHUNKS, StateRule.JUNCTIONS):
        server, longer = _server(rule), ask((1, 6 * BLOCK + 5), (2, 50))
        serve(server, ask((1, 6 * BLOCK + 5)))
        serve(server, longer)

        assert longer.cached == 6 * BLOCK


def test_without_a_cache_nothing_is_served_nor_looked_up() -> None:
    server, again = _server(StateRule.NONE), ask((1, 6 * BLOCK))
    serve(server, ask((1, 6 * BLOCK)), again)
    serve(server, ask((1, 6 * BLOCK)))

    assert again.cached == 0
    assert (server.totals.queries, server.totals.cached_tokens) == (0, 0)


def test_the_end_of_each_part_is_kept_by_the_rule_of_chunks_alone() -> None:
    other = (9, 3 * BLOCK)
    cached = {}
    for rule in StateRule:
        server, parts = _server(rule), ask((1, 4 * BLOCK), other)
        serve(server, ask((1, 4 * BLOCK), (2, 4 * BLOCK + 1)))
        serve(server, parts)
        cached[rule] = parts.cached

    # Parts are of four blocks: one ends where these prompts part.
    assert cached == {StateRule.CHUNKS: 4 * BLOCK, StateRule.JUNCTIONS: 0, StateRule.NONE: 0}


@pytest.mark.parametrize("rule", [StateRule.CHUNKS, StateRule.JUNCTIONS])
def test_where_prompts_part_is_kept_by_the_second_and_serves_the_third(rule: StateRule) -> None:
    server = _server(rule)
    first, second, third = (ask((1, 3 * BLOCK + 5), (n, 5 * BLOCK)) for n in (2, 3, 4))
    for request in (first, second, third):
        serve(server, request)

    assert (second.cached, second.junction) == (0, 3 * BLOCK)
    assert third.cached == 3 * BLOCK


def test_a_model_of_attention_alone_is_served_every_whole_block() -> None:
    server = _server(StateRule.CHUNKS, state_blocks=0)
    second = ask((1, 3 * BLOCK + 5), (3, 40))
    serve(server, ask((1, 3 * BLOCK + 5), (2, 40)))
    serve(server, second)

    assert second.cached == 3 * BLOCK


def test_a_state_is_not_found_in_the_iteration_that_makes_it() -> None:
    server = _server(StateRule.CHUNKS, batched_tokens=9 * BLOCK)
    first, second = ask((1, 3 * BLOCK + 1)), ask((1, 3 * BLOCK + 1))
    server.add(first)
    server.add(second)
    server.step(0.0, 0.0)

    assert (server.running, len(server.waiting)) == (1, 1)

    work(server)
    assert second.cached == 3 * BLOCK


def test_what_is_unused_for_longest_is_forgotten_first() -> None:
    server = _server(StateRule.JUNCTIONS, blocks=24)
    for said in (1, 2, 3):
        serve(server, ask((said, 4 * BLOCK + 1)))
    newest, oldest = ask((3, 4 * BLOCK + 1)), ask((1, 4 * BLOCK + 1))
    serve(server, newest)
    serve(server, oldest)

    assert (newest.cached, oldest.cached) == (4 * BLOCK, 0)


def test_a_prompt_read_again_beside_its_forgotten_state_is_found_as_the_newest() -> None:
    server = _server(StateRule.JUNCTIONS)
    serve(server, ask((1, 3 * BLOCK), (2, 2 * BLOCK + 1)))
    serve(server, ask((1, 3 * BLOCK), (3, 2 * BLOCK + 1)))
    pool, names = server.pool, ask((1, 3 * BLOCK)).names
    twice = pool.find(names[0])
    assert twice is not None

    pool.shrink_to(pool.blocks - pool.blank - 8)  # the first prompt's own blocks and state

    assert pool.find(names[0]) is not None
    assert pool.find(names[0]) is not twice
