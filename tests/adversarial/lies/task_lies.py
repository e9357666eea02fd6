"""Lies about rewards, about how an episode ended, and about its task and how that was visited."""

from adversarial.lies.retelling import (
    Kinds,
    Told,
    Truth,
    adder,
    amend,
    column,
    encapsulate,
    looking,
    restep,
    retell,
)

from schemas.base import JsonObject
from schemas.episodes.action import Answer
from schemas.episodes.episode import Episode, StopReason

KINDS: Kinds = {}
lie = adder(KINDS)


# Rewards.


def _last(truth: Truth) -> int:
    return truth.taken[-1].step


@lie("structure", lost=True)
def lost_told_as_won_in_the_episode(truth: Truth) -> Episode:
    return column(truth.episode, reward=1.0, done=True)


@lie("structure", lost=True)
def lost_told_as_won_in_the_step(truth: Truth) -> Episode:
    return amend(truth.episode, _last(truth), reward=1.0, terminated=True)


@lie("replay", lost=True)
def lost_told_as_won_in_both(truth: Truth) -> Episode:
    return _paid(truth, 1.0)


@lie("replay", lost=True)
def lost_told_as_won_by_more_than_there_is(truth: Truth) -> Episode:
    return _paid(truth, 2.0)


def _paid(truth: Truth, reward: float) -> Episode:
    """Return the episode as if what was done last had won; an answer that was given is left out."""
    steps = list(truth.episode.steps)
    if isinstance(truth.taken[-1].action, Answer) and len(truth.taken) > 1:
        del steps[_last(truth)]
    steps[-2] = steps[-2].model_copy(update={"reward": reward, "terminated": True})
    return retell(truth.episode, steps, stop_reason=StopReason.FINISHED, answer=None)


@lie("structure")
def won_told_as_lost_in_the_step(truth: Truth) -> Episode:
    return amend(truth.episode, _last(truth), reward=-1.0)


@lie("structure")
def end_dropped_from_the_step(truth: Truth) -> Episode:
    return amend(truth.episode, _last(truth), terminated=False)


@lie("replay")
def reward_told_as_more(truth: Truth) -> Episode:
    told = truth.episode
    for step in truth.taken[len(truth.acted) - 1 :]:
        told = restep(told, step.step, reward=7.0)
    return told


@lie("replay")
def paid_already_before(truth: Truth) -> Episode:
    return column(truth.episode, reward_before=1.0)


@lie("replay")
def reward_before_dropped(truth: Truth) -> Episode:
    return column(truth.episode, reward_before=None)


@lie("replay")
def paid_one_step_early(truth: Truth) -> Episode | None:
    if len(truth.acted) < 2:
        return None
    return amend(truth.episode, truth.acted[-2].step, reward=1.0)


@lie("structure")
def ended_one_step_early(truth: Truth) -> Episode | None:
    if len(truth.acted) < 2:
        return None
    return amend(truth.episode, truth.acted[-2].step, reward=1.0, terminated=True)


# Ends.


@lie("structure")
def stop_reason_other(truth: Truth) -> Episode:
    others = [
        one for one in StopReason if one not in {StopReason.FINISHED, truth.episode.stop_reason}
    ]
    return column(truth.episode, stop_reason=truth.random.choice(others))


@lie("outcome")
def failure_added(truth: Truth) -> Episode:
    return column(
        truth.episode,
        stop_reason=StopReason.FAILED,
        failure_kind="browser",
        failure_message="the browser went away",
        trainable=False,
    )


@lie("structure")
def failure_kind_alone(truth: Truth) -> Episode:
    return column(truth.episode, failure_kind="page")


@lie("structure")
def failure_message_alone(truth: Truth) -> Episode:
    return column(truth.episode, failure_message="the browser went away")


@lie("structure")
def told_as_not_trainable(truth: Truth) -> Episode:
    return column(truth.episode, trainable=False)


@lie("replay")
def broken_off_and_told_as_won(truth: Truth) -> Episode | None:
    """The browser broke after the first action; the recorder makes up how it went on."""
    if len(truth.acted) < 2:
        return None
    first, second = truth.episode.steps[:2]
    first = first.model_copy(update={"reward": 1.0, "terminated": True})
    return retell(truth.episode, (first, looking(second)))


@lie("structure")
def final_row_missing(truth: Truth) -> Episode:
    return retell(truth.episode, truth.episode.steps[:-1])


@lie("structure")
def truncated_told(truth: Truth) -> Episode:
    return amend(truth.episode, _last(truth), truncated=True)


@lie("structure")
def answer_made_up(truth: Truth) -> Episode:
    return column(truth.episode, answer="42")


@lie("structure")
def answer_given_and_gone_on(truth: Truth) -> Episode:
    first, *rest = truth.episode.steps
    said = looking(first).model_copy(update={"action": Answer(text="42"), "reward": first.reward})
    return retell(truth.episode, (said.model_copy(update={"reward": 0.0}), first, *rest))


# The task, and how it was visited.


def _visit_of(told: Told) -> JsonObject:
    visit = told.episode.capsule["visit"]
    assert isinstance(visit, dict)
    return visit


def _filed_under(truth: Truth, other: Told, **columns: object) -> Told:
    """Tell the episode as one of another task, its steps as they were."""
    task = other.task
    of_task: dict[str, object] = {
        "task_id": task.task_id,
        "site": task.site,
        "start_url": task.start_url,
        "seed": task.seed,
    }
    return Told(task, retell(truth.episode, None, **of_task | columns))


