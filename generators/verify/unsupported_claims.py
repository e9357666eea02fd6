"""Free texts of a policy that `seen` checks: the report at the end of a change, notes, and typed addresses.

A task that asks for a change and no answer may end in any sentence. The claims in it need a basis: its
names and numbers, and whether the task succeeded. A typed address replaces the fields of a form, or leads
to a row by a number that no page has shown.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import parse_qsl, unquote, urlsplit

from generators.sites.judging.answers import answer_matches, expected_values
from generators.verify.shown import Basis, Need, Shown, Words, split_words
from generators.verify.thoughts import quote, quotes
from schemas.episodes.action import Answer, Goto, Tab
from schemas.episodes.episode import Step, ThoughtSource
from schemas.tasks.expectation import Anything, Expectation, Matches

_DIGIT = re.compile(r"\d")
_WITH_DIGITS = re.compile(r"\S*\d\S*")
_CAPITAL = r"(?!I\b)[A-ZÀ-ÖØ-Þ][\w'-]*"
_CAPITALISED = re.compile(rf"(?<=[\w,;:] ){_CAPITAL}(?: {_CAPITAL})*")
_MARKS = ".,;:!?()[]\"'"
_FAILED = re.compile(
    r"(?i)\b(?:fail(?:ed|s|ure)?|unable|impossible|unsuccessful(?:ly)?|error|cannot|can't|won't"
    r"|(?:could|did|was|were|has|have|had|is|are)(?: not|n't))\b"
)
"""Words by which a report says that something was not done."""


def asks_for_none(expectation: Expectation | None) -> bool:
    """Return whether a task asks for a change and for no answer."""
    return expectation is not None and expectation.answer is None and expectation.probe is None


def needs_of_report(
    step: Step, text: str, shown: Shown, expectation: Expectation | None
) -> Iterator[Need]:
    """Yield a need for each name and number in an answer that reports a change."""
    outcome = Words(None, [(one, None) for one in _expected_texts(expectation)])
    for name in _names(text):
        basis = shown.find(name) or outcome.find(split_words(name))
        yield Need(step.step, f"{quote(name)}, which its answer names", basis)
    if step.reward is not None and step.reward >= 1 and _FAILED.search(text):
        yield Need(step.step, f"that it failed, as its answer says: {quote(text)}", None)


def refuses(action: Answer, expectation: Expectation | None) -> bool:
    """Return whether an answer says that something is not there, in words that a pattern of the task accepts."""
    if expectation is None or not expectation.looked:
        return False
    expected = expectation.answer
    return isinstance(expected, Matches) and answer_matches(expected, action.text)


def needs_of_note(step: Step, shown: Shown) -> Iterator[Need]:
    """Yield a need for what a note states: in a note of ours what it quotes, in a model's its names and numbers too.

    What only counts, as "3 so far", is no statement about a page where the program has written the note.
    """
    note = step.note or ""
    is_ours = step.thought_source is ThoughtSource.TEMPLATE
    for stated in quotes(note) if is_ours else _names(note):
        yield Need(step.step, f"{quote(stated)}, which its note states", shown.find(stated))


def untrue_statement(step: Step, shown: Shown) -> str | None:
    """Return the first thing that a step's note states and nothing has shown, in words; None: there is none."""
    return next((need.what for need in needs_of_note(step, shown) if need.basis is None), None)


def _expected_texts(expectation: Expectation | None) -> Iterator[str]:
    """Yield the values that a task expects of rows and places."""
    if expectation is None:
        return
    rules = (*expectation.added, *expectation.changed, *expectation.removed)
    stated = [value for rule in rules for value in (*rule.where.values(), *rule.set.values())]
    for value in (*stated, *expectation.values.values()):
        for one in expected_values(value) if not isinstance(value, Anything) else ():
            if isinstance(one, str | int | float):
                yield str(one)


def _names(text: str) -> list[str]:
    """Return the names and numbers in a text: quoted, with digits, or capitalised within a sentence."""
    found = [*quotes(text), *_WITH_DIGITS.findall(text), *_CAPITALISED.findall(text)]
    bare = (one.strip(".,;:!?()[]\"'") for one in found)
    return list(dict.fromkeys(one for one in bare if split_words(one)))


def needs_of_address(step: Step, shown: Shown, before: Sequence[str]) -> Iterator[Need]:
    """Yield a need for each value and number in a typed address; `before` are the earlier pages' addresses."""
    action = step.action
    url = action.url if isinstance(action, Goto | Tab) else None
    if not url or step.action_error is not None:
        return
    parts = urlsplit(url)
    pieces = [value for _, value in parse_qsl(parts.query)]
    pieces += [piece for piece in map(unquote, parts.path.split("/")) if _DIGIT.search(piece)]
    known = {piece for address in before for piece in _pieces(address)}
    for piece in dict.fromkeys(pieces):
        basis = Basis(None) if piece in known else shown.find(piece)
        yield Need(step.step, f"{quote(piece)} in the address that is typed", basis)


def _pieces(address: str) -> Iterator[str]:
    parts = urlsplit(address)
    yield from map(unquote, parts.path.split("/"))
    yield from (value for _, value in parse_qsl(parts.query))
