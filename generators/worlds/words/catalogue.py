"""The words of pages that come from no family: one file for each language, with the same keys as the English one.

A text is one way to say something; a list holds alternatives, of which a world has one; a list of lists holds words
that belong together. `{name}` in a text is put in by the caller. A file that differs from the English one in its keys,
the length of a list or what is put in is refused, with the place and the reason.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Formatter

from schemas.errors import Refusal
from schemas.worlds.language import Language

FOLDER = Path(__file__).parent
"""The folder of the files, each named after its language, as `de.toml`."""

LABELS = "words"
"""The section of labels that every website has, each with its alternatives parted by bars."""

CAPITAL_NOUNS = frozenset({Language.GERMAN})
"""The languages that write nouns inside a sentence as they stand alone."""

_NUMBERED = re.compile(r"\([^(){}]*\{code\}\)")
_GOES_ON = re.compile(r"^.{1,29}…$")
_ISO_DAY = re.compile(r"(\w)\1{3}-(\w)\2-(\w)\3")
_FORMS = {
    "form.not_saved": (_NUMBERED, "'{code}' at the end of brackets, as (error {code})"),
    "form.changed_meanwhile": (_NUMBERED, "'{code}' at the end of brackets, as (error {code})"),
    "rows.not_done": (_NUMBERED, "'{code}' at the end of brackets, as (error {code})"),
    "rows.loading": (_GOES_ON, "at most 29 letters and '…' at the end"),
    "behaviour.searching": (_GOES_ON, "at most 29 letters and '…' at the end"),
    "dates.placeholder": (_ISO_DAY, "year, month and day by letters, as YYYY-MM-DD"),
}
"""What texts have in every language, by which those who read none of them know what they say."""

Said = str | Sequence[str] | Sequence[Sequence[str]]
"""What a key says: a text, alternatives, or groups of texts."""


class Catalogue:
    """The words of one language."""

    def __init__(self, language: Language, said: Mapping[str, Said]) -> None:
        """`said` has what each key says, by section and name, as `form.required`."""
        self.language = language
        self._said = said

    def __iter__(self) -> Iterator[str]:
        """Yield all keys."""
        return iter(self._said)

    def __getitem__(self, key: str) -> Said:
        """Return what a key says.

        Raises:
            KeyError: there is no such key.
        """
        return self._said[key]

    def say(self, key: str, /, **given: object) -> str:
        """Return a text with what is put in.

        Raises:
            KeyError: there is no such key, or something to put in is missing.
            TypeError: the key says several things.
        """
        said = self[key]
        if not isinstance(said, str):
            raise TypeError(f"'{key}' says several things: {said}")
        return said.format(**given)

    def among(self, key: str) -> tuple[str, ...]:
        """Return the alternatives of a key.

        Raises:
            KeyError: there is no such key.
            TypeError: the key says no list of texts.
        """
        said = self[key]
        texts = tuple(one for one in said if isinstance(one, str))
        if isinstance(said, str) or len(texts) != len(said):
            raise TypeError(f"'{key}' says no list of texts: {said}")
        return texts

    def groups(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Return the groups of texts of a key.

        Raises:
            KeyError: there is no such key.
            TypeError: the key says no groups.
        """
        said = self[key]
        found = tuple(tuple(one) for one in said if isinstance(one, list))
        if isinstance(said, str) or len(found) != len(said):
            raise TypeError(f"'{key}' says no groups of texts: {said}")
        return found

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Return the alternatives of the labels that every website has, by name."""
        start = f"{LABELS}."
        return {
            key.removeprefix(start): tuple(part.strip() for part in self.say_as_is(key).split("|"))
            for key in self
            if key.startswith(start)
        }

    def say_as_is(self, key: str) -> str:
        """Return a text as the file has it, with the names of what is put in.

        Raises:
            KeyError: there is no such key.
        """
        return str(self[key])

    def inside(self, noun: str) -> str:
        """Return a noun as it is written inside a sentence."""
        return noun if self.language in CAPITAL_NOUNS else noun.lower()

    def quote(self, titles: Sequence[str]) -> str:
        """Return titles in quotation marks, one after another."""
        return self.say_as_is("rows.between").join(
            self.say("rows.quoted", title=title) for title in titles
        )


@cache
def catalogue(language: Language) -> Catalogue:
    """Return the words of a language.

    Raises:
        Refusal: there is no file, or it says something else than the English one; the message names the first mistake.
    """
    read = read_catalogue(FOLDER / f"{language.value}.toml", language)
    if language is not Language.ENGLISH:
        for problem in differences(catalogue(Language.ENGLISH), read):
            raise Refusal(f"{language.value}.toml: {problem}")
    return read


def read_catalogue(path: Path, language: Language) -> Catalogue:
    """Return the words of a file.

    Raises:
        Refusal: the file cannot be read, or holds something else than texts in sections.
    """
    try:
        sections = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Refusal(f"{path.name}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"{path.name}: invalid TOML: {error}") from None
    said = dict[str, Said]()
    for section, entries in sections.items():
        if not isinstance(entries, dict):
            raise Refusal(f"{path.name}: {section}: expected a section, got {entries!r}")
        for name, value in entries.items():
            if not _is_said(value):
                raise Refusal(f"{path.name}: {section}.{name}: expected texts, got {value!r}")
            said[f"{section}.{name}"] = value
    return Catalogue(language, said)


def catalogue_problems(language: Language) -> list[str]:
    """Return what is wrong with the file of a language, each with its place; empty: nothing is.

    Raises:
        Refusal: as `read_catalogue`.
    """
    read = read_catalogue(FOLDER / f"{language.value}.toml", language)
    return [*differences(catalogue(Language.ENGLISH), read)]


def has_catalogue(language: Language) -> bool:
    """Return whether there is a file of a language."""
    return (FOLDER / f"{language.value}.toml").is_file()


def differences(model: Catalogue, other: Catalogue) -> Iterator[str]:
    """Yield what of a model's keys, lengths of lists and names of what is put in another catalogue lacks or adds."""
    yield from (f"{key}: is missing" for key in model if key not in set(other))
    for key in other:
        if key not in set(model):
            yield f"{key}: there is no such key in English"
            continue
        yield from (f"{key}{problem}" for problem in _unlike(model[key], other[key]))
        if key in _FORMS:
            form, expected = _FORMS[key]
            texts = [other[key]] if isinstance(other[key], str) else other[key]
            if not all(form.search(str(one)) for one in texts):
                yield f"{key}: expected {expected}, got {other[key]}"
        if key.startswith(f"{LABELS}."):
            yield from (
                f"{key}: '{one}' says {_names(one)}, English {_names(model.say_as_is(key))}"
                for one in other.say_as_is(key).split("|")
                if not one.strip() or _names(one) != _names(model.say_as_is(key))
            )


