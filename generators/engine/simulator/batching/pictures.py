"""What the encoder made of pictures, until its room is wanted: in whole, by their content, for all requests.

Made after vLLM 0.26's `v1/core/encoder_cache_manager.py`. A picture stays for as long as a request has yet to read it, and
after that until another one needs its room; the one left for the longest goes first.
"""

from collections import OrderedDict

from generators.engine.simulator.batching.requests import BatchedRequest


class PictureCache:
    """The pictures of one server."""

    def __init__(self, tokens: int) -> None:
        self._blank = tokens
        self._loose = tokens
        self._users: dict[int, set[BatchedRequest]] = {}
        self._idle: OrderedDict[int, int] = OrderedDict()

    def find(self, request: BatchedRequest, index: int) -> bool:
        """Return whether a picture of a request is there, which uses it from then on."""
        content = request.sights[index].content
        users = self._users.get(content)
        if users is None:
            return False
        if not users:
            self._loose -= self._idle.pop(content)
        users.add(request)
        request.encoded.add(index)
        return True

    def make_room(self, tokens: int) -> bool:
        """Drop pictures that nobody uses until there is room; False: there would not be."""
        if tokens > self._loose:
            return False
        while tokens > self._blank:
            content, left = self._idle.popitem(last=False)
            del self._users[content]
            self._blank += left
        return True

    def put(self, request: BatchedRequest, index: int) -> None:
        """Keep a picture for the request that has it encoded; there must be room."""
        sight = request.sights[index]
        self._users[sight.content] = {request}
        self._blank -= sight.tokens
        self._loose -= sight.tokens
        request.encoded.add(index)

    def leave_read(self, request: BatchedRequest) -> None:
        """Let a request stop using the pictures that it has read."""
        for index in sorted(request.encoded):
            sight = request.sights[index]
            if sight.start + sight.tokens <= request.computed:
                self._leave(request, index)

    def leave_all(self, request: BatchedRequest) -> None:
        """Let a request stop using any picture."""
        for index in sorted(request.encoded):
            self._leave(request, index)

    def _leave(self, request: BatchedRequest, index: int) -> None:
        request.encoded.discard(index)
        sight = request.sights[index]
        users = self._users.get(sight.content, set())
        if request not in users:  # it shows the same picture twice
            return
        users.discard(request)
        if not users:
            self._idle[sight.content] = sight.tokens
            self._loose += sight.tokens
