"""Two workers who judge the same unit: every answer is in once, and none is lost."""

from collections import Counter
from pathlib import Path

import pytest
from support.episodes.factories import MadeRun, Unit, make_run, make_verdict
from support.stores.faulty_lake import commit as commit_unit

from flows.job.judging import commit_verdicts
from schemas.verdicts.verdict import Status, Verdict
from storage.lake.delta_table import CommitEntry, DeltaHandle
from storage.lake.lake import Lake


async def judged_run(folder: Path) -> tuple[MadeRun, Lake, Unit]:
    """A run with one unit of four episodes, committed and not judged."""
    run = await make_run(folder)
    lake, unit = run.lake(), run.unit(0)
    await commit_unit(lake, unit)
    return run, lake, unit


def verdicts(unit: Unit, *, count: int = 4, status: Status = Status.PASSED) -> list[Verdict]:
    return [make_verdict(episode, status=status) for episode in unit.episodes[:count]]


async def rounds(lake: Lake, unit: Unit) -> Counter[int]:
    return Counter(verdict.round for verdict in await lake.verdicts(units={unit.unit_id}))


async def test_an_answer_that_another_worker_gave_is_not_given_again(tmp_path: Path) -> None:
    _, lake, unit = await judged_run(tmp_path)
    await commit_verdicts(lake, unit.unit_id, verdicts(unit))

    await commit_verdicts(lake, unit.unit_id, verdicts(unit))

    assert await rounds(lake, unit) == {0: 4}
    await lake.close()


async def test_what_another_worker_left_out_goes_into_the_next_round(tmp_path: Path) -> None:
    _, lake, unit = await judged_run(tmp_path)
    await commit_verdicts(lake, unit.unit_id, verdicts(unit, count=1))

    await commit_verdicts(lake, unit.unit_id, verdicts(unit))

    assert await rounds(lake, unit) == {0: 1, 1: 3}
    await lake.close()


@pytest.mark.parametrize("status", [Status.ERROR, Status.ABSTAINED])
async def test_what_was_no_answer_is_answered(tmp_path: Path, status: Status) -> None:
    _, lake, unit = await judged_run(tmp_path)
    await commit_verdicts(lake, unit.unit_id, verdicts(unit, status=status))

    await commit_verdicts(lake, unit.unit_id, verdicts(unit))

    assert await rounds(lake, unit) == {0: 4, 1: 4}
    await lake.close()


async def test_a_unit_judged_again_gets_another_round(tmp_path: Path) -> None:
    _, lake, unit = await judged_run(tmp_path)
    await commit_verdicts(lake, unit.unit_id, verdicts(unit))

    await commit_verdicts(lake, unit.unit_id, verdicts(unit), again=True)

    assert await rounds(lake, unit) == {0: 4, 1: 4}
    await lake.close()


class Late(DeltaHandle):
    """Is asked whether a transaction is in, and finds another worker's in when it commits."""

    def commit_once(self, entry: CommitEntry) -> int:
        super().commit_once(CommitEntry(entry.transaction, entry.token + 1, ()))
        return super().commit_once(entry)


async def test_who_comes_second_in_a_round_is_told_so(tmp_path: Path) -> None:
    run, lake, unit = await judged_run(tmp_path)
    late = run.lake()
    late._tables["verdicts"]._handle = Late("verdicts", late._urls["verdicts"], late._access)

    ours = await late.commit_verdicts(
        unit.unit_id, verifier="outcome", version="1", round_=0, verdicts=verdicts(unit)
    )

    assert not ours
    await late.close()
    await lake.close()
