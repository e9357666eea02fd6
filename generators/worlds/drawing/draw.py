"""Draws specifications of worlds from a family's file and a seed."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from pydantic import ValidationError

from generators.worlds.drawing.family import (
    Family,
    parse_family,
)
from generators.worlds.drawing.locales import draw_language
from generators.worlds.drawing.look import further_fonts
from generators.worlds.drawing.rows import content_problems, draw_rows
from generators.worlds.drawing.specification import Fullest, begin, draw_field, make_world
from generators.worlds.drawing.text_recipes import parse_recipe
from generators.worlds.drawing.translation import lacks, read_words, translate
from generators.worlds.state.database import Rows
from generators.worlds.words.catalogue import has_catalogue
from schemas.base import first_mistake
from schemas.errors import BadTasks
from schemas.tasks.task import MAX_SEED
from schemas.worlds.language import Language
from schemas.worlds.patterns import Shape, Thread
from schemas.worlds.world import World

FOLDER = Path(__file__).with_name("families")
"""The folder of the families' files."""

MAX_WORLDS = 2_000
"""Maximum number of worlds for one command: more would exceed the maximum height of a JPEG contact sheet."""

FAMILIES = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
"""The names of all families."""

_DRAWS = 20
"""Maximum number of draws per seed until a world is valid."""


class Drawn(NamedTuple):
    """A world of a seed with its rows."""

    world: World
    """The first valid world that the seed draws."""
    rows: Rows
    """The initial rows of its tables; callers must not change them."""
    again: int
    """The number of invalid draws before it."""


def draw_world(family: str, seed: int) -> World:
    """Return the world of a seed.

    Raises:
        BadTasks: the family does not exist, or its file allows no valid world.
    """
    return draw_whole(family, seed)[0]


def draw_whole(family: str, seed: int, count: int | None = None) -> tuple[World, Rows]:
    """Return the world of a seed and its rows, which callers must not change.

    `count` is the number of rows of its largest table, the others in proportion; None: as the seed draws them.

    Raises:
        BadTasks: the family does not exist, or its file allows no valid world.
    """
    drawn = draw(family, seed, count)
    return drawn.world, drawn.rows


@lru_cache(maxsize=64)  # a world's tasks are drawn, then attempted and replayed
def draw(family: str, seed: int, count: int | None = None) -> Drawn:
    """Return the world of a seed, its rows, and the number of invalid draws before it; `count` as in `draw_whole`.

    Raises:
        BadTasks: the family does not exist, or its file allows no valid world.
    """
    check_family(family)
    language = language_of(family, seed)
    further_fonts(language)  # refuses a language without a font before anything is drawn
    return draw_valid(shipped_family(family, language), family, seed, count)


def language_of(family: str, seed: int) -> Language:
    """Return the language of the world of a seed: the one drawn, or English where the family has no words in it."""
    language = draw_language(Random(f"language {family} {seed}"))
    return language if speaks(family, language) else Language.ENGLISH


def speaks(family: str, language: Language) -> bool:
    """Return whether a shipped family has words in a language."""
    return words_path(family, language).is_file() and has_catalogue(language)


def words_path(family: str, language: Language) -> Path:
    """Return the path of a shipped family's file in a language; it need not exist."""
    folder = FOLDER if language is Language.ENGLISH else FOLDER / language.value
    return folder / f"{family}.toml"


def check_family(family: str) -> None:
    """Check that a family of worlds ships.

    Raises:
        BadTasks: it does not.
    """
    if family not in FAMILIES:
        raise BadTasks(f"there is no family of worlds '{family}'; there are {', '.join(FAMILIES)}")


def worlds_in_turn(
    count: int, *, first_seed: int, family: str | None = None, language: Language | None = None
) -> list[tuple[str, int]]:
    """Return family and seed of `count` worlds: of `family`, or of all in turn, each cycle with the next seed.

    `language` is that of the worlds, and others are left out; None: all languages.

    Raises:
        BadTasks: a seed or `count` is too large, the family does not exist, or there are no words in the language.
    """
    if family is not None:
        check_family(family)
    families = FAMILIES if family is None else (family,)
    if count > MAX_WORLDS:
        raise BadTasks(f"{count:,} worlds: expected at most {MAX_WORLDS:,} at once")
    if language is not None:
        families = tuple(one for one in families if speaks(one, language))
    if not families:
        raise BadTasks(f"there are no words of '{family or 'any family'}' in '{language}'")
    last = first_seed + (count - 1) // len(families)
    if last > MAX_SEED:
        raise BadTasks(f"the last of these worlds has seed {last}: the largest is {MAX_SEED}")
    places = (divmod(number, len(families)) for number in itertools.count())
    worlds = ((families[turn], first_seed + cycle) for cycle, turn in places)
    fitting = (one for one in worlds if language is None or language_of(*one) is language)
    return list(itertools.islice(fitting, count))


