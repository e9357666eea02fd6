"""Rebuilds the messages of model calls from the steps, the replies and the dialects, to compare them.

A policy's prompt is its system prompt, then for each step the observation and its outcome: the reply in
canonical form, or the reason why it was not carried out. A placeholder may replace older pictures, and the
oldest steps may be dropped; then a new segment begins, which a repair may do too. Calls of a localizer or a validator are independent
of each other. A run may choose the wording of the placeholder and of an empty result; both are constant
within an episode. Earlier versions left the words whole by which a chat template switches something, so they
are broken in the recorded messages too before these are compared.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pydantic import JsonValue

from generators.policy.dialects.protocol import Dialect, InexpressibleAction, ParsedAction
from generators.policy.dialects.shared.sanitize import break_words, break_words_in_reply
from generators.policy.model import answer_validator as validator
from generators.policy.model import conversation, localizer, repair, surfer
from generators.verify.replies import Question, decided_action
from schemas.base import JsonObject
from schemas.episodes.action import Answer
from schemas.episodes.call import Call
from schemas.episodes.episode import Episode, Step

_ANYTHING = "anything"

Row = JsonObject
"""A message as `calls` records it."""


def message_defects(episode: Episode, questions: Sequence[Question]) -> Iterator[str]:
    """Yield calls whose messages or segment do not follow from the steps and replies."""
    conversed = _Conversation(episode)
    asked: dict[str, int] = {}
    proposed: Question | None = None
    for question in questions:
        first, *repairs = question.calls
        number = asked[question.role] = asked.get(question.role, -1) + 1
        if question.role == conversation.ROLE:
            yield from conversed.defects(question)
            proposed = question
        else:
            if first.segment != number:
                yield f"segment of call {first.call} is {first.segment}, it is question {number}"
            if first.messages is not None and not _is_question(episode, question, proposed):
                yield _unlike(first.call)
        for again in repairs:
            if question.role == conversation.ROLE and again.segment == first.segment + 1:
                yield from conversed.shortened_defects(question, again)
                continue
            repeated = [*_rows(first.messages, question), *_repair(question)]
            if again.messages is not None and _rows(again.messages, question) != repeated:
                yield _unlike(again.call)
            if again.segment != first.segment:
                yield f"segment of call {again.call} is {again.segment}, not {first.segment}"
        conversed.add(question)


def _unlike(call: int) -> str:
    return f"messages of call {call} are not what the steps and the replies before make"


def _rows(messages: JsonValue, question: Question) -> list[JsonValue]:
    """Return recorded messages as this version would have written them, their switch words broken."""
    rows = messages if isinstance(messages, list) else []
    return [_broken_row(row, _switch_words(question)) for row in rows]


def _switch_words(question: Question) -> tuple[str, ...]:
    if question.role == conversation.ROLE:
        return question.dialect.switch_words
    return localizer.role_words(question.dialect)


def _broken_row(row: JsonValue, words: Sequence[str]) -> JsonValue:
    match row:
        case {"role": "user" | "assistant" as role, "content": [*parts], **others} if not others:
            write = break_words if role == "user" else break_words_in_reply
            return {"role": role, "content": [_broken_part(part, write, words) for part in parts]}
        case _:
            return row


def _broken_part(
    part: JsonValue, write: Callable[[str, Sequence[str]], str], words: Sequence[str]
) -> JsonValue:
    match part:
        case {"type": "text", "text": str(text), **others} if not others:
            return {"type": "text", "text": write(text, words)}
        case _:
            return part


def _pictures(rows: Sequence[JsonValue]) -> int:
    """Return how many pictures messages have."""
    contents = [row.get("content") for row in rows if isinstance(row, dict)]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return sum(isinstance(part, dict) and part.get("type") == "image" for part in parts)


def _text(role: str, text: str) -> Row:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def _system(question: Question) -> Row:
    return {"role": "system", "prompt_sha256": question.prompt_sha256}


def _repair(question: Question) -> list[JsonValue]:
    first = question.calls[0]
    quoted = repair.quote_reply(first.reply or "", _switch_words(question))
    problem, dialect = question.problems[0] if question.problems else "", question.dialect
    match question.role:
        case localizer.ROLE:
            said = localizer.repair_text(problem, dialect=dialect)
        case validator.ROLE:
            said = validator.repair_text(problem, dialect=dialect)
        case _:
            said = dialect.repair_message(problem)
    return [_text("assistant", quoted), _text("user", said)]


def _is_question(episode: Episode, question: Question, proposed: Question | None) -> bool:
    """Return whether a localizer's or validator's question is about the policy's proposal."""
    value = proposed.value if proposed is not None else None
    if not isinstance(value, ParsedAction):
        return False
    first = question.calls[0]
    asked = _rows(first.messages, question)
    if question.role == localizer.ROLE:
        prompt = next(p for p in episode.prompts if p.prompt_sha256 == question.prompt_sha256)
        words = localizer.question_text(prompt.text, value.element or "", dialect=question.dialect)
        shown: list[JsonValue] = [{"type": "image", "step": question.step}]
        content: JsonValue = [*shown, {"type": "text", "text": words}]
        return asked == [{"role": "user", "content": content}]
    if not isinstance(value.action, Answer) or not first.image_steps:
        return False
    steps = range(first.image_steps[0], question.step + 1)
    before, after = validator.question_texts(
        episode.instruction, value.action, dialect=question.dialect
    )
    pictures: list[JsonValue] = [{"type": "image", "step": step} for step in steps]
    content = [{"type": "text", "text": before}, *pictures, {"type": "text", "text": after}]
    return asked == [_system(question), {"role": "user", "content": content}]


