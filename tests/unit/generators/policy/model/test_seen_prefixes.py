"""How much of a prompt a perfect prefix cache would serve, from what an endpoint has seen."""

import logging

import pytest
from support.servers.engine_servers import engine, jpeg

from generators.engine.protocol import EnginePrompt, Message, Picture, Reply, Role, Sampling
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from generators.policy.model import seen_prefixes
from generators.policy.model.seen_prefixes import SeenPrefixes
from schemas.packed import TokenIds

SAMPLING = Sampling(max_tokens=48)
HOLDER = 9
"""The placeholder of pictures."""


def _prompt(*texts: str, picture: bytes | None = None) -> EnginePrompt:
    parts: tuple[str | Picture, ...] = texts
    if picture is not None:
        parts = (Picture(jpeg=picture, step=0, width=8, height=8), *texts)
    return EnginePrompt(messages=(Message(role=Role.USER, parts=parts),))


def _reply(
    ids: list[int] | None,
    *,
    endpoint: str = "a",
    block: int | None = 4,
    cached: int | None = None,
    tokens: int | None = None,
    pictures: int | None = None,
) -> Reply:
    return Reply(
        text="",
        endpoint=endpoint,
        prompt_tokens=tokens if ids is None else len(ids),
        prompt_token_ids=None if ids is None else TokenIds(ids),
        completion_token_ids=TokenIds(),
        cached_tokens=cached,
        image_tokens=pictures,
        block_tokens=block,
        total_ms=1.0,
    )


def _found(seen: SeenPrefixes, prompt: EnginePrompt, reply: Reply) -> int | None:
    return seen.cacheable_tokens(prompt, reply, sent=seen.begin())


def test_the_longest_beginning_of_any_conversation_counts_in_whole_blocks() -> None:
    seen = SeenPrefixes()

    assert _found(seen, _prompt("x"), _reply([1, 2, 3, 4, 5, 6, 7, 8, 10])) == 0
    assert _found(seen, _prompt("y"), _reply([1, 2, 3, 4, 5, 6, 7, 8, 11, 12])) == 8
    assert _found(seen, _prompt("y"), _reply([1, 2, 3, 4, 0, 6, 7, 8, 11, 12])) == 4
    assert _found(seen, _prompt("y"), _reply([0, 2, 3, 4, 5, 6, 7, 8])) == 0


def test_the_last_token_is_never_served() -> None:
    seen = SeenPrefixes()
    _found(seen, _prompt("x"), _reply([1, 2, 3, 4, 5, 6, 7, 8]))

    assert _found(seen, _prompt("x"), _reply([1, 2, 3, 4, 5, 6, 7, 8])) == 4


def test_another_endpoint_has_seen_nothing_and_a_larger_block_keeps_less() -> None:
    seen = SeenPrefixes()
    ids = list(range(20))
    _found(seen, _prompt("x"), _reply(ids))
    _found(seen, _prompt("x"), _reply(ids, endpoint="c", block=16))

    assert _found(seen, _prompt("x"), _reply(ids, endpoint="b")) == 0
    assert _found(seen, _prompt("x"), _reply(ids, endpoint="c", block=16)) == 16


def test_pictures_are_alike_in_their_placeholders_and_differ_in_their_content() -> None:
    seen, red, blue = SeenPrefixes(), jpeg(8, 8, noise=1), jpeg(8, 8, noise=2)
    ids = [1, 2, *[HOLDER] * 16, 3, 4, 5, 6]

    def found(picture: bytes) -> int | None:
        return _found(seen, _prompt("x", picture=picture), _reply(ids, pictures=16))

    assert found(red) == 0
    assert found(blue) == 0
    assert found(red) == 20
    assert found(blue) == 20


def test_what_came_while_a_request_was_under_way_was_not_there_yet() -> None:
    seen = SeenPrefixes()
    sent = seen.begin()
    _found(seen, _prompt("x"), _reply(list(range(9))))

    assert seen.cacheable_tokens(_prompt("x"), _reply(list(range(9))), sent=sent) == 0


