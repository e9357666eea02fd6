"""`stepmill worlds words`: which languages have words of pages and families, and what is wrong with them."""

import argparse
from collections.abc import Sequence

from flows.terminal import ExitCode, print_lines, print_result, table
from generators.worlds.drawing.draw import FAMILIES, check_family, translation_problems, words_path
from generators.worlds.words.catalogue import catalogue, catalogue_problems, has_catalogue
from schemas.worlds.language import Language


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    if args.family is not None:
        check_family(args.family)
    families = FAMILIES if args.family is None else (args.family,)
    others = [one for one in Language if one is not Language.ENGLISH]
    languages = others if args.language is None else [args.language]
    there = {
        one: [name for name in families if words_path(name, one).is_file()] for one in languages
    }
    wrong = {one: _problems(one, there[one]) for one in languages if has_catalogue(one)}
    if args.json:
        print_result(
            {
                "languages": [
                    {"language": one, "families": there[one], "wrong": wrong.get(one)}
                    for one in languages
                ]
            }
        )
        return _code(wrong)
    head = ("language", "texts of pages", "families", "wrong")
    print_lines(
        table(head, ([*_counts(one, there, wrong), _wrong(one, wrong)] for one in languages))
    )
    print_lines(line for lines in wrong.values() for line in lines)
    return _code(wrong)


def _problems(language: Language, families: Sequence[str]) -> list[str]:
    """Return what is wrong with the words of pages, or, where nothing is, with those of families."""
    wrong = [f"{language.value}.toml: {one}" for one in catalogue_problems(language)]
    if wrong or language is Language.ENGLISH:
        return wrong
    return [line for name in families for line in translation_problems(name, language)]


def _counts(
    language: Language, there: dict[Language, list[str]], wrong: dict[Language, list[str]]
) -> list[str]:
    has_words = language in wrong
    return [
        language.value,
        str(len(list(catalogue(Language.ENGLISH)))) if has_words else "–",
        str(len(there[language])),
    ]


def _wrong(language: Language, wrong: dict[Language, list[str]]) -> str:
    return str(len(wrong[language])) if language in wrong else "there is no file of pages"


def _code(wrong: dict[Language, list[str]]) -> int:
    return ExitCode.SHORT if any(wrong.values()) else ExitCode.DONE
