"""How a goal says what it speaks of: word for word as pages show it, or as people say it.

In the precise form values and titles are in quotation marks and fields have the labels of pages. In the plain form a
title stands in the sentence as it is, or the row is described by what it has; fields are called by nouns, by verbs or by their
labels, and days, amounts and choices are said in everyday words. A text that would be misread stays in quotation marks.
"""

from collections.abc import Collection, Mapping, Sequence
from random import Random

from generators.tasks.worlds.ground.field_words import (
    END,
    SAID,
    Called,
    FieldWords,
    is_fit_for_it,
    of_it,
)
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
    rows_in,
)
from generators.tasks.worlds.ground.row_lists import as_lines, beside_label
from generators.tasks.worlds.ground.row_words import RowWords
from generators.tasks.worlds.ground.voice import Voice
from generators.tasks.worlds.ground.world_rows import Setting
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Picture

_AFTER_RANKS, _AFTER_QUESTIONS, _IN_VERBS = 0.04, 0.03, 0.06
"""The shares of comparisons and of questions with the field's label after them, in brackets, and of new rows whose values are
said in verbs."""

_IN_A_ROW = 5
"""The most values of a new row that stand in a sentence; more have a line each."""

_IN_PHRASES, _IN_WISHES = 0.65, 0.5
"""The shares of new rows whose values are said in phrases, and of goals that say in verbs what should be."""

_RANKS = {
    **dict.fromkeys(("larger", "later"), "more"),
    **dict.fromkeys(("smaller", "earlier"), "less"),
    **dict.fromkeys(("largest", "latest"), "most"),
    **dict.fromkeys(("smallest", "earliest"), "least"),
}


