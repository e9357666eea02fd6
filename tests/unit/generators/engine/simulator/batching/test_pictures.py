"""The encoder keeps pictures by their content, for as long as somebody has yet to read them."""

from generators.engine.simulator.batching.pictures import PictureCache
from generators.engine.simulator.batching.requests import BatchedRequest, Sight


def _request(*contents: int) -> BatchedRequest:
    sights = [Sight(at * 100, 100, content) for at, content in enumerate(contents)]
    return BatchedRequest(len(contents) * 100 + 10, 1, [], sights, 0.0)


def test_a_picture_is_found_by_another_request() -> None:
    cache, one, other = PictureCache(200), _request(1), _request(2, 1)
    cache.put(one, 0)

    assert not cache.find(other, 0)
    assert cache.find(other, 1)


def test_a_picture_in_use_is_never_dropped() -> None:
    cache, one = PictureCache(200), _request(1, 2)
    cache.put(one, 0)
    cache.put(one, 1)
    one.computed = 150
    cache.leave_read(one)

    assert not cache.make_room(101)
    assert cache.make_room(100)
    assert cache.find(_request(2), 0)
    assert not cache.find(_request(1), 0)


def test_the_picture_that_was_left_first_is_dropped_first() -> None:
    cache, one, other = PictureCache(200), _request(1), _request(2)
    for request in (one, other):
        cache.put(request, 0)
    cache.leave_all(other)
    cache.leave_all(one)
    cache.make_room(100)

    assert cache.find(_request(1), 0)
    assert not cache.find(_request(2), 0)


def test_a_request_may_show_one_picture_twice() -> None:
    cache, one = PictureCache(100), _request(1, 1)
    cache.put(one, 0)

    assert cache.find(one, 1)

    one.computed = 100
    cache.leave_read(one)
    cache.make_room(100)
    cache.leave_all(one)

    assert not cache.find(_request(1), 0)
