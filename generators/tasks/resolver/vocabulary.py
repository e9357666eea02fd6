"""A world's own words: what its pages call things, by the words that goals may say for them."""

import re
from collections.abc import Collection, Iterator

from generators.tasks.resolver.senses import Key, Sense, Sort
from generators.tasks.resolver.spoken import flag_phrases, frames_of, ranks_of, row_phrases_of
from generators.tasks.resolver.tokens import key_of, stem
from generators.tasks.resolver.words import Cue, Words, slips_of
from generators.worlds.state.database import Row, Rows, Value
from generators.worlds.state.display import Titles, show
from schemas.worlds.field import DataField, Kind, tags_of
from schemas.worlds.world import Entity, World

_NAMES, _WORDS, _DIGITS = 2, 3, 3
"""A part is said of a title of so many words, or a number of so many digits."""

_LONGEST, _LONGEST_OF_SIGNS = 16, 48
"""Texts of more words are no names of anything; where each sign is a word, of more signs."""


_VERBATIM = frozenset({Sort.TITLE, Sort.TEXT, Sort.PLACE, Sort.PART})
"""What is not inflected."""


class Vocabulary:
    """The phrases of a world and its rows."""

    def __init__(self, world: World, rows: Rows, words: Words) -> None:
        self.exact: dict[Key, list[Sense]] = {}
        self.stemmed: dict[Key, list[Sense]] = {}
        self._endings = words.endings
        self._stems: dict[str, str] = {}
        lengths: dict[str, set[int]] = {}
        for text, sense in _phrases(world, rows, words):
            key = key_of(text)
            if not 0 < len(key) <= longest_of(words):
                continue
            self._add(self.exact, lengths, key, sense)
            if sense.sort not in _VERBATIM:
                self._add(self.stemmed, lengths, self.stems(key), sense)
        self.frames = tuple(dict.fromkeys(frames_of(world, words)))
        """What is said of rows around a value."""
        self.predicates = frozenset(
            one.before for one in self.frames if one.is_predicate and _is_telling(one.before, words)
        )
        """What is said of rows before a value, in words that mean something by themselves."""
        self.last_of_ranks = frozenset(
            word
            for key, some in (*self.exact.items(), *self.stemmed.items())
            if any(one.sort is Sort.RANK for one in some)
            for word in key[-1:]
        )
        """The last words of verbs by which rows compare, with and without their endings."""
        self.row_phrases = tuple(dict.fromkeys(row_phrases_of(world, words)))
        """What is said around a row for a field of it."""
        self.words = {word for key in self.exact for word in key}
        """All words of the phrases."""
        self.heads: dict[Key, list[Sense]] = {}
        """The names of fields without a last word with an article, which the noun of a row takes the place of."""
        for entity in world.entities if words.has_article else ():
            for field in entity.fields:
                for name in (field.label, *field.said):
                    *first, last = name.split()
                    if first and last.startswith("ال"):
                        sense = Sense(Sort.LABEL, entity.name, field.name)
                        self.heads.setdefault(key_of(" ".join(first)), []).append(sense)
        self.whole = frozenset(self.words | self._spoken())
        """The same with those of what is said of rows."""
        spoken = self._spoken() if words.has_spaces else set[str]()
        self.spoken = frozenset(self._stem(word) for word in spoken if word.isalpha())
        """The stems of the words by which people speak of the world."""
        self.slips = slips_of(spoken, {*self.whole}, words.endings)
        """Slips of the world's own words, but for those of its rows."""
        self.lengths = {first: sorted(some, reverse=True) for first, some in lengths.items()}

    def _spoken(self) -> set[str]:
        """Return the words by which people speak of the world: of fields, choices, steps and what is said of rows."""
        told = {
            word
            for key, some in self.exact.items()
            if some[0].sort not in _VERBATIM
            for word in key
        }
        framed = {word for one in self.frames for word in (*one.before, *one.behind)}
        around = {word for one in self.row_phrases for word in (*one.before, *one.behind)}
        return told | framed | around

    def stems(self, key: Key) -> Key:
        """Return words without their endings."""
        return tuple(self._stem(word) for word in key)

    def find(self, key: Key) -> tuple[Sense, ...]:
        """Return the meanings of a phrase; those of its inflections only if it has none itself."""
        found = self.exact.get(key) or self.stemmed.get(self.stems(key)) or ()
        whole = tuple(one for one in found if one.sort is not Sort.PART)
        return whole or tuple(found)

    def longest(self, words: Key, ranked: Collection[str] = ()) -> tuple[int, tuple[Sense, ...]]:
        """Return the number of the first words that make a phrase, and its meanings; 0: none do.

        Rows of the entities `ranked` may be compared by verbs.
        """
        some = {*self.lengths.get(words[0], ()), *self.lengths.get(self._stem(words[0]), ())}
        for length in sorted(some, reverse=True):
            found = self.find(words[:length]) if length <= len(words) else ()
            told = tuple(one for one in found if one.sort is not Sort.RANK or one.entity in ranked)
            if told:
                return length, told
        return 0, ()

    def _stem(self, word: str) -> str:
        if word not in self._stems:
            self._stems[word] = stem(word, self._endings)
        return self._stems[word]

    @staticmethod
    def _add(
        into: dict[Key, list[Sense]], lengths: dict[str, set[int]], key: Key, sense: Sense
    ) -> None:
        known = into.setdefault(key, [])
        if sense not in known:
            known.append(sense)
        lengths.setdefault(key[0], set()).add(len(key))


