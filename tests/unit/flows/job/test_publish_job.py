"""What ends a publication is named for what it is: a refusal before work, unfinished after."""

from pathlib import Path

import pytest
from factories import make_run
from faulty_lake import commit

from flows.job import publish_job
from flows.job.config_loader import Sources
from flows.job.publish_job import open_publication
from schemas.errors import Conflict, Damaged, StepmillError, Unfinished, Unwritable
from storage.publish.publish import PublishReport, publish


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (Damaged("torn"), Unfinished),
        (Conflict("late"), Unfinished),
        (Unfinished("full"), Unfinished),
        (Unwritable("no"), Unwritable),
    ],
    ids=repr,
)
async def test_what_breaks_a_publication_that_has_begun_leaves_it_unfinished(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: StepmillError,
    named: type[StepmillError],
) -> None:
    async def broken(*_: object, **__: object) -> PublishReport:
        raise error

    run = await make_run(tmp_path / "run")
    lake = run.lake()
    await commit(lake, run.unit(0))
    await lake.seal()
    await lake.close()
    monkeypatch.setattr(publish_job, publish.__name__, broken)

    with pytest.raises(ExceptionGroup) as caught:
        async with open_publication(
            str(tmp_path / "run"), Sources(), str(tmp_path / "to"), None
        ) as job:
            await job.report()

    assert caught.group_contains(named, match=str(error))