@lie("structure")
def filed_under_another_seed(truth: Truth) -> Told:
    return _filed_under(truth, truth.sibling)


@lie("structure")
def filed_under_another_seed_with_its_goal(truth: Truth) -> Told:
    return _filed_under(truth, truth.sibling, instruction=truth.sibling.episode.instruction)


@lie("replay")
def filed_under_another_seed_with_its_visit(truth: Truth) -> Told | None:
    if truth.sibling.episode.steps[0].page == truth.episode.steps[0].page:
        return None
    other = truth.sibling.episode
    return _filed_under(truth, truth.sibling, instruction=other.instruction, capsule=other.capsule)


@lie("structure")
def filed_under_another_template(truth: Truth) -> Told:
    return _filed_under(truth, truth.stranger, instruction=truth.stranger.episode.instruction)


@lie("replay")
def filed_under_another_template_with_its_visit(truth: Truth) -> Told:
    other = truth.stranger.episode
    return _filed_under(truth, truth.stranger, instruction=other.instruction, capsule=other.capsule)


@lie("structure")
def seed_column_altered(truth: Truth) -> Episode:
    return column(truth.episode, seed=truth.episode.seed + 1)


@lie("structure")
def seed_of_the_visit_altered(truth: Truth) -> Episode:
    return encapsulate(truth.episode, "visit", seed=str(truth.episode.seed + 1))


@lie("structure")
def seed_altered_everywhere(truth: Truth) -> Told:
    """The task's too, whose identity is then another."""
    seed = truth.episode.seed + 1
    told = encapsulate(column(truth.episode, seed=seed), "visit", seed=str(seed))
    return Told(truth.task.model_copy(update={"seed": seed}), told)


@lie("structure")
def parameters_of_the_visit_altered(truth: Truth) -> Episode:
    return encapsulate(truth.episode, "visit", parameters={"level": 1})


@lie("structure")
def start_of_the_visit_altered(truth: Truth) -> Episode:
    return encapsulate(truth.episode, "visit", start_url=truth.stranger.episode.start_url)


@lie("structure")
def start_url_altered(truth: Truth) -> Episode:
    return column(truth.episode, start_url=truth.stranger.episode.start_url)


@lie("structure")
def site_altered(truth: Truth) -> Episode:
    return column(truth.episode, site="nowhere")


@lie("structure")
def template_of_the_capsule_altered(truth: Truth) -> Episode:
    return encapsulate(truth.episode, template_id=truth.stranger.task.template_id)


@lie("structure")
def site_version_of_the_capsule_altered(truth: Truth) -> Episode:
    return encapsulate(truth.episode, site_version="0.0.1")


@lie("structure")
def origins_of_the_session_widened(truth: Truth) -> Episode:
    origins = [*_origins(truth), "https://example.org"]
    return encapsulate(truth.episode, "session", allowed_origins=origins)


@lie("replay")
def origins_of_the_visit_widened(truth: Truth) -> Episode:
    origins = [*_origins(truth), "https://example.org"]
    told = encapsulate(truth.episode, "session", allowed_origins=origins)
    return encapsulate(told, "visit", allowed_origins=origins)


def _origins(truth: Truth) -> list[object]:
    origins = _visit_of(truth)["allowed_origins"]
    assert isinstance(origins, list)
    return [*origins]


@lie("replay")
def paths_of_the_visit_dropped(truth: Truth) -> Episode:
    told = encapsulate(truth.episode, "session", allowed_paths=[])
    return encapsulate(told, "visit", allowed_paths=[])


@lie("structure")
def clock_column_altered(truth: Truth) -> Episode:
    return column(truth.episode, clock_ms=truth.episode.clock_ms + 86_400_000)


@lie("structure")
def clock_of_the_session_altered(truth: Truth) -> Episode:
    clock = {"start_ms": 1_600_000_000_000, "load_ms": 1, "step_ms": 1, "settle_ms": 1}
    return encapsulate(truth.episode, "session", clock=clock)


@lie("replay")
def clock_altered_everywhere(truth: Truth) -> Episode:
    clock = {"start_ms": 1_600_000_000_000, "load_ms": 1_000, "step_ms": 500, "settle_ms": 20}
    told = column(truth.episode, clock_ms=1_600_000_000_000)
    return encapsulate(encapsulate(told, "session", clock=clock), "visit", clock=clock)


@lie("structure")
def viewport_column_altered(truth: Truth) -> Episode:
    return column(truth.episode, viewport_width=truth.episode.viewport_width * 2)


@lie("structure")
def viewport_of_the_session_altered(truth: Truth) -> Episode:
    return encapsulate(truth.episode, "session", viewport_width=1_000)


@lie("structure")
def viewport_altered_everywhere(truth: Truth) -> Episode:
    told = retell(truth.episode, viewport_height=truth.episode.viewport_height + 100)
    return encapsulate(told, "session", viewport_height=told.viewport_height)


@lie("structure")
def scale_altered(truth: Truth) -> Episode:
    return column(truth.episode, device_scale_factor=2.0)


@lie("replay")
def instruction_altered(truth: Truth) -> Episode:
    return column(truth.episode, instruction=truth.episode.instruction + " Twice.")


@lie("structure")
def instruction_emptied(truth: Truth) -> Episode:
    return column(truth.episode, instruction="")
