"""How a goal says what it speaks of: word for word as pages show it, or as people say it.

In the precise form values and titles are in quotation marks and fields have the labels of pages. In the plain form a
title stands in the sentence as it is, or the row is described by what it has; fields are called by nouns, by verbs or by their
labels, and days, amounts and choices are said in everyday words. A text that would not be understood so stays in quotation
marks.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from random import Random

from generators.tasks.worlds.ground.field_words import END, SAID, Called, FieldWords
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
from generators.tasks.worlds.ground.row_words import RowWords
from generators.tasks.worlds.ground.world_rows import Setting
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Picture

_AFTER_RANKS, _AFTER_QUESTIONS, _IN_VERBS = 0.25, 0.12, 0.15
"""The shares of comparisons and of questions with the field's label after them, in brackets, and of new rows whose values are
said in verbs."""

_RANKS = {
    **dict.fromkeys(("larger", "later"), "more"),
    **dict.fromkeys(("smaller", "earlier"), "less"),
    **dict.fromkeys(("largest", "latest"), "most"),
    **dict.fromkeys(("smallest", "earliest"), "least"),
}


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
        self.facts = set[tuple[str, str, str]]()
        """What it has said of rows that it describes: title, field and value as pages show it."""

    def voices(
        self, words: Mapping[str, Said], *, repeated: Collection[str]
    ) -> dict[str, "Voice | str"]:
        """Return what fills placeholders; rows of those that are `repeated` are called by their titles.

        No row is described by a field of which the goal asks or which it changes.
        """
        self._rows.spoken_of = {field for said in words.values() for field in fields_in(said)}
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
                return self._rows.row(said, form)
            case FieldSaid():
                return self._field(said, form)
            case ValueSaid():
                return self._value(said, form)
            case ValuesSaid():
                return self._values(said, form)
            case SeveralSaid(each=each):
                return "; ".join(self._values(one, "new") for one in each)
            case RowsSaid():
                return self._rows.rows(said, form)
            case PathSaid():
                return self._path(said, form)
            case CellsSaid():
                return self._cells(said, form)
            case WantedSaid():
                return self._order(said)
            case StepSaid():
                return self._step(said)
            case DeletionSaid(row=row):
                return self._words.phrase("deletion", row=self.say(row))
            case ChangeSaid(row=row, values=values):
                told = self._values(values, "to")
                return self._words.phrase("change", row=self.say(row), values=told)
            case NounSaid(label=label, is_person=is_person):
                noun = f"{SAID}{self._rows.noun(label)}{END}"
                who = f"who{'_person' * is_person}"
                return self._words.verb(who, one=noun) if form == "who" else noun
            case TextSaid(text=text):
                self.told.append(text)
                return self._words.text(text)
            case TermSaid(name=name):
                return self._words.term(name)

    def _field(self, said: FieldSaid, form: str) -> str:
        field = said.fields[0]
        match form:
            case "asks" | "there" | "its":
                return self._question(said, form)
            case "leads":
                return self._leads(said.fields, said.of)
            case "ranks" | "most":
                return self._compared(field, said.word, form)
            case _:
                return self._words.join([self._words.called(one, form) for one in said.fields])

    def _question(self, said: FieldSaid, form: str) -> str:
        """Return the question for a field of a row, of `that` one that links lead to, or of `it`, without its mark."""
        (field,) = said.fields
        is_person = said.of is not None and said.of.entity.picture is Picture.PERSON
        asks = [*field.asks] if not self._is_precise else []
        if form == "its" and (is_person or not asks):
            return self._filled(self._words.verb_of("its"), field)
        if form == "there":
            row = self._words.verb("there", target=self._target(said.via[-1]))
        else:
            row = self._words.phrase("it") if form == "its" else self._leads(said.via, said.of)
        asks = [one for one in asks if form != "its" or _is_fit_for_it(one)]
        if not asks:
            return self._filled(self._words.verb_of("asks"), field, row=row)
        self.manners.add("spoken")
        told = self._words.filled(self._random.choice(asks), row=row)
        return self._with_label(told, field, _AFTER_QUESTIONS)

    def _with_label(self, told: str, field: DataField, share: float) -> str:
        """Return words for a field with its label after them, in brackets, in a share of goals."""
        in_brackets = self._random.random() < share and "(" not in field.label
        return f"{told} ({self._words.label(field)})" if in_brackets else told

    def _target(self, field: DataField) -> str:
        """Return what pages call the rows that a link leads to; empty: the field is none."""
        if field.target is None:
            return ""
        return f"{SAID}{self._rows.noun(self._setting.world.entity(field.target).one)}{END}"

    def _leads(self, links: Sequence[DataField], row: RowSaid | None) -> str:
        """Return the row that links lead to, in nouns."""
        told = self._words.phrase("it") if row is None else self._rows.row(row, "name")
        for depth, link in enumerate(links):
            told = self._lead(link, told, is_it=row is None, is_inner=depth > 0)
        return told

    def _lead(
        self, link: DataField, row: str, *, is_it: bool = False, is_inner: bool = False
    ) -> str:
        """Return the row that a link leads to from a row.

        That is called `it` (`is_it`), or has been led to (`is_inner`) and has to come last, to be understood.
        """
        leads = () if self._is_precise else link.leads
        fit = [_of_it(one) if is_it else one for one in leads if not is_it or _is_fit_for_it(one)]
        fit = [one for one in fit if not is_inner or one.endswith("{row}")]
        target = self._target(link)
        if fit:
            return self._words.filled(self._random.choice(fit), row=row)
        name = "leads_inner" if is_inner else "leads"
        return self._filled(self._words.verb_of(name), link, row=row, target=target)

    def _compared(self, field: DataField, word: str, form: str) -> str:
        """Return a comparison of rows by a field: `costs more`, or after a noun `that costs the most`."""
        ranks = field.ranks
        if ranks is None or self._is_precise:
            told = self._words.term(word)
            return self._filled(self._words.verb_of(form), field, word=told)
        self.manners.add("spoken")
        told = spread(getattr(ranks, _RANKS[word]), self._random)
        if form == "most":
            told = self._words.verb("that", does=told)
        return self._with_label(told, field, _AFTER_RANKS)

    def _filled(self, template: str, field: DataField, **parts: str) -> str:
        return template.format(field=Called(self._words, field), **parts)

    def field(self, field: DataField) -> str:
        """Return what a field is called."""
        said = field.said or self._rules.said.get(field.label, ())
        if self._is_precise:
            is_noun = not said or field.label.casefold() in map(str.casefold, said)
            if is_noun:
                return f"{SAID}{self._noun(field.label)}{END}"
            return self._labelled(field.label, self._random.choice(said))
        name = self._random.choice(said or (self._plain_label(field.label),))
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
        held = [
            ValueSaid(said.entity, said.entity.field(name), value)
            for name, value in said.values.items()
        ]
        if form == "new":
            return self._new(said, held)
        if form == "does":
            does = [self._words.predicate(one) for one in held]
            is_renamed = said.entity.title.name in said.values
            if all(does) and not is_renamed:
                return self._words.join(does)
            return self._words.verb("stated", values=self._values(said, "with"))
        return self._words.join(self._listed(held, f"values_{form}" if form else "values"))

    def _new(self, said: ValuesSaid, held: Sequence[ValueSaid]) -> str:
        """Return the values of a new row: its title, then the others."""
        if "new" not in self._rules.verbs or self._is_precise:
            return self._values(said, "")
        title = [self._words.value(one) for one in held if one.field is said.entity.title]
        rest = [one for one in held if one.field is not said.entity.title]
        has_verbs = self._random.random() < _IN_VERBS
        does = [self._words.predicate(one) for one in rest] if has_verbs else [""]
        return ", ".join([*title, *(does if all(does) else self._listed(rest, "values"))])

    def _listed(self, held: Sequence[ValueSaid], name: str) -> list[str]:
        told = f"{name}_exactly" if self._is_precise else name
        template = spread(self._random.choice(self._rules.phrases[told]), self._random)
        flag = self._rules.phrases[name.replace("values", "flag")][0]
        return [
            (flag if one.field.kind is Kind.FLAG and not self._is_precise else template).format(
                field=Called(self._words, one.field), value=self._words.value(one)
            )
            for one in held
        ]

    def _cells(self, said: CellsSaid, form: str) -> str:
        name = f"cell_{form}" if form else "cell"
        template = spread(self._random.choice(self._rules.phrases[name]), self._random)
        told = [
            template.format(
                row=self._rows.row(row, "bare"),
                field=Called(self._words, value.field),
                value=self.say(value),
            )
            for row, value in said.cells
        ]
        return self._words.join(told) if form else "; ".join(told)

    def _path(self, said: PathSaid, form: str) -> str:
        if form == "leads":
            return self._leads(said.links, said.of)
        if form == "walk":
            it = self._words.phrase("it")
            led = [self._lead(link, it, is_it=True) for link in said.links]
            return self._words.verb("walk").join(led)
        if form == "steps":
            return self._words.verb("steps_by").join(map(self._words.label, said.links))
        told = self._words.noun(said.links[0])
        for link in said.links[1:]:
            told = self._words.phrase("path", field=self._words.noun(link), of=told)
        return told

    def _order(self, said: WantedSaid) -> str:
        name = self._random.choice(self._rules.phrases["wanted"])
        told = [
            name.format(count=str(count), thing=self._rows.title(thing))
            if isinstance(thing, RowSaid)
            else self._words.phrase("wanted_cheapest", count=str(count), rows=self.say(thing))
            for count, thing in said.things
        ]
        return self._words.join(told)

    def _step(self, said: StepSaid) -> str:
        row = self._words.phrase("it") if said.row is None else self.say(said.row)
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


def _is_fit_for_it(phrase: str) -> bool:
    """Return whether `it` can stand for a row in a phrase: there is no `it's` for whose."""
    return "{row}'" not in phrase


def _of_it(phrase: str) -> str:
    """Return a noun phrase for what `it` has, as `its author`."""
    return re.sub(r"^the (.+) of \{row\}$", r"its \1", phrase)
