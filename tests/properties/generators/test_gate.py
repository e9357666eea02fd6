"""The gate, whatever happens: no request is lost, none too many are under way, and somebody can always go on."""

from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from generators.engine.governor.gate import Gate

EPISODES = st.integers(0, 9)
JUDGES = st.integers(100, 101)


class GateMachine(RuleBasedStateMachine):
    """A gate, and what must be so by all that was said to it."""

    def __init__(self) -> None:
        super().__init__()
        self.gate: Gate[int] = Gate(4, 3)
        self.alive: list[int] = []
        self.waiting: Counter[int] = Counter()
        self.asking: Counter[int] = Counter()
        self.was_parked: set[int] = set()
        """Who was parked since all others were the last time."""

    def _note_parked(self, before: set[int]) -> None:
        """Hold those who are parked now against those who were before."""
        parked = self.gate._parked
        again = {one for one in parked - before if one in self.was_parked}
        running = {*self.alive} - parked
        if again:
            assert running <= self.was_parked, "parked again while others never were"
            self.was_parked.clear()
        self.was_parked = (self.was_parked | parked) & {*self.alive}

    @rule(episode=EPISODES)
    def begin(self, episode: int) -> None:
        before = {*self.gate._parked}
        self.gate.begin(episode)
        if episode not in self.alive:
            self.alive.append(episode)
        self._note_parked(before)

    @rule(episode=EPISODES)
    def end(self, episode: int) -> None:
        before = {*self.gate._parked}
        self.gate.end(episode)
        if episode in self.alive:
            self.alive.remove(episode)
        self.waiting.pop(episode, None)
        self._note_parked(before)

    @rule(live=st.integers(-1, 10), requests=st.integers(-1, 6))
    def set_limits(self, live: int, requests: int) -> None:
        before = {*self.gate._parked}
        self.gate.set_limits(live, requests)
        self._note_parked(before)

    @rule(episode=EPISODES | JUDGES)
    def ask(self, episode: int) -> None:
        self.gate.ask(episode)
        self.waiting[episode] += 1

    @rule(episode=EPISODES | JUDGES)
    def give_up(self, episode: int) -> None:
        self.gate.give_up(episode)
        self.waiting[episode] -= self.waiting[episode] > 0

    @rule(episode=EPISODES | JUDGES)
    def finish(self, episode: int) -> None:
        self.gate.finish(episode)
        self.asking[episode] -= self.asking[episode] > 0

    @rule()
    def go(self) -> None:
        room = self.gate.request_limit - self.gate.under_way
        able = [one for one in self.waiting.elements() if one not in self.gate._parked]
        age = {one: at for at, one in enumerate(self.alive)}
        going = self.gate.next()

        assert len(going) == max(0, min(room, len(able)))
        assert [age.get(one, -1) for one in going] == sorted(age.get(one, -1) for one in able)[
            : len(going)
        ]
        self.waiting.subtract(going)
        self.asking.update(going)

    @invariant()
    def no_request_is_lost(self) -> None:
        assert self.gate.waiting == self.waiting.total()
        assert self.gate.under_way == self.asking.total()
        assert self.gate.live == len(self.alive)
        assert self.gate.has_room == (len(self.alive) < self.gate.live_limit)

    @invariant()
    def as_few_as_must_be_are_parked_and_somebody_is_not(self) -> None:
        assert self.gate.parked == max(0, len(self.alive) - self.gate.live_limit)
        assert self.gate._parked <= {*self.alive}
        assert not self.alive or self.gate.parked < len(self.alive)


TestGate = GateMachine.TestCase
