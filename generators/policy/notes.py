"""What a policy writes down: facts of a picture that a later step needs, in the turn in which the picture shows them.

A prompt keeps a few pictures; a reply stays in it with its note. A reference says what its steps bring into sight that
later ones need (`ReferenceStep.keep`), and this looks whether the picture shows it: a row's name with its value, both in
one row of a list, or on the row's own page, each wholly in sight.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from random import Random

from generators.browser.protocol import Node
from generators.policy.course import Course
from generators.policy.element_names import words
from generators.policy.listed_rows import is_label_written, is_whole, row_of, says
from generators.policy.protocol import Decision
from generators.policy.sight import Sight
from schemas.episodes.action import Answer
from schemas.tasks.reference import Do, Fact

_HEADINGS = {"h1", "h2", "h3"}

_ONE = (
    '"{label}" of "{of}": "{value}"',
    '"{of}": "{label}" is "{value}"',
    '"{of}" has "{value}" as its "{label}"',
)
_NAMES = (
    "Fits: {names} ({count} so far)",
    "{names}; that makes {count}",
    "So far {count}: {names}",
)
_LONGEST = 60
"""Longer values are not noted as a reason, in characters."""

_MOST = 3
"""So many of the conditions that a row meets are noted."""

_IN_ORDER = ("In this order: {names}", "First here: {names}")
"""What is noted of rows that come first in an order, which are not counted."""

_VALUES = ('"{label}": {values}', '{values} (all "{label}")')


class Notes:
    """The notes of one episode."""

    def __init__(self, course: Course, seed: str) -> None:
        """The seed decides how notes are worded."""
        self._course = course
        self._random = Random(f"notes {seed}")
        self.written: list[Fact] = []
        """What was written down, in order."""
        self.told: list[Fact] = []
        """Those of them of which a picture has shown the label, so that it may be named."""
        self.seen_last: list[Fact] = []
        """What the last picture shows that was not written down any more, as the answer needs no note."""
        self._new: list[Fact] = []
        self._labels = set[str]()
        self._grounds = set[Fact]()
        self._counted = set[str]()
        self._met: dict[str, list[str]] = {}

    def look(self, sight: Sight) -> None:
        """Note what a picture shows of what the steps up to the next one keep.

        What only the step after it keeps counts later: it may mean other rows, as those of a list that a click narrows.
        """
        missing = [one for one in self._course.facts if one not in self.written]
        labels = {one.label for one in missing if one.label} - self._labels
        self._labels |= {label for label in labels if is_label_written(label, sight)}
        self._new = [one for one in missing if _is_in_sight(one, sight)]
        step = self._course.next
        if step is not None and step.do is Do.READ:
            self._grounds |= set(step.by)
            self._counted |= {one.of for one in step.keep}
        self._met = {one.of: self._fits(one.of, sight) for one in self._new if one.label is None}

    def add(self, decision: Decision) -> Decision:
        """Return a decision with a note of what was found in its picture, if a later step needs it."""
        new, self._new = self._new, []
        self.seen_last[:] = new if isinstance(decision.action, Answer) else []
        if not new or isinstance(decision.action, Answer) or self._course.next is None:
            return decision
        self.written += new
        self.told += [one for one in new if one.label in self._labels]
        return decision.model_copy(update={"note": "; ".join(self._words(new)) + "."})

    def _fits(self, name: str, sight: Sight) -> list[str]:
        """Return what a row that is noted says of the conditions that it meets."""
        rows = [row_of(one, sight) for one in _nodes_of(name, sight)]
        told = [one for one in self._grounds if one.of == name and one.value]
        met = {one.value for one in told if any(says(row, one) for row in rows)}
        return sorted(one for one in met if one and len(one) <= _LONGEST and '"' not in one)[:_MOST]

    def _words(self, facts: Sequence[Fact]) -> Iterator[str]:
        """Yield what is noted of facts, those of one label together."""
        for label, group in groupby(facts, key=lambda one: one.label):
            same = list(group)
            if label is None:
                names = ", ".join(self._name(one.of) for one in same)
                count = sum(one.label is None for one in self.written)
                is_counted = all(one.of in self._counted for one in same)
                told = self._random.choice(_NAMES if is_counted else _IN_ORDER)
                yield told.format(names=names, count=count)
            elif label not in self._labels:  # as where a narrow page leaves it out
                yield ", ".join(f'"{one.of}" "{one.value}"' for one in same)
            elif len(same) == 1:
                fact = same[0]
                worded = self._random.choice(_ONE)
                yield worded.format(of=fact.of, label=label, value=fact.value)
            else:
                values = ", ".join(f'"{one.of}" "{one.value}"' for one in same)
                yield self._random.choice(_VALUES).format(label=label, values=values)

    def _name(self, name: str) -> str:
        """Return the name of a row that is noted, with what it says of the conditions."""
        met = ", ".join(f'"{one}"' for one in self._met.get(name, ()))
        return f'"{name}" ({met})' if met else f'"{name}"'


def _is_in_sight(fact: Fact, sight: Sight) -> bool:
    """Return whether a picture shows a fact, wholly: in a row of a list, or on the page of the row, or on that beside the list."""
    if words(sight.screen.heading) == fact.of and fact.value is not None:
        return any(says(part, fact) for part in _parts_of(fact, sight))
    if fact.value is not None and any(
        says(part, fact) and _is_beside(part, fact.of, sight) for part in _parts_of(fact, sight)
    ):
        return True
    rows = (row_of(one, sight) for one in _nodes_of(fact.of, sight))
    return any(says(row, fact) for row in rows if is_whole(row, sight))


def _parts_of(fact: Fact, sight: Sight) -> Iterator[Node]:
    """Yield the elements, wholly in sight, in which a value stands under the fact's label."""
    for node in _nodes_of(fact.label or "", sight):
        path = sight.page.window.path_to(node)
        if len(path) > 1 and is_whole(path[-2], sight):
            yield path[-2]


def _is_beside(part: Node, name: str, sight: Sight) -> bool:
    """Return whether an element is on the page of a row of this name that stands beside its list."""
    path = sight.page.window.path_to(part)
    beside = next((one for one in path if one.tag == "aside"), None)
    inside = () if beside is None else beside.walk()
    return any(one.tag in _HEADINGS and words(one.text) == name for one in inside)


def _nodes_of(name: str, sight: Sight) -> list[Node]:
    """Return the elements in sight with exactly these words."""
    return [
        one for one in sight.page.front.walk() if one.point is not None and words(one.text) == name
    ]
