"""What a server that batches continuously does with requests, its cache apart."""

import pytest
from support.engines.batching import BLOCK, SMALL, ask, serve, work

from generators.engine.simulator.batching.presets import ServerPreset, StateRule, read_presets
from generators.engine.simulator.batching.requests import BatchedRequest
from generators.engine.simulator.batching.scheduler import Batcher

TINY = SMALL.model_copy(update={"blocks": 23})
"""Room for two of the prompts below, and not for their replies."""


def _server(**changed: object) -> Batcher:
    return Batcher(SMALL.model_copy(update=changed))


@pytest.mark.parametrize("rule", StateRule)
def test_each_request_ends_once_with_its_tokens(rule: StateRule) -> None:
    server = _server(rule=rule)
    requests = [ask((7, 40), (n, 30 + 9 * n), reply=1 + 5 * n) for n in range(20)]
    ended = serve(server, *requests)

    assert sorted(map(id, ended)) == sorted(map(id, requests))
    assert server.totals.generation_tokens == sum(one.reply for one in requests)
    assert server.totals.prompt_tokens == sum(one.prompt for one in requests)
    assert server.pool.used == 0
    assert server.running == 0


def test_a_prompt_is_read_in_parts_that_end_where_blocks_do() -> None:
    server, request = _server(), ask((1, 10 * BLOCK + 3))
    server.add(request)
    ends = []
    while request.first_token is None:
        server.step(0.0, 0.0)
        ends.append(request.computed)

    assert ends == [4 * BLOCK, 8 * BLOCK, 10 * BLOCK, 10 * BLOCK + 3]


def test_without_states_a_part_ends_anywhere() -> None:
    server, request = _server(state_blocks=0, batched_tokens=50), ask((1, 120))
    server.add(request)
    server.step(0.0, 0.0)

    assert request.computed == 50


def test_a_reply_takes_tokens_from_those_who_read() -> None:
    server, other = _server(), ask((2, 10 * BLOCK))
    server.add(ask((1, 5), reply=50))
    server.step(0.0, 0.0)
    server.add(other)
    server.step(0.0, 0.0)

    assert other.computed == 3 * BLOCK


def test_no_more_requests_are_worked_on_than_may() -> None:
    server = _server(sequences=2)
    for n in range(5):
        server.add(ask((n, 5), reply=30))
    server.step(0.0, 0.0)

    assert (server.running, len(server.waiting)) == (2, 3)
    assert len(work(server)) == 5


def test_replies_alone_are_written_in_one_step_until_someone_may_ask() -> None:
    server = _server()
    server.add(ask((1, 5), reply=12))
    server.step(0.0, 0.0)
    seconds, done = server.step(0.0, 5 * (0.01 + 0.001))

    assert done == []
    assert seconds == pytest.approx(6 * 0.011)


def test_whoever_finds_no_room_has_the_youngest_begin_again() -> None:
    server = Batcher(TINY)
    old, young = ask((1, 6 * BLOCK), reply=5 * BLOCK), ask((2, 6 * BLOCK), reply=5 * BLOCK)
    ended = serve(server, old, young)

    assert [one is old for one in ended] == [True, False]
    assert (old.preemptions, young.preemptions > 0) == (0, True)
    assert server.totals.preemptions == young.preemptions


def test_a_reader_makes_room_by_a_writer_that_is_younger() -> None:
    server = _server(blocks=15, state_blocks=1, batched_tokens=4 * BLOCK + 8)
    old = ask((1, 10 * BLOCK), reply=3)
    young = ask((2, 5), reply=60)
    server.add(old)
    server.add(young)
    while not young.preemptions and old.done is None:
        server.step(0.0, 0.0)

    assert (old.preemptions, young.preemptions) == (0, 1)
    assert len(work(server)) == 2


@pytest.mark.parametrize("rule", StateRule)
def test_everybody_is_answered_in_a_memory_that_is_far_too_small(rule: StateRule) -> None:
    server = Batcher(TINY.model_copy(update={"rule": rule, "blocks": 17}))
    requests = [ask((n, 20 + 13 * (n % 5)), reply=BLOCK * (n % 4) + 1) for n in range(30)]
    ended = serve(server, *requests)

    assert len(ended) == len(requests)
    assert server.totals.generation_tokens == sum(one.reply for one in requests)
    assert server.pool.used == 0


def test_a_prompt_that_never_fits_waits_for_ever() -> None:
    server = Batcher(TINY)

    assert serve(server, ask((1, 30 * BLOCK))) == []
    assert len(server.waiting) == 1


def test_a_request_whose_caller_is_gone_leaves_all_that_it_used() -> None:
    server = _server(sequences=2)
    requests = [ask((n, 80), (n + 9, 40), reply=20, pictures=[1]) for n in range(3)]
    for request in requests:
        server.add(request)
    for _ in range(4):
        server.step(0.0, 0.0)
    for request in requests:
        server.remove(request)

    assert server.pool.used == 0
    assert work(server) == []


