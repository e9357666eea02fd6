"""A reward that is not enough is told beside the one that was expected, so that the two differ."""

from support.browsers.scripted_rollouts import scripted_task
from support.episodes.factories import make_episode, make_task

from generators.verify.outcome import OutcomeVerifier
from schemas.episodes.episode import Episode


def whole() -> Episode:
    return make_episode(make_task(), n_steps=3)


async def test_a_reward_just_too_small_does_not_read_like_what_was_expected() -> None:
    episode = whole().model_copy(update={"reward": 0.9999999, "done": True})

    finding = await OutcomeVerifier({}).examine(scripted_task(), episode)

    assert "expected a reward of 1, found 0.9999999 after" in finding.reason


async def test_a_reward_that_is_enough_is_told_alone() -> None:
    episode = whole().model_copy(update={"reward": 1.0, "done": True})

    finding = await OutcomeVerifier({}).examine(scripted_task(), episode)

    assert finding.reason == "done with reward 1"