def longest_of(words: Words) -> int:
    """Return how many words a name of anything has at most."""
    return _LONGEST if words.has_spaces else _LONGEST_OF_SIGNS


def _is_telling(before: Key, words: Words) -> bool:
    """Return whether what is said before a value says something by itself: of two words one is no small one."""
    return len(before) > _NAMES or (len(before) == _NAMES and not {*before} <= words.common)


def titles_of(world: World, rows: Rows) -> Titles:
    """Return the titles of rows by entity and id."""
    return {
        entity.name: {_id(row): str(row[entity.title.name]) for row in rows.get(entity.name, ())}
        for entity in world.entities
    }


def _phrases(world: World, rows: Rows, words: Words) -> Iterator[tuple[str, Sense]]:
    for text, value in ((world.words.yes, 1), (world.words.no, 0), *words.flags.items()):
        yield text, Sense(Sort.FLAG, value=value)
    for entity in world.entities:
        yield entity.one, Sense(Sort.ONE, entity.name)
        many = [entity.many] if words.has_plurals or entity.many != entity.one else []
        yield from ((name, Sense(Sort.MANY, entity.name)) for name in many)
        for field in entity.fields:
            yield from _field_phrases(entity, field, rows.get(entity.name, []), words)
    for view in world.views:
        yield view.label, Sense(Sort.VIEW, view.entity, view.name)
    for flow in world.workflows:
        for step in flow.transitions:
            yield step.label, Sense(Sort.STEP, flow.entity, step.name)
            sense = Sense(Sort.DEED, flow.entity, step.name)
            forms = (form for said in step.said for form in _verb_forms(said, words))
            yield from (_step_words(form, sense, words) for form in forms)
    for thread in world.threads:
        yield thread.reply, Sense(Sort.REPLY, thread.entity)
    yield from ((text, Sense(Sort.PLACE)) for text in _places(world))


_ALIF = re.compile("^[\u0627\u0623]")
_VERB = re.compile("\u2039(.*?)\u203a")


def _verb_forms(said: str, words: Words) -> Iterator[str]:
    """Yield words for a step with each form of a verb in single guillemets: an imperative, and behind `that you`."""
    found = _VERB.search(said)
    if found is None:
        yield said
        return
    forms = (
        found[1],
        words.forms.get(found[1]) or f"ت{_ALIF.sub('', found[1])}",
    )
    yield from (said.replace(found[0], form) for form in forms)


