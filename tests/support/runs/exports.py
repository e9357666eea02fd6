"""Exports of small runs, for tests of what a format writes and how."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from source_tree import ROOT
from support.episodes.factories import RUN_ID, make_task
from support.runs.memory_run import RULE, MemorySnapshot, tables_of

from generators.training.grounding import ALIKE, NEAR, PHRASINGS, grounding_rows
from schemas.base import JsonObject
from schemas.configuration.select_section import SelectSection
from schemas.episodes.conversation import ChatMessage, MessagePicture, Rendered, Segment
from schemas.episodes.episode import Episode
from schemas.tables.tables import Row
from schemas.tasks.expectation import Expectation
from schemas.tasks.task import SPLITS
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.verdict import Acceptance
from storage.export.export import ExportReport, export
from storage.export.protocol import Format, GroupFormat

PYTHON = ROOT / ".venv-verifiers" / "bin" / "python"
"""The interpreter of an environment that has the libraries which others read exports with."""

SECONDS = 120.0
"""How long a library may take."""


def exported(
    snapshot: MemorySnapshot,
    format_: Format | GroupFormat,
    to: Path,
    *,
    include_rejected: bool = False,
    section: SelectSection | None = None,
    run_id: str = RUN_ID,
) -> ExportReport:
    """Export a snapshot to a folder."""
    return export(
        tables_of(snapshot),
        format_,
        to,
        run_id=run_id,
        rule=RULE,
        include_rejected=include_rejected,
        section=section,
    )


def lines(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield every line of an export, split by split."""
    for path in sorted(folder.glob("*.jsonl")):
        for text in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(text)


def told_of(episode: Episode, *, accepted: bool = True) -> FullEpisode:
    """Return an episode with its task and what the rule makes of it."""
    task = make_task(episode.seed).model_copy(update={"task_id": episode.task_id})
    made = Acceptance(accepted=accepted, assurance="replayed", replay="reproduced", split="train")
    return FullEpisode(episode, task, made)


class Parrot:
    """A renderer that says the kind of each action: a segment for every two steps."""

    def __init__(self) -> None:
        self.about: JsonObject = {"dialect": "parrot"}
        self.about_grounding: JsonObject = {"alike": ALIKE, "near": NEAR, "phrasings": PHRASINGS}

    def grounding_rows(self, source: FullEpisode, counts: Counter[str]) -> Iterator[Row]:
        """Say what the steps of an episode point at, as every renderer does."""
        return grounding_rows(source, counts)

    def render(self, episode: Episode, expectation: Expectation | None = None) -> Rendered:
        """Say an episode."""
        del expectation
        steps = episode.steps[: episode.n_steps]
        segments: list[Segment] = []
        told = [ChatMessage("system", ("You are a parrot.",))]
        for step in steps:
            told += [
                ChatMessage("user", ("Look: ", MessagePicture(step.step, step.screenshot.bytes))),
                ChatMessage("assistant", (step.action.type,), learnt=True, step=step.step),
            ]
            if step.step % 2 or step is steps[-1]:
                segments.append(Segment(len(segments), (step.step,), tuple(told)))
                told = [ChatMessage(turn.role, turn.parts) for turn in told]
        return Rendered(tuple(segments))


def loaded_folder(folder: Path, cache: Path) -> list[dict[str, Any]]:
    """Return what `datasets` reads of an export by its folder, split by split as `lines` yields them."""
    from datasets import (  # type: ignore[import-untyped] # noqa: PLC0415 - slow to load, few need it
        load_dataset,
    )

    return _rows(load_dataset(str(folder), cache_dir=str(cache)))


def loaded_bare(folder: Path, cache: Path) -> list[dict[str, Any]]:
    """Return the same, read by the paths of its files alone, so that types are inferred."""
    from datasets import load_dataset  # noqa: PLC0415 - the same

    files = {split: str(path) for split in SPLITS if (path := folder / f"{split}.jsonl").exists()}
    return _rows(load_dataset("json", data_files=files, cache_dir=str(cache)))


def _rows(loaded: Mapping[str, Iterable[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [row for split in sorted(loaded) for row in loaded[split]]


def reread(*paths: Path, reader: str = "trace_reader.py") -> list[dict[str, Any]]:
    """Return what the library that a script asks makes of each line of these files."""
    assert PYTHON.exists(), f"{PYTHON.relative_to(ROOT)} is missing: `make test` makes it"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [PYTHON, ROOT / "tests" / "support" / "episodes" / reader, *paths],
        env=kept,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
