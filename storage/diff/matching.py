"""Which episodes of two sides are compared with each other: first by id, then by task, policy and attempt.

An episode's id is a hash of its run, so two versions of one run, or a run and its dataset, match by id. Two runs
of the same tasks share none; there an episode matches the one of the same task, policy and attempt, if each side
has exactly one such episode that is not matched yet. Of several nobody can say which belongs to which.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from storage.diff.episode_facts import EpisodeFacts

Pair = tuple[EpisodeFacts, EpisodeFacts]
"""An episode of the first side and its match of the second."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The episodes of two sides."""

    by_id: Sequence[Pair]
    """The same episode on both."""
    by_place: Sequence[Pair]
    """Other attempts at the same task: the same task, policy and number of the attempt."""
    only_first: Sequence[EpisodeFacts]
    """Those of the first side without a match."""
    only_second: Sequence[EpisodeFacts]
    """Those of the second side without a match."""
    ambiguous: int
    """Of these, those that share task, policy and attempt with several of the other side or their own."""

    @property
    def pairs(self) -> Sequence[Pair]:
        """All matches."""
        return [*self.by_id, *self.by_place]

    @property
    def renamed(self) -> Mapping[str, str]:
        """The first side's id of each episode that matched by its task, by the second side's."""
        return {second.episode_id: first.episode_id for first, second in self.by_place}


def match(first: Iterable[EpisodeFacts], second: Iterable[EpisodeFacts]) -> Matches:
    """Return which episodes are compared with each other."""
    left = {one.episode_id: one for one in first}
    right = {one.episode_id: one for one in second}
    by_id = [(one, right[id_]) for id_, one in left.items() if id_ in right]
    firsts = _by_place(one for id_, one in left.items() if id_ not in right)
    seconds = _by_place(one for id_, one in right.items() if id_ not in left)
    by_place: list[Pair] = []
    ambiguous = 0
    for place in firsts.keys() & seconds.keys():
        if len(firsts[place]) == len(seconds[place]) == 1:
            by_place.append((firsts.pop(place)[0], seconds.pop(place)[0]))
        else:
            ambiguous += len(firsts[place]) + len(seconds[place])
    return Matches(
        by_id=by_id,
        by_place=sorted(by_place, key=lambda pair: pair[0].episode_id),
        only_first=[one for group in firsts.values() for one in group],
        only_second=[one for group in seconds.values() for one in group],
        ambiguous=ambiguous,
    )


def _by_place(
    episodes: Iterable[EpisodeFacts],
) -> dict[tuple[str, str, int], list[EpisodeFacts]]:
    grouped: defaultdict[tuple[str, str, int], list[EpisodeFacts]] = defaultdict(list)
    for one in episodes:
        grouped[one.place].append(one)
    return dict(grouped)