def test_what_was_sent_before_counts_while_it_is_under_way_and_its_reply_does_not() -> None:
    seen, ids = SeenPrefixes(), list(range(12))
    first, second = seen.begin(), seen.begin()
    answered = _reply(ids[:8]).model_copy(update={"completion_token_ids": TokenIds(ids[8:])})
    seen.cacheable_tokens(_prompt("x"), answered, sent=first)

    assert seen.cacheable_tokens(_prompt("y"), _reply([*ids, 99]), sent=second) == 8
    assert _found(seen, _prompt("y"), _reply([*ids, 98])) == 12


def test_without_tokens_a_common_system_prompt_counts_in_whole_blocks() -> None:
    seen = SeenPrefixes()

    def found(task: str, cached: int | None = None) -> int | None:
        system = Message(role=Role.SYSTEM, parts=("s" * 900,))
        prompt = EnginePrompt(messages=(system, *_prompt(task).messages))
        return _found(seen, prompt, _reply(None, tokens=101, block=16, cached=cached))

    assert found("a" * 100) == 0
    assert found("b" * 100) == 80
    assert found("b" * 100) == 96
    assert found("c" * 100, cached=96) == 96


def test_without_tokens_messages_tell_and_what_was_served_could_be() -> None:
    seen = SeenPrefixes()
    grown = EnginePrompt(
        messages=(*_prompt("x").messages, Message(role=Role.ASSISTANT, parts=("y",)))
    )

    assert _found(seen, _prompt("x"), _reply(None, tokens=100)) == 0
    assert _found(seen, grown, _reply(None, tokens=130)) == 100
    assert _found(seen, _prompt("z"), _reply(None, tokens=50, cached=32)) == 32
    assert _found(seen, _prompt("z"), _reply(None)) is None


def test_no_more_is_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_prefixes, "MAX_BLOCKS", 4)
    seen = SeenPrefixes()
    for first in range(50):
        _found(seen, _prompt("x"), _reply([first, *range(100, 119)]))

    assert len(seen._seen["a"]) == 4
    assert _found(seen, _prompt("x"), _reply([49, *range(100, 119)])) == 16


@pytest.mark.parametrize(("share", "told"), [(0.0, 1), (0.4, 1), (0.6, 0), (1.0, 0)])
def test_a_cache_that_serves_less_than_half_of_what_it_could_is_said_once(
    share: float, told: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(seen_prefixes, "WATCHED_CALLS", 20)
    seen = SeenPrefixes()
    ids = list(range(101))
    for _ in range(100):
        _found(seen, _prompt("x"), _reply(ids, cached=int(100 * share)))

    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == told
    for line in lines:
        assert "--enable-prefix-caching" in line
        assert "limits.live_episodes" in line


def test_a_server_that_claims_no_cache_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(seen_prefixes, "WATCHED_CALLS", 5)
    seen = SeenPrefixes()
    for _ in range(20):
        _found(seen, _prompt("x"), _reply(list(range(101))))

    assert caplog.records == []


async def test_a_simulated_server_serves_exactly_what_is_reckoned(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    seen, served, reckoned = SeenPrefixes(), list[int | None](), list[int | None]()
    told = SimulatorOptions(prompt_tokens_details=True)
    async with SimulatorServer(told) as server, engine([server.url]) as client:
        for conversation in range(3):
            said: tuple[Message, ...] = _prompt("You drive a browser. " * 20).messages
            for turn in range(6):
                shot = Picture(
                    jpeg=jpeg(64, 64, noise=1 + turn % 3 + conversation // 2),
                    step=turn,
                    width=64,
                    height=64,
                )
                said = (*said, Message(role=Role.USER, parts=(shot, f"Turn {turn}, go on.")))
                sent = seen.begin()
                prompt = EnginePrompt(messages=said)
                reply = await client.reply(prompt, SAMPLING, session=f"s{conversation}")
                said = (*said, Message(role=Role.ASSISTANT, parts=(reply.text,)))
                known = seen._by_tokens(prompt, reply, sent)
                served.append(reply.cached_tokens)
                reckoned.append(known)

    assert reckoned == served
    assert 0 in served
    assert max(one or 0 for one in served) > 200
