"""Which states a request uses, and when it leaves them."""

from support.engines.batching import BLOCK, SMALL, ask, serve

from generators.engine.simulator.batching.scheduler import Batcher


def _held(server: Batcher, iterations: int) -> list[int]:
    """Return how many states the only request uses after each iteration."""
    held = []
    for _ in range(iterations):
        server.step(0.0, 0.0)
        (request,) = server.reading or server.writing
        held.append(len(request.states))
    return held


def test_while_it_is_read_a_request_uses_the_states_of_three_iterations() -> None:
    server = Batcher(SMALL)
    server.add(ask((1, 16 * BLOCK + 1), reply=9))

    assert _held(server, 5) == [1, 2, 3, 3, 3]


def test_while_it_is_written_a_request_uses_one_state() -> None:
    server = Batcher(SMALL)
    server.add(ask((1, 8 * BLOCK + 1), reply=9))

    # It leaves one in the iteration after its last part, and another in the next.
    assert _held(server, 6) == [1, 2, 3, 2, 1, 1]


def test_a_reply_that_gets_to_a_new_block_uses_two_states_for_two_iterations() -> None:
    server = Batcher(SMALL)
    server.add(ask((1, BLOCK - 4), reply=12))

    assert _held(server, 9) == [1, 1, 1, 1, 1, 2, 2, 1, 1]


def test_within_a_block_a_state_is_written_over() -> None:
    server = Batcher(SMALL.model_copy(update={"batched_tokens": BLOCK}))
    first, second = ask((1, 9), reply=9), ask((2, BLOCK - 1), reply=1 + BLOCK)
    server.add(first)
    server.add(second)
    computed = []
    for _ in range(2):
        server.step(0.0, 0.0)
        computed.append(second.computed)

    assert computed == [7, 15]
    assert len(second.states) == 1


def test_of_a_request_that_ended_the_state_is_dropped_before_its_blocks() -> None:
    server, request = Batcher(SMALL), ask((1, 3 * BLOCK + 1), reply=1)
    serve(server, request)
    pool = server.pool
    pool.shrink_to(pool.blocks - pool.blank - 1)

    found, state, junction = server.memory.look_up(ask((1, 3 * BLOCK + 1)))
    assert (found, state, junction) == (0, None, 3 * BLOCK)


def test_one_block_stands_for_none() -> None:
    assert Batcher(SMALL).pool.blocks == SMALL.blocks - 1
