"""Lies about what a model was asked and what it replied, told of episodes that a model acted in.

The sums over the calls are told to match, and the calls are numbered anew.
"""

import json
from collections.abc import Sequence
from datetime import timedelta

from adversarial.lies.retelling import Kinds, Truth, adder, amend, column

from schemas.episodes.call import Call, prompt_hash
from schemas.episodes.episode import Episode, PolicyKind

KINDS: Kinds = {}
lie = adder(KINDS)


def _called(episode: Episode, calls: Sequence[Call]) -> Episode:
    numbered = tuple(one.model_copy(update={"call": n}) for n, one in enumerate(calls))
    return column(
        episode,
        calls=numbered,
        prompt_tokens=sum(one.prompt_tokens or 0 for one in numbered),
        completion_tokens=sum(one.completion_tokens or 0 for one in numbered),
        engine_seconds=sum(one.total_ms or 0 for one in numbered) / 1_000,
    )


def _with_call(truth: Truth, **columns: object) -> Episode | None:
    calls = list(truth.episode.calls)
    if not calls:
        return None
    at = truth.random.randrange(len(calls))
    calls[at] = calls[at].model_copy(update=columns)
    return _called(truth.episode, calls)


@lie("structure")
def call_dropped(truth: Truth) -> Episode | None:
    calls = truth.episode.calls
    return _called(truth.episode, calls[1:]) if calls else None


@lie("structure")
def every_call_dropped(truth: Truth) -> Episode | None:
    return _called(truth.episode, ()) if truth.episode.calls else None


@lie("structure")
def calls_not_numbered(truth: Truth) -> Episode | None:
    calls = [one.model_copy(update={"call": one.call + 5}) for one in truth.episode.calls]
    return column(truth.episode, calls=tuple(calls)) if calls else None


@lie("structure")
def call_of_a_step_that_is_not_there(truth: Truth) -> Episode | None:
    return _with_call(truth, step=99)


@lie("structure")
def picture_that_was_not_there_yet_sent(truth: Truth) -> Episode | None:
    return _with_call(truth, image_steps=(98, 99))


@lie("structure")
def reply_of_the_call_altered(truth: Truth) -> Episode | None:
    return _with_call(truth, reply='{"thought": "I give up."}')


@lie("structure")
def reply_of_the_step_altered(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.raw_reply)
    return None if at is None else amend(truth.episode, at, raw_reply='{"thought": "I give up."}')


@lie("structure")
def reply_that_says_something_else(truth: Truth) -> Episode | None:
    """In the call and in the step."""
    at = truth.choose(lambda step: step.raw_reply)
    if at is None:
        return None
    told = '{"note": null, "thought": "No.", "tool_call": {"tool_name": "go_back"}}'
    calls = [
        one.model_copy(update={"reply": told}) if one.step == at else one
        for one in truth.episode.calls
    ]
    return _called(amend(truth.episode, at, raw_reply=told), calls)


@lie("structure")
def thought_of_a_model_altered(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.raw_reply)
    return None if at is None else amend(truth.episode, at, thought="I guess.")


@lie("structure")
def note_of_a_model_made_up(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.raw_reply)
    return None if at is None else amend(truth.episode, at, note="The second one.")


@lie("structure")
def repair_made_up(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.raw_reply)
    return None if at is None else amend(truth.episode, at, parse_error="the reply is no JSON")


@lie("structure")
def what_a_model_was_told_altered(truth: Truth) -> Episode | None:
    """The task, in every prompt."""
    if not truth.episode.calls:
        return None
    calls = [
        one.model_copy(
            update={
                "messages": json.loads(json.dumps(one.messages).replace("Task: ", "Task: Not "))
            }
        )
        for one in truth.episode.calls
    ]
    return _called(truth.episode, calls)


@lie("structure")
def prompt_reworded_with_its_hash(truth: Truth) -> Episode | None:
    if not truth.episode.prompts:
        return None
    old = truth.episode.prompts[0]
    text = old.text.replace("exactly one call", "a call")
    named = prompt_hash(text, old.tools)
    new = old.model_copy(update={"text": text, "prompt_sha256": named})
    written = truth.episode.model_dump_json().replace(old.prompt_sha256, named)
    return Episode.model_validate_json(written).model_copy(update={"prompts": (new,)})


@lie("structure")
def points_in_another_convention(truth: Truth) -> Episode | None:
    return _with_call(truth, coordinates="px")


@lie("structure")
def picture_sent_in_another_size(truth: Truth) -> Episode | None:
    return _with_call(truth, sent_width=truth.episode.viewport_width // 2)


@lie("structure")
def reply_cut_off(truth: Truth) -> Episode | None:
    return _with_call(truth, finish_reason="length")


@lie("structure")
def engine_of_the_call_altered(truth: Truth) -> Episode | None:
    return _with_call(truth, engine="vllm-0")


@lie("structure")
def sampling_of_the_call_altered(truth: Truth) -> Episode | None:
    return _with_call(truth, sampling={"temperature": 1.5})


@lie("structure")
def segment_made_up(truth: Truth) -> Episode | None:
    return _with_call(truth, segment=4)


@lie("structure")
def role_made_up(truth: Truth) -> Episode | None:
    return _with_call(truth, role="validator")


@lie("structure")
def called_before_the_start(truth: Truth) -> Episode | None:
    return _with_call(truth, at=truth.episode.started_at - timedelta(hours=1))


@lie("structure")
def call_that_took_longer_than_the_episode(truth: Truth) -> Episode | None:
    return _with_call(truth, total_ms=3_600_000.0)


@lie("structure")
def tokens_that_are_not_as_many_as_told(truth: Truth) -> Episode | None:
    return _with_call(truth, completion_token_ids=(1, 2, 3), completion_tokens=10)


@lie("structure")
def probabilities_of_other_tokens(truth: Truth) -> Episode | None:
    ids = tuple(range(10))
    return _with_call(
        truth, completion_token_ids=ids, completion_tokens=10, completion_logprobs=(-0.5, -0.25)
    )


@lie("structure")
def tokens_not_summed(truth: Truth) -> Episode | None:
    one = truth.episode
    return column(one, prompt_tokens=one.prompt_tokens + 1) if one.calls else None


@lie("structure")
def prompt_dropped(truth: Truth) -> Episode | None:
    return column(truth.episode, prompts=()) if truth.episode.prompts else None


@lie("structure")
def prompt_altered(truth: Truth) -> Episode | None:
    told = [one.model_copy(update={"text": "Do as you like."}) for one in truth.episode.prompts]
    return column(truth.episode, prompts=tuple(told)) if told else None


@lie("structure")
def prompt_of_the_call_altered(truth: Truth) -> Episode | None:
    return _with_call(truth, prompt_sha256="0" * 64)


@lie("structure")
def model_of_the_call_altered(truth: Truth) -> Episode | None:
    return _with_call(truth, model="another")


@lie("structure")
def model_told_as_teacher(truth: Truth) -> Episode | None:
    if not truth.episode.calls:
        return None
    return column(truth.episode, policy="teacher", policy_kind=PolicyKind.TEACHER)
