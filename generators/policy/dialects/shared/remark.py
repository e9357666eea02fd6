"""The words beside a call: why it is made, and a note to remember.

A reply's words go into the history of every later prompt, so both have a bound; what is more is left out,
and the parse says so. A family whose replies have a key for each puts them there. A family that writes text
before its call gets both in that text, the note in its own lines after `Note:`, so that no note is lost.
There a word that would end the text, or that the family's template takes for something else, has an entity
in place of its first character, which is undone when the text is read.
"""

import re
import sys
from collections.abc import Sequence

from generators.policy.dialects.shared.sanitize import (
    TAG_OPENING,
    break_words,
    replace_control_chars,
    truncate,
)
from schemas.base import Record

MAX_NOTE_CHARS = 4_000
"""The longest note that is kept, in characters."""

MAX_THOUGHT_CHARS = 250_000
"""The longest thought that is kept, in characters: about what the client keeps of any reply."""

_NOTE = "Note:"
_NOTE_LINE = re.compile(rf"^{_NOTE}[ \t]*", re.MULTILINE)
_ENTITY = re.compile(r"&(amp|lt|#\d{1,7});")
_NAMED = {"amp": "&", "lt": "<"}


class Remark(Record):
    """What is kept of a thought and a note."""

    thought: str | None
    """Why the action was chosen; None if not stated."""
    note: str | None
    """A note to remember; None without one."""
    dropped: str | None
    """What was left out, in words; None: nothing was."""


def bound_remark(thought: str | None, note: str | None) -> Remark:
    """Return a thought and a note for a record and a prompt: without control characters, each within its bound."""
    lost = [
        f"the {name} has {len(text):,} characters, of which {limit:,} are kept"
        for name, text, limit in (
            ("note", note or "", MAX_NOTE_CHARS),
            ("thought", thought or "", MAX_THOUGHT_CHARS),
        )
        if len(text) > limit
    ]
    return Remark(
        thought=replace_control_chars(truncate(thought, MAX_THOUGHT_CHARS)) if thought else None,
        note=replace_control_chars(truncate(note, MAX_NOTE_CHARS)) if note else None,
        dropped="; ".join(lost) or None,
    )


def join_remark(thought: str | None, note: str | None) -> str:
    """Return a thought and a note as one text, as it stands before a call; empty without either."""
    lines = [thought.strip()] if thought and thought.strip() else []
    if note and note.strip():
        lines.append(f"{_NOTE} {note.strip()}")
    return "\n".join(lines)


def split_remark(text: str) -> tuple[str | None, str | None]:
    """Return the thought and the note of a text that stands before a call."""
    text = text.strip()
    found = _NOTE_LINE.search(text)
    thought = text if found is None else text[: found.start()]
    note = "" if found is None else text[found.end() :]
    return thought.strip() or None, note.strip() or None


def write_remark(
    thought: str | None, note: str | None, *, switch_words: Sequence[str], headings: str = ""
) -> str:
    """Return a thought and a note as one text from which both can be read again.

    No word of `switch_words` is whole in it, and no line begins with `headings`.
    """
    starts = (_NOTE, headings) if headings else (_NOTE,)
    return join_remark(
        *(text and escape_words(text, switch_words, starts) for text in (thought, note))
    )


def read_remark(text: str) -> Remark:
    """Return the thought and the note of a text, bounded and without entities."""
    return bound_remark(*(part and unescape_words(part) for part in split_remark(text)))


def escape_words(text: str, switch_words: Sequence[str], starts: Sequence[str] = ()) -> str:
    """Return a text in which no tag begins, no word of `switch_words` is whole and no line begins with `starts`.

    `unescape_words` undoes it.
    """
    plain = TAG_OPENING.sub("&lt;", _ENTITY.sub(lambda found: f"&amp;{found.group()[1:]}", text))
    for start in starts:
        plain = re.sub(
            rf"^{re.escape(start[0])}(?={re.escape(start[1:])})",
            f"&#{ord(start[0])};",
            plain,
            flags=re.MULTILINE,
        )
    return break_words(plain, switch_words)


def unescape_words(text: str) -> str:
    """Return what `escape_words` was given."""
    return _ENTITY.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    name = found[1]
    code = int(name[1:]) if name[0] == "#" else 0
    if name in _NAMED:
        return _NAMED[name]
    return replace_control_chars(chr(code)) if 0 < code <= sys.maxunicode else found.group()
