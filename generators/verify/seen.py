"""The `seen` verifier: whether the policy had seen everything that its actions rely on.

It reads stored rows alone. It checks

* a typed or answered text: it must stand in the goal, in an earlier picture or in a dialog. A derived text
  is accepted if its thought names the operands, in quotation marks or as numbers, and these were in sight:
  parts of a concatenation, a sum, a difference, a product, a quotient, a mean, a count of equal things, the
  code of a colour. So is one that differs from the text it replaces in one passage, if that was in sight. A text that
  another one replaces later in the same field needs no basis: it was a mistake, and is mended;
* an answer for which the task's expectation names facts: every fact must have been in sight. Then, and only
  then, the expected answer has a basis, wherever it stands itself;
* an answer that says that something does not exist, where the expectation names the things that are there
  instead: a picture must have shown one of those. Where the expectation takes it in any words, these need no other
  basis;
* an end that follows from a whole list, as that something is not there, a count, or "all that": every row must have
  been in sight, or left out by a search or filter whose result was (`generators/verify/read_lists.py`);
* an end of a task whose expectation names what pages show once its change was made: each text must have been in a
  picture after that change (`generators/verify/seen_results.py`);
* an answer to a task that asks only for a change: the names and numbers in it must be in sight or expected
  by the task, and it must not report a success as a failure. Its other words are free;
* a typed address: its values and the numbers of its path must be in sight or in an earlier address;
* a point: the picture must show something there, and all of the target's text;
* a selected option: the list must show it, or the goal or a dialog name it, as they may name a typed text. That a
  picture shows it elsewhere is not enough;
* quoted words in a note that this program wrote: they must have been in sight. What a model's note states and nothing
  has shown is evidence (`untrue_notes`), and fails nothing;
* quoted words in a thought that this program wrote: they must have been in sight. If the target has no
  text, words that are now out of sight must have stood there. The thought must quote the typed text or the
  target (`generators/verify/thoughts.py`).

An export applies the same checks to each reply, with the pictures that remain in its prompt
(`missing_basis`).
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from PIL import ImageColor
from pydantic import JsonValue

from generators.sites.judging.answers import answer_matches
from generators.verify.read_lists import needs_of_list
from generators.verify.seen_results import needs_of_results
from generators.verify.shown import Basis, Need, Picture, Shown, Words, split_words
from generators.verify.thoughts import (
    MAX_OPERANDS,
    NUMBERS,
    contradiction,
    is_put_together,
    quote,
    quotes,
)
from generators.verify.typed_texts import find_edit, replaced_texts, spelled_texts
from generators.verify.unsupported_claims import (
    asks_for_none,
    needs_of_address,
    needs_of_note,
    needs_of_report,
    refuses,
    untrue_statement,
)
from schemas.base import JsonObject
from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Click,
    Drag,
    Hover,
    NoAction,
    Select,
    TypeText,
    target_point,
)
from schemas.episodes.episode import Episode, Step, ThoughtSource
from schemas.episodes.observation import Box
from schemas.tasks.expectation import Expectation
from schemas.tasks.task import Task
from schemas.verdicts.verdict import Finding, Status

MAX_LISTED = 50
"""Largest number of entries of each list in the evidence."""

REACH = 14
"""Largest distance from an action's point to a text that an earlier picture showed there, CSS px."""

COLOUR_LEVELS = 8
"""Largest difference between a typed colour and the picture's, levels of each channel."""

BESIDE = 40
"""Largest distance from an empty field's left edge to its caption, CSS px."""

_FIELDS = ("input", "textarea")


