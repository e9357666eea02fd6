"""The differences allowed between equal visits of a task, which comparisons of visits leave out."""

import re

from pydantic import field_validator

from schemas.base import Record


class Masks(Record):
    """The differences allowed between equal visits: tokens, session ids, times of the server's own clock."""

    fields: tuple[str, ...] = ()
    """Names of form fields whose values count as empty."""
    patterns: tuple[str, ...] = ()
    """Regular expressions; their matches in the document, in addresses and in names and texts of elements
    are removed; of a pattern with groups only the first group."""
    state: tuple[str, ...] = ()
    """JSON pointers into the server's state, `*` for any key or index; the values at them are left out."""

    @field_validator("patterns")
    @classmethod
    def _check_patterns(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
        return patterns

    def hide(self, text: str) -> str:
        """Return `text` without the matches of the patterns."""
        for pattern in self.patterns:
            text = re.sub(pattern, _without_group, text)
        return text


def _without_group(found: re.Match[str]) -> str:
    """Return a match without its first group; empty if it has no group."""
    if not found.re.groups or found.group(1) is None:
        return ""
    begin, end = (at - found.start() for at in found.span(1))
    return found.group()[:begin] + found.group()[end:]
