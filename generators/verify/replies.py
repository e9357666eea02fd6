"""Parses a model's replies again, as its policy did, and compares the results with the steps.

A policy asks in roles; each question is one call and at most one repair. Everything that a step states of
its decision (action, thought, note, reply, why a reply could not be parsed) follows from its questions.
`read_questions` parses each in the dialect of its own system prompt, and `decision_defects` compares the
steps with them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from generators.policy.dialects.coordinates import Convention, Frame, frame_of
from generators.policy.dialects.protocol import Dialect, ParsedAction, UnreadableReply
from generators.policy.dialects.stored import (
    ForeignPrompt,
    deciding_dialect,
    stored_dialect,
)
from generators.policy.model import answer_validator as validator
from generators.policy.model import conversation, localizer, policy, repair, surfer
from generators.policy.model.answer_validator import Assessment
from generators.policy.model.localizer import Point, element_to_locate, move_action
from generators.verify.derived_columns import missing_keys
from generators.verify.differences import differences
from schemas.episodes.action import Action, Answer, NoAction
from schemas.episodes.call import Call, Prompt
from schemas.episodes.episode import Episode, Step, ThoughtSource
from schemas.episodes.viewport import Viewport

Value = ParsedAction | Point | Assessment
"""The parsed value of a reply."""

NOT_READ = "what the replies say"
"""Listed as missing if an earlier version of a dialect wrote a prompt."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a role, with its parsed replies."""

    role: str
    """The asking role, never `repair`."""
    calls: tuple[Call, ...]
    """The first call, and its repair if there was one."""
    dialect: Dialect
    """The dialect of the system prompt."""
    frame: Frame
    """The sizes between which points are converted."""
    value: Value | None
    """None: no reply could be parsed."""
    problems: tuple[str, ...]
    """The reason for each reply that could not be parsed."""

    @property
    def problem(self) -> str | None:
        """Why the first reply, or both, could not be parsed, in the words of steps; None if one could be."""
        if len(self.problems) > 1:
            return repair.twice_unreadable(*self.problems)
        return self.problems[0] if self.problems else None

    @property
    def step(self) -> int:
        """The number of the step that the question belongs to."""
        return self.calls[0].step

    @property
    def prompt_sha256(self) -> str | None:
        """The hash of the system prompt."""
        return self.calls[0].prompt_sha256


class Unread(ValueError):
    """A question cannot be parsed; the message is worded as a finding."""


def group_calls(calls: Sequence[Call]) -> list[tuple[Call, ...]]:
    """Return the calls of each question: one, or two if the first reply was repaired."""
    out: list[tuple[Call, ...]] = []
    for call in calls:
        if call.role == repair.ROLE and out and len(out[-1]) == 1:
            out[-1] = (*out[-1], call)
        else:
            out.append((call,))
    return out


def read_questions(episode: Episode) -> list[Question]:
    """Return the questions of an episode with their parsed replies.

    Raises:
        Unread: no policy of this program has such a role, system prompt or pictures.
        EarlierPrompt: an earlier version of the dialect wrote the system prompt.
    """
    known: dict[tuple[object, ...], tuple[Dialect, Frame]] = {}
    out: list[Question] = []
    for calls in group_calls(episode.calls):
        one = calls[0]
        size = (one.sent_width, one.sent_height)
        key = (one.role, one.prompt_sha256, one.coordinates, size)
        if key not in known:
            known[key] = _dialect_and_frame(episode, one)
        dialect, frame = known[key]
        value, problems = _value(calls, _reader(one.role, dialect, frame))
        out.append(Question(one.role, calls, dialect, frame, value, problems))
    return out


def _dialect_and_frame(episode: Episode, call: Call) -> tuple[Dialect, Frame]:
    prompt = next((p for p in episode.prompts if p.prompt_sha256 == call.prompt_sha256), None)
    if prompt is None or call.sent_width is None or call.sent_height is None:
        raise Unread(f"call {call.call} has no system prompt or no picture")
    if min(call.sent_width, call.sent_height) < 1:
        raise Unread(f"call {call.call} sent a picture of {call.sent_width}×{call.sent_height}")
    viewport = Viewport(
        width=episode.viewport_width,
        height=episode.viewport_height,
        scale=episode.device_scale_factor,
    )
    frame = frame_of(viewport, (call.sent_width, call.sent_height))
    if "visit.bare" in missing_keys(episode):  # earlier versions kept points between pixels
        frame = frame.model_copy(update={"scale": None})
    try:
        return _dialect(call, prompt, frame), frame
    except ForeignPrompt as error:
        raise Unread(f"the system prompt of call {call.call} is foreign: {error}") from error


