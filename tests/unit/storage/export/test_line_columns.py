"""Lines of every format, read by the real `datasets` with one schema, whatever comes first in them.

Lines of `openenv` and `grounding` need a real run's tokens and pages: they, and `verifiers` with tokens, are read in
`tests/e2e/exports/test_export_loads.py`.
"""

from collections.abc import Callable
from pathlib import Path

import datasets  # type: ignore[import-untyped] # it has no types
import pytest
from support.runs.exports import Parrot, exported, lines, loaded_bare, loaded_folder
from support.runs.memory_run import MemoryRun, MemorySnapshot, commit_unit, small_run

from schemas.configuration.sections import RowKind
from storage.export.chat import Chat
from storage.export.protocol import Format
from storage.export.registry import MessageShape, Pictures, Spelling
from storage.export.training_rows import TrainingRows
from storage.export.verifiers import Verifiers
from storage.publish.training.rows import RowMaker

FORMATS: dict[str, Format] = {
    "chat": Chat(Parrot(), shape=MessageShape.OPENAI, pictures=Pictures.FILES),
    "chat, qwen": Chat(Parrot(), shape=MessageShape.QWEN, pictures=Pictures.DATA),
    "verifiers": Verifiers(pictures=Pictures.FILES),
    "sft": TrainingRows(RowMaker(RowKind.SFT, Parrot()), spelling=Spelling.IMAGE_URL),
    "sft, base64": TrainingRows(RowMaker(RowKind.SFT, Parrot()), spelling=Spelling.BASE64),
}


def one_episode(*, model: bool) -> MemorySnapshot:
    """Return a run of one episode."""
    run = MemoryRun()
    commit_unit(run, 1, "click-test", tasks=1, attempts=1, n_steps=2, model=model)
    return run.seal()


MIXED = "a teacher's split first, then a model's"

RUNS: dict[str, Callable[[], MemorySnapshot]] = {
    MIXED: lambda: small_run().seal(),
    "one episode of a teacher": lambda: one_episode(model=False),
    "one episode of a model": lambda: one_episode(model=True),
}


@pytest.mark.parametrize(
    ("format_", "run"),
    [(format_, MIXED) for format_ in FORMATS]
    + [(format_, run) for format_ in ("chat", "verifiers") for run in RUNS if run != MIXED],
)
def test_every_split_loads_with_every_value_as_it_was_written(
    format_: str, run: str, tmp_path: Path
) -> None:
    report = exported(RUNS[run](), FORMATS[format_], tmp_path / "to")
    written = list(lines(tmp_path / "to"))

    assert len(written) == report.lines > 0
    assert loaded_folder(tmp_path / "to", tmp_path / "cache") == written
    if (format_, run) != ("verifiers", MIXED):
        assert loaded_bare(tmp_path / "to", tmp_path / "cache") == written


def test_without_its_card_a_column_that_is_empty_first_and_full_later_does_not_load(
    tmp_path: Path,
) -> None:
    exported(small_run().seal(), FORMATS["verifiers"], tmp_path / "to")

    with pytest.raises(datasets.exceptions.DatasetGenerationError) as error:
        loaded_bare(tmp_path / "to", tmp_path / "cache")
    assert "to null" in str(error.value.__cause__)
