"""The requests that one of them may be what kills a server: under way when it died, and without a reply since.

One death may have any cause, and all go on together after it. After a second one, before every suspect of the first has
its reply, each request is asked alone: the next death can have no other cause than that one, and no other request is
lost to it. So several requests that kill their server, whenever they come, cost two deaths among others and one each.
Where each had to be under way at two deaths itself before it was asked alone, they cost up to three each, which is
more than a server is started again for.
"""

from collections.abc import Hashable

MAX_DEATHS_AMONG_OTHERS = 2
"""After this many deaths of a server in a row, requests are asked alone."""


class Suspects:
    """The suspects of one server."""

    def __init__(self) -> None:
        self._unsettled: set[Hashable] = set()
        self._deaths: set[int] = set()

    def __contains__(self, request: Hashable) -> bool:
        return request in self._unsettled

    @property
    def deaths(self) -> int:
        """Deaths among others since there were no suspects."""
        return len(self._deaths)

    @property
    def are_tried(self) -> bool:
        """Whether requests are asked alone, to find out which of them it is."""
        return self.deaths >= MAX_DEATHS_AMONG_OTHERS

    def add(self, request: Hashable, *, death: int) -> None:
        """Suspect a request that was under way at a death; all that were name it by the same number."""
        self._unsettled.add(request)
        self._deaths.add(death)

    def settle(self, request: Hashable) -> None:
        """Suspect a request no more: it has its reply, or is not sent again."""
        self._unsettled.discard(request)
        if not self._unsettled:
            self._deaths.clear()
