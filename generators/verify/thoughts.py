"""Whether a thought that this program wrote says what its action does.

Such a thought quotes what the action types or points at, and what it was found by. It contradicts the
action if it quotes something, and

* the text that is typed, or the option that is selected, is not quoted and not put together from what is,
  and is no number that the thought names;
* no words that it quotes are written on what is pointed at;
* nothing is written there, or it is a field, and the words stand on another control that is in sight.

What a model thinks is free, and nobody asks this of it.
"""

import re
from collections.abc import Iterator, Sequence

from generators.verify.shown import Words, split_words
from schemas.episodes.action import Answer, Click, Drag, Hover, Select, TypeText, target_point
from schemas.episodes.episode import Step, ThoughtSource
from schemas.episodes.observation import Box, Element, Target

MAX_OPERANDS = 12
"""Quotations from which a text may be put together."""

_FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
"""Roles of what is pointed at for what goes into it."""

NUMBERS = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
"""A number in a thought."""

_MARKS = (("'", "'"), ('"', '"'), ("“", "”"), ("\u2018", "\u2019"))
_SHOWN = 60
_OPENING = re.compile(r"(?<!\w)'|[\"“\u2018]")
_CLOSING = {
    "'": re.compile(r"'(?!\w)"),
    '"': re.compile('"'),
    "“": re.compile("”"),
    "\u2018": re.compile("\u2019"),
}


def quotes(thought: str) -> list[str]:
    """Return the texts in quotation marks, each in one line.

    A mark that nothing closes is looked for once a line, as a model may write nothing but such marks.
    """
    return [text for line in thought.split("\n") for text in _quotes_in(line)]


def _quotes_in(line: str) -> Iterator[str]:
    at, unclosed = 0, set[str]()
    while (opening := _OPENING.search(line, at)) is not None:
        at = opening.end()
        closing = (
            None if opening[0] in unclosed else _CLOSING[opening[0]].search(line, opening.end() + 1)
        )
        if closing is None:
            unclosed.add(opening[0])
            continue
        yield line[opening.end() : closing.start()]
        at = closing.end()


def contradiction(step: Step) -> str | None:
    """Return how the thought of a step contradicts its action; None if it does not, or is a model's."""
    thought, action = step.thought or "", step.action
    named = quotes(thought)
    if not named or step.thought_source is not ThoughtSource.TEMPLATE:
        return None
    if isinstance(action, Click | Hover | Drag) and step.target is not None:
        return _points_elsewhere(step, step.target, named)
    match action:
        case TypeText(text=text) | Answer(text=text) | Select(option=text) if text.strip():
            if not _is_named(text, thought) and not is_put_together(text, named):
                return f"its thought names {quote(named[0])}, but not {quote(text)}"
    return None


def _is_named(text: str, thought: str) -> bool:
    """Return whether a thought quotes a text, or names it as a number."""
    text, thought = (" ".join(one.split()) for one in (text, thought))
    return any(f"{left}{text}{right}" in thought for left, right in _MARKS) or text in {
        *NUMBERS.findall(thought)
    }


def _points_elsewhere(step: Step, target: Target, named: Sequence[str]) -> str | None:
    """Return how the words that a thought quotes are not those of what the action points at."""
    written = target.text or target.name or ""
    if split_words(written) and target.role not in _FIELDS:
        shown = [(one.text, None) for one in step.sights or () if _is_in(one.bbox, target.bbox)]
        if any(
            _is_part(one, written) or Words(None, shown).find(split_words(one)) for one in named
        ):
            return None
        return f"its thought names {quote(named[0])} and it points at {quote(written)}"
    others = {_key(item.text or item.name) for item in step.elements if _is_other(item, step)}
    wrong = next((one for one in named if _key(one) in others), None)
    return wrong and f"its thought names {quote(wrong)}, which stands beside where it points"


def _is_part(one: str, other: str) -> bool:
    """Return whether one of two texts is a part of the other, by whole words."""
    pairs = ((one, other), (other, one))
    return any(Words(None, [(whole, None)]).find(split_words(part)) for whole, part in pairs)


def _is_other(item: Element, step: Step) -> bool:
    """Return whether an element is a control in sight that the action does not point at."""
    point = target_point(step.action)
    control = item.interactive and item.tag != "label" and item.visible > 0 and not item.covered
    return control and point is not None and not _is_in((*point, 0, 0), item.bbox)


def _is_in(box: Box, outer: Box | None) -> bool:
    """Return whether the middle of a box lies in another one."""
    if outer is None:
        return False
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    return outer[0] <= x <= outer[0] + outer[2] and outer[1] <= y <= outer[1] + outer[3]


def _key(text: str) -> str:
    """Return a text as it is compared: by its words, or as it is if it has none."""
    return " ".join(split_words(text)) or text.strip()


def is_put_together(text: str, operands: Sequence[str]) -> bool:
    """Return whether a text is two or more operands, one after another."""
    parts = {"".join(split_words(one)) for one in operands[:MAX_OPERANDS]} - {""}
    rest = "".join(split_words(text))
    reached = {0: 0}
    for at in range(len(rest)):
        for part in parts if at in reached else ():
            if rest.startswith(part, at):
                reached.setdefault(at + len(part), reached[at] + 1)
    return reached.get(len(rest), 0) > 1


def quote(text: str) -> str:
    """Return a text in quotation marks, cut where it is long."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
