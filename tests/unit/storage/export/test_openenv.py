"""The `openenv` format: training traces, attempt by attempt.

The library is not installed here; it reads exports in `tests/e2e/exports/test_export_verifiers.py`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from support.episodes.factories import make_episode
from support.episodes.recorded_calls import FIRST, SECOND, asked, episode_of, said, user
from support.runs.exports import told_of

from schemas.episodes.call import Call
from schemas.episodes.episode import Episode
from schemas.episodes.picture_tokens import MIN_RUN
from storage.export.openenv import OpenEnv
from storage.export.protocol import File, Line
from storage.export.recorded_calls import picture_tokens
from storage.export.registry import Pictures

PAD = 151_655
"""A placeholder."""


def written(
    *episodes: Episode, pictures: Pictures = Pictures.FILES
) -> tuple[list[dict[str, Any]], list[str], Counter[str]]:
    """Return the lines and the files that a group of attempts becomes, and what was counted."""
    tally: Counter[str] = Counter()
    group = [told_of(episode) for episode in episodes]
    pieces = list(OpenEnv(pictures=pictures).group_pieces(group, tally))
    found = [dict(piece.record) for piece in pieces if isinstance(piece, Line)]
    return found, [piece.path for piece in pieces if isinstance(piece, File)], tally


def turns(episode: Episode) -> list[dict[str, Any]]:
    """Return the turns of an attempt's trace."""
    [line], _, _ = written(episode)
    found: list[dict[str, Any]] = line["trace"]["turns"]
    return found


def showing(prompt: Sequence[int], *steps: int, image_tokens: int | None = None) -> Call:
    """Return a call whose prompt shows the pictures of some steps."""
    return asked([*map(user, steps)], "a", prompt, [7], image_tokens=image_tokens)


def test_a_turn_has_the_engine_s_tokens_and_a_mask_over_both() -> None:
    first, second = turns(episode_of(FIRST, SECOND))

    assert first["prompt_token_ids"] == [1, 2, 3]
    assert first["completion_token_ids"] == [4, 5]
    assert first["per_token_logps"] == [-0.5, -0.5]
    assert first["loss_mask"] == [0, 0, 0, 1, 1]
    assert second["loss_mask"] == [0] * 7 + [1]
    assert first["response"]["choices"][0]["message"] == {"role": "assistant", "content": "a"}


def test_every_call_has_an_identity_of_its_own() -> None:
    again = SECOND.model_copy(update={"call": 5})
    first = FIRST.model_copy(update={"call": 4})

    assert [turn["node_id"] for turn in turns(episode_of(first, again))] == ["call-4", "call-5"]


def test_pictures_are_named_in_messages_and_metadata_and_written_once() -> None:
    episode = episode_of(FIRST, SECOND)
    [line], files, _ = written(episode)
    _, second = line["trace"]["turns"]

    urls = [f"images/{episode.episode_id}/{n}.jpg" for n in range(2)]
    assert files == urls
    assert [one["url"] for one in second["metadata"]["pictures"]] == urls
    parts = [m["content"] for m in second["request"]["messages"] if m["role"] == "user"]
    assert [part[1]["image_url"]["url"] for part in parts] == urls
    [inline], none, _ = written(episode, pictures=Pictures.DATA)
    assert none == []
    picture = inline["trace"]["turns"][0]["metadata"]["pictures"][0]
    assert picture["url"].startswith("data:image/jpeg;base64,")


def test_no_reward_is_not_zero_and_a_reward_of_zero_is() -> None:
    asked_ = episode_of(FIRST)
    rewards = [
        written(asked_.model_copy(update={"reward": reward}))[0][0]["reward"]
        for reward in (None, 0.0, 1.0)
    ]

    assert rewards == [None, 0.0, 1.0]