class Seen:
    """The `seen` verifier."""

    name = "seen"
    version = "10"

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Return `failed` with everything that was not in sight, `passed`, or `unsupported`."""
        return await asyncio.to_thread(
            _finding, task, episode
        )  # in this thread, sessions would wait for it


def _finding(task: Task, episode: Episode) -> Finding:
    taken = [step for step in episode.steps if not isinstance(step.action, NoAction)]
    blind = [step.step for step in taken if step.sights is None]
    if blind:
        return Finding(
            status=Status.UNSUPPORTED,
            reason=f"step {blind[0]} was recorded without what its picture shows"
            " (`sights` in observations)",
            evidence={"missing": "observations.sights", "steps": [*blind[:MAX_LISTED]]},
        )
    spelled, replaced = spelled_texts(taken), replaced_texts(taken)
    found = [
        need
        for shown, step in _follow(episode, taken)
        for need in (
            *needs(
                step,
                shown,
                spelled=spelled.get(step.step, ""),
                expectation=task.expect,
                is_replaced=step.step in replaced,
            ),
            *_needs_of_pages(step, shown, episode.steps[: step.step + 1], task),
        )
    ]
    missing = [need for need in found if need.basis is None]
    unfounded = {need.step for need in missing}
    lists: dict[str, list[JsonValue]] = {
        "missing": [need.as_json() for need in missing],
        "bases": [need.as_json() for need in found if need.basis],
        "untrue_notes": [*_untrue_notes(episode, taken)],
    }
    reason = f"all that {len(taken)} actions need was in sight before"
    if missing:
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        reason = f"step {missing[0].step}: {missing[0].what}{more}"
    return Finding(
        status=Status.FAILED if missing else Status.PASSED,
        score=1 - len(unfounded) / len(taken) if taken else None,
        reason=reason,
        evidence={
            name: entries[:MAX_LISTED]
            for name, entries in lists.items()
            if entries or name != "untrue_notes"
        },
    )


def _untrue_notes(episode: Episode, taken: Sequence[Step]) -> Iterator[JsonObject]:
    """Yield the notes of a model that state what nothing has shown; they fail no episode, and no row teaches them."""
    for shown, step in _follow(episode, taken):
        wrong = untrue_statement(step, shown) if step.note else None
        if wrong is not None and step.thought_source is not ThoughtSource.TEMPLATE:
            yield {"step": step.step, "what": wrong}


def _needs_of_pages(step: Step, shown: Shown, so_far: Sequence[Step], task: Task) -> Iterator[Need]:
    """Yield the needs of an action that depend on the steps so far, itself the last of them."""
    addresses = [one.page.url for one in so_far]
    yield from needs_of_address(step, shown, addresses)
    expected = task.expect
    if not isinstance(step.action, Answer) or expected is None:
        return
    if expected.read is not None:
        yield from needs_of_list(step.step, expected.read, shown, addresses)
    yield from needs_of_results(step.step, expected.shown, shown, so_far[:-1])


def _follow(episode: Episode, taken: Sequence[Step]) -> Iterator[tuple[Shown, Step]]:
    """Yield each step with everything shown to the policy before its action."""
    shown = Shown((Words(None, [(episode.instruction, None)]),), ())
    for step in taken:
        picture = Picture(step, scale=episode.device_scale_factor)
        shown = replace(shown, pictures=(*shown.pictures, picture))
        yield shown, step
        if step.result_text:
            shown = replace(shown, texts=(*shown.texts, Words(None, [(step.result_text, None)])))


def missing_basis(step: Step, shown: Shown, expectation: Expectation | None = None) -> str | None:
    """Return the first need of an action without a basis, in words; None if all have one.

    `expectation` says which facts an answer follows from; None: nothing is known of that.
    """
    found = needs(step, shown, expectation=expectation)
    return next((need.what for need in found if need.basis is None), None)


def needs(
    step: Step,
    shown: Shown,
    *,
    spelled: str = "",
    expectation: Expectation | None = None,
    is_replaced: bool = False,
) -> Iterator[Need]:
    """Yield the needs of an action, each with its basis in `shown`.

    An action that could not be carried out needs nothing.

    Args:
        step: the step of the action.
        shown: everything shown to the policy before it.
        spelled: a text whose last key is pressed.
        expectation: the task's expectation; None: it has none.
        is_replaced: whether another text replaces the typed one later in the same field.
    """
    if step.action_error is not None:
        return
    action = step.action
    text = _needed_text(action, expectation, spelled=spelled)
    if isinstance(action, Answer) and expectation is not None and expectation.looked:
        yield _need_of_looking(step, expectation, shown)
    if isinstance(action, Answer) and _follows(action, expectation):
        yield from _needs_of_facts(step, expectation.facts if expectation else (), shown)
    elif isinstance(action, Answer) and asks_for_none(expectation):
        yield from needs_of_report(step, text, shown, expectation)
    elif text and not is_replaced:
        basis = find_text(text, step.thought or "", shown) or find_edit(
            step, _picture_of(step, shown), shown
        )
        yield Need(step.step, f"the text {quote(text)}", basis)
    if isinstance(action, Click | Hover | Drag | TypeText | Select) and target_point(action):
        yield _need_of_target(step, shown)
    if isinstance(action, Select):
        yield _need_of_option(step, action.option, shown)
    if isinstance(action, AnswerDialog):
        yield Need(
            step.step, "an open dialog", Basis(None) if step.page.dialog is not None else None
        )
    yield from _needs_of_words(step, text, shown)


def _needed_text(action: Action, expectation: Expectation | None, *, spelled: str) -> str:
    """Return the text of an action that needs a basis; that of a refusal is the look at what is not there."""
    if isinstance(action, Answer) and refuses(action, expectation):
        return ""
    return (action.text or "") if isinstance(action, TypeText | Answer | AnswerDialog) else spelled


def _follows(action: Answer, expectation: Expectation | None) -> bool:
    """Return whether an answer is the expected one and follows from facts."""
    if expectation is None or expectation.answer is None or not expectation.facts:
        return False
    return answer_matches(expectation.answer, action.text)


def _needs_of_facts(step: Step, facts: Sequence[str], shown: Shown) -> Iterator[Need]:
    """Yield a need for each fact that an answer follows from."""
    for fact in facts:
        yield Need(step.step, f"{quote(fact)}, which its answer follows from", shown.find(fact))


def _need_of_looking(step: Step, expectation: Expectation, shown: Shown) -> Need:
    """Return the need for a picture of the place where an answer says that something is missing."""
    pictures = Shown((), shown.pictures)
    found = (pictures.find(one) for one in expectation.looked)
    first = quote(expectation.looked[0])
    what = f"a look at where its answer says that nothing is: {first}, or what is beside it"
    return Need(step.step, what, next((basis for basis in found if basis is not None), None))


def find_text(text: str, thought: str, shown: Shown) -> Basis | None:
    """Return the basis of a typed text, as it stands or derived; None if it has none."""
    bare = text.strip("\n")
    if bare != bare.strip():
        whole = any(bare in source.raw for source in shown.texts)
        return Basis(None) if whole else None
    found = shown.find(text) or shown.find(text.lstrip("0"))
    return found or _derive(text.strip(), thought, shown)


def _derive(text: str, thought: str, shown: Shown) -> Basis | None:
    quoted = [basis for basis in map(shown.find, quotes(thought)) if basis is not None]
    if is_put_together(text, [one for one in quotes(thought) if shown.find(one)]):
        return quoted[0]
    colour = _find_colour(text, shown) if re.fullmatch(r"#?[0-9a-fA-F]{6}", text) else None
    if colour is None and re.fullmatch(r"-?\d+(\.\d+)?", text):
        return Basis(None) if _is_computed(float(text), thought, shown) else None
    return colour


def _is_computed(number: float, thought: str, shown: Shown) -> bool:
    """Return whether a number is a count, or computed from two numbers of the thought that were in sight."""
    named = list(dict.fromkeys(float(one) for one in NUMBERS.findall(thought)))
    if number in named and any(number in picture.counts for picture in shown.pictures):
        return True
    operands = [one for one in named if one != number and shown.has_number(one)][:MAX_OPERANDS]
    for one, other in product(operands, repeat=2):
        mean = (one + other) / 2
        results = {one + other, one - other, one * other, mean // 1, -(-mean // 1)}
        if number in results or (other and one / other == number):
            return True
    return False


def _find_colour(text: str, shown: Shown) -> Basis | None:
    """Return the basis of a colour's code of six digits: the colour's name, or a drawing in that colour."""
    wanted = ImageColor.getrgb(f"#{text.removeprefix('#')}")
    for source in shown.texts:
        known = (word for word in split_words(source.raw) if word in ImageColor.colormap)
        if any(ImageColor.getrgb(word) == wanted for word in known):
            return Basis(None)
    for picture in reversed(shown.pictures):
        for one in picture.sights:
            colour = None if one.text else picture.colour_in(one.bbox)
            if colour and all(
                abs(a - b) <= COLOUR_LEVELS for a, b in zip(colour, wanted, strict=False)
            ):
                return Basis(picture.step, one.bbox)
    return None


def _need_of_target(step: Step, shown: Shown) -> Need:
    """Return the need for something visible at an action's point, with the target's text."""
    target = step.target
    picture = _picture_of(step, shown)
    if target is None or target.bbox is None:
        return Need(step.step, "there is nothing where it points", None)
    if picture is None:
        return Need(step.step, "the picture of what it points at", None)
    if target.text:
        written = Words(picture.step, [(s.text, s.bbox) for s in picture.within(target.bbox)])
        basis = written.find(split_words(target.text)) if split_words(target.text) else None
        if basis is None and target.text in written.raw:
            basis = Basis(picture.step, target.bbox)
        return Need(step.step, f"{quote(target.text)} on the target", basis)
    basis = Basis(picture.step, target.bbox) if picture.shows(target.bbox) else None
    if basis is None and target.tag in _FIELDS:
        basis = picture.words_before(target.bbox, BESIDE)
    return Need(step.step, "something drawn where it points", basis)


def _need_of_option(step: Step, option: str, shown: Shown) -> Need:
    """Return the need for a list that shows the option, or for words of the goal or a dialog that name it."""
    picture, box = _picture_of(step, shown), step.target and step.target.bbox
    point = target_point(step.action)
    lists = (one.bbox for one in step.elements if one.tag == "select")
    box = next((one for one in lists if point and _holds(one, point)), box)
    listed = picture.within(box) if picture and box else []
    wanted = " ".join(option.split())
    basis = next((Basis(step.step, one.bbox) for one in listed if one.text == wanted), None)
    basis = basis or Shown(shown.texts, ()).find(option)
    return Need(step.step, f"the option {quote(option)} in the list", basis)


def _holds(box: Box, point: tuple[float, float]) -> bool:
    return box[0] <= point[0] <= box[0] + box[2] and box[1] <= point[1] <= box[1] + box[3]


def _needs_of_words(step: Step, typed: str, shown: Shown) -> Iterator[Need]:
    """Yield what a step's thought and note need, if a program wrote them."""
    if step.thought and step.thought_source is not ThoughtSource.POLICY:
        yield from _needs_of_thought(step, typed, shown)
    if step.note and step.thought_source is ThoughtSource.TEMPLATE:
        yield from needs_of_note(step, shown)


