"""What a command says of how far it is."""

import pytest
from support.episodes.factories import make_episode, make_verdict

from flows.job.progress import ProgressCounter
from schemas.configuration.sections import AcceptSection
from schemas.verdicts.verdict import Status


def test_a_run_whose_units_are_done_says_that_it_is_finishing_and_not_how_long() -> None:
    counter = ProgressCounter(rule=AcceptSection())
    counter.episodes_total, counter.rolled_out = 2, 1
    counter.count_existing("one")

    assert counter.progress(busy=1, sessions=4).sentence.endswith(" left")

    counter.ending = True

    assert counter.progress(busy=0, sessions=4).sentence.endswith(" · finishing the run")


@pytest.mark.parametrize(
    ("passed", "said"),
    [(("outcome", "novelty"), "1 accepted, copies included"), (("outcome",), "1 accepted")],
)
def test_what_only_a_reader_of_the_whole_run_leaves_out_is_said_to_be_included(
    passed: tuple[str, ...], said: str
) -> None:
    counter = ProgressCounter(rule=AcceptSection(passed=passed))
    episode = make_episode()

    assert (
        f" · {said.replace('1', '0', 1).partition(',')[0]} · "
        in counter.progress(busy=0, sessions=1).sentence
    )
    counter.count_judged(
        episode.episode_id, [make_verdict(episode, verifier=name) for name in passed]
    )

    assert f" · {said} · " in counter.progress(busy=0, sessions=1).sentence


def test_accepted_episodes_in_the_spool_are_known_until_they_are_committed() -> None:
    counter = ProgressCounter(rule=AcceptSection(passed=("outcome",)))
    one, other = make_episode(), make_episode(salt=1).model_copy(update={"episode_id": "f" * 32})
    for episode in (one, other):
        counter.count_spooled(episode.episode_id)
    counter.count_accepted_before(other.episode_id)
    counter.count_judged(one.episode_id, [make_verdict(one, verifier="outcome")])

    assert counter.accepted == 2
    assert counter.accepted_in_spool == tuple(sorted((one.episode_id, other.episode_id)))

    counter.count_judged(
        other.episode_id, [make_verdict(other, verifier="outcome", status=Status.FAILED)]
    )
    counter.count_committed([one.episode_id])

    assert counter.accepted == 1
    assert counter.accepted_in_spool == ()
    assert counter.in_spool == 1


def test_episodes_that_wait_for_memory_are_told_of() -> None:
    progress = ProgressCounter(rule=AcceptSection()).progress(busy=2, sessions=8)
    short = progress.model_copy(update={"waiting_for_memory": 6})

    assert "memory" not in progress.sentence
    assert " · memory is short: 6 wait to begin" in short.sentence
