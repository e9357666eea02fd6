"""Lies about who acted and when, and about ids, hashes, counts and sums: nothing else is computed."""

from datetime import timedelta

from adversarial.lies.retelling import Kinds, Truth, adder, amend, column

from schemas.episodes.episode import Actor, Episode, PolicyKind, ThoughtSource
from schemas.ids import episode_id

KINDS: Kinds = {}
lie = adder(KINDS)


# Who acted, ids, counts and sums.


@lie("structure")
def episode_id_of_another_attempt(truth: Truth) -> Episode:
    one = truth.episode
    return column(one, episode_id=episode_id(one.run_id, one.task_id, one.attempt + 1))


@lie("structure")
def group_of_another_task(truth: Truth) -> Episode:
    return column(truth.episode, group_id=truth.stranger.episode.group_id)


@lie("structure")
def attempt_altered(truth: Truth) -> Episode:
    return column(truth.episode, attempt=truth.episode.attempt + 1)


@lie("structure")
def number_of_steps_altered(truth: Truth) -> Episode:
    return column(truth.episode, n_steps=truth.episode.n_steps + 1)


@lie("structure")
def digest_of_another_episode(truth: Truth) -> Episode:
    return column(truth.episode, content_sha256=truth.sibling.episode.content_sha256)


@lie("structure")
def tokens_made_up(truth: Truth) -> Episode:
    return column(truth.episode, prompt_tokens=1_000_000, completion_tokens=500)


@lie("structure")
def cost_made_up(truth: Truth) -> Episode:
    return column(truth.episode, cost_usd=12.5)


@lie("structure")
def engine_seconds_made_up(truth: Truth) -> Episode:
    return column(truth.episode, engine_seconds=3.5)


@lie("structure")
def browser_seconds_made_up(truth: Truth) -> Episode:
    return column(truth.episode, browser_seconds=truth.episode.browser_seconds / 2)


@lie("structure")
def browser_renamed(truth: Truth) -> Episode:
    return column(truth.episode, browser="firefox")


@lie("structure")
def schema_of_a_later_version(truth: Truth) -> Episode:
    return column(truth.episode, schema_version=2)


@lie("structure")
def capsule_with_something_more(truth: Truth) -> Episode:
    return column(truth.episode, capsule={**truth.episode.capsule, "policy": "teacher"})


@lie("structure")
def kind_of_policy_altered(truth: Truth) -> Episode:
    return column(truth.episode, policy_kind=PolicyKind.SCRIPTED)


@lie("structure")
def model_made_up(truth: Truth) -> Episode:
    return column(truth.episode, model="a-model", dialect="holotron", engine="vllm")


@lie("structure")
def prompt_made_up(truth: Truth) -> Episode:
    return column(truth.episode, prompt_sha256="0" * 64)


@lie("structure")
def reply_made_up(truth: Truth) -> Episode:
    return amend(truth.episode, 0, raw_reply='{"action": "click"}')


@lie("structure")
def parse_error_made_up(truth: Truth) -> Episode:
    return amend(truth.episode, 0, parse_error="the reply is no JSON")


@lie("structure")
def thought_s_author_altered(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.thought)
    if at is None:
        return None
    by_model = truth.episode.steps[at].thought_source is ThoughtSource.POLICY
    other = ThoughtSource.TEMPLATE if by_model else ThoughtSource.POLICY
    return amend(truth.episode, at, thought_source=other)


@lie("structure")
def thought_without_author(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.thought)
    return None if at is None else amend(truth.episode, at, thought_source=None)


@lie("structure")
def thought_in_the_final_row(truth: Truth) -> Episode:
    source = ThoughtSource.TEMPLATE
    return amend(truth.episode, -1, thought="I am done.", thought_source=source)


@lie("structure")
def actor_altered(truth: Truth) -> Episode:
    return amend(truth.episode, 0, actor=Actor.USER)


# What follows from a step, told otherwise.


@lie("structure")
def fractions_altered(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.x_norm is not None)
    return None if at is None else amend(truth.episode, at, x_norm=0.99, y_norm=0.99)


@lie("structure")
def fractions_dropped(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.x_norm is not None)
    return None if at is None else amend(truth.episode, at, x_norm=None, y_norm=None)


@lie("structure")
def picture_s_hash_altered(truth: Truth) -> Episode:
    return amend(truth.episode, 0, screenshot_sha256="0" * 64)


@lie("structure")
def picture_s_near_hash_altered(truth: Truth) -> Episode:
    return amend(truth.episode, 0, screenshot_phash="f" * 16)


@lie("structure")
def picture_s_size_altered(truth: Truth) -> Episode:
    return amend(truth.episode, 0, width=truth.episode.viewport_width * 2)


@lie("structure")
def change_told_otherwise(truth: Truth) -> Episode:
    return amend(truth.episode, 0, state_changed=not truth.episode.steps[0].state_changed)


@lie("structure")
def change_dropped(truth: Truth) -> Episode:
    return amend(truth.episode, 0, state_changed=None)


# Times.


@lie("structure")
def times_out_of_order(truth: Truth) -> Episode:
    before, after = truth.episode.steps[0].at, truth.episode.steps[1].at
    return amend(amend(truth.episode, 0, at=after), 1, at=before)


@lie("structure")
def seen_before_the_start(truth: Truth) -> Episode:
    return amend(truth.episode, 0, at=truth.episode.started_at - timedelta(seconds=1))


@lie("structure")
def seen_after_the_end(truth: Truth) -> Episode:
    return amend(truth.episode, -1, at=truth.episode.ended_at + timedelta(seconds=1))


@lie("structure")
def ended_before_the_start(truth: Truth) -> Episode:
    return column(truth.episode, ended_at=truth.episode.started_at - timedelta(seconds=1))


@lie("structure")
def wall_seconds_made_up(truth: Truth) -> Episode:
    return column(truth.episode, wall_seconds=truth.episode.wall_seconds + 60)


@lie("structure")
def acted_longer_than_it_took(truth: Truth) -> Episode:
    return _spent(truth, act_ms=3_600_000.0)


@lie("structure")
def thought_longer_than_it_took(truth: Truth) -> Episode:
    return _spent(truth, think_ms=3_600_000.0)


def _spent(truth: Truth, **spans: float) -> Episode:
    """Return the episode with a span altered, its sum told to match, its moments as they were."""
    told = amend(truth.episode, 0, **spans)
    spent = sum(step.observe_ms + step.act_ms for step in told.steps) / 1_000
    return column(told, browser_seconds=spent)


@lie("structure")
def negative_duration(truth: Truth) -> Episode:
    return amend(truth.episode, 0, think_ms=-1.0)
