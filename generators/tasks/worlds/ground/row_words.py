"""How a goal calls rows: by their titles, by a part of one, by what they have, or by the conditions that they meet."""

import re
from collections.abc import Collection, Sequence

from generators.tasks.worlds.ground.describing import describe, is_clear, short_title
from generators.tasks.worlds.ground.field_words import END, SAID, Called, FieldWords
from generators.tasks.worlds.ground.grammar import spread
from generators.tasks.worlds.ground.mentions import RowSaid, RowsSaid, ValueSaid
from schemas.worlds.field import Kind
from schemas.worlds.world import Picture

_DESCRIBED, _SHORT = 0.25, 0.05
"""The shares of plain rows that are described or called by a part of their title."""

_QUOTED, _QUOTED_LONG, _LONG = 0.1, 0.35, 5
"""The shares of plain goals with titles in quotation marks, and of those with a title of so many words."""

_NOUN_OF_CODE, _NOUN, _NOUN_OF_PERSON = 0.55, 0.25, 0.08
"""The shares of goals with the entity's noun before titles of one word, before others, and before those of persons."""

_IN_PHRASES = 0.9
"""The share of conditions on several rows that are said in the phrases of their fields."""

_OWNED = 0.6
"""The share of conditions by the one person to whom rows are linked that are said by whose they are."""

_BEFORE = 0.7
"""The share of conditions by one word of a choice whose word stands before the noun."""

_NO_ADJECTIVES = frozenset(
    [
        "out",
        "back",
        "over",
        "left",
        "off",
        "on",
        "in",
        "up",
        "down",
        "done",
        "gone",
        "held",
        "sold",
        "paid",
        "way",
        "free",
        "let",
        "invoice",
        "cash",
        "card",
    ]
)
"""Words of choices that stand behind a verb and before no noun, or that mean something else there."""

_WITH_THE = re.compile(r"^with the (?=[\w -]+ \{value\}$)")
"""How a phrase begins that people say without its article: `with status Open`."""

_BY_NAME = {"name", "bare"}
"""The forms of a row that does without a description; a bare one lacks its noun, too."""


