"""How a goal calls fields and their values: by the words of pages, or by those that people use.

What is put in is marked, so that the wording changes no letter of it that has to stay.
"""

import re
from collections.abc import Sequence
from datetime import date
from random import Random

from generators.tasks.worlds.ground.grammar import Grammar, spread
from generators.tasks.worlds.ground.mentions import ValueSaid
from generators.tasks.worlds.ground.world_rows import NUMBERS, Setting
from schemas.worlds.field import TAG_PARTING, DataField, Kind, tags_of
from schemas.worlds.world import Entity

KEPT, SAID, END, NAMED = "\ue000", "\ue001", "\ue002", "\ue003"
"""The marks before what stays letter by letter, before a word of ours, after either, and before a title or a value of pages,
which a message in small letters has in small letters too."""

_LABELS, _QUOTED, _BRACKETS, _LOWER, _SHOWN = 0.5, 0.15, 0.04, 0.4, 0.5
"""The shares of plain goals that call fields by their labels where these are no nouns, and that have such labels in quotation
marks; of nouns that have the label after them in brackets; and of plain goals that have choices in small letters, and days as
pages show them."""

_PHRASE = 3
"""A choice of so many words stands in quotation marks, as it would not be told from the sentence."""

_FEW_WORDS = 5
"""The most words of a text that stands in a sentence without quotation marks."""

_MARKED = 0.2
"""The share of precise goals with labels and all values in quotation marks; in others these are as pages have them."""

_SMALL = 0.75
"""The share of choices before a noun that are in small letters."""

_LABEL_NOUNS = 0.75
"""The share of fields whose label is a noun that are called by it, in languages with `verbs`."""

_OF_PEOPLE = re.compile(r"(ish|ch|man|ian|ese|ic)$")
"""The ends of English words for languages and peoples, which have a capital letter."""

_PLAIN_TEXT = re.compile(r"[.,;:?!](?=\s|$)|[\"()]")
_NO_CENTS = re.compile(r"[.,]00(?=\D*$)")
_ON_DAY = re.compile(r"\bon \{value\}")
_ARTICLE = re.compile(r"\b(an?|at|in|exactly) \{value\}")
_TEXTS = {Kind.TEXT, Kind.LONG_TEXT, Kind.LINK}
_NUMERALS = NUMBERS - {Kind.DATE}


