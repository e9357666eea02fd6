"""Selects templates by include and exclude globs.

A glob that matches no template is an error that names the nearest templates; so is an empty selection.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase

from schemas.errors import BadTasks
from schemas.nearest import did_you_mean

_MAX_CHARS = 200


def select(
    templates: Collection[str],
    *,
    include: Sequence[str],
    exclude: Sequence[str],
    where: str,
    known: Collection[str] = (),
) -> list[str]:
    """Return the templates that match an `include` glob and no `exclude` glob, sorted.

    `where` is the source's name in messages. An exclude glob may also match `known` templates outside `templates`.

    Raises:
        BadTasks: a glob matches no template, or no template is left.
    """
    for key, globs, among in (
        ("tasks.include", include, templates),
        ("tasks.exclude", exclude, {*templates, *known}),
    ):
        for glob in globs:
            if len(glob) > _MAX_CHARS:  # longer than any name, and matching takes quadratic time
                raise BadTasks(
                    f"{key}: a glob of more than {_MAX_CHARS} characters, '{glob[:20]}…'"
                )
            if not any(fnmatchcase(name, glob) for name in among):
                text = re.sub(r"\[[^\]]*\]|[*?]", "", glob)
                hint = did_you_mean(text, among)
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
