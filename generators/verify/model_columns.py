"""The columns of a model's episode that follow from its calls, and consistency within each call.

Other policies have none of these columns. A call's counts must agree; they are None where the server does
not count. The modules `replies` and `messages` check the texts.
"""

import math
import re
from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from generators.policy.dialects.stored import EarlierPrompt
from generators.policy.model import answer_validator as validator
from generators.policy.model import conversation, localizer, repair
from generators.verify.differences import quote
from generators.verify.rebuilt_messages import message_defects
from generators.verify.replies import (
    Unread,
    decision_defects,
    read_questions,
)
from schemas.configuration.sections import LogprobsMode
from schemas.episodes.action import NoAction
from schemas.episodes.call import Call, join_versions, prompt_hash, versions_of
from schemas.episodes.episode import Episode, PolicyKind, Step, ThoughtSource
from schemas.episodes.mistake import SLIPS

OF_A_MODEL = (
    *("dialect", "model", "engine", "engine_version", "sampling", "prompt_sha256", "prompts"),
    "calls",
)
"""Columns that only episodes of a model have."""

ROLES = (conversation.ROLE, localizer.ROLE, validator.ROLE, repair.ROLE)

_REVISION = re.compile(r"[-:@][\w.:-]*\d[\w.:-]*")
"""The suffix that a server may add to the requested model's name."""

_MS_TOLERANCE = 1.0
"""Times are kept in whole microseconds, durations are not."""


def policy_defects(episode: Episode, taken: Sequence[Step]) -> Iterator[str]:
    """Yield columns, replies and prompts that do not fit the kind of policy."""
    by_model = episode.policy_kind is PolicyKind.MODEL
    outside = episode.policy_kind is PolicyKind.EXTERNAL  # it may tell its calls and its replies
    stated = [
        name
        for name in OF_A_MODEL
        if getattr(episode, name) not in (None, (), {}) and not (outside and name == "calls")
    ]
    if stated and not by_model:
        yield f"{', '.join(stated)} are stated, but the policy is {episode.policy_kind.value}"
    if episode.model_revision is not None:
        yield "model_revision is stated, and nothing writes it yet"
    own = join_versions(versions_of(episode.calls))
    if episode.weights_version != own:
        yield f"weights_version is {quote(episode.weights_version)}, the calls' are {quote(own)}"
    asked = {call.step for call in episode.calls}
    for step in taken:
        if (step.raw_reply is not None) != by_model and not outside:
            yield f"raw_reply of step {step.step} does not fit the policy, {episode.policy_kind.value}"
        elif by_model and step.step not in asked:
            yield f"nobody was asked for step {step.step}"
        yield from _decision_defects(episode.policy_kind, step)
    yield from _prompt_defects(episode)


def _decision_defects(kind: PolicyKind, step: Step) -> Iterator[str]:
    """Yield columns of a decision that this kind of policy cannot write."""
    by_model = kind is PolicyKind.MODEL
    if step.thought_source is ThoughtSource.POLICY and not (
        by_model or kind is PolicyKind.EXTERNAL
    ):
        yield f"a model wrote the thought of step {step.step}, the policy is another"
    if step.thought_source is ThoughtSource.REWRITTEN:
        yield f"the thought of step {step.step} was rewritten, and nothing rewrites yet"
    mistake = step.injected_mistake
    if mistake is not None and kind is not (
        PolicyKind.SCRIPTED if mistake in SLIPS else PolicyKind.CLUMSY
    ):
        whose = "a reference's" if mistake in SLIPS else "a clumsy policy's"
        yield f"step {step.step} is the mistake '{mistake}' on purpose, which is only {whose}"
    if step.parse_error is not None and not by_model:
        yield f"parse_error of step {step.step} is stated, and there was no reply"


