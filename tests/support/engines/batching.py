"""Requests of the batching clock, and what it makes of them, for tests."""

from collections.abc import Sequence

from generators.engine.simulator.batching.presets import ServerPreset, StateRule
from generators.engine.simulator.batching.requests import BatchedRequest, Sight, names_of
from generators.engine.simulator.batching.scheduler import Batcher

BLOCK = 16

SMALL = ServerPreset(
    blocks=201,
    block_tokens=BLOCK,
    state_blocks=3,
    rule=StateRule.CHUNKS,
    batched_tokens=4 * BLOCK,
    sequences=8,
    encoder_tokens=4 * BLOCK,
    iteration_seconds=0.01,
    token_seconds=0.001,
    picture_token_seconds=0.001,
    reply_token_seconds=0.001,
)
"""A server that a test can look through."""


def ask(
    *segments: tuple[int, int],
    reply: int = 4,
    pictures: Sequence[int] = (),
    block: int = BLOCK,
    arrived: float = 0.0,
) -> BatchedRequest:
    """Return a request of segments, each (what it says, tokens); `pictures` are the places of those that are pictures."""
    sights, at = [], 0
    for place, (said, tokens) in enumerate(segments):
        if place in pictures:
            sights.append(Sight(at, tokens, said))
        at += tokens
    names = names_of([*segments, (hash(("reply", *segments)), reply)], block)
    return BatchedRequest(at, reply, names, sights, arrived)


def work(server: Batcher, now: float = 0.0, *, steps: int = 20_000) -> list[BatchedRequest]:
    """Let a server go on until it has nothing to do or stands still, and return the requests that it ended."""
    ended: list[BatchedRequest] = []
    for _ in range(steps):
        seconds, done = server.step(now, now)
        if seconds == 0.0:
            return ended
        now += seconds
        ended += done
    raise AssertionError("the server goes on for ever")


def serve(server: Batcher, *requests: BatchedRequest) -> list[BatchedRequest]:
    """Let a server answer requests that come at once."""
    for request in requests:
        server.add(request)
    return work(server)