def _needs_of_thought(step: Step, typed: str, shown: Shown) -> Iterator[Need]:
    """Yield needs for the words that a thought quotes, and for a contradiction of the action."""
    wrong = contradiction(step)
    if wrong is not None:
        yield Need(step.step, wrong, None)
    point = target_point(step.action)
    picture = _picture_of(step, shown)
    now = Shown(shown.texts, (picture,) if picture else ())
    named = [one for one in quotes(step.thought or "") if one != typed]
    gone = [one for one in named if shown.find(one) and not now.find(one)]
    for quoted in named:
        yield Need(step.step, f"{quote(quoted)}, which its thought names", shown.find(quoted))
    if gone and point is not None and step.target is not None and not step.target.text:
        found = (_earlier_basis(quoted, point, shown) for quoted in gone)
        basis = next((one for one in found if one is not None), None)
        yield Need(step.step, f"{quote(gone[0])}, which its thought names, where it points", basis)


def _earlier_basis(text: str, point: tuple[float, float], shown: Shown) -> Basis | None:
    """Return the basis of a text near a point in an earlier picture."""
    box: Box = (point[0] - REACH, point[1] - REACH, 2 * REACH, 2 * REACH)
    for picture in reversed(shown.pictures):
        for one in picture.within(box):
            if Words(None, [(one.text, None)]).find(split_words(text)):
                return Basis(picture.step, one.bbox)
    return None


def _picture_of(step: Step, shown: Shown) -> Picture | None:
    return next((one for one in shown.pictures if one.step == step.step), None)