def _dialect(call: Call, prompt: Prompt, frame: Frame) -> Dialect:
    """Return the dialect of a question, whose words and schema must be the role's.

    Raises:
        ForeignPrompt: they are not, or there is no such role.
        EarlierPrompt: an earlier version of the dialect wrote them.
    """
    if call.coordinates is not None and call.coordinates not in set(Convention):
        raise ForeignPrompt(f"there is no convention '{call.coordinates:.80}'")
    if (call.coordinates is None) != (call.role == validator.ROLE):
        raise ForeignPrompt(f"the points of a {call.role:.80} are in {call.coordinates}")
    if call.role == conversation.ROLE:
        return deciding_dialect(prompt, coordinates=call.coordinates, frame=frame)
    dialect = stored_dialect(prompt, coordinates=call.coordinates, frame=frame)
    if call.role == localizer.ROLE:
        schema = localizer.localizer_schema(dialect, frame)
        own = localizer.localizer_request(dialect, frame), schema
    elif call.role == validator.ROLE:
        own = validator.VALIDATOR_SYSTEM, validator.VALIDATOR_SCHEMA
    else:
        raise ForeignPrompt(f"nobody asks as '{call.role:.80}'")
    if (prompt.text, prompt.tools) != own:
        raise ForeignPrompt(f"it is not that of a {call.role}")
    return dialect


def _reader(role: str, dialect: Dialect, frame: Frame) -> Callable[[str], Value]:
    if role == localizer.ROLE:
        return partial(localizer.parse_localizer_reply, dialect=dialect, frame=frame)
    if role == validator.ROLE:
        return validator.parse_assessment
    return partial(dialect.parse, frame=frame)


def _value(
    calls: tuple[Call, ...], read: Callable[[str], Value]
) -> tuple[Value | None, tuple[str, ...]]:
    """Return the value of the replies, and for each that could not be parsed the reason."""
    problems: list[str] = []
    for call in calls:
        try:
            value = repair.read_whole(call.reply or "", call.finish_reason, read)
        except UnreadableReply as error:
            problems.append(str(error))
        else:
            return value, tuple(problems)
    return None, tuple(problems)


def decision_defects(episode: Episode, questions: Sequence[Question]) -> Iterator[str]:
    """Yield parts of the steps' decisions that do not follow from the questions."""
    for question in questions:
        if len(question.calls) > 1 and question.problem is None:
            yield f"call {question.calls[1].call} repairs a reply that can be read"
    assessed = 0
    for step in episode.steps:
        own = [question for question in questions if question.step == step.step]
        taken = not isinstance(step.action, NoAction)
        yield from _order_defects(episode, own, step, taken=taken, assessed=assessed)
        assessed += sum(question.role == validator.ROLE for question in own)
        if taken:
            yield from _step_defects(step, own)


def _order_defects(
    episode: Episode, own: Sequence[Question], step: Step, *, taken: bool, assessed: int
) -> Iterator[str]:
    """Yield questions that do not follow from the replies before them."""
    if own and own[0].role != conversation.ROLE:
        yield f"step {step.step} begins with a {own[0].role}"
    for before, after in pairwise([*own, None]):
        assert before is not None  # noqa: S101 - the last is the only None
        if after is None and not taken:
            return
        allowed = _next_roles(episode.policy, before, assessed)
        assessed += before.role == validator.ROLE
        if (after.role if after else None) not in allowed:
            asked = f"a {after.role}" if after else "nobody"
            yield f"after call {before.calls[-1].call} {asked} was asked"
        if after is None and before.role == conversation.ROLE and before.value is None:
            yield f"step {step.step} was decided by a reply that cannot be read"


def _next_roles(name: str, before: Question, assessed: int) -> set[str | None]:
    """Return the roles that may ask next within a step; None in the set: no further question.

    The roles of the two shipped policies are known; other policies of a model may have any.
    """
    value = before.value
    if before.role == validator.ROLE and isinstance(value, Assessment) and not value.success:
        return {conversation.ROLE}
    role: str | None = None
    if before.role == conversation.ROLE and isinstance(value, ParsedAction):
        if isinstance(value.action, Answer) and assessed < validator.MAX_ASSESSMENTS:
            role = validator.ROLE
        elif element_to_locate(value) is not None:
            role = localizer.ROLE
    if name == surfer.NAME:
        return {role}
    return {None} if name == policy.NAME else {None, role}


def _step_defects(step: Step, own: Sequence[Question]) -> Iterator[str]:
    """Yield parts of a step that do not follow from its questions."""
    deciding = [question for question in own if question.role == conversation.ROLE]
    if not deciding or not isinstance(value := deciding[-1].value, ParsedAction):
        return
    expected = {
        "action": decided_action(value, own[-1]),
        "thought": value.thought,
        "thought_source": None if value.thought is None else ThoughtSource.POLICY,
        "note": value.note,
        "raw_reply": step.raw_reply and deciding[-1].calls[-1].reply,
        "parse_error": "; ".join(
            problem if question.role == conversation.ROLE else f"{question.role}: {problem}"
            for question in own
            if (problem := question.problem or repair.find_dropped(question.value)) is not None
        )
        or None,
    }
    yield from differences(
        (f"{name} of step {step.step}", getattr(step, name), own) for name, own in expected.items()
    )


def decided_action(proposed: ParsedAction, last: Question) -> Action:
    """Return the action that results from a proposal and its step's last question."""
    if last.role == localizer.ROLE and isinstance(last.value, tuple):
        return move_action(proposed.action, last.value)
    return proposed.action
