"""What ends a publication is named for what it is: a refusal before work, unfinished after."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.episodes.factories import make_run
from support.stores.faulty_lake import commit

from flows.job import publish_job
from flows.job.config_loader import Sources
from flows.job.publish_job import open_publication
from schemas.errors import BadConfig, Conflict, Damaged, StepmillError, Unfinished, Unwritable
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


async def _sealed(at: Path) -> None:
    run = await make_run(at)
    lake = run.lake()
    await commit(lake, run.unit(0))
    await lake.seal()
    await lake.close()


async def test_an_unknown_dialect_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    await _sealed(tmp_path / "run")
    sources = Sources(settings=("publish.dialect=dolphin",))

    with pytest.raises(BadConfig, match="dolphin"):
        async with open_publication(
            str(tmp_path / "run"), sources, str(tmp_path / "to"), None
        ) as job:
            await job.report()

    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize(
    ("settings", "dialect"),
    [
        ((), "holotron"),
        (("publish.dialect=holo2",), "holo2"),
        (("publish.dialect=dolphin", "publish.training_rows=[]"), None),
    ],
)
async def test_training_rows_are_in_the_words_that_are_asked_for(
    tmp_path: Path, settings: tuple[str, ...], dialect: str | None
) -> None:
    """Nothing of a dialect matters where no rows are wanted."""
    await _sealed(tmp_path / "run")
    anything = "accept.passed=[]"
    async with open_publication(
        str(tmp_path / "run"), Sources(settings=(anything, *settings)), str(tmp_path / "to"), None
    ) as job:
        await job.report()

    found = sorted((tmp_path / "to/data").glob("*/*.parquet"))
    words = {
        one
        for path in found
        if path.parent.name == "sft"
        for one in pq.read_table(path)["dialect"].to_pylist()
    }
    assert words == (set() if dialect is None else {dialect})