class RowWords:
    """Says rows in one form, and keeps what it has said of them."""

    def __init__(self, words: FieldWords) -> None:
        self._words, self._setting = words, words.setting
        self._rules, self._random = words.rules, words.random
        self._is_precise, self._manners = words.is_precise, words.manners
        self._noun_draw, self._quote_draw = self._random.random(), self._random.random()
        self._has_quotes = self._quote_draw < _QUOTED
        self.spoken_of: Collection[str] = ()
        """The fields by which no row is described."""
        self.names = dict[str, str]()
        """What it has called rows, by title: the title or a part of it; empty: it has described the row."""
        self.facts = set[tuple[str, str, str]]()
        """What it has said of rows that it describes: title, field and value as pages show it."""

    def row(self, said: RowSaid, form: str = "") -> str:
        """Return the words for a row: its title, a part of it, or a description."""
        draw, title = self._random.random(), said.title
        if not self._is_precise and said.row is not None and title not in self.names:
            if form not in _BY_NAME and draw < _DESCRIBED and "described" not in self._manners:
                described = self._describe(said)
                if described:
                    return described
            if _DESCRIBED <= draw < _DESCRIBED + _SHORT and said.view is not None:
                short = short_title(self._setting, self._random, said.entity, title)
                if short is not None:
                    self._manners.add("short")
                    self.names[title] = short
                    return self._with_noun(said, self._words.mark_name(short), form)
        return self._with_noun(said, self.title(said), form)

    def prepare(self, rows: Sequence[RowSaid]) -> None:
        """Have titles in quotation marks in a goal that speaks of rows of which one needs them, or may have them."""
        unclear = (not is_clear(self._setting, one.entity, one.title) for one in rows)
        is_long = any(len(one.title.split()) >= _LONG for one in rows)
        self._has_quotes = (
            self._has_quotes or any(unclear) or (is_long and self._quote_draw < _QUOTED_LONG)
        )

    def _with_noun(self, said: RowSaid, title: str, form: str) -> str:
        bare, one = (re.sub(r"\W", "", text).casefold() for text in (title, said.entity.one))
        is_code = bare.isdigit()
        if bare.startswith(one) or (not is_code and self._is_without_noun(said, form)):
            return title
        one = f"{SAID}{self._words.as_noun(said.entity.one)}{END}"
        name = "row" if " " in title else "row_of_one_word"
        return self._words.phrase(name, one=one, title=title)

    def _is_without_noun(self, said: RowSaid, form: str) -> bool:
        """Return whether a title needs no noun before it, in a language that can do without."""
        is_person = said.entity.picture is Picture.PERSON
        is_code = " " not in said.title
        share = _NOUN_OF_PERSON if is_person else _NOUN_OF_CODE if is_code else _NOUN
        can = "bare" in self._rules.verbs
        return form == "bare" or (can and self._noun_draw >= share)

    def _describe(self, said: RowSaid) -> str:
        """Return a description of a row, or an empty text."""
        if said.view is None or said.row is None:
            return ""
        tests = describe(
            *(self._setting, self._random, said.view, said.entity, said.row), unlike=self.spoken_of
        )
        if not tests:
            return ""
        self._manners.add("described")
        self.names[said.title] = ""
        for test in tests:
            shown = self._setting.show(said.entity, test.field, test.value)
            self.facts.add((said.title, test.field.name, shown))
        one = f"{SAID}{self._words.as_noun(said.entity.one)}{END}"
        return self._words.phrase("described", one=one, which=self._which(tests))

    def _which(self, tests: Sequence[ValueSaid]) -> str:
        """Return what rows have, as it stands after their noun; clauses come after phrases."""
        told = [self._condition(test, is_of_one=True) for test in tests]
        clauses = tuple(self._rules.phrases["clauses"])
        phrases = [one for one in told if not one.startswith(clauses)]
        rest = [one for one in told if one.startswith(clauses)]
        return " ".join((*phrases, *((self._words.join(rest),) if rest else ())))

    def rows(self, said: RowsSaid, form: str) -> str:
        """Return rows with their conditions, or as `form` says.

        The conditions alone are `tests` or `which`; `each` and `one` are one of the rows; `those` are
        rows of which the sentence has spoken; `in` says among which rows one is.
        """
        match form:
            case "tests" | "which":
                return self._tests(said) if form == "tests" else self._which(said.tests)
            case "each" | "one":
                return self._each(said) if form == "each" else self._one(said)
            case "have":
                return self._words.join([self._have(test) for test in said.tests])
            case "those":
                return self._those(said)
            case "in":
                return self._words.verb("in" if said.tests else "in_all", rows=self._many(said))
            case _:
                return self._many(said)

    def _many(self, said: RowsSaid) -> str:
        """Return rows with their conditions."""
        many = f"{SAID}{self._words.as_noun(said.entity.many)}{END}"
        if not said.tests:
            return many
        if self._is_precise:
            return self._words.phrase("rows_exactly", many=many, tests=self._tests(said))
        noun, tests = self._before(said, many)
        noun, tests = self._of_owner(said, noun, tests)
        return self._words.phrase("rows", many=noun, which=self._of_many(tests)) if tests else noun

    def _before(self, said: RowsSaid, noun: str) -> tuple[str, list[ValueSaid]]:
        """Return the noun of rows with the choice that stands before it, and the other conditions."""
        tests = [*said.tests]
        before = next((one for one in tests if self._stands_before(said, one)), None)
        if before is None or self._random.random() >= _BEFORE:
            return noun, tests
        tests.remove(before)
        return f"{self._words.adjective(before)} {noun}", tests

    def _of_owner(
        self, said: RowsSaid, noun: str, tests: list[ValueSaid]
    ) -> tuple[str, list[ValueSaid]]:
        """Return the noun of rows behind the person whose they are, as `Ann Lee's orders`, and the other conditions."""
        owned = next((one for one in tests if self._is_owner(said, one)), None)
        if owned is None or "owned" not in self._rules.verbs or self._random.random() >= _OWNED:
            return noun, tests
        tests.remove(owned)
        return self._words.verb("owned", owner=self._words.value(owned), rows=noun), tests

    def _is_owner(self, said: RowsSaid, test: ValueSaid) -> bool:
        """Return whether a condition is by the only person to whom rows are linked."""
        persons = {
            one.name for one in self._setting.world.entities if one.picture is Picture.PERSON
        }
        links = [one for one in said.entity.fields if one.target in persons]
        return links == [test.field]

    def _one(self, said: RowsSaid) -> str:
        """Return the noun of one of the rows with their conditions, as `waiting payment over $500`."""
        one = f"{SAID}{self._words.as_noun(said.entity.one)}{END}"
        if self._is_precise and said.tests:
            return self._words.phrase("rows_exactly", many=one, tests=self._tests(said))
        noun, tests = self._before(said, one)
        return f"{noun} {self._which(tests)}" if tests else noun

    def _those(self, said: RowsSaid) -> str:
        """Return rows of which the sentence has spoken."""
        if not said.tests or self._is_precise:
            return self._many(said)
        return self._words.verb("those", which=self._of_many(said.tests))

    def _of_many(self, tests: Sequence[ValueSaid]) -> str:
        """Return what rows have, as it stands after their noun."""
        told = [self._condition(test) for test in tests]
        clauses = tuple(self._rules.phrases["clauses"])
        told.sort(key=lambda one: one.startswith(clauses))
        if self._are_unlike(told):
            return " ".join(told)
        return self._words.join([told[0], *(one.removeprefix("with ") for one in told[1:])])

    def _stands_before(self, said: RowsSaid, test: ValueSaid) -> bool:
        """Return whether a condition's value can stand before the noun, as `waiting payments`: it is a word of this field alone."""
        history = self._setting.world.history
        is_label = history is not None and history.changes == said.entity.name
        if test.field.kind is not Kind.CHOICE or is_label or "bare" not in self._rules.verbs:
            return False
        value = str(test.value).casefold()
        others = (one for one in said.entity.fields if one is not test.field)
        is_own = not any(value in map(str.casefold, one.choices) for one in others)
        return is_own and value.isalpha() and value not in _NO_ADJECTIVES

    def _are_unlike(self, told: Sequence[str]) -> bool:
        """Return whether phrases of rows stand beside one another without `and`: a clause does, and some phrases do."""
        clauses = tuple(self._rules.phrases["clauses"])
        loose = self._rules.verbs.get("loose", [])
        first = [one.split()[0] for one in told]
        is_mixed = len({one.startswith(clauses) for one in told}) > 1
        is_loose = len({*first}) == len(told) and {*first} <= {*loose}
        return is_mixed or (is_loose and not self._is_precise)

    def _each(self, said: RowsSaid) -> str:
        """Return the noun of one of the rows, with what each of them does."""
        one = f"{SAID}{self._words.as_noun(said.entity.one)}{END}"
        if not said.tests:
            return one
        does = [self._words.predicate(test) for test in said.tests]
        if all(does):
            return self._words.verb("each", one=one, does=self._words.join(does))
        if self._is_precise:
            return self._words.phrase("rows_exactly", many=one, tests=self._tests(said))
        return f"{one} {self._which(said.tests)}"

    def _condition(self, test: ValueSaid, *, is_of_one: bool = False) -> str:
        """Return a condition as it stands after the noun of rows, `is_of_one`: of one row."""
        clauses = tuple(self._rules.phrases["clauses"])  # their verbs are those of one row
        phrases = self._words.phrases_of(test)
        known = [one for one in phrases if is_of_one or not one.startswith(clauses)]
        if known and (is_of_one or self._random.random() < _IN_PHRASES):
            phrase = _WITH_THE.sub("with ", self._random.choice(known))
            return self._words.fill(phrase, value=self._words.value(test))
        return self._compare("which", test, is_of_one=is_of_one)

    def _have(self, test: ValueSaid) -> str:
        """Return what rows have that meet a condition, as it stands after `have`."""
        value = self._words.value(test)
        return self._words.verb_of("have").format(
            field=Called(self._words, test.field), value=value
        )

    def _tests(self, said: RowsSaid) -> str:
        """Return conditions as they stand after `where`."""
        name = "test_exactly" if self._is_precise else "test"
        return self._words.join([self._compare(name, test) for test in said.tests])

    def _compare(self, name: str, test: ValueSaid, *, is_of_one: bool = True) -> str:
        """Return a condition in a phrase, with the verb that its field has."""
        phrases, field = self._rules.phrases, self._words.noun(test.field)
        is_plural = self._words.is_plural(field)
        has = self._rules.verbs.get("holds", [""])
        parts = {
            "value": self._words.value(test),
            "be": phrases["be"][is_plural],
            "have": has[0 if is_of_one else -1],
        }
        told = self._random.choice(phrases[f"{name}_bound" if test.over else name])
        return spread(told, self._random).format(
            field=Called(self._words, test.field, field), **parts
        )

    def title(self, said: RowSaid) -> str:
        """Return a row by its title alone."""
        self.names[said.title] = said.title
        self._words.told.append(said.title)
        is_bare = not self._is_precise and is_clear(self._setting, said.entity, said.title)
        has_quotes = self._has_quotes and " " in said.title and not said.title.istitle()
        return (
            self._words.mark_name(said.title)
            if is_bare and not has_quotes
            else self._words.quote(said.title)
        )
