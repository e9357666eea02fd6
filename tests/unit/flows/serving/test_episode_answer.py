"""What the run door and the stream tell of an episode."""

import json

from conftest import Golden
from support.episodes.factories import make_task
from support.episodes.recorded_calls import asked, episode_of, said, user

from flows.serving.episode_answer import answer_of, trace_answer, weights_answer
from flows.serving.versions import VersionLine
from generators.engine.simulator.tokenizer import IMAGE, IMAGE_END, IMAGE_START
from schemas.base import JsonObject
from schemas.episodes.call import WeightsSpan, versions_of
from schemas.episodes.episode import Episode

SHOWN = (IMAGE_START, IMAGE, IMAGE, IMAGE_END)
MIXED = (WeightsSpan(version="7", start=0, end=1), WeightsSpan(version="8", start=1, end=2))


def made(**more: object) -> Episode:
    """Return an episode whose first reply two versions of the weights wrote."""
    first = asked(
        [user(0)],
        "a",
        [101, *SHOWN, 103],
        [104, 105],
        image_tokens=4,
        weights_version="7",
        weights_spans=MIXED,
    )
    second = asked(
        [user(0), said("a"), user(1)],
        "b",
        [101, *SHOWN, 103, 104, 105, *SHOWN, 107],
        [108],
        image_tokens=8,
        call=1,
        step=1,
        weights_version="8",
    )
    return episode_of(first, second, **more)


def answered(episode: Episode, *, learnt: bool = True) -> JsonObject:
    """Return everything that is told of an episode."""
    line = VersionLine()
    line.note(versions_of(episode.calls))
    weights, _ = weights_answer(versions_of(episode.calls), line, None)
    return {
        **answer_of(make_task(), episode),
        "weights": weights,
        **trace_answer(episode, learnt=learnt, pictures=False),
    }


def test_an_answer_is_what_others_rely_on(golden: Golden) -> None:
    golden("run_door/answer.json", json.dumps(answered(made()), indent=1) + "\n")


def test_a_failure_has_no_reward_and_nothing_to_learn() -> None:
    failed = made(failure_kind="engine", failure_message="gone", trainable=False, reward=1.0)

    told = answered(failed, learnt=False)

    assert (told["reward"], told["failure_kind"], told["trainable"]) == (None, "engine", False)
    trace = told["trace"]
    assert isinstance(trace, dict)
    assert '"loss_mask": [0, 0, 0, 0, 0, 0, 0, 0]' in json.dumps(trace["turns"])


def test_an_episode_without_tokens_says_why_it_has_no_trace() -> None:
    told = answered(episode_of(asked([user(0)], "a")))

    assert (told["trace"], told["trace_missing"], told["pictures"]) == (
        None,
        "without_tokens",
        None,
    )
