"""Attempts at one task that part somewhere, for tests of what compares them."""

from collections.abc import Callable, Mapping, Sequence

from support.episodes.factories import make_episode, make_step, make_task, make_verdict
from support.runs.exports import Parrot
from support.runs.memory_run import RULE, MemoryRun

from schemas.episodes.action import Action, Click, NoAction
from schemas.episodes.conversation import ChatMessage, MaskReason, MessagePicture, Rendered, Segment
from schemas.episodes.episode import Actor, Episode, StopReason
from schemas.tasks.expectation import Expectation
from schemas.verdicts.verdict import Status, Verdict


class Pointing(Parrot):
    """Renders an episode in one segment, and says where each action points."""

    def render(self, episode: Episode, expectation: Expectation | None = None) -> Rendered:
        """Say an episode."""
        del expectation
        told = [ChatMessage("system", ("You are a parrot.",))]
        for step in episode.steps[: episode.n_steps]:
            assert isinstance(step.action, Click)
            failed, person = step.action_error is not None, step.actor is not Actor.AGENT
            reason = MaskReason.FAILED if failed else MaskReason.PERSON if person else None
            reason = reason or (MaskReason.MISTAKE if step.injected_mistake else None)
            told += [
                ChatMessage("user", ("Look: ", MessagePicture(step.step, step.screenshot.bytes))),
                ChatMessage(
                    "assistant",
                    (f"{step.thought} {step.action.x:g}",),
                    learnt=reason is None,
                    mask_reason=reason,
                    step=step.step,
                ),
            ]
        return Rendered((Segment(0, tuple(range(episode.n_steps)), tuple(told)),))


def attempt(
    number: int,
    places: Sequence[float],
    *,
    pictures: Mapping[int, int] | None = None,
    changes: Mapping[int, Mapping[str, object]] | None = None,
    **more: object,
) -> Episode:
    """Return an attempt at one task that clicked at these places; it was shown a picture for each."""
    actions: list[Action] = [*(Click(x=x, y=9.0) for x in places), NoAction()]
    steps = [
        make_step(n, picture=(pictures or {}).get(n, n), action=action).model_copy(
            update={"thought": "I click."} | dict((changes or {}).get(n, {}))
        )
        for n, action in enumerate(actions)
    ]
    base = make_episode(make_task(), attempt=number, n_steps=0)
    return base.model_copy(
        update={"steps": tuple(steps), "n_steps": len(places), "stop_reason": StopReason.FINISHED}
        | more
    )


def run_of(
    accepted: Sequence[Episode],
    rejected: Sequence[Episode],
    *,
    labels: Mapping[int, Sequence[str]] | None = None,
    because: Callable[[Episode], Verdict] | None = None,
) -> MemoryRun:
    """Return a run of a group; `because` makes the verdict that rejects."""
    run = MemoryRun()
    episodes = sorted([*accepted, *rejected], key=lambda episode: episode.attempt)
    run.commit([make_task()], episodes)
    refused = {episode.episode_id for episode in rejected}
    for episode in episodes:
        names = list(RULE.passed)
        bad = episode.episode_id in refused
        verdicts = [make_verdict(episode, verifier=name) for name in names]
        if bad:
            verdict = because(episode) if because else not_done(episode)
            verdicts = [v for v in verdicts if v.verifier != verdict.verifier] + [verdict]
        told = (labels or {}).get(episode.attempt)
        if told is not None:
            evidence = {"steps": [{"label": label} for label in told]}
            steps = make_verdict(episode, verifier="steps")
            verdicts = [v for v in verdicts if v.verifier != "steps"]
            verdicts.append(steps.model_copy(update={"evidence": evidence}))
        run.judge(verdicts)
    return run


def not_done(episode: Episode) -> Verdict:
    """Return the verdict of `outcome` on a task that was not done."""
    verdict = make_verdict(episode, verifier="outcome", status=Status.FAILED)
    return verdict.model_copy(update={"evidence": {"reward": 0.0, "done": True}})
