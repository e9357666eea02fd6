"""What an episode sent is cached or computed, and what is computed is new or computed again."""

from datetime import UTC, datetime

from schemas.episodes.call import Call
from schemas.episodes.token_ledger import TokenLedger, token_ledgers
from schemas.packed import TokenIds

AT = datetime(2026, 1, 1, tzinfo=UTC)
PICTURE = [9] * 20
"""Its placeholders."""


def _call(
    number: int,
    ids: list[int] | None,
    *,
    cached: int | None = 0,
    engine: str = "vllm-0",
    steps: tuple[int, ...] = (),
) -> Call:
    return Call(
        step=number,
        call=number,
        role="policy",
        engine=engine,
        prompt_tokens=None if ids is None else len(ids),
        cached_tokens=cached,
        prompt_token_ids=None if ids is None else TokenIds(ids),
        image_steps=steps,
        image_tokens=20 * len(steps),
        at=AT,
    )


def _ledgers(*calls: Call) -> list[TokenLedger]:
    out = list(token_ledgers(calls))
    for ledger in out:
        if ledger.computed is not None and ledger.sent is not None:
            assert ledger.sent == (ledger.cached or 0) + ledger.computed
        if ledger.new is not None:
            assert ledger.new >= 0
    return out


def test_what_was_sent_before_and_is_not_served_is_computed_again() -> None:
    first, second, third = _ledgers(
        _call(0, [*range(10)]),
        _call(1, [*range(16)], cached=8),
        _call(2, [*range(12), 99, 98], cached=0),
    )

    assert (first.sent, first.cached, first.new, first.again) == (10, 0, 10, 0)
    assert (second.computed, second.new, second.again) == (8, 6, 2)
    assert (third.computed, third.new, third.again) == (14, 2, 12)


def test_another_endpoint_was_sent_nothing() -> None:
    *_, other = _ledgers(_call(0, [*range(10)]), _call(1, [*range(10)], engine="vllm-1"))

    assert (other.new, other.again) == (10, 0)


def test_a_picture_is_the_same_only_with_its_step() -> None:
    one, two = [1, 2, *PICTURE, 3], [1, 2, *PICTURE, 3, *PICTURE, 4]

    *_, same = _ledgers(_call(0, one, steps=(0,)), _call(1, two, steps=(0, 1)))
    *_, other = _ledgers(_call(0, one, steps=(0,)), _call(1, one, steps=(1,)))

    assert (same.again, same.new) == (23, 21)
    assert (other.again, other.new) == (2, 21)


def test_what_a_server_does_not_report_is_unknown() -> None:
    first, second = _ledgers(
        _call(0, None), _call(1, None).model_copy(update={"prompt_tokens": 30, "cached_tokens": 16})
    )
    silent, _ = _ledgers(_call(0, [1, 2], cached=None), _call(1, [1, 2], cached=0))

    assert (first.sent, first.computed, first.new) == (None, None, None)
    assert (second.computed, second.again, second.new) == (14, None, None)
    assert (silent.sent, silent.computed, silent.again, silent.new) == (2, None, None, None)
