"""How people speak of fields that every family may have: one file for each language, by the labels of pages."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from schemas.worlds.language import Language
from schemas.worlds.spoken import Spoken

FOLDER = Path(__file__).parent / "spoken"
"""The folder of the files, each named after its language, as `de.toml`."""


@cache
def spoken(language: Language) -> Mapping[str, Spoken]:
    """Return the words for fields by their labels in a language; empty: it has no file.

    Raises:
        ValidationError: a file has words of another form.
    """
    path = FOLDER / f"{language.value}.toml"
    if not path.exists():
        return {}
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        label.strip(): Spoken.model_validate(words)
        for labels, words in told.items()
        for label in labels.split("|")
    }
