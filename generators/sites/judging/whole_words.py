"""Whether a text has some words, whole and in whatever case, as a reader would find them in it.

Most texts do not have the words that they are searched for, and to compile a pattern for these costs a hundred times
as much as to look for their letters. So the letters are looked for first.
"""

import re

_DOTS = str.maketrans("İı", "ii")
"""The only letters of which a pattern takes two for the same, and `str.casefold` does not."""


def has_words(text: str, words: str) -> bool:
    """Return whether a text contains the given words as whole words, in whatever case."""
    if _one_case(words) not in _one_case(text):
        return False
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def _one_case(text: str) -> str:
    return text.translate(_DOTS).casefold()