class Speaker:
    """Says mentions in one form, and keeps what it has said."""

    def __init__(
        self,
        setting: Setting,
        rules: Grammar,
        random: Random,
        *,
        is_precise: bool,
        is_whole: bool = False,
    ) -> None:
        """`is_whole`: whether the goal is a whole message of the bank."""
        self._is_whole = is_whole
        self._setting, self._rules, self._random = setting, rules, random
        self._is_precise = is_precise
        self._templates = dict[str, str]()
        """The phrases that it has drawn for lists of values, so that all are alike."""
        self._has_verbs = random.random() < _IN_VERBS
        self._has_phrases = random.random() < _IN_PHRASES
        self._has_wishes = random.random() < _IN_WISHES
        self._words = FieldWords(setting, rules, random, is_precise=is_precise)
        self._rows = RowWords(self._words)
        self.manners, self.told = self._words.manners, self._words.told
        self.names, self.facts = self._rows.names, self._rows.facts

    def voices(
        self, words: Mapping[str, Said], *, repeated: Collection[str]
    ) -> dict[str, Voice | str]:
        """Return what fills placeholders; rows of those that are `repeated` are called by their titles.

        No row is described by a field of which the goal asks or which it changes.
        """
        self._rows.spoken_of = {field for said in words.values() for field in fields_in(said)}
        self._rows.prepare(rows_in([*words.values()]))
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
                return self._step(said, form)
            case DeletionSaid(row=row):
                return self._words.phrase("deletion", row=self.say(row))
            case ChangeSaid(row=row, values=values):
                told = self._values(values, "to")
                return self._words.phrase("change", row=self.say(row), values=told)
            case NounSaid(label=label, is_person=is_person):
                noun = f"{SAID}{self._words.as_noun(label)}{END}"
                who = f"who{'_person' * is_person}"
                return self._words.verb(who, one=noun) if form == "who" else noun
            case TextSaid(text=text):
                self.told.append(text)
                return self._words.text(text)
            case TermSaid(name=name):
                return self._words.verb(name) if form == "does" else self._words.term(name)

    def _field(self, said: FieldSaid, form: str) -> str:
        field = said.fields[0]
        match form:
            case "asks" | "there" | "its":
                return self._question(said, form)
            case "leads":
                return self._leads(said.fields, said.of)
            case "ranks" | "most":
                return self._comparison(field, said.word, form)
            case _:
                return self._words.join([self._words.name_of(one, form) for one in said.fields])

    def _question(self, said: FieldSaid, form: str) -> str:
        """Return the question for a field of a row, of `that` one that links lead to, or of `it`, without its mark."""
        (field,) = said.fields
        is_person = said.of is not None and said.of.entity.picture is Picture.PERSON
        asks = [*field.asks] if not self._is_precise else []
        if form == "its" and (is_person or not asks):
            return self._fill(self._words.verb_of("its"), field)
        if form == "there":
            row = self._words.verb("there", target=self._target(said.via[-1]))
        else:
            row = self._words.phrase("it") if form == "its" else self._leads(said.via, said.of)
        asks = [one for one in asks if form != "its" or is_fit_for_it(one)]
        if not asks:
            return self._fill(self._words.verb_of("asks"), field, row=row)
        self.manners.add("spoken")
        told = self._words.fill(self._random.choice(asks), row=row)
        return self._with_label(told, field, _AFTER_QUESTIONS)

    def _with_label(self, told: str, field: DataField, share: float) -> str:
        """Return words for a field with its label after them, in brackets, in a share of goals."""
        in_brackets = self._random.random() < share and "(" not in field.label
        return f"{told} ({self._words.label(field)})" if in_brackets else told

    def _target(self, field: DataField) -> str:
        """Return what pages call the rows that a link leads to; empty: the field is none."""
        if field.target is None:
            return ""
        return f"{SAID}{self._words.as_noun(self._setting.world.entity(field.target).one)}{END}"

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
        is_of_person = is_it and self._is_of_person(link)
        leads = () if self._is_precise or is_of_person else link.leads
        fit = [of_it(one) if is_it else one for one in leads if not is_it or is_fit_for_it(one)]
        fit = [one for one in fit if not is_inner or one.endswith("{row}")]
        target = self._target(link)
        if fit:
            return self._words.fill(self._random.choice(fit), row=row)
        end = "_it" if is_it and self._is_precise else "_person" if is_of_person else ""
        name = f"leads{end or '_inner' * is_inner}"
        return self._fill(self._words.verb_of(name), link, row=row, target=target)

    def _is_of_person(self, link: DataField) -> bool:
        """Return whether a link is one of persons, who are no `it`."""
        entities = self._setting.world.entities
        owner = next((one for one in entities if any(each is link for each in one.fields)), None)
        return owner is not None and owner.picture is Picture.PERSON

    def _comparison(self, field: DataField, word: str, form: str) -> str:
        """Return a comparison of rows by a field: `costs more`, or after a noun `that costs the most`."""
        ranks = field.ranks
        if ranks is None or self._is_precise:
            told = self._words.term(word)
            return self._fill(self._words.verb_of(form), field, word=told)
        self.manners.add("spoken")
        told = spread(getattr(ranks, _RANKS[word]), self._random)
        if form == "most":
            told = self._words.verb("that", does=told)
        return self._with_label(told, field, _AFTER_RANKS)

    def _fill(self, template: str, field: DataField, **parts: str) -> str:
        return template.format(field=Called(self._words, field), **parts)

    def _value(self, said: ValueSaid, form: str) -> str:
        """Return a value, or as `form` says what a row does that has it: `does`, `it` or `premise`."""
        if form not in {"does", "it", "premise"}:
            return self._words.value(said)
        does, is_person = self._words.predicate(said), said.entity.picture is Picture.PERSON
        if form == "premise" and said.via is not None:
            return self._premise(said, said.via, does)
        if does and (form == "does" or not is_person):
            return does if form == "does" else f"{self._words.phrase('it')} {does}"
        is_bound, is_it = bool(said.over) and form == "does", form == "it" and is_person
        name = f"{form}{'_bound' * is_bound}{'_person' * (is_it and not self._is_precise)}"
        return self._fill(self._words.verb_of(name), said.field, value=self._words.value(said))

    def _premise(self, said: ValueSaid, link: DataField, does: str) -> str:
        """Return the clause that says what a row has that a link leads to; `does` is its predicate, empty: it has none."""
        can = any(map(is_fit_for_it, link.leads)) and not self._is_of_person(link)
        if does and can:
            lead = self._lead(link, self._words.phrase("it"), is_it=True)
            return f"{self._with_label(lead, link, _AFTER_QUESTIONS)} {does}"
        told, value = self._words.verb_of("premise"), self._words.value(said)
        by, target = Called(self._words, link), self._target(link)
        field = Called(self._words, said.field)
        return told.format(field=field, link=by, value=value, target=target)

    def _values(self, said: ValuesSaid, form: str) -> str:
        """Return fields with values: as a list, or in the form of a sentence, all in the same way."""
        held = [
            ValueSaid(said.entity, said.entity.field(name), value)
            for name, value in said.values.items()
        ]
        if form == "new":
            return self._new(said, held)
        if form == "has":
            return self._news(said, held)
        if form == "is" and self._is_thing(said):
            return self._wishes(held)
        if form == "does":
            does = [self._words.predicate(one) for one in held]
            is_renamed = said.entity.title.name in said.values
            if all(does) and not is_renamed:
                return self._words.join(does)
            return self._words.verb("stated", values=self._values(said, "with"))
        return self._words.join(self._list_values(held, f"values_{form}" if form else "values"))

    def _news(self, said: ValuesSaid, held: Sequence[ValueSaid]) -> str:
        """Return what a row has new; with a flag, or precisely, what it should have."""
        if self._is_precise or any(one.field.kind is Kind.FLAG for one in held):
            wishes = [self._words.wish(one) for one in held]
            if all(wishes):
                return self._words.join(wishes)
            return self._words.verb("stated", values=self._values(said, "with"))
        return self._words.verb("has", values=self._words.join([self._a_new(one) for one in held]))

    def _a_new(self, value: ValueSaid) -> str:
        """Return a new value with its field, as `a new address: 4 Oak Lane`."""
        noun = self._words.noun(value.field)
        name = "new_values" if self._words.is_plural(noun) else "new_value"
        field = Called(self._words, value.field, noun)
        return self._words.verb_of(name).format(field=field, value=self._words.value(value))

    def _new(self, said: ValuesSaid, held: Sequence[ValueSaid]) -> str:
        """Return the values of a new row: its title, then the others."""
        if "new" not in self._rules.verbs or self._is_precise:
            return self._values(said, "")
        title = [self._words.value(one) for one in held if one.field is said.entity.title]
        rest = [one for one in held if one.field is not said.entity.title]
        if len(rest) > _IN_A_ROW:
            return as_lines(self._words, held)
        if self._is_whole:
            return ", ".join([*title, *(beside_label(self._words, one) for one in rest)])
        does = [self._words.predicate(one) for one in rest] if self._has_verbs else [""]
        if self._has_phrases and not all(does):
            does = [self._phrase_of(one) for one in rest]
        return ", ".join([*title, *(does if all(does) else self._list_values(rest, "values"))])

    def _is_thing(self, said: ValuesSaid) -> bool:
        """Return whether values can be said of `it`."""
        has_verbs = "new" in self._rules.verbs and not self._is_precise
        is_renamed = said.entity.title.name in said.values
        return has_verbs and not is_renamed and said.entity.picture is not Picture.PERSON

    def _phrase_of(self, value: ValueSaid) -> str:
        """Return what a new row has as it stands after its noun, or after the name of the field."""
        clauses = tuple(self._rules.phrases["clauses"])
        known = [one for one in self._words.phrases_of(value) if not one.startswith(clauses)]
        if known:
            return self._words.fill(self._random.choice(known), value=self._words.value(value))
        return self._words.predicate(value) or self._list_values([value], "values")[0]

    def _wishes(self, held: Sequence[ValueSaid]) -> str:
        """Return clauses that say what should be."""
        told = self._list_values(held, "values_is")
        wishes = [self._words.wish(one) if self._has_wishes else "" for one in held]
        it = self._words.phrase("it")
        return self._words.join(
            [f"{it} {wish}" if wish else clause for wish, clause in zip(wishes, told, strict=True)]
        )

    def _list_values(self, held: Sequence[ValueSaid], name: str) -> list[str]:
        told = f"{name}_exactly" if self._is_precise else name
        if told not in self._templates:
            drawn = self._random.choice(self._rules.phrases[told])
            self._templates[told] = spread(drawn, self._random)
        template = self._templates[told]
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

    def _step(self, said: StepSaid, form: str) -> str:
        """Return a step of a row or of rows, `it`: of it; `label` is what pages call the step."""
        if form == "label":
            return self._words.quote(said.step.label)
        is_it = said.row is None or form == "it"
        row = self._words.phrase("it") if is_it else self._step_rows(said)
        if said.step.said and not self._is_precise:
            plain = [one for one in said.step.said if is_it or one.endswith("{it}")]
            return self._random.choice(plain or said.step.said).format(it=row)
        return self._words.phrase("step", row=row, after=self._words.text(said.step.after))

    def _step_rows(self, said: StepSaid) -> str:
        """Return the row or the rows that take a step."""
        if isinstance(said.row, RowsSaid):
            return self._words.verb("all", rows=self.say(said.row))
        return self.say(said.row) if said.row is not None else ""
