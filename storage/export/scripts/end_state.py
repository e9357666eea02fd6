"""What a script asserts beside the addresses: that pages show what its task expects of the end.

A task that changes something says by which texts pages show it, and one that asks says which facts the answer follows
from. Each is looked for in the last picture that showed it, and asserted there, of the element that had it. A task that says
neither has what the last picture showed for the first time: of those texts, the ones in sight, up to a few. What the last
page showed before it was sent, as a form does, has to be there when the page is opened anew.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from schemas.episodes.action import Answer
from schemas.episodes.episode import Step
from schemas.episodes.observation import Element
from schemas.tasks.expectation import Expectation
from storage.export.scripts.locators import find_again, find_name
from storage.export.scripts.statements import PAGE, Address, Call, Check, Do, Statement

_MAX_TEXTS = 5
_MAX_CHARACTERS = 150


def checks_of(
    steps: Sequence[Step], expect: Expectation | None, address: Address
) -> Mapping[int, list[Statement]]:
    """Return the assertions, by the number of the step before whose action each holds; `address` is where it ends."""
    found = defaultdict[int, list[Statement]](list)
    first, last = _first(expect, steps), steps[-1]
    anew = list[Check]()
    for text in _texts(expect, steps):
        at = next((step for step in reversed(steps[first:]) if _check(step, text)), None)
        check = None if at is None else _check(at, text)
        if at is None or check is None:
            continue
        if at is last and first and _has_before(steps[first - 1], last, text):
            anew.append(_holds(check))
        if check not in found[at.step]:
            found[at.step].append(check)
    new = [check for check in _new_texts(steps) if check not in found[last.step]]
    found[last.step] += new[: max(0, _MAX_TEXTS - len(found[last.step]))]
    if not found[last.step]:
        anew += _kept_values(steps)
    if anew:
        found[last.step] += [Do((*PAGE, Call("goto", (address,)))), *anew[:_MAX_TEXTS]]
    return found


def _has_before(before: Step, last: Step, text: str) -> bool:
    """Return whether the last page showed a text before it was sent, as an editor does that it was typed into."""
    return before.page.url == last.page.url and _check(before, text) is not None


def _first(expect: Expectation | None, steps: Sequence[Step]) -> int:
    """Return the number of the first step that may show the end: of a change, the one after the last of the server's state."""
    if expect is None or not expect.shown:
        return 0
    changing = [step.step for step in steps if step.delta is not None and not step.delta.is_empty]
    return max(changing, default=-1) + 1


def _texts(expect: Expectation | None, steps: Sequence[Step]) -> Sequence[str]:
    """Return the texts by which pages show that a task is done."""
    if expect is None:
        return ()
    answer = next((one.action.text for one in steps if isinstance(one.action, Answer)), "")
    return expect.shown or expect.facts or ((answer,) if answer else ())


def _check(step: Step, text: str) -> Check | None:
    """Return the assertion that a page shows a text; None: it did not."""
    wanted = " ".join(text.split()).casefold()
    shown = [one for one in step.elements if one.frame is None and wanted]
    whole = [one for one in shown if wanted in one.text.casefold() and is_plain(one)]
    best = min(whole, key=lambda one: len(one.text), default=None)
    if best is not None:
        return shows(best.text)
    if any(wanted in one.text.casefold() for one in shown):
        return shows(text, exact=False)
    for field in shown:
        named = find_name(field, step.elements)
        if wanted == (field.value or "").casefold() and named and field.tag != "select":
            return Check(named.chain, Call("to_have_value", (field.value,)))
    return None


def _new_texts(steps: Sequence[Step]) -> Iterator[Check]:
    """Yield assertions of texts that the last picture has in sight and none before the last change had."""
    last = steps[-1]
    before = {one.text for step in steps[:-1] for one in step.elements if not _is_same(step, last)}
    return (shows(one.text) for one in last.elements if _is_told(one) and one.text not in before)


def new_text(step: Step, following: Step) -> Check | None:
    """Return the assertion of a text that a page shows after an action, and not before; None: there is none."""
    before = {one.text for one in step.elements}
    new = (one for one in following.elements if _is_told(one) and one.text not in before)
    return next((shows(one.text) for one in new), None)


def _holds(check: Check) -> Check:
    """Return the assertion that a page has a text, which it may show only when something is unfolded."""
    if check.is_so.name != "to_be_visible":
        return check
    chain = tuple(call for call in check.of if isinstance(call, str) or call.name != "filter")
    return Check(chain, Call("to_be_attached"))


def _kept_values(steps: Sequence[Step]) -> Iterator[Check]:
    """Yield assertions that the fields of the last page have what was put into them."""
    last = steps[-1]
    first = next(step for step in steps if step.page.url == last.page.url)
    for field in last.elements:
        before = find_again(field, first.elements)
        named = find_name(field, last.elements)
        if field.tag in ("input", "textarea") and before is not None and named is not None:
            is_box = field.role in ("checkbox", "radio", "switch")
            if field.value != before.value and not is_box:
                yield Check(named.chain, Call("to_have_value", (field.value,)))


def _is_same(step: Step, last: Step) -> bool:
    """Return whether a step saw the document that was there in the end."""
    return step.page.dom_sha256 is not None and step.page.dom_sha256 == last.page.dom_sha256


def _is_told(one: Element) -> bool:
    """Return whether an element only tells something, and is in sight."""
    return is_plain(one) and one.visible == 1 and not one.interactive and not one.covered


def is_plain(one: Element) -> bool:
    """Return whether all words of an element are its own, and not too many to be looked for."""
    is_own = one.text != "" and one.text == one.name and len(one.text) <= _MAX_CHARACTERS
    return is_own and one.frame is None and one.tag != "option"


def shows(text: str, *, exact: bool = True) -> Check:
    """Return the assertion that a page shows a text, as all words of an element or, if not exact, among others."""
    shown = Call("get_by_text", (text,), {"exact": exact})
    visible = Call("filter", (), {"visible": True})
    return Check((*PAGE, shown, visible, Call("nth", (0,))), Call("to_be_visible"))
