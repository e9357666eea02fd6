"""What a command says of how far it is."""

from flows.job.progress import ProgressCounter
from schemas.sections import AcceptSection


def test_a_run_whose_units_are_done_says_that_it_is_finishing_and_not_how_long() -> None:
    counter = ProgressCounter(rule=AcceptSection())
    counter.episodes_total, counter.rolled_out = 2, 1
    counter.count_existing("one")

    assert counter.progress(busy=1, sessions=4).sentence.endswith(" left")

    counter.ending = True

    assert counter.progress(busy=0, sessions=4).sentence.endswith(" · finishing the run")
