"""How a goal says what it speaks of: word for word as pages show it, or as people say it.

In the precise form values and titles are in quotation marks and fields have the labels of pages. In the plain form a
title stands in the sentence as it is, or the row is described by what it has; fields have the names that people give
them, and days, amounts and choices are said in everyday words. A text that would not be understood so stays in quotation marks.

What is put in is marked, so that the wording changes no letter of it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from random import Random

from generators.tasks.worlds.ground.describing import describe, is_clear, short_title
from generators.tasks.worlds.ground.grammar import Grammar, spread
from generators.tasks.worlds.ground.mentions import (
    CellsSaid,
    ChangeSaid,
    DeletionSaid,
    FieldSaid,
    Mention,
    NounSaid,
    PathSaid,
    RowSaid,
    RowsSaid,
    Said,
    SeveralSaid,
    StepSaid,
    TermSaid,
    TextSaid,
    ValueSaid,
    ValuesSaid,
    WantedSaid,
    fields_in,
)
from generators.tasks.worlds.ground.world_rows import Setting
from schemas.worlds.field import TAG_PARTING, DataField, Kind, tags_of
from schemas.worlds.world import Entity

KEPT, SAID, END = "\ue000", "\ue001", "\ue002"
"""The marks before what stays letter by letter, before what may be written in small letters, and after either."""

_DESCRIBED, _SHORT, _LOWER = 0.5, 0.15, 0.5
"""The shares of plain rows that are described or called by a part of their title, and of choices in small letters."""

_BY_NAME = "name"
"""The form of a row that does without a description."""

_ENDS = re.compile(r"[.,;:?!](?=\s|$)|[\"()]")
_NO_CENTS = re.compile(r"[.,]00(?=\D*$)")


class Speaker:
    """Says mentions in one form, and keeps what it has said."""

    def __init__(
        self, setting: Setting, rules: Grammar, random: Random, *, is_precise: bool
    ) -> None:
        self._setting, self._rules, self._random = setting, rules, random
        self._is_precise = is_precise
        small = rules.phrases.get("nouns_in_small_letters", ())
        self._lowers = bool(small)
        """Whether the language writes nouns inside a sentence in small letters."""
        self._lowers_nouns = "always" in small or (self._lowers and not is_precise)
        """Whether it says what pages call rows and fields so in this form."""
        self._spoken_of = set[str]()
        self.manners = {"precise" if is_precise else "plain"}
        """How it has said things: `precise`, `plain`, `described`, `short`, `spoken`."""
        self.told = list[str]()
        """The texts of pages that it has said in full or in other words, as pages show them."""
        self.names = dict[str, str]()
        """What it has called rows, by title: the title or a part of it; empty: it has described the row."""
        self._called = dict[tuple[str, ...], str]()
        """What it has called fields, by name and nouns: a goal has one noun for a field."""
        self.facts = set[tuple[str, str, str]]()
        """What it has said of rows that it describes: title, field and value as pages show it."""

    def voices(
        self, words: Mapping[str, Said], *, repeated: Collection[str]
    ) -> dict[str, "Voice | str"]:
        """Return what fills placeholders; rows of those that are `repeated` are called by their titles.

        No row is described by a field of which the goal asks or which it changes.
        """
        self._spoken_of = {field for said in words.values() for field in fields_in(said)}
        voices = dict[str, Voice | str]()
        for name, said in words.items():
            if isinstance(said, str):
                voices[name] = f"{SAID}{said}{END}"
            elif isinstance(said, RowSaid) and name in repeated:
                voices[name] = Voice(self, said._replace(view=None))
            else:
                voices[name] = Voice(self, said)
        return voices

    def say(self, said: Mention, form: str = "") -> str:  # noqa: C901, PLR0911, PLR0912 - one line for each mention
        """Return a mention in words; `form` is what stands after a placeholder's colon."""
        match said:
            case RowSaid():
                return self._row(said, by_name=form == _BY_NAME)
            case FieldSaid(fields=fields):
                return self._join([self.field(field) for field in fields])
            case ValueSaid():
                return self.value(said)
            case ValuesSaid():
                return self._values(said, form)
            case SeveralSaid(each=each):
                return "; ".join(self._values(one, "") for one in each)
            case RowsSaid():
                return self._rows(said, form)
            case PathSaid(links=links):
                return self._path(links)
            case CellsSaid():
                return self._cells(said, form)
            case WantedSaid():
                return self._order(said)
            case StepSaid():
                return self._step(said)
            case DeletionSaid(row=row):
                return self._phrase("deletion", row=self.say(row))
            case ChangeSaid(row=row, values=values):
                told = self._values(values, "to")
                return self._phrase("change", row=self.say(row), values=told)
            case NounSaid(label=label):
                return f"{SAID}{self._noun(label)}{END}"
            case TextSaid(text=text):
                self.told.append(text)
                return self._text(text)
            case TermSaid(name=name):
                return self._term(name)

    def _row(self, said: RowSaid, *, by_name: bool) -> str:
        """Return the words for a row: its title, a part of it, or a description."""
        draw, title = self._random.random(), said.title
        if not self._is_precise and said.row is not None and title not in self.names:
            if not by_name and draw < _DESCRIBED and "described" not in self.manners:
                described = self._describe(said)
                if described:
                    return described
            if _DESCRIBED <= draw < _DESCRIBED + _SHORT and said.view is not None:
                short = short_title(self._setting, self._random, said.entity, title)
                if short is not None:
                    self.manners.add("short")
                    self.names[title] = short
                    return self._with_noun(said, f"{KEPT}{short}{END}")
        return self._with_noun(said, self._title_of(said))

    def _with_noun(self, said: RowSaid, title: str) -> str:
        bare, one = (re.sub(r"\W", "", text).casefold() for text in (title, said.entity.one))
        if bare.startswith(one):
            return title
        one = f"{SAID}{self._noun(said.entity.one)}{END}"
        return self._phrase("row" if " " in title else "row_of_one_word", one=one, title=title)

    def _describe(self, said: RowSaid) -> str:
        """Return a description of a row, or an empty text."""
        if said.view is None or said.row is None:
            return ""
        tests = describe(
            *(self._setting, self._random, said.view, said.entity, said.row), unlike=self._spoken_of
        )
        if not tests:
            return ""
        self.manners.add("described")
        self.names[said.title] = ""
        for test in tests:
            shown = self._setting.show(said.entity, test.field, test.value)
            self.facts.add((said.title, test.field.name, shown))
        one = f"{SAID}{self._noun(said.entity.one)}{END}"
        return self._phrase("described", one=one, which=self._which(tests))

    def _which(self, tests: Sequence[ValueSaid]) -> str:
        """Return what rows have, as it stands after their noun; clauses come after phrases."""
        told = [self._condition(test, is_of_one=True) for test in tests]
        clauses = tuple(self._rules.phrases["clauses"])
        phrases = [one for one in told if not one.startswith(clauses)]
        rest = [one for one in told if one.startswith(clauses)]
        return " ".join((*phrases, *((self._join(rest),) if rest else ())))

    def _rows(self, said: RowsSaid, form: str) -> str:
        """Return rows with their conditions, or as `form` says the conditions alone: `tests` or `which`."""
        if form == "tests":
            return self._tests(said)
        if form == "which":
            return self._which(said.tests)
        many = f"{SAID}{self._noun(said.entity.many)}{END}"
        if not said.tests:
            return many
        if self._is_precise:
            return self._phrase("rows_exactly", many=many, tests=self._tests(said))
        told = [self._condition(test) for test in said.tests]
        clauses = tuple(self._rules.phrases["clauses"])
        told.sort(key=lambda one: one.startswith(clauses))
        mixed = told[1:] and told[0].startswith(clauses) is not told[1].startswith(clauses)
        which = " ".join(told) if mixed else self._join(told)
        return self._phrase("rows", many=many, which=which)

    def _condition(self, test: ValueSaid, *, is_of_one: bool = False) -> str:
        """Return a condition as it stands after the noun of rows, `is_of_one`: of one row."""
        clauses = tuple(self._rules.phrases["clauses"])  # their verbs are those of one row
        known = [one for one in test.field.that if is_of_one or not one.startswith(clauses)]
        if known and not test.over and (is_of_one or self._random.random() < 1 / 2):
            phrase = spread(self._random.choice(known), self._random)
            return phrase.format(value=self.value(test))
        return self._compare("which", test)

    def _tests(self, said: RowsSaid) -> str:
        """Return conditions as they stand after `where`."""
        name = "test_exactly" if self._is_precise else "test"
        return self._join([self._compare(name, test) for test in said.tests])

    def _compare(self, name: str, test: ValueSaid) -> str:
        """Return a condition in a phrase, with the verb that its field has."""
        field, phrases = self.field(test.field), self._rules.phrases
        bare = field.strip(KEPT + SAID + END)
        is_plural = any(re.search(one, bare) for one in phrases["plurals"])
        name = f"{name}_bound" if test.over else name
        return self._phrase(name, field=field, value=self.value(test), be=phrases["be"][is_plural])

    def field(self, field: DataField) -> str:
        """Return what a field is called."""
        said = field.said
        if self._is_precise:
            is_noun = not said or field.label.casefold() in map(str.casefold, said)
            if is_noun:
                return f"{SAID}{self._noun(field.label)}{END}"
            return self._labelled(field.label, self._random.choice(said))
        name = self._random.choice(said or (self._plain_label(field.label),))
        name = self._called.setdefault((field.name, *said), name)
        if name.casefold() != field.label.casefold():
            self.manners.add("spoken")
        return f"{SAID}{name}{END}"

    def _labelled(self, label: str, noun: str) -> str:
        """Return what a label that is no noun stands for, with the label as pages show it."""
        template = self._random.choice(self._rules.phrases["label"])
        if "{said}" not in template:
            return template.format(label=self._quote(label))
        is_said = label.casefold() in noun.casefold()
        told = noun if is_said else template.format(said=noun, label=f'"{label}"')
        return f"{SAID}{told}{END}"

    def value(self, said: ValueSaid) -> str:
        """Return a value, after its term if it is a bound."""
        shown = self._setting.show(said.entity, said.field, said.value)
        self.told.append(shown)
        if said.field.kind is Kind.TAGS:
            self.told += tags_of(said.value)
        told = self._quote(shown) if self._is_precise else self._everyday(said, shown)
        return f"{self._term(said.over)} {told}" if said.over else told

    def _everyday(self, said: ValueSaid, shown: str) -> str:
        """Return a value in everyday words."""
        kind, out = said.field.kind, self._text(shown)
        if kind is Kind.DATE:
            out = self._keep(self._day(date.fromisoformat(str(said.value))), shown)
        elif kind is Kind.MONEY:
            out = self._keep(_NO_CENTS.sub("", shown), shown)
        elif kind is Kind.FLAG:
            out = self._phrase("yes" if said.value else "no")
        elif kind is Kind.TAGS:
            out = self._join([f"{KEPT}{tag}{END}" for tag in shown.split(TAG_PARTING)])
        elif kind is Kind.CHOICE and self._is_word(said.entity, shown):
            out = self._keep(shown[0].lower() + shown[1:], shown)
        elif kind is Kind.INTEGER:
            out = self._bare(shown)
        return out

    def _is_word(self, entity: Entity, shown: str) -> bool:
        """Return whether a choice is said in small letters, by chance; what past changes name are labels."""
        history = self._setting.world.history
        is_label = history is not None and history.changes == entity.name
        return (
            not is_label
            and self._lowers
            and shown[1:].isalpha()
            and shown[1:].islower()
            and self._random.random() < _LOWER
        )

    def _day(self, day: date) -> str:
        """Return a day as people say it, without this year."""
        is_now = day.year == self._setting.world.at.year
        template = self._random.choice(self._rules.days["this_year" if is_now else "other_year"])
        return template.format(
            d=day.day, month=self._rules.days["months"][day.month - 1], y=day.year, th=_th(day.day)
        )

    def _text(self, text: str) -> str:
        """Return a text as it stands, in quotation marks if it has marks of its own."""
        is_bare = not self._is_precise and not _ENDS.search(text)
        return self._bare(text) if is_bare else self._quote(text)

    def _values(self, said: ValuesSaid, form: str) -> str:
        """Return fields with values: as a list, or in the form of a sentence, all in the same way."""
        name = f"values_{form}" if form else "values"
        told = f"{name}_exactly" if self._is_precise else name
        template = spread(self._random.choice(self._rules.phrases[told]), self._random)
        held = ((said.entity.field(name), value) for name, value in said.values.items())
        flag = self._rules.phrases[name.replace("values", "flag")][0]
        parts = [
            (flag if field.kind is Kind.FLAG and not self._is_precise else template).format(
                field=self.field(field), value=self.value(ValueSaid(said.entity, field, value))
            )
            for field, value in held
        ]
        return self._join(parts)

    def _cells(self, said: CellsSaid, form: str) -> str:
        name = f"cell_{form}" if form else "cell"
        template = spread(self._random.choice(self._rules.phrases[name]), self._random)
        told = [
            template.format(
                row=self.say(row), field=self.field(value.field), value=self.value(value)
            )
            for row, value in said.cells
        ]
        return self._join(told) if form else "; ".join(told)

    def _path(self, links: Sequence[DataField]) -> str:
        told = self.field(links[0])
        for link in links[1:]:
            told = self._phrase("path", field=self.field(link), of=told)
        return told

    def _order(self, said: WantedSaid) -> str:
        told = [
            self._phrase("wanted", count=str(count), thing=self._title_of(thing))
            if isinstance(thing, RowSaid)
            else self._phrase("wanted_cheapest", count=str(count), rows=self.say(thing))
            for count, thing in said.things
        ]
        return self._join(told)

    def _title_of(self, said: RowSaid) -> str:
        """Return a row by its title alone."""
        self.names[said.title] = said.title
        self.told.append(said.title)
        is_bare = not self._is_precise and is_clear(self._setting, said.entity, said.title)
        return self._bare(said.title) if is_bare else self._quote(said.title)

    def _step(self, said: StepSaid) -> str:
        row = self._phrase("it") if said.row is None else self.say(said.row)
        if said.step.said and not self._is_precise:
            return self._random.choice(said.step.said).format(it=row)
        return self._phrase("step", row=row, after=self._text(said.step.after))

    def _phrase(self, name: str, **parts: str) -> str:
        template = self._random.choice(self._rules.phrases[name])
        return spread(template, self._random).format(**parts)

    def _term(self, name: str) -> str:
        return spread(self._rules.terms[name], self._random)

    def _join(self, parts: Sequence[str]) -> str:
        """Return parts as a list with `and` before the last."""
        first = ", ".join(parts[:-1])
        return f"{first} {self._term('and')} {parts[-1]}" if first else parts[-1]

    def _noun(self, label: str) -> str:
        """Return what pages call rows, in small letters where a sentence would have them so."""
        is_word = label[1:].islower() or " " in label or "-" in label
        return label[0].lower() + label[1:] if self._lowers_nouns and is_word else label

    def _plain_label(self, label: str) -> str:
        """Return a label as a noun in a sentence: without what stands in brackets, and as nouns are written there."""
        bare = re.sub(r"\s*\([^)]*\)", "", label)
        lowers = self._lowers and bare[1:] == bare[1:].lower()
        return bare[0].lower() + bare[1:] if lowers else bare

    def _keep(self, told: str, shown: str) -> str:
        if told != shown:
            self.manners.add("spoken")
        return f"{KEPT}{told}{END}"

    def _bare(self, text: str) -> str:
        return f"{KEPT}{text}{END}"

    def _quote(self, text: str) -> str:
        return f'{KEPT}"{text}"{END}'


class Voice:
    """A mention that is said when a placeholder is filled."""

    def __init__(self, speaker: Speaker, said: Mention) -> None:
        self._speaker, self._said = speaker, said

    def __format__(self, form: str) -> str:
        return self._speaker.say(self._said, form)


def _th(day: int) -> str:
    """Return the ending of an English ordinal number."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return "th" if day in range(11, 14) else ends.get(day % 10, "th")
