"""Whether a template thought, written by this program, agrees with its action.

Such a thought quotes the typed text or the target, and the words by which it was found. A thought with
quotations contradicts its action if

* the typed text or selected option is neither quoted, nor a concatenation of quotations, nor a number in
  the thought;
* the target has text, other than a field's, and none of the quotations is in it;
* the target has no text or is a field, and the quoted words are on another visible control.

A model's own thoughts are not checked.
"""

import re
from collections.abc import Iterator, Sequence

from generators.verify.shown import Words, split_words
from schemas.episodes.action import Answer, Click, Drag, Hover, Select, TypeText, target_point
from schemas.episodes.episode import Step, ThoughtSource
from schemas.episodes.observation import Box, Element, Target

MAX_OPERANDS = 12
"""Largest number of quotations that are tried as parts of a text."""

_FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
"""Roles of targets whose text is an input value."""

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
    """Return the quoted texts, each within one line.

    An unclosed mark is searched for once a line, because a model may write nothing but such marks.
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
    """Return how a step's thought contradicts its action; None if it agrees or a model wrote it."""
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
    """Return whether a thought quotes a text or has it as a number."""
    text, thought = (" ".join(one.split()) for one in (text, thought))
    return any(f"{left}{text}{right}" in thought for left, right in _MARKS) or text in {
        *NUMBERS.findall(thought)
    }


def _points_elsewhere(step: Step, target: Target, named: Sequence[str]) -> str | None:
    """Return how the quoted words differ from those on the target; None if they agree."""
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
    """Return whether one of two texts is part of the other, in whole words."""
    pairs = ((one, other), (other, one))
    return any(Words(None, [(whole, None)]).find(split_words(part)) for whole, part in pairs)


def _is_other(item: Element, step: Step) -> bool:
    """Return whether an element is a visible control other than the target."""
    point = target_point(step.action)
    control = item.interactive and item.tag != "label" and item.visible > 0 and not item.covered
    return control and point is not None and not _is_in((*point, 0, 0), item.bbox)


def _is_in(box: Box, outer: Box | None) -> bool:
    """Return whether a box's centre lies in another box."""
    if outer is None:
        return False
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    return outer[0] <= x <= outer[0] + outer[2] and outer[1] <= y <= outer[1] + outer[3]


def _key(text: str) -> str:
    """Return a text's words for comparison, or the stripped text if it has none."""
    return " ".join(split_words(text)) or text.strip()


def is_put_together(text: str, operands: Sequence[str]) -> bool:
    """Return whether a text is a concatenation of two or more operands."""
    parts = {"".join(split_words(one)) for one in operands[:MAX_OPERANDS]} - {""}
    rest = "".join(split_words(text))
    reached = {0: 0}
    for at in range(len(rest)):
        for part in parts if at in reached else ():
            if rest.startswith(part, at):
                reached.setdefault(at + len(part), reached[at] + 1)
    return reached.get(len(rest), 0) > 1


def quote(text: str) -> str:
    """Return a text in quotation marks, shortened if long."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
