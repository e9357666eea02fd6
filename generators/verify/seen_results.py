"""Whether an end that claims a change was given in sight of what the change made.

Of a change the expectation names the texts by which pages show it. Each must have been in a picture after the change that
followed its entry: a text that is typed stands on the form before anything is saved, and says nothing of it.
"""

from collections.abc import Iterator, Sequence

from generators.verify.shown import Need, Shown, Words, split_words
from generators.verify.thoughts import quote
from schemas.episodes.action import Select, TypeText
from schemas.episodes.episode import Step


def needs_of_results(
    step: int, results: Sequence[str], shown: Shown, before: Sequence[Step]
) -> Iterator[Need]:
    """Yield a need for each text by which pages show what was done.

    Args:
        step: the step of the answer that ends the episode.
        results: the texts (`Expectation.shown`).
        shown: everything shown before the answer.
        before: the steps before it.
    """
    for text in results:
        since = _change_after_entry(text, before)
        pictures = tuple(one for one in shown.pictures if since is not None and one.step > since)
        what = f"{quote(text)}, by which a page shows that what it claims was done"
        yield Need(step, what, Shown((), pictures).find(text))


def _change_after_entry(text: str, steps: Sequence[Step]) -> int | None:
    """Return the first change of the state at or after the last entry of a text, or else the last one; None: there is none.

    What was never entered, as what a click or a drag sets, is shown after the first change.
    """
    changes = [step.step for step in steps if step.state_changed]
    words = split_words(text)
    entries = [step.step for step in steps if _enters(step, words)]
    later = (one for one in changes if not entries or one >= entries[-1])
    return next(later, changes[-1] if changes else None)


def _enters(step: Step, words: Sequence[str]) -> bool:
    match step.action:
        case TypeText(text=text) | Select(option=text):
            return Words(None, [(text, None)]).find(words) is not None
        case _:
            return False