class _Conversation:
    """The messages of the deciding role, followed from question to question."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._added: dict[int, list[JsonValue]] = {}
        """Messages after the observation of each step."""
        self._before: tuple[int, list[JsonValue]] | None = None
        """Segment and messages of the question before."""
        self._proposed: Question | None = None
        self._words: dict[str, str] = {}
        """The run's wording of an empty result and of the placeholder."""

    def add(self, question: Question) -> None:
        """Add the messages that a question contributes to later prompts."""
        if question.role == conversation.ROLE:
            self._proposed = question
        proposed = self._proposed
        if proposed is None or not isinstance(proposed.value, ParsedAction):
            return
        reply = _canonical(proposed, question)
        self._added[question.step] = [
            *(self._rejected_answers(question.step)),
            _text("assistant", break_words_in_reply(reply, proposed.dialect.switch_words)),
            *_objection(proposed, proposed.value, question),
        ]

    def _rejected_answers(self, step: int) -> list[JsonValue]:
        """Return a step's rejected answers, each followed by its objection."""
        added = self._added.get(step, [])
        even = len(added) - len(added) % 2
        return added[:even]

    def defects(self, question: Question) -> Iterator[str]:
        """Yield defects in a question's messages and segment."""
        call = question.calls[0]
        rows = _rows(call.messages, question)
        if call.messages is None:
            return
        if not self._are_messages(question, rows):
            yield _unlike(call.call)
        segment = 0
        if self._before is not None:
            last, sent = self._before
            segment = last + (rows[: len(sent)] != sent)
        if call.segment != segment:
            yield f"segment of call {call.call} is {call.segment}, its messages make it {segment}"
        self._before = (call.segment, rows)

    def shortened_defects(self, question: Question, again: Call) -> Iterator[str]:
        """Yield defects in a repair that begins a segment: its prompt is that of its question, after an eviction."""
        first = question.calls[0]
        if again.messages is None or first.messages is None:
            return
        rows, repaired = _rows(again.messages, question), _repair(question)
        asked, prompt = _rows(first.messages, question), rows[: -len(repaired)]
        if rows[-len(repaired) :] != repaired or not self._are_messages(question, prompt):
            yield _unlike(again.call)
        elif _pictures(prompt) >= _pictures(asked) and len(prompt) >= len(asked):
            yield f"segment of call {again.call} is {again.segment}, and nothing has left its prompt"
        else:
            self._before = (again.segment, prompt)

    def _are_messages(self, question: Question, rows: Sequence[JsonValue]) -> bool:
        if not rows or rows[0] != _system(question):
            return False
        rest, first = len(rows) - 1, question.step + 1
        while rest > 0 and first > 0:
            first -= 1
            rest -= 1 + len(self._added.get(first, []))
        if rest:
            return False
        at = 1
        for number in range(first, question.step + 1):
            added = self._added.get(number, [])
            task = question.dialect.task_message(self._episode.instruction)
            before = task if number == first else ""
            if not self._is_observation(question, number, rows[at], before):
                return False
            if rows[at + 1 : at + 1 + len(added)] != added:
                return False
            at += 1 + len(added)
        return True

    def _is_observation(self, question: Question, number: int, row: JsonValue, task: str) -> bool:
        """Return whether a message is the observation of a step, preceded by the previous step's result."""
        steps, dialect = self._episode.steps, question.dialect
        about = dialect.observation_text(number, steps[number].page)
        begins, ends = _result(dialect, steps[number - 1]) if number else ("", None)
        # The recorded text has been broken, and with it the tags of a dialect that are words of its template.
        write = partial(break_words, switch_words=dialect.switch_words)
        before, after, begins = write(about[0]), write(about[1]), write(begins)
        ends = ends and write(ends)
        shown: Row = {"type": "image", "step": number}
        match row:
            case {"role": "user", "content": [{"type": "text", "text": str(head)}, *rest]}:
                pass
            case _:
                return False
        own, following = task + begins, (ends or "") + before
        words = head[len(own) :].partition(following)[0] if ends else ""
        if not head.startswith(own + words + following):
            return False
        if ends and self._words.setdefault("result", words) != words:
            return False
        more = head[len(own + words + following) :]
        if rest:
            return not more and rest == [shown, {"type": "text", "text": after}]
        placeholder = more.removesuffix(after)
        one = self._words.setdefault("placeholder", placeholder) == placeholder
        return one and number != question.step and more.endswith(after)


def _result(dialect: Dialect, step: Step) -> tuple[str, str | None]:
    """Return the beginning and the end of the message about a step's result.

    The end is None if the beginning is the whole text; a run may choose the wording of an empty result.
    """
    said = dialect.result_text(step)
    if not said or step.action_error is not None or step.result_text:
        return said, None
    shown = dialect.result_text(step.model_copy(update={"result_text": _ANYTHING}))
    begins, _, ends = shown.partition(_ANYTHING)
    return begins, ends


def _canonical(proposed: Question, last: Question) -> str:
    """Return the reply as the history has it, with the localizer's point if there was one."""
    value = proposed.value
    assert isinstance(value, ParsedAction)  # noqa: S101 - the caller checked
    action = decided_action(value, last)
    if action == value.action:
        return value.canonical_reply
    try:
        return proposed.dialect.format_action(action, proposed.frame, value.rationale)
    except InexpressibleAction:
        return value.canonical_reply


def _objection(proposed: Question, value: ParsedAction, last: Question) -> list[JsonValue]:
    """Return the validator's objection to an answer as a message; empty if it had no objection."""
    assessed = last.value
    if not isinstance(assessed, validator.Assessment) or assessed.success:
        return []
    why = assessed.thought or validator.DEFAULT_OBJECTION
    words = surfer.REJECTION.format(why=why)
    said = proposed.dialect.rejection_text(value.action, words)
    return [_text("user", break_words(said, proposed.dialect.switch_words))]