HOLOTRON = read_presets()["holotron-fp32"]
PICTURE = 1_280
LIVELOCK = [(n, PICTURE) for n in (10, 11, 12)]


def _three_pictures(preset: ServerPreset, text: int) -> list[BatchedRequest]:
    block = preset.block_tokens
    request = ask((1, text), *LIVELOCK, (2, 100), pictures=[1, 2, 3], block=block)
    return serve(Batcher(preset), request)


def test_three_pictures_in_a_row_can_stand_still() -> None:
    server = Batcher(HOLOTRON)
    request = ask((1, 1_350), *LIVELOCK, (2, 100), pictures=[1, 2, 3], block=HOLOTRON.block_tokens)

    assert serve(server, request) == []
    assert server.step(0.0, 0.0) == (0.0, [])
    assert server.running == 1
    assert request.computed == 2 * HOLOTRON.block_tokens


@pytest.mark.parametrize(
    "changed",
    [
        {"batched_tokens": 5_248, "encoder_tokens": 5_248},
        {"block_tokens": 672, "blocks": 3_094},
    ],
    ids=["more tokens", "smaller blocks"],
)
def test_with_more_tokens_or_smaller_blocks_they_never_do(changed: dict[str, int]) -> None:
    preset = HOLOTRON.model_copy(update=changed)

    assert all(len(_three_pictures(preset, text)) == 1 for text in range(1, 2_700, 7))


LARGEST = 3_328
"""Tokens of a 4:3 picture of 12 tiles."""


def _answers_two_large_pictures(step: int, text: int, between: int) -> bool:
    """Return whether a server with steps of so many tokens answers a prompt with two of the largest pictures."""
    preset = HOLOTRON.model_copy(update={"batched_tokens": step, "encoder_tokens": step})
    segments = [(1, text), (10, LARGEST), (2, between), (11, LARGEST), (3, 100)]
    return len(serve(Batcher(preset), ask(*segments, pictures=[1, 3], block=1_312))) == 1


@pytest.mark.parametrize("between", [1, 300])
def test_a_step_that_holds_two_of_the_largest_pictures_never_stands_still(between: int) -> None:
    texts = range(1, 2_700, 37)

    assert not all(_answers_two_large_pictures(5_248, text, between) for text in texts)
    assert all(_answers_two_large_pictures(6_656, text, between) for text in texts)


def test_a_picture_is_encoded_ahead_of_a_part_that_ends_before_it() -> None:
    server = _server()
    server.add(ask((1, 4 * BLOCK), reply=30))
    server.step(0.0, 0.0)
    server.add(ask((2, 3 * BLOCK + 4), (3, BLOCK), (4, 2 * BLOCK), pictures=[1]))
    server.step(0.0, 0.0)

    assert server.totals.encoded_tokens == BLOCK
    assert server.reading[0].computed == 3 * BLOCK


def test_equal_loads_have_equal_results() -> None:
    def play() -> list[tuple[float | None, int, int]]:
        server = Batcher(TINY)
        requests = [
            ask((n % 3, 30), (n, 15), (n % 2 + 50, 16), reply=9 + n, pictures=[2])
            for n in range(25)
        ]
        serve(server, *requests)
        return [(one.done, one.cached, one.preemptions) for one in requests]

    assert play() == play()


def _ranked(*ranks: int, reply: int = 30) -> list[BatchedRequest]:
    requests = [ask((n, 5), reply=reply, arrived=float(n)) for n, _ in enumerate(ranks)]
    for request, rank in zip(requests, ranks, strict=True):
        request.priority = rank
    return requests


def test_requests_begin_by_their_priority_where_the_server_schedules_so() -> None:
    server = Batcher(SMALL.model_copy(update={"sequences": 1}), by_priority=True)
    requests = _ranked(2, 3, 1, 3, 0)
    ended = serve(server, *requests)
    usual = serve(_server(sequences=1), *_ranked(2, 3, 1, 3, 0))

    assert [requests.index(one) for one in ended] == [4, 2, 0, 1, 3]
    assert [one.arrived for one in usual] == sorted(one.arrived for one in usual)


def test_the_least_urgent_one_makes_room_where_the_server_schedules_by_priority() -> None:
    server = Batcher(TINY, by_priority=True)
    first, urgent = ask((1, 6 * BLOCK), reply=5 * BLOCK), ask((2, 6 * BLOCK), reply=5 * BLOCK)
    first.priority = 1
    ended = serve(server, first, urgent)

    assert [one is urgent for one in ended] == [True, False]
    assert (urgent.preemptions, first.preemptions > 0) == (0, True)
    assert server.pool.used == 0