class FieldWords:
    """Says fields and values in one form, and keeps what it has said."""

    def __init__(
        self, setting: Setting, rules: Grammar, random: Random, *, is_precise: bool
    ) -> None:
        self.setting, self.rules, self.random = setting, rules, random
        self.is_precise = is_precise
        small = rules.phrases.get("nouns_in_small_letters", ())
        self.lowers = bool(small)
        """Whether the language writes nouns inside a sentence in small letters."""
        self._lowers_nouns = "always" in small or (self.lowers and not is_precise)
        """Whether it says what pages call rows and fields so in this form."""
        self.quotes_nouns = "bare" in rules.verbs
        """Whether its precise form has labels in quotation marks that are nouns."""
        self.manners = {"precise" if is_precise else "plain"}
        """How it has said things: `precise`, `plain`, `described`, `short`, `spoken`."""
        self.told = list[str]()
        """The texts of pages that it has said in full or in other words, as pages show them."""
        self._terms = dict[str, str]()
        self._named = dict[tuple[str, ...], str]()
        self._quoted = random.choice(rules.verbs.get("quoted", ['"{text}"']))
        self._has_labels = random.random() < _LABELS
        self._marks_all = not self.quotes_nouns or random.random() < _MARKED
        self._quotes_labels = random.random() < _QUOTED
        self._lowers_choices = self.lowers and random.random() < _LOWER
        self._shows_days = random.random() < _SHOWN
        other = random.choice(rules.days["other_year"])
        alike = [one for one in rules.days["this_year"] if other.startswith(one)]
        this = random.choice(alike or rules.days["this_year"])
        self._days = {"this_year": this, "other_year": other}

    def is_plural(self, noun: str) -> bool:
        """Return whether what a field is called means several."""
        bare = noun.strip(KEPT + SAID + END)
        return any(re.search(one, bare) for one in self.rules.phrases["plurals"])

    def name_of(self, field: DataField, form: str) -> str:
        """Return what a field is called: a noun, or as `form` says `the` noun or label, `any` of them, or its `label`."""
        match form:
            case "the":
                return self.the(field)
            case "any":
                return self.any(field)
            case "label":
                return self.label(field)
            case _:
                return self.noun(field)

    def noun(self, field: DataField) -> str:
        """Return what a field is called, without an article."""
        said = self._nouns(field)
        if self.is_precise:
            is_noun = not said or field.label.casefold() in map(str.casefold, said)
            if is_noun and not self.quotes_nouns:
                return f"{SAID}{self.as_noun(field.label)}{END}"
            if not self._marks_all:
                return self.label(field)
            return self._label_phrase(field.label, self.random.choice(said or (field.label,)))
        drawn = self.random.choice(said or (self._plain_label(field.label),))
        if self.quotes_nouns and self._is_near(field) and self.random.random() < _LABEL_NOUNS:
            drawn = self._plain_label(field.label)
        name = self._named.setdefault((field.label, *field.said), drawn)
        if name.casefold() != field.label.casefold():
            self.manners.add("spoken")
        return f"{SAID}{name}{END}"

    def _label_phrase(self, label: str, noun: str) -> str:
        """Return what a label that is no noun stands for, with the label as pages show it."""
        template = spread(self.random.choice(self.rules.phrases["label"]), self.random)
        if "{said}" not in template:
            return template.format(label=self.quote(label))
        is_said = label.casefold() in noun.casefold()
        told = noun if is_said else template.format(said=noun, label=f'"{label}"')
        return f"{SAID}{told}{END}"

    def as_noun(self, label: str) -> str:
        """Return what pages call rows or a field, in small letters where a sentence would have them so."""
        is_word = label[1:].islower() or " " in label or "-" in label
        return label[0].lower() + label[1:] if self._lowers_nouns and is_word else label

    def label(self, field: DataField) -> str:
        """Return the label of a field as pages have it."""
        is_quoted = self._marks_all if self.is_precise else self._is_quoted(field)
        return self.quote(field.label) if is_quoted else f"{SAID}{field.label}{END}"

    def _is_quoted(self, field: DataField) -> bool:
        """Return whether a label is in quotation marks in a plain goal, as it may be where it is no noun."""
        return self._quotes_labels and not self._is_near(field)

    def any(self, field: DataField) -> str:
        """Return a noun for a field or its label, without an article."""
        if self.is_precise or self._is_called_by_label(field):
            return self.label(field)
        noun = self.noun(field)
        bare = noun.strip(SAID + END).casefold()
        is_same = bare == self._plain_label(field.label).casefold()
        if is_same or "(" in field.label or self.random.random() >= _BRACKETS:
            return noun
        return f"{noun} ({self.label(field)})"

    def the(self, field: DataField) -> str:
        """Return a noun for a field with its article, or its label."""
        told = self.any(field)
        is_label = self.is_precise or self._is_called_by_label(field)
        return told if is_label else self.verb("the", field=told)

    def _is_called_by_label(self, field: DataField) -> bool:
        """Return whether a field is called by its label, as flags are, and others whose label is no noun."""
        return field.kind is Kind.FLAG or (self._has_labels and not self._is_near(field))

    def _is_near(self, field: DataField) -> bool:
        """Return whether a field's label is a noun for it."""
        nouns = {one.casefold() for one in self._nouns(field)}
        return not nouns or self._plain_label(field.label).casefold() in nouns

    def _nouns(self, field: DataField) -> Sequence[str]:
        return field.said

    def value(self, said: ValueSaid) -> str:
        """Return a value, after its term if it is a bound."""
        shown = self.setting.show(said.entity, said.field, said.value)
        self.told.append(shown)
        if said.field.kind is Kind.TAGS:
            self.told += tags_of(said.value)
        is_marked = self._marks_all or said.field.kind in _TEXTS
        exact = self.quote(shown) if is_marked else self.mark_name(shown)
        told = exact if self.is_precise else self._everyday(said, shown)
        return f"{self.term(said.over)} {told}" if said.over else told

    def adjective(self, said: ValueSaid) -> str:
        """Return a choice as it stands before a noun, as a rule in small letters."""
        shown = self.setting.show(said.entity, said.field, said.value)
        self.told.append(shown)
        is_small = self.random.random() < _SMALL and not _OF_PEOPLE.search(shown)
        return self._keep(shown.lower() if is_small else shown, shown)

    def predicate(self, said: ValueSaid) -> str:
        """Return what a row does that has a value, as `is due on 3 May`; empty: nothing says it."""
        if said.field.kind is Kind.FLAG and not said.value:
            return ""
        does = said.field.does
        known = [fit for one in does if (fit := self._fit(said, one))]
        if self.is_precise or not known:
            return ""
        self.manners.add("spoken")
        return self.fill(self.random.choice(known), value=self.value(said))

    def wish(self, said: ValueSaid) -> str:
        """Return a predicate as what should be, as `should be due on 3 May`; empty: nothing says it."""
        return _should(self.predicate(said))

    def phrases_of(self, said: ValueSaid) -> list[str]:
        """Return the phrases that say after a noun what rows have, with `{value}`."""
        if said.field.kind is Kind.FLAG and not said.value:
            return []
        return [fit for one in said.field.that if (fit := self._fit(said, one))]

    def _fit(self, said: ValueSaid, phrase: str) -> str:
        """Return a phrase fit for a value or a bound, as `opened {value}` for `after 3 May`; empty: it does not fit."""
        if not said.over:
            return phrase
        if said.field.kind in _NUMERALS:
            return "" if _ARTICLE.search(phrase) else phrase
        return _ON_DAY.sub("{value}", phrase) if _ON_DAY.search(phrase) else ""

    def fill(self, phrase: str, **parts: str) -> str:
        """Return a phrase of a field with its placeholders filled, its words marked as ours."""
        return spread(phrase, self.random).format(**parts)

    def _everyday(self, said: ValueSaid, shown: str) -> str:
        """Return a value in everyday words."""
        kind, out = said.field.kind, self.text(shown)
        if kind is Kind.DATE and not self._shows_days:
            out = self._keep(self._day(date.fromisoformat(str(said.value))), shown)
        elif kind is Kind.DATE:
            out = self.mark_name(shown)
        elif kind is Kind.MONEY:
            out = self._keep(_NO_CENTS.sub("", shown), shown)
        elif kind is Kind.FLAG:
            out = self.phrase("yes" if said.value else "no")
        elif kind is Kind.TAGS:
            out = self.join([self.mark_name(tag) for tag in shown.split(TAG_PARTING)])
        elif kind is Kind.CHOICE and len(shown.split()) >= _PHRASE:
            out = self.quote(shown)
        elif kind is Kind.CHOICE and self._is_word(said.entity, shown):
            out = self._keep(shown[0].lower() + shown[1:], shown)
        elif kind in {Kind.INTEGER, Kind.CHOICE, Kind.LINK} and not _PLAIN_TEXT.search(shown):
            out = self.mark_name(shown)
        return out

    def _is_word(self, entity: Entity, shown: str) -> bool:
        """Return whether a choice is said in small letters; what past changes name are labels."""
        history = self.setting.world.history
        is_label = history is not None and history.changes == entity.name
        is_word = shown[1:].isalpha() and shown[1:].islower()
        return self._lowers_choices and not is_label and is_word

    def _day(self, day: date) -> str:
        """Return a day as people say it, without this year."""
        is_now = day.year == self.setting.world.at.year
        return self._days["this_year" if is_now else "other_year"].format(
            d=day.day, month=self.rules.days["months"][day.month - 1], y=day.year, th=_th(day.day)
        )

    def text(self, text: str) -> str:
        """Return a text as it stands, in quotation marks if it is long or has marks of its own."""
        is_short = len(text.split()) <= _FEW_WORDS and not _PLAIN_TEXT.search(text)
        is_bare = is_short and not self.is_precise
        return f"{KEPT}{text}{END}" if is_bare else self.quote(text)

    def phrase(self, name: str, **parts: str) -> str:
        """Return one of a language's phrases, filled."""
        return self._one_of(self.rules.phrases[name], parts)

    def verb(self, name: str, **parts: str) -> str:
        """Return one of its `verbs`, filled."""
        return self.verb_of(name).format(**parts)

    def verb_of(self, name: str) -> str:
        """Return one of its `verbs`, to be filled."""
        exactly = f"{name}_exactly"
        is_exact = self.is_precise and exactly in self.rules.verbs
        return spread(
            self.random.choice(self.rules.verbs[exactly if is_exact else name]), self.random
        )

    def _one_of(self, templates: Sequence[str], parts: dict[str, str]) -> str:
        return spread(self.random.choice(templates), self.random).format(**parts)

    def term(self, name: str) -> str:
        """Return one of a language's terms, the same each time."""
        if name not in self._terms:
            self._terms[name] = spread(self.rules.terms[name], self.random)
        return self._terms[name]

    def join(self, parts: Sequence[str]) -> str:
        """Return parts as a list with `and` before the last."""
        first = ", ".join(parts[:-1])
        return f"{first} {self.term('and')} {parts[-1]}" if first else parts[-1]

    def _plain_label(self, label: str) -> str:
        """Return a label as a noun in a sentence: without what stands in brackets, and as nouns are written there."""
        bare = re.sub(r"\s*\([^)]*\)", "", label)
        lowers = self.lowers and bare[1:] == bare[1:].lower()
        return bare[0].lower() + bare[1:] if lowers else bare

    def _keep(self, told: str, shown: str) -> str:
        if told != shown:
            self.manners.add("spoken")
        return self.mark_name(told)

    def mark_name(self, text: str) -> str:
        """Return a title or a value of pages, marked."""
        return f"{NAMED}{text}{END}"

    def quote(self, text: str) -> str:
        """Return a text in quotation marks, marked; one with an apostrophe is in double ones."""
        quoted = '"{text}"' if "'" in text else self._quoted
        return f"{KEPT}{quoted.format(text=text)}{END}"


