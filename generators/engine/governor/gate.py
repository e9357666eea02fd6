"""Who lives at an endpoint, and whose request goes next: the two limits of a governor, applied.

Everything here is pure; the caller says what happens and asks who may go. An episode begins only where fewer live than may.
Where more live than may, because the limit fell, the youngest ones are parked: their next requests wait until others end
or the limit rises. Of those that wait, the oldest episode goes first. Nothing is ever cancelled.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

Episode = TypeVar("Episode", bound=Hashable)


class Gate(Generic[Episode]):
    """The episodes of one endpoint."""

    def __init__(self, live: int, requests: int) -> None:
        self.live_limit = live
        """How many may live, 1 or more."""
        self.request_limit = requests
        """How many of their requests may be under way, 1 or more."""
        self._live: dict[Episode, int] = {}
        self._begun = 0
        self._waiting: dict[Episode, int] = {}
        self._asking: dict[Episode, int] = {}
        self._parked: set[Episode] = set()
        self._rested: set[Episode] = set()

    @property
    def live(self) -> int:
        """How many live, parked ones too."""
        return len(self._live)

    @property
    def parked(self) -> int:
        """How many are parked: their requests wait, or would."""
        return len(self._parked)

    @property
    def under_way(self) -> int:
        """How many requests are under way."""
        return sum(self._asking.values())

    @property
    def waiting(self) -> int:
        """How many requests wait here."""
        return sum(self._waiting.values())

    @property
    def has_room(self) -> bool:
        """Whether another episode may begin."""
        return len(self._live) < self.live_limit

    def begin(self, episode: Episode) -> None:
        """Let an episode live, whether or not there is room."""
        if episode not in self._live:
            self._begun += 1
            self._live[episode] = self._begun
        self._park()

    def end(self, episode: Episode) -> None:
        """Forget an episode."""
        self._live.pop(episode, None)
        self._waiting.pop(episode, None)
        self._parked.discard(episode)
        self._rested.discard(episode)
        self._park()

    def rank(self, episode: Episode) -> int:
        """Return an episode's place among all that ever began here, the oldest first; 0: it does not live, as a judge's.

        It stays the same for as long as the episode lives.
        """
        return self._live.get(episode, 0)

    def ask(self, episode: Episode) -> None:
        """Let a request of an episode wait for its turn. One that does not live, as a judge's, is not parked."""
        self._waiting[episode] = self._waiting.get(episode, 0) + 1

    def finish(self, episode: Episode) -> None:
        """Note that a request that was under way is over, whatever came of it."""
        _take_one(self._asking, episode)

    def give_up(self, episode: Episode) -> None:
        """Forget a request that waits, because its caller is gone."""
        _take_one(self._waiting, episode)

    def set_limits(self, live: int, requests: int) -> None:
        """Set both limits; they hold from now on."""
        self.live_limit, self.request_limit = max(1, live), max(1, requests)
        self._park()

    def next(self) -> list[Episode]:
        """Return the episodes whose requests go now, oldest first; they count as under way from here on."""
        room = self.request_limit - self.under_way
        going: list[Episode] = []
        if room > 0 and self._waiting:
            able = [
                one
                for one, times in self._waiting.items()
                if one not in self._parked
                for _ in range(times)
            ]
            going = sorted(able, key=self.rank)[:room]
        for episode in going:
            _take_one(self._waiting, episode)
            self._asking[episode] = self._asking.get(episode, 0) + 1
        return going

    def _park(self) -> None:
        """Choose who is parked: as few as must be, the youngest, and nobody a second time before all others were."""
        surplus = len(self._live) - self.live_limit
        freed = len(self._parked) - max(0, surplus)
        for episode in [one for one in self._live if one in self._parked][: max(0, freed)]:
            self._parked.discard(episode)
            self._rested.add(episode)
        missing = surplus - len(self._parked)
        if missing <= 0:
            return
        young = [one for one in reversed(self._live) if one not in self._parked]
        fresh = [one for one in young if one not in self._rested]
        if len(fresh) < missing:
            self._rested.clear()
            fresh += [one for one in young if one not in fresh]
        self._parked.update(fresh[:missing])


def _take_one(counts: dict[Episode, int], episode: Episode) -> None:
    """Count one less of an episode, if there is any."""
    left = counts.get(episode, 0) - 1
    if left > 0:
        counts[episode] = left
    else:
        counts.pop(episode, None)