def test_a_group_says_who_failed_for_a_reason_outside_the_policy_and_masks_them() -> None:
    won = episode_of(FIRST, episode_id="1" * 32, attempt=0, reward=1.0)
    broke = episode_of(
        *(FIRST,),
        episode_id="2" * 32,
        attempt=1,
        reward=None,
        trainable=False,
        failure_kind="engine",
    )
    lines, _, tally = written(won, broke)

    assert [line["group"] for line in lines] == [lines[0]["group"]] * 2
    assert lines[0]["group"]["members"] == [
        {
            "id": "1" * 32,
            "attempt": 0,
            "reward": 1.0,
            "trainable": True,
            "failure_kind": None,
            "left_out": None,
        },
        {
            "id": "2" * 32,
            "attempt": 1,
            "reward": None,
            "trainable": False,
            "failure_kind": "engine",
            "left_out": None,
        },
    ]
    assert [sum(line["trace"]["turns"][0]["loss_mask"]) for line in lines] == [2, 0]
    assert tally == {"lines": 2, "turns": 2, "untrainable": 1}


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ((), "without_tokens"),
        ((asked([user(0)], "a"),), "without_tokens"),
        ((FIRST, asked([user(0)], "a", [1])), "without_tokens"),
        ((FIRST.model_copy(update={"completion_logprobs": None}),), "without_logprobs"),
        ((FIRST.model_copy(update={"completion_logprobs": (-0.5,)}),), "without_logprobs"),
        ((FIRST.model_copy(update={"completion_logprobs": (-0.5, 0.5)}),), "without_logprobs"),
        (
            (FIRST, SECOND.model_copy(update={"completion_logprobs": (float("nan"),)})),
            "without_logprobs",
        ),
    ],
)
def test_an_attempt_without_all_its_tokens_gives_no_line_and_is_counted(
    calls: Sequence[Call], why: str
) -> None:
    whole = episode_of(FIRST, episode_id="1" * 32)
    lines, files, tally = written(whole, episode_of(*calls, episode_id="2" * 32))

    assert [line["id"] for line in lines] == ["1" * 32]
    assert tally == {"lines": 1, "turns": 1, why: 1}
    assert all("2" * 32 not in name for name in files)
    assert [member["left_out"] for member in lines[0]["group"]["members"]] == [None, why]


def test_a_teacher_s_attempt_gives_no_line() -> None:
    assert written(make_episode())[2] == {"without_tokens": 1}


def test_calls_of_other_roles_are_not_the_policy_s() -> None:
    other = SECOND.model_copy(update={"role": "validator"})

    assert len(turns(episode_of(FIRST, other))) == 1


def test_the_range_of_each_picture_is_found() -> None:
    prompt = [1, 8, *[PAD] * 20, 9, 2, 2, 8, *[PAD] * 20, 9, 3]
    call = showing(prompt, 0, 1, image_tokens=40)
    found = picture_tokens(call)

    assert found is not None
    assert (found.token, found.ranges) == (PAD, ((2, 20), (26, 20)))
    [turn] = turns(episode_of(call))
    assert [
        (one["step"], one["offset"], one["length"]) for one in turn["metadata"]["pictures"]
    ] == [(0, 2, 20), (1, 26, 20)]
    assert picture_tokens(showing(prompt, 0, 1, image_tokens=44)) == found, "markers are counted"
    assert picture_tokens(showing(prompt, 0, 1)) == found, "nothing is counted"


@pytest.mark.parametrize(
    "call",
    [
        showing([1, *[PAD] * 20, 2], 0, 1, image_tokens=20),
        showing([1, *[PAD] * 20, 2, *[PAD] * 19], 0, 1, image_tokens=39),
        showing([1, *[PAD] * 20, 2], 0, image_tokens=30),
        showing([1, *[PAD] * (MIN_RUN - 1), 2], 0),
        showing([1, *[PAD] * 20, 2, *[6] * 20], 0),
        showing([1, 2, 3], 0, image_tokens=1),
        asked([said("a")], "b", [1, *[PAD] * 20], [7]),
    ],
)
def test_a_range_that_cannot_be_told_is_none(call: Call) -> None:
    assert picture_tokens(call) is None
    [turn] = turns(episode_of(call))
    assert all(one["offset"] is None for one in turn["metadata"]["pictures"])