def _should(predicate: str) -> str:
    """Return `should` with the verb of a predicate in the present; empty: its verb is in the past."""
    verb, _, rest = predicate.partition(" ")
    if verb in {"is", "was"}:
        return f"should be {rest}"
    if verb == "has":
        return f"should have {rest}"
    stem = (
        re.sub(r"ies$", "y", verb)
        if verb.endswith("ies")
        else re.sub(r"(?<=[cs]h|ss)es$|(?<=[ox])es$|s$", "", verb)
    )
    return f"should {stem} {rest}" if stem != verb else ""


class Called:
    """A field in a phrase, said when its placeholder is filled."""

    def __init__(self, words: FieldWords, field: DataField, noun: str | None = None) -> None:
        """`noun` is what it is called where no form is asked for; None: it is drawn."""
        self._words, self._field, self._noun = words, field, noun

    def __format__(self, form: str) -> str:
        is_drawn = form or self._noun is None
        return self._words.name_of(self._field, form) if is_drawn else str(self._noun)


def _th(day: int) -> str:
    """Return the ending of an English ordinal number."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return "th" if day in range(11, 14) else ends.get(day % 10, "th")


def is_fit_for_it(phrase: str) -> bool:
    """Return whether `it` can stand for a row in a phrase: there is no `it's` for whose."""
    return "{row}'" not in phrase


def of_it(phrase: str) -> str:
    """Return a noun phrase for what `it` has, as `its author`."""
    return re.sub(r"^the (.+) of \{row\}$", r"its \1", phrase)