def _prompt_defects(episode: Episode) -> Iterator[str]:
    kept = {prompt.prompt_sha256 for prompt in episode.prompts}
    used = {episode.prompt_sha256, *(call.prompt_sha256 for call in episode.calls)} - {None}
    if used - kept:
        yield "a system prompt that was used is not kept"
    for prompt in episode.prompts:
        if prompt.prompt_sha256 != prompt_hash(prompt.text, prompt.tools):
            yield "a system prompt is not the one that its hash names"
        if prompt.prompt_sha256 == episode.prompt_sha256 and prompt.dialect != episode.dialect:
            yield f"dialect is {episode.dialect}, the system prompt's is {prompt.dialect}"


def call_defects(episode: Episode) -> Iterator[str]:
    """Yield misnumbered or misplaced calls and contradictions within a call."""
    if [call.call for call in episode.calls] != list(range(len(episode.calls))):
        yield "the calls are not numbered 0, 1, 2, …"
    for call in episode.calls:
        where = f"call {call.call}"
        if episode.steps and not 0 <= call.step < len(episode.steps):
            yield f"{where} is of step {call.step}, which does not exist"
        if not all(0 <= number <= call.step for number in call.image_steps):
            yield f"{where} shows a picture that was not taken yet"
        if call.messages is not None and _shown_steps(call.messages) != [*call.image_steps]:
            yield f"image_steps of {where} are not those of its messages"
        for defect in (
            *_count_defects(call),
            *_weights_defects(call),
            *_origin_defects(episode, call),
        ):
            yield f"{where}: {defect}"


def _count_defects(call: Call) -> Iterator[str]:
    """Yield contradictions among a call's counts and times."""
    counts = ("prompt", "cached", "cacheable", "image", "completion", "wasted")
    numbers = [getattr(call, f"{name}_tokens") for name in counts]
    spans = [span for span in (call.queue_ms, call.ttft_ms, call.total_ms) if span is not None]
    stated = [number for number in (*numbers, *spans, call.cost_usd) if number is not None]
    if not all(math.isfinite(number) and number >= 0 for number in (*stated, call.retries)):
        yield "a number is negative or not finite"
    for name in ("prompt", "completion"):
        ids, number = getattr(call, f"{name}_token_ids"), getattr(call, f"{name}_tokens")
        if ids is not None and number is not None and len(ids) != number:
            yield f"{name}_tokens is {number}, and there are {len(ids)} ids"
    for name in ("cached_tokens", "cacheable_tokens", "image_tokens"):
        part = getattr(call, name)
        if part is not None and call.prompt_tokens is not None and part > call.prompt_tokens:
            yield f"{name} is {part}, of {call.prompt_tokens} tokens"
    if call.wasted_tokens is not None and not call.retries:
        yield "tokens were wasted, but nothing was asked again"
    if spans != sorted(spans):
        yield "queue_ms, ttft_ms and total_ms do not hold each other"
    yield from _probability_defects(call)


def _probability_defects(call: Call) -> Iterator[str]:
    ids, probabilities = call.completion_token_ids, call.completion_logprobs
    if ids is not None and probabilities is not None and len(ids) != len(probabilities):
        yield f"{len(ids)} tokens and {len(probabilities)} probabilities"
    if any(not one <= 0 for one in probabilities or ()):
        yield "a probability is more than 1, or no number"
    if call.logprobs_mode is not None and probabilities is None:
        yield "logprobs_mode is stated, and there are no probabilities"
    elif call.logprobs_mode not in {None, *LogprobsMode}:
        yield f"logprobs_mode is {quote(call.logprobs_mode)}, which is none"


def _weights_defects(call: Call) -> Iterator[str]:
    """Yield contradictions among the versions of the weights that wrote a reply."""
    spans = call.weights_spans
    if spans is None:
        return
    if len(spans) < 2:  # noqa: PLR2004 - one needs no spans
        yield f"weights_spans are {len(spans)}, expected several"
    elif spans[0].version != call.weights_version:
        yield f"weights_version is {quote(call.weights_version)}, the first span's is {quote(spans[0].version)}"
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), call.completion_tokens]
    if any(span.start is not None or span.end is not None for span in spans) and starts != ends:
        yield "weights_spans do not follow each other from the first token to the last"


