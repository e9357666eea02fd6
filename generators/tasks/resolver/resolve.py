"""The resolver: reads goals of one world."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from generators.tasks.resolver.attempt import Attempt, judge
from generators.tasks.resolver.descriptions import with_descriptions, with_descriptions_before
from generators.tasks.resolver.finder import Finder
from generators.tasks.resolver.frames.additions import read_additions
from generators.tasks.resolver.frames.conditions import read_conditions
from generators.tasks.resolver.frames.facts import read_chains, read_facts
from generators.tasks.resolver.frames.listed import read_listed
from generators.tasks.resolver.frames.records import read_records
from generators.tasks.resolver.frames.several import read_several
from generators.tasks.resolver.frames.shop import read_shop
from generators.tasks.resolver.mentions import Item
from generators.tasks.resolver.permits import permit
from generators.tasks.resolver.phrasebook import Phrasebook
from generators.tasks.resolver.place import Place
from generators.tasks.resolver.reading import Reading, Reason, Refusal
from generators.tasks.resolver.row_phrases import with_row_phrases
from generators.tasks.resolver.scene import Scene
from generators.tasks.resolver.senses import Sort
from generators.tasks.resolver.vocabulary import Vocabulary, titles_of
from generators.tasks.resolver.words import ENGLISH, Cue, languages, words_of
from generators.tasks.resolver.writing import in_order
from generators.worlds.state.database import Rows
from schemas.worlds.world import World

_FRAMES = (
    read_listed,
    read_facts,
    read_chains,
    read_several,
    read_conditions,
    read_additions,
    read_records,
    read_shop,
)


_UNREAD = frozenset({Reason.NOT_READ, Reason.NO_ROW, Reason.NOTHING_TO_DO})

_LINES = re.compile(r"([.,:;?!]?)[ \t]*\n\s*")


def _part_lines(found: re.Match[str]) -> str:
    """Return the mark at the end of a line, which parts what it says from the next."""
    return f"{found[1] or ';'} "


class Resolver:
    """Reads goals by a world's specification and rows, and by nothing else."""

    def __init__(self, world: World, rows: Rows) -> None:
        self._world, self._rows = world, rows
        self._place = Place(world, rows, titles_of(world, rows))
        language = world.language.value
        self._is_known = language in languages()
        self._words = words_of(language if self._is_known else ENGLISH)

    def read(self, goal: str) -> Reading | Refusal:
        """Return the only reading of a goal, or why it has none or several.

        Goals in a language without a file of words (`words/`) are not read.
        A word that is the name of an entity and of a field, as in `the author Ann`, is read as the entity's first.
        """
        if not self._is_known:
            about = f"goals in '{self._world.language.value}' are not read"
            return Refusal(reason=Reason.NOT_READ, about=about, candidates=())
        told = [self._read_words(one) for one in self._phrasebook.plainly(goal)]
        literal = self._read_words(goal)
        is_known = any(isinstance(one, Reading) for one in told)
        return _only_one([*told, literal]) if is_known else literal

    def _read_words(self, goal: str) -> Reading | Refusal:
        """Return the only reading of a goal by its words."""
        goal = in_order(_LINES.sub(_part_lines, goal.strip()), self._words)
        first = self._read(self.scene(goal))
        if isinstance(first, Reading):
            return first
        for other in self._others(goal, first):
            if isinstance(other, Reading):
                return other
        return first

    def _others(self, goal: str, first: Refusal) -> Iterator[Reading | Refusal]:
        """Yield what a goal comes to in other ways: with rows that are described for their names, or names of fields first."""
        if self._words.is_head_last and first.reason in _UNREAD:
            yield self._read(self.scene(goal, describes=True))
        yield self._read(self.scene(goal, names_first=False))

    def _read(self, scene: Scene) -> Reading | Refusal:
        if (unclear := _unclear_day(scene)) is not None:
            return unclear
        read = judge(scene, self._attempts(scene))
        return read if isinstance(read, Refusal) else permit(scene, read)

    def scene(self, goal: str, *, names_first: bool = True, describes: bool = False) -> Scene:
        """Return what a goal mentions; `describes` takes descriptions before nouns for rows."""
        words, vocabulary = self._words, self._vocabulary
        finder = Finder(self._world, vocabulary, words, goal)

        def scene_of(items: Sequence[Item]) -> Scene:
            return Scene(
                self._place,
                items,
                finder.key,
                vocabulary.frames,
                words,
                spoken=vocabulary.spoken,
                strangers=finder.strangers(items),
                names_first=names_first,
            )

        def spoken(items: Sequence[Item]) -> list[Item]:
            return with_row_phrases(items, finder.key, vocabulary.row_phrases, words)

        first = scene_of(spoken(finder.items()))
        if words.is_head_last:
            return scene_of(with_descriptions_before(first)) if describes else first
        return scene_of(spoken(with_descriptions(first)))

    @cached_property
    def _phrasebook(self) -> Phrasebook:
        return Phrasebook(self._world, titles_of(self._world, self._rows), self._words)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._world, self._rows, self._words)

    def _attempts(self, scene: Scene) -> Iterator[Attempt]:
        for frame in _FRAMES:
            yield from frame(scene)


def _only_one(told: Sequence[Reading | Refusal]) -> Reading | Refusal:
    """Return the reading to which all that are read come, or that they come to several."""
    read = {one.effect: one for one in told if isinstance(one, Reading)}
    if len(read) == 1:
        return next(iter(read.values()))
    some = tuple(str(one.model_dump(mode="json", exclude_defaults=True)) for one in read)
    about = "its words can be read in several ways"
    return Refusal(reason=Reason.TWO_READINGS, about=about, candidates=some)


def _is_of_rows(scene: Scene, item: Item) -> bool:
    """Return whether a phrase stands in a sentence that speaks of rows, of more than their sort."""
    some = [one for one in scene.items if one.sentence == item.sentence]
    is_request = any(one.cues & {Cue.DELETE, Cue.SET, Cue.TELL} for one in some)
    return scene.asks(item.sentence) or any(
        one.counts
        or (one.has(Sort.LABEL) and not one.cues)
        or (is_request and one.has(Sort.ONE, Sort.MANY))
        for one in some
    )


def _unclear_day(scene: Scene) -> Refusal | None:
    """Return why a day of a goal is not certain; None: there is none of that sort."""
    told = [one for one in scene.with_cues(Cue.RELATIVE) if _is_of_rows(scene, one)]
    for one in (*told, *(item for item in scene.items if item.is_unclear)):
        about = f"which day is meant depends: {one.text}"
        return Refusal(reason=Reason.UNCLEAR_DAY, about=about, candidates=(one.text,))
    return None
