"""Escapes words of pages and goals that a trainer would take for a picture or for a turn's end.

Trainers that read strings split them at `<image>`, `<video>` and `<audio>` (LLaMA-Factory, ms-swift,
verl; ms-swift at `<img>`, `<bbox>`, `<ref-object>` and `<cot-process>` too), and every processor counts
its own model's tokens in the text: `<|image_pad|>`, `<|vision_start|>`, `<IMG_CONTEXT>`,
`<start_of_image>`, `<image_soft_token>`, `[IMG]`. One such word in a goal shifts every picture after it,
or drops the row. So the bracket that opens one becomes an entity, `&#60;image>`. A word that is written
so already gets one `amp;` more, so `unescape` returns the original text.

Dialects escape the markup of pages and goals themselves, as `&lt;image>`; that is no placeholder and
stays, so the prompt is still the one sent to a model. This module escapes the words that dialects leave.

The class is wider than the list: anything between angle brackets that names a medium, every token
between `<|` and `|>`, and Mistral's words in square brackets. No dialect has words of this class of its
own.
"""

import re
from functools import lru_cache

IMAGE = "<image>"
"""Stands for a picture in a message that is one string."""

_ENTITIES = {"<": "&#60;", "[": "&#91;"}
_MEDIA = r"(?:image|img|video|audio|vision|bbox|ref-object|cot-process)"
_ANGLE = rf"(?:\|[^|<>\[\]&\s]{{1,64}}\|>|/?(?:[\w-]{{0,32}}?){_MEDIA}[\w-]{{0,32}}\s*/?>)"
_SQUARE = r"/?(?:IMG|INST|AUDIO|IMG_\w{1,16}|BEGIN_AUDIO)\]"
_OPENING = r"(?:&(?:amp;)*)"

PLACEHOLDER = re.compile(rf"<(?={_ANGLE})|\[(?={_SQUARE})", re.IGNORECASE)
"""The bracket that opens a word that a trainer would not read as text."""

_ESCAPABLE = re.compile(
    rf"(?:<|{_OPENING}#60;)(?={_ANGLE})|(?:\[|{_OPENING}#91;)(?={_SQUARE})", re.IGNORECASE
)
_ESCAPED = re.compile(rf"{_OPENING}#60;(?={_ANGLE})|{_OPENING}#91;(?={_SQUARE})", re.IGNORECASE)


@lru_cache(maxsize=1_024)  # a row repeats the texts of the row before
def escape(text: str) -> str:
    """Return `text` without a placeholder; a text without any, even escaped ones, is returned unchanged."""
    return _ESCAPABLE.sub(_escape, text)


def unescape(text: str) -> str:
    """Return the text that `escape` made `text` of."""
    return _ESCAPED.sub(_unescape, text)


def _escape(match: re.Match[str]) -> str:
    opening = match.group()
    return _ENTITIES.get(opening) or f"&amp;{opening[1:]}"


def _unescape(match: re.Match[str]) -> str:
    opening = match.group()
    if opening[1:].startswith("amp;"):
        return f"&{opening[len('&amp;') :]}"
    return "[" if opening.endswith("#91;") else "<"
