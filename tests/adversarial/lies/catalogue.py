"""All kinds of lies: those that matter, and those nobody can tell.

A lie matters if carrying out what is told gives another state or reward, or if something that is told
contradicts something else or the picture. What is told of a policy's mind, and of who ran what and when,
is the recorder's word alone: no verifier that reads the episode and asks the page can doubt it.
"""

from datetime import timedelta

from adversarial.lies import action_lies, call_lies, column_lies, page_lies, step_lies, task_lies
from adversarial.lies.retelling import (
    Kinds,
    Truth,
    adder,
    amend,
    column,
    image_of,
    painted,
    restep,
    retell,
)

from schemas.episodes.episode import Episode, FailedTry
from schemas.errors import FailureKind

LIES: Kinds = (
    step_lies.KINDS
    | action_lies.KINDS
    | page_lies.KINDS
    | task_lies.KINDS
    | column_lies.KINDS
    | call_lies.KINDS
)
"""Every kind that matters, with the verifier that rejects it."""

UNTOLD: Kinds = {}
"""Kinds that cannot be told from the truth; each says why."""

untold = adder(UNTOLD)


@untold("")
def thought_that_quotes_nothing(truth: Truth) -> Episode | None:
    """What a thought does not quote follows from nothing that the episode holds, if no model wrote it."""
    own = [step for step in truth.taken if step.thought and step.raw_reply is None]
    at = truth.choose(lambda step: step.thought, own) if own else None
    return None if at is None else amend(truth.episode, at, thought="I do what seems best.")


@untold("")
def note_made_up(truth: Truth) -> Episode | None:
    """A note follows from nothing but what the policy made of it, if it is in no reply."""
    if truth.episode.calls:
        return None
    return amend(truth.episode, 0, note="The second box is the right one.")


@untold("")
def policy_renamed(truth: Truth) -> Episode:
    """The same actions may be anybody's."""
    return column(truth.episode, policy="another")


@untold("")
def browser_version_made_up(truth: Truth) -> Episode:
    """A replay runs in the browser that is there, and that the pages look the same is no proof."""
    return column(truth.episode, browser_version="1.2.3.4")


@untold("")
def code_version_made_up(truth: Truth) -> Episode:
    """The program that recorded is gone."""
    return column(truth.episode, code_version="9.9.9")


@untold("")
def run_on_another_day(truth: Truth) -> Episode:
    """Every moment is moved by the same time; the page's own clock is virtual."""
    day = timedelta(days=1)
    one = truth.episode
    steps = [step.model_copy(update={"at": step.at + day}) for step in one.steps]
    calls = tuple(call.model_copy(update={"at": call.at + day}) for call in one.calls)
    moved = {"started_at": one.started_at + day, "ended_at": one.ended_at + day}
    return retell(one, steps, calls=calls, **moved)


@untold("")
def thought_faster_than_told(truth: Truth) -> Episode:
    """Time that nobody accounts for may have gone anywhere."""
    return amend(truth.episode, 0, think_ms=0.0)


@untold("")
def earlier_try_made_up(truth: Truth) -> Episode:
    """A try that failed leaves nothing but this."""
    failed = FailedTry(
        failure_kind=FailureKind.BROWSER, failure_message="the browser went away", n_steps=1
    )
    return column(truth.episode, tries=(failed,))


@untold("")
def of_another_run(truth: Truth) -> Episode:
    """The ids are made from the run's, and fit; the audit knows the run's id."""
    return retell(truth.episode, run_id="f" * 32)


@untold("")
def token_ids_that_spell_another_reply(truth: Truth) -> Episode | None:
    """The model's tokenizer is not stored with the episode; there are as many as are told."""
    calls = truth.episode.calls
    ids = {"completion_token_ids": tuple(range(calls[0].completion_tokens or 0))} if calls else {}
    told = tuple(one.model_copy(update=ids) for one in calls)
    return column(truth.episode, calls=told) if calls else None


@untold("")
def picture_encoded_again(truth: Truth) -> Episode:
    """A rasteriser promises no bytes, so a picture that differs by no more than one's noise agrees."""
    return restep(
        truth.episode, 0, screenshot=painted(image_of(truth.episode.steps[0]), quality=95)
    )