def draw_valid(family: Family, name: str, seed: int, count: int | None = None) -> Drawn:
    """Return the first valid world that a seed draws from a family of the given name; `count` as in `draw_whole`.

    Raises:
        BadTasks: all `_DRAWS` draws are invalid; the message has the last reason.
    """
    reason = ""
    for again in range(_DRAWS):
        try:
            world = make_world(family, name, seed, again=again, count=count)
            return Drawn(world, draw_rows(world), again)
        except ValidationError as error:
            reason = first_mistake(error)
        except BadTasks as error:
            reason = str(error)
    raise BadTasks(f"{name}.toml: seed {seed} makes no valid world in {_DRAWS} draws: {reason}")


def has_pattern(family: str, pattern: Shape | type[Thread]) -> bool:
    """Return whether worlds of a shipped family can have views of a shape, a cart, or threads."""
    shipped = _parse_shipped(family)
    if pattern is Shape.CART:
        return shipped.cart is not None
    if pattern is Thread:
        return bool(shipped.threads)
    return any(view.shape is pattern for view in shipped.views.values())


@cache
def _parse_shipped(name: str) -> Family:
    """Return a shipped family without a trial draw, because every command reads all families."""
    return parse_family(FOLDER / f"{name}.toml")


@cache
def shipped_family(name: str, language: Language) -> Family:
    """Return a shipped family in a language in which it has words.

    Raises:
        BadTasks: its file is invalid; the message is one line with the file, the place and the reason.
    """
    if language is Language.ENGLISH:
        return read_family(FOLDER / f"{name}.toml")
    return read_translation(_parse_shipped(name), words_path(name, language), language)


def read_family(path: Path) -> Family:
    """Return the family that a file describes, after a trial draw with all options taken.

    Raises:
        BadTasks: the file is invalid; the message is one line with the file, the place and the reason.
    """
    return _draws(parse_family(path), path.name, path.stem)


def read_translation(family: Family, path: Path, language: Language) -> Family:
    """Return a family in the words of a file, after a trial draw with all options taken.

    Raises:
        BadTasks: the file is invalid or not whole; the message is one line with the file, the place and the reason.
    """
    file, said = f"{path.parent.name}/{path.name}", read_words(path)
    with _refuse(file):
        translated = translate(family, said, language)
    return _draws(translated, file, path.stem)


def _draws(family: Family, file: str, name: str) -> Family:
    """Return a family of a file after a trial draw with all options taken; `name` is the family's.

    Raises:
        BadTasks: a recipe or the drawn world is invalid.
    """
    with _refuse(f"{file}: title"):
        parse_recipe(family.title)
    for key, entity in family.entities.items():
        for column, field in entity.fields.items():
            with _refuse(f"{file}: entities.{key}.fields.{column}"):
                draw_field(column, field, Fullest())
    with _refuse(file):
        fullest = begin(family, name, 0, lambda _: Fullest()).finish()
    for problem in content_problems(fullest):
        raise BadTasks(f"{file}: {problem}")
    return family


def translation_problems(family: str, language: Language) -> list[str]:
    """Return what is wrong with a shipped family's file in a language, each with its place; empty: nothing is."""
    path, english = words_path(family, language), _parse_shipped(family)
    try:
        wrong = [*lacks(english, read_words(path))]
        if not wrong:
            read_translation(english, path, language)
    except BadTasks as error:
        return [str(error)]
    return [f"{path.parent.name}/{path.name}: {one}" for one in wrong]


@contextmanager
def _refuse(where: str) -> Iterator[None]:
    """Raise `BadTasks` with the place for an invalid value or record."""
    try:
        yield
    except BadTasks as error:
        raise BadTasks(f"{where}: {error}") from None
    except ValueError as error:
        reason = first_mistake(error) if isinstance(error, ValidationError) else error
        raise BadTasks(f"{where}: {reason}") from None
