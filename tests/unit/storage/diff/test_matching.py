"""Which episodes are compared with each other."""

from schemas.verdicts.acceptance import AcceptanceStatus
from storage.diff.episode_facts import EpisodeFacts
from storage.diff.matching import match


def _facts(
    id_: str, task: str = "t1", *, policy: str = "teacher", attempt: int = 0
) -> EpisodeFacts:
    return EpisodeFacts(
        episode_id=id_,
        task_id=task,
        site="miniwob",
        template="click-test",
        policy=policy,
        attempt=attempt,
        status=AcceptanceStatus.ACCEPTED,
        reason=None,
        success=True,
        outside=False,
        content_sha256="0",
    )


def test_an_episode_that_both_have_matches_by_its_id() -> None:
    found = match([_facts("a"), _facts("b", "t2")], [_facts("b", "t2"), _facts("c", "t3")])

    assert [one.episode_id for one, _ in found.by_id] == ["b"]
    assert found.by_place == []
    assert [one.episode_id for one in found.only_first] == ["a"]
    assert [one.episode_id for one in found.only_second] == ["c"]


def test_episodes_of_two_runs_match_by_task_policy_and_attempt() -> None:
    first = [_facts("a"), _facts("b", attempt=1), _facts("c", policy="clumsy")]
    second = [_facts("x", attempt=1), _facts("y"), _facts("z", policy="model")]

    found = match(first, second)

    assert [(one.episode_id, other.episode_id) for one, other in found.by_place] == [
        ("a", "y"),
        ("b", "x"),
    ]
    assert found.renamed == {"y": "a", "x": "b"}
    assert [one.episode_id for one in found.only_first] == ["c"]
    assert found.ambiguous == 0


def test_an_episode_that_matched_by_id_is_no_candidate_by_task() -> None:
    found = match([_facts("a")], [_facts("a"), _facts("b")])

    assert found.by_place == []
    assert [one.episode_id for one in found.only_second] == ["b"]


def test_of_several_that_share_a_place_none_is_matched_and_all_are_counted() -> None:
    found = match([_facts("a")], [_facts("x"), _facts("y")])

    assert found.pairs == []
    assert found.ambiguous == 3
    assert len(found.only_first) == 1
    assert len(found.only_second) == 2