def _is_said(value: object) -> bool:
    """Return whether a value is a text, texts, or groups of texts, none of them empty."""
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, list) and bool(value) and all(map(_is_said, value))


def _unlike(model: Said, other: Said) -> Iterator[str]:
    """Yield how what a key says differs in form, after the key."""
    if isinstance(model, str) or isinstance(other, str):
        if type(model) is not type(other):
            yield ": expected a list" if isinstance(other, str) else ": expected one text"
        elif _names(str(model)) != _names(str(other)):
            yield f": puts in {_names(str(other))}, English {_names(str(model))}"
        return
    if len(model) != len(other):
        yield f": {len(other)} entries, English has {len(model)}"
        return
    if all(isinstance(one, str) for one in model):
        allowed = {name for one in model for name in _names(str(one))}
        needed = set.intersection(*({*_names(str(one))} for one in model))
        for place, one in enumerate(other):
            if not isinstance(one, str):
                yield f"[{place}]: expected one text"
            elif not needed <= {*_names(one)} <= allowed:
                yield f"[{place}]: '{one}' puts in {_names(one)}, English {sorted(allowed)}"
        return
    for place, (mine, its) in enumerate(zip(model, other, strict=True)):
        yield from (f"[{place}]{problem}" for problem in _unlike(mine, its))


def _names(text: str) -> list[str]:
    """Return the names of what is put into a text, sorted; of a text with a loose brace the brace."""
    try:
        return sorted({name for _, name, _, _ in Formatter().parse(text) if name is not None})
    except ValueError:
        return ["{"]