def _origin_defects(episode: Episode, call: Call) -> Iterator[str]:
    """Yield columns about a call's engine that contradict the episode or the system prompt."""
    if episode.policy_kind is PolicyKind.EXTERNAL:
        return  # its engine is not ours, and nothing else tells of it
    prompt = next((p for p in episode.prompts if p.prompt_sha256 == call.prompt_sha256), None)
    has_schema = prompt is not None and isinstance(prompt.tools, dict)  # a list is of functions
    if prompt is not None and (call.structured_mode is None) == has_schema:
        yield f"structured_mode is {quote(call.structured_mode)}, which does not fit the schema"
    product, _, number = (call.engine or "").rpartition("-")
    if not (product and number.isdecimal()):
        yield f"engine is {quote(call.engine)}, expected a product and a number"
    if call.prompt_sha256 != episode.prompt_sha256:
        return
    if product and product != (episode.engine or "engine"):
        yield f"engine is {quote(call.engine)}, the episode's is {quote(episode.engine)}"
    if call.model is not None and not _is_model(call.model, episode.model):
        yield f"model is {quote(call.model)}, the episode's is {quote(episode.model)}"
    asked = dict(episode.sampling)
    if asked.get("temperature"):
        asked["seed"] = call.sampling.get("seed")
    if "left_out" in call.sampling:  # what a server refuses differs from call to call
        asked["left_out"] = call.sampling["left_out"]
    if call.sampling != asked:
        yield f"sampling is {quote(call.sampling)}, the episode's is {quote(episode.sampling)}"


def _is_model(served: str, asked: str | None) -> bool:
    """Return whether a served model's name is the requested one, with or without a revision."""
    if asked is None or not served.startswith(asked):
        return False
    return served == asked or _REVISION.fullmatch(served[len(asked) :]) is not None


def _shown_steps(messages: JsonValue) -> list[JsonValue]:
    """Return the steps whose pictures are in a call's messages, in order."""
    if isinstance(messages, list):
        return [number for item in messages for number in _shown_steps(item)]
    if isinstance(messages, dict):
        if messages.get("type") == "image":
            return [messages.get("step")]
        return _shown_steps(messages.get("content"))
    return []


def reply_defects(episode: Episode) -> tuple[list[str], bool]:
    """Return the defects of the replies, and whether the replies could be parsed at all.

    They cannot be if an earlier version of a dialect wrote the prompts.
    """
    if episode.policy_kind is not PolicyKind.MODEL:
        return [], True
    try:
        questions = read_questions(episode)
    except EarlierPrompt:
        return [], False
    except Unread as error:
        return [str(error)], True
    found = list(decision_defects(episode, questions))
    if all(0 <= question.step < len(episode.steps) for question in questions):
        found += message_defects(episode, questions)
    return found, True


def call_time_defects(episode: Episode) -> Iterator[str]:
    """Yield calls that were made outside their step's decision or took longer than it."""
    calls, steps = episode.calls, episode.steps
    ends = [*(step.at for step in steps[1:]), episode.ended_at]
    if [call.at for call in calls] != sorted(call.at for call in calls):
        yield "the calls' times do not follow each other"
    for number, step in enumerate(steps):
        own = [call for call in calls if call.step == number]
        if any(not step.at <= call.at <= ends[number] for call in own):
            yield f"a call of step {number} was made before its picture or after the next"
        lasted = sum(call.total_ms or 0 for call in own)
        thought = (ends[number] - step.at).total_seconds() * 1_000
        if not isinstance(step.action, NoAction):
            thought = step.think_ms
        if lasted > thought + _MS_TOLERANCE:
            yield f"the calls of step {number} took {lasted:g} ms, deciding took {thought:g}"
    if not steps and any(not episode.started_at <= call.at <= episode.ended_at for call in calls):
        yield "a call was made before the start or after the end"
