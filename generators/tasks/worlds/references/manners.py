"""The manner in which a reference finds a row that it knows by name: by a search, a filter, an order, or page by page.

A task's seed draws which of these its reference likes best; it takes the first that the list offers and for which it knows
enough. A filter needs the row's value, as the goal or the row's page has said it; an order needs the row's name, whose
first letter says from which end. A list that is gone through for what it says itself, as the largest of its rows, stays as
its kind of task has it.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from random import Random

from generators.policy.sentences.vary import sentence
from generators.tasks.worlds.ground.list_filters import filtered_rows
from generators.tasks.worlds.ground.mentions import RowsSaid, Said, ValueSaid
from generators.tasks.worlds.ground.wording import Goal
from generators.tasks.worlds.ground.world_rows import Setting, quote
from generators.tasks.worlds.references.steps import Steps, narrow, opened_view
from generators.worlds.state.database import Row
from schemas.tasks.reference import Do, Purpose, ReferenceStep
from schemas.worlds.field import DataField
from schemas.worlds.world import Entity, View


class Manner(StrEnum):
    """A way to find a row."""

    SEARCH = "search"
    FILTER = "filter"
    SORT = "sort"
    PAGES = "pages"
    """The list is read page by page."""


_LIKINGS = {Manner.SEARCH: 4.0, Manner.FILTER: 3.0, Manner.SORT: 6.0, Manner.PAGES: 2.0}
"""How often a manner is liked best, in relation to the others."""

_MOST_TURNS = 3
"""The most pages that are turned to a row that could be found otherwise."""

_SEARCHES = {Purpose.SEARCH, Purpose.SEARCH_AT_ONCE, Purpose.APPLY, Purpose.WAIT}
"""The purposes of the steps of a search."""

_CHANGES = {
    *(Purpose.SAVE, Purpose.SURE, Purpose.CONFIRM, Purpose.STEP, Purpose.CARD_STEP),
    *(Purpose.MOVE_CARD, Purpose.ENTER_CELL, Purpose.KEEP_CELL, Purpose.SAVE_CELL),
}
"""The purposes of steps after which a row may say something else."""

_FIRST_HALF, _LETTERS = "m", ("a", "z")
"""The last letter of the first half of the alphabet, and the first and last of all."""


class _Known:
    """What is known of rows before a step."""

    def __init__(self, goal: Goal, words: Mapping[str, Said]) -> None:
        """`words` is what the goal speaks of, which says what of it is said of rows as they are."""
        self._goal, self._words = goal, words
        self._row = ""
        self._met, self._changed = set[str](), set[str]()
        self._read = set[tuple[str, str]]()

    def note(self, step: ReferenceStep) -> None:
        """Note a step that is taken."""
        name = step.on or ""
        if step.do is Do.FIND or step.purpose in (Purpose.ROW, Purpose.TWICE):
            self._row = name
            self._met.add(name)
        elif step.do is Do.LOOK:
            self._read.add((self._row, name))
        elif step.purpose in _CHANGES:
            self._changed.add(self._row)

    def has_name(self, name: str) -> bool:
        """Return whether a row is known by its name, and not only by its place in a list."""
        return name in self._met or self._goal.names.get(name) == name

    def search_of(self, name: str) -> str | None:
        """Return what a row is searched by that the goal does not name in full; empty: nothing is known of its name.

        None: it is named in full, or was in sight.
        """
        called = self._goal.names.get(name, name)
        return None if called == name or name in self._met else called

    def has_value(self, name: str, field: DataField, value: str) -> bool:
        """Return whether it is known that a row has a value in a field."""
        if name in self._changed:
            return False
        if (name, field.label) in self._read or (name, field.name, value) in self._goal.facts:
            return True
        is_said = quote(value) in self._goal.told
        return is_said and any(self._tells(one, field, value) for one in self._words.values())

    def _tells(self, said: Said, field: DataField, value: str) -> bool:
        """Return whether a mention says that the rows in question have a value."""
        match said:
            case RowsSaid(tests=tests):
                held = [(one.field, one.value) for one in tests if not one.over]
            case ValueSaid() if said is self._words.get("before"):
                held = [(said.field, said.value)]
            case _:
                held = []
        return any(one is field and str(told) == value for one, told in held)


def in_manner(
    setting: Setting, steps: Steps, *, goal: Goal, words: Mapping[str, Said], random: Random
) -> Steps:
    """Return a reference that finds the rows that it knows in a drawn manner.

    Args:
        setting: the world with its rows.
        steps: the reference, with a search in each list that has one.
        goal: the task's goal.
        words: what it speaks of.
        random: draws the manner.
    """
    likings = sorted(Manner, key=lambda one: random.random() ** (1 / _LIKINGS[one]), reverse=True)
    known, out = _Known(goal, words), list[ReferenceStep]()
    view, begin = None, 0
    for step in steps:
        if step.do is Do.FIND and view is not None:
            searched = out[begin:]
            row = _row_of(setting, view, step.on or "")
            if row is not None and all(one.purpose in _SEARCHES for one in searched):
                ways = _Ways(setting, view, row, known, random)
                out[begin:] = ways.first(likings, tuple(searched))
        out.append(step)
        known.note(step)
        opened = opened_view(setting, step)
        if opened is not None:
            view, begin = opened, len(out)
    return tuple(out)


def _row_of(setting: Setting, view: View, name: str) -> Row | None:
    """Return the row of a list with a name; None: there is none."""
    entity = setting.world.entity(view.entity)
    rows = setting.rows_of(entity)
    return next((one for one in rows if _name(setting, entity, one) == name), None)


def _name(setting: Setting, entity: Entity, row: Row) -> str:
    return " ".join(setting.title(entity, row).split())


class _Ways:
    """The ways to one row of a list."""

    def __init__(
        self, setting: Setting, view: View, row: Row, known: _Known, random: Random
    ) -> None:
        self._setting, self._view, self._row = setting, view, row
        self._known, self._random = known, random
        self._entity = setting.world.entity(view.entity)
        self._name = _name(setting, self._entity, row)

    def first(self, likings: Sequence[Manner], searched: Steps) -> Steps:
        """Return the steps of the first manner that is possible; `searched` are those of a search, if there is one."""
        searched = self._search(searched)
        ways = {
            Manner.SEARCH: lambda: searched or None,
            Manner.FILTER: self._filter,
            Manner.SORT: self._sort,
            Manner.PAGES: self._read_on,
        }
        tried = (ways[manner]() for manner in likings)
        return next((steps for steps in tried if steps is not None), searched)

    def _search(self, searched: Steps) -> Steps:
        """Return the steps of a search by what is known of the row's name; none: nothing is."""
        called = self._known.search_of(self._name)
        if called is None:
            return searched
        typed = (
            step.model_copy(update={"text": called}) if step.text else step for step in searched
        )
        return tuple(typed) if called else ()

    def _read_on(self) -> Steps | None:
        """Return no step, as the list is read page by page; None: the row is on too far a page."""
        is_near = self._turns(self._setting.rows_of(self._entity)) <= _MOST_TURNS
        return () if is_near else None

    def _filter(self) -> Steps | None:
        """Return the steps that leave the rows with values that are known of this one; None: none is known."""
        filters = dict(self._known_values())
        rows = filtered_rows(self._setting, self._entity, filters)
        if not filters or self._turns(rows) > _MOST_TURNS:
            return None
        return self._because(narrow(self._setting, self._view, filters))

    def _known_values(self) -> Iterator[tuple[str, str]]:
        for name in self._view.filters:
            field, value = self._entity.field(name), str(self._row[name])
            offered = [words for _, words in self._setting.options(field)]
            if value in offered and self._known.has_value(self._name, field, value):
                yield name, value

    def _sort(self) -> Steps | None:
        """Return the steps that put the row among the first by its name; None: that is impossible, or of no use."""
        title, letter = self._entity.title, self._name[:1].casefold()
        is_word = _LETTERS[0] <= letter <= _LETTERS[1] and not any(map(str.isdigit, self._name))
        can_sort = title.name in self._view.sorts and self._known.has_name(self._name)
        if not (is_word and can_sort):
            return None
        titles = [one.casefold() for one in self._setting.titles(self._entity)]
        if sum(one.startswith(letter) for one in titles) > len(titles) / 2:
            return None  # as "How to …" in a list of answers: the letter says nothing
        descending = letter > _FIRST_HALF
        rows = sorted(
            self._setting.rows_of(self._entity),
            key=lambda row: self._setting.title(self._entity, row).casefold(),
            reverse=descending,
        )
        if self._turns(rows) > 0:
            return None
        return self._because(
            narrow(self._setting, self._view, {}, sort=title, descending=descending)
        )

    def _turns(self, rows: Sequence[Row]) -> int:
        """Return the number of page turns until rows in this order have shown the one."""
        return next(at for at, one in enumerate(rows) if one is self._row) // self._view.page_size

    def _because(self, steps: Steps) -> Steps:
        """Return steps with the reason why they lead to the row."""
        return tuple(
            step.model_copy(update={"why": self._why(step)})
            if step.purpose in (Purpose.FILTER, Purpose.SORT)
            else step
            for step in steps
        )

    def _why(self, step: ReferenceStep) -> str:
        if step.purpose is Purpose.FILTER:
            return sentence("manners.filter", on=step.on, text=step.text)
        return sentence("manners.sort", on=step.on, row=self._name)
