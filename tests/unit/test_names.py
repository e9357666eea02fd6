"""A function is called by a verb or by the noun that it returns, and never by a participle."""

import ast
import re
from collections.abc import Iterator

from source_tree import PACKAGES, functions, modules

PARTICIPLES = re.compile(
    r"_*(?:[a-z]*(?:ed|ing)|bound|built|drawn|found|given|held|kept|known|lost|made|said|seen|sent|shown|spelt"
    r"|taken|told|written)"
)
"""Names of one word that say in which state something is, and not what a function does or returns."""

NO_PARTICIPLES = {
    *("clipping", "drawing", "ending", "finding", "listing", "sampling", "wording"),
    *("feed", "need", "ring", "seed", "string"),
}
"""Nouns and verbs that look like some."""


def participles(tree: ast.Module) -> Iterator[str]:
    """Yield the functions that a participle names; a property tells a state, and may be called so."""
    for node in functions(tree):
        named = [getattr(one, "id", getattr(one, "attr", "")) for one in node.decorator_list]
        is_state = bool({"property", "cached_property"} & {*named})
        is_noun = node.name.strip("_") in NO_PARTICIPLES
        if PARTICIPLES.fullmatch(node.name) and not is_state and not is_noun:
            yield f"{node.lineno} {node.name}"


def test_no_function_is_called_by_a_participle() -> None:
    found = [
        f"{path}:{name}"
        for path, tree in modules(*PACKAGES, "plugins/applications/stepmill_applications")
        for name in participles(tree)
    ]

    assert found == []


def test_a_participle_is_found() -> None:
    tree = ast.parse(
        "def styled(): ...\nasync def _told(): ...\ndef behaving(): ...\n"
        "class A:\n    @property\n    def closed(self): ...\n    def shown(self): ...\n"
        "def judged_units(): ...\ndef listing(): ...\ndef tell(): ..."
    )

    assert [*participles(tree)] == ["1 styled", "2 _told", "3 behaving", "7 shown"]
