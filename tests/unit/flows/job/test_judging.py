from support.episodes.factories import make_episode, make_task, make_verdict

from flows.job.judging import assign_rounds, by_episode
from flows.job.unit_runner import with_goal
from schemas.verdicts.acceptance import latest_verdicts
from schemas.verdicts.verdict import Status


def test_the_first_verdicts_of_a_unit_are_of_round_0() -> None:
    new = [make_verdict(make_episode(), verifier=name) for name in ("outcome", "replay")]

    assert set(assign_rounds(new, [])) == {("outcome", "1", 0), ("replay", "1", 0)}


def test_a_round_that_a_unit_has_is_never_used_again() -> None:
    """Another episode of the unit was judged in that round: its transaction is taken."""
    judged, other = make_episode(make_task(seed=1)), make_episode(make_task(seed=2))
    known = [make_verdict(judged, round_=0), make_verdict(judged, round_=1)]

    [(address, verdicts)] = assign_rounds([make_verdict(other, round_=0)], known).items()

    assert address == ("outcome", "1", 2)
    assert [verdict.round for verdict in verdicts] == [2]


def test_another_version_of_a_verifier_counts_its_own_rounds() -> None:
    episode = make_episode()
    known = [make_verdict(episode, version="1", round_=4)]

    assert set(assign_rounds([make_verdict(episode, version="2")], known)) == {("outcome", "2", 0)}


def test_the_highest_round_of_an_episode_counts() -> None:
    episode = make_episode()
    verdicts = [
        make_verdict(episode, round_=1, status=Status.PASSED),
        make_verdict(episode, round_=0, status=Status.ERROR),
    ]

    found = latest_verdicts(by_episode(verdicts)[episode.episode_id])

    assert found["outcome"].status is Status.PASSED


def test_a_task_gets_the_goal_that_its_page_stated() -> None:
    silent = make_task(instruction="")
    stated = make_task(seed=2, instruction="as the file says")

    assert with_goal(silent, "Click the button.").instruction == "Click the button."
    assert with_goal(silent, "").instruction == ""
    assert with_goal(stated, "something else").instruction == "as the file says"