def _step_words(said: str, sense: Sense, words: Words) -> tuple[str, Sense]:
    """Return the words for a step up to the row, with those behind it; only these where the verb stands at the end."""
    before, _, behind = said.partition("{it}")
    key = key_of(before)
    is_bare = words.articles.issuperset(key) or Cue.OF in words.cues.get(key, ())
    if behind.strip() and is_bare:
        return behind, sense._replace(value="")
    return before, sense._replace(value=behind.strip())


def _field_phrases(
    entity: Entity, field: DataField, rows: list[Row], words: Words
) -> Iterator[tuple[str, Sense]]:
    for name in (field.label, *field.said):
        yield name, Sense(Sort.LABEL, entity.name, field.name)
    yield from ranks_of(entity, field, words)
    for choice in field.choices:
        yield choice, Sense(Sort.CHOICE, entity.name, field.name, choice)
    if field.kind is Kind.FLAG:
        for phrase in flag_phrases(field, words):
            yield phrase, Sense(Sort.CHOICE, entity.name, field.name, 1)
    elif field is entity.title:
        yield from _title_phrases(entity, rows, words)
    elif field.kind is Kind.TEXT:
        for text in {row[field.name]: None for row in rows if row[field.name]}:
            yield str(text), Sense(Sort.TEXT, entity.name, field.name, text)


def _title_phrases(entity: Entity, rows: list[Row], words: Words) -> Iterator[tuple[str, Sense]]:
    for row in rows:
        title = str(row[entity.title.name])
        yield title, Sense(Sort.TITLE, entity.name, entity.title.name, row["id"])
        for part in _parts(entity, title, words):
            yield part, Sense(Sort.PART, entity.name, entity.title.name, row["id"])


def _parts(entity: Entity, title: str, language: Words) -> Iterator[str]:
    """Yield the parts by which people call a title: the number of a code, the last of two names, or all words but one."""
    words, digits = title.split(), re.findall(r"\d+", title)
    if len(digits) == 1 and len(digits[0]) >= _DIGITS and title.endswith(digits[0]):
        for joint in ("", *(language.of if language.is_head_last else ())):
            yield f"{entity.one} {joint} {digits[0]}"
    if len(words) == _NAMES and all(one.isalpha() and one.istitle() for one in words):
        yield f"{entity.one} {words[-1]}"
    for part in (words[1:], words[:-1]) if len(words) >= _WORDS else ():
        if min(len(part[0]), len(part[-1])) >= _DIGITS:
            yield " ".join(part)


def _places(world: World) -> Iterator[str]:
    yield from (world.title, world.user, world.role or world.user)
    if world.permissions is not None:
        yield world.permissions.leader
    if world.cart is not None:
        yield from (world.cart.add, world.cart.check_out)


def show_fact(world: World, titles: Titles, entity: str, row: Row, field: str) -> str:
    """Return a field's value as pages display it."""
    return show(world, entity, field, row[field], titles)


def tags_in(field: DataField, text: str) -> str | None:
    """Return the value of tags that a text lists; None: it lists anything else."""
    told = {key_of(one) for one in text.replace(";", ",").split(",") if one.strip()}
    known = {key_of(choice): choice for choice in field.choices}
    if not told or not told <= known.keys():
        return _tags_without_commas(field, text)
    named = {known[one] for one in told}
    return ", ".join(choice for choice in field.choices if choice in named)


def _tags_without_commas(field: DataField, text: str) -> str | None:
    """Return the tags of a list as Japanese has them: with `、` and `と` between."""
    rest, named = text, set[str]()
    for choice in sorted(field.choices, key=len, reverse=True):
        if choice in rest:
            rest, named = rest.replace(choice, " "), named | {choice}
    if not named or rest.strip("、と, "):
        return None
    return ", ".join(choice for choice in field.choices if choice in named)


def has_tag(value: Value, tag: str) -> bool:
    """Return whether a value of tags has a tag."""
    return tag in tags_of(value)


def _id(row: Row) -> int:
    return int(row["id"] or 0)
