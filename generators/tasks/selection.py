"""Which templates are selected: globs that include, globs that exclude, none without effect.

A glob that matches no template is a mistake, so it is refused with the nearest names, and so is a
selection that leaves nothing.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

from generators.tasks.offers import did_you_mean
from schemas.errors import BadTasks


def select(
    templates: Collection[str],
    *,
    include: Sequence[str],
    exclude: Sequence[str],
    where: str,
    known: Collection[str] = (),
) -> list[str]:
    """Return the templates that an `include` glob matches and no `exclude` glob does, sorted.

    `where` says in messages what was looked through. A glob to exclude may also match `known`
    templates that are not among `templates`.

    Raises:
        BadTasks: a glob matches nothing, or nothing is left.
    """
    for key, globs, among in (
        ("tasks.include", include, templates),
        ("tasks.exclude", exclude, {*templates, *known}),
    ):
        for glob in globs:
            if not any(fnmatchcase(name, glob) for name in among):
                hint = did_you_mean(_without_wildcards(glob), among)
                raise BadTasks(f"{key}: '{glob}' matches no template of {where}{hint}")
    chosen = sorted(
        name for name in templates if _matches(name, include) and not _matches(name, exclude)
    )
    if not chosen:
        raise BadTasks(
            f"tasks.include = {list(include)} without tasks.exclude = {list(exclude)} "
            f"leaves no template of {where}"
        )
    return chosen


def _matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _without_wildcards(glob: str) -> str:
    """Return the text of a glob, to look for names like it."""
    return re.sub(r"\[[^\]]*\]|[*?]", "", glob)
