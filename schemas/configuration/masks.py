"""What may differ between two equal visits of a task, and is left out where visits are compared."""

import re

from pydantic import field_validator

from schemas.base import Record


class Masks(Record):
    """What may differ between equal visits: tokens, session ids, times of the server's own clock."""

    fields: tuple[str, ...] = ()
    """Names of form fields whose values count as empty."""
    patterns: tuple[str, ...] = ()
    """Regular expressions; what they match in the document, in addresses and in names and texts of
    elements counts as absent, of a pattern with groups the first group alone."""
    state: tuple[str, ...] = ()
    """JSON pointers into the server's state, `*` for any key or index; what they lead to is left out."""

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
        """Return `text` without what the patterns match."""
        for pattern in self.patterns:
            text = re.sub(pattern, _without_group, text)
        return text


def _without_group(found: re.Match[str]) -> str:
    """Return a match without its first group; nothing if it has none."""
    if not found.re.groups or found.group(1) is None:
        return ""
    begin, end = (at - found.start() for at in found.span(1))
    return found.group()[:begin] + found.group()[end:]
