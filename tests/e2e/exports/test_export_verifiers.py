"""`stepmill export --format verifiers` and `openenv`, read and written back by the libraries themselves.

They want older clients than the engine's, so they are in an environment of their own, made by `make
test`, and its interpreter is handed the files.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from support.episodes.factories import make_episode
from support.episodes.recorded_calls import FIRST, SECOND, asked, episode_of, said, user
from support.runs.commands import called
from support.runs.exports import lines, reread, told_of
from support.runs.library import MODELLED, Kept, RunLibrary

from generators.engine.simulator.tokenizer import IMAGE, IMAGE_END, IMAGE_START
from schemas.episodes.episode import Episode, StopReason
from storage.export.openenv import OpenEnv
from storage.export.protocol import Line
from storage.export.registry import Pictures
from storage.export.verifiers import Verifiers


def lost(ours: object, theirs: object, where: str = "trace") -> list[str]:
    """Return what the library dropped or changed of a record; it may add what nobody said."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        known = ours.keys() & theirs.keys()
        return [f"{where}.{key} is gone" for key in ours.keys() - known] + [
            word for key in sorted(known) for word in lost(ours[key], theirs[key], f"{where}.{key}")
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [word for n, (a, b) in pairs for word in lost(a, b, f"{where}[{n}]")]
    same = ours == theirs and type(ours) is type(theirs)
    return [] if same else [f"{where}: {ours!r} became {theirs!r}"]


def check_lossless(found: Sequence[Mapping[str, Any]], read: Sequence[Mapping[str, Any]]) -> None:
    """Hold what was exported against what the library made of it."""
    assert [line["id"] for line in found] == [trace["record"]["id"] for trace in read]
    for ours, theirs in zip(found, read, strict=True):
        assert lost(ours, theirs["record"]) == []
        reward = ours["rewards"].get("site")
        assert theirs["reward"] == (reward["score"] if reward else 0)


def written(episodes: Sequence[Episode], to: Path) -> Path:
    """Write episodes as an export does, pictures in the lines."""
    format_ = Verifiers(pictures=Pictures.DATA)
    pieces = (p for episode in episodes for p in format_.pieces(told_of(episode), Counter()))
    records = [piece.record for piece in pieces if isinstance(piece, Line)]
    to.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return to


@dataclass(frozen=True)
class Read:
    """What the library makes of the traces of a run and of others, in one process: to load it takes seconds."""

    run: Path
    """The run that was exported."""
    found: list[dict[str, Any]]
    """Its traces as they were exported."""
    traces: list[dict[str, Any]]
    """The same as the library reads them."""
    meant: list[dict[str, Any]]
    """The traces of `MEANT` as they were exported."""
    meant_traces: list[dict[str, Any]]
    """The same as the library reads them."""


@pytest.fixture(scope="module")
def read(run_library: RunLibrary, tmp_path_factory: pytest.TempPathFactory) -> Read:
    run, place = run_library.read(Kept.MODEL).run, tmp_path_factory.mktemp("traces")
    said = called("export", str(run), "--format=verifiers", f"--to={place / 'to'}", "--json")
    assert said.code == 0, said.err
    meant = written(MEANT, place / "meant.jsonl")
    traces = reread(*sorted((place / "to").glob("*.jsonl")), meant)
    found = list(lines(place / "to"))
    return Read(
        run,
        found,
        traces[: len(found)],
        [json.loads(line) for line in meant.read_text().splitlines()],
        traces[len(found) :],
    )


@pytest.mark.browser
def test_the_library_reads_a_run_s_traces_and_loses_nothing(read: Read) -> None:
    assert Counter(line["agent"]["name"] for line in read.found)["model"] == 2 * len(MODELLED)
    assert {line["agent"]["name"] for line in read.found} == {"model", "clumsy"}
    check_lossless(read.found, read.traces)
    check_tokens(read.traces, read.run)


@pytest.mark.browser
def test_openenv_reads_a_run_s_turns_token_by_token(read: Read, tmp_path: Path) -> None:
    without = sum(line["agent"]["name"] == "clumsy" for line in read.found)

    check_training_traces(read.run, tmp_path / "turns", without_calls=without)


def check_training_traces(run: Path, to: Path, *, without_calls: int) -> None:
    """Hold what OpenEnv reads against the calls of the run: every token, and where pictures stand."""
    said = called("export", str(run), "--format=openenv", f"--to={to}", "--json")
    assert said.code == 0, said.err
    counts = said.answer["counts"]
    assert isinstance(counts, dict)
    assert counts["without_tokens"] == without_calls > 0, "only a model makes calls"
    found = list(lines(to))
    read = reread(*sorted(to.glob("*.jsonl")), reader="training_trace_reader.py")
    assert [(line["id"], line["trace"]) for line in found] == [
        (line["id"], line["trace"]) for line in read
    ]
    rows = {(row["episode_id"], f"call-{row['call']}"): row for row in _rows(run)}
    for line in read:
        for turn in line["trace"]["turns"]:
            row = rows.pop((line["id"], turn["node_id"]))
            assert turn["prompt_token_ids"] == row["prompt_token_ids"]
            assert turn["completion_token_ids"] == row["completion_token_ids"]
            assert turn["per_token_logps"] == row["completion_logprobs"]
            check_pictures(turn, row)
    assert rows == {}, "every call is a turn, and one alone"


def check_pictures(turn: Mapping[str, Any], row: Mapping[str, Any]) -> None:
    """Hold the ranges of pictures against the placeholders of the tokenizer that wrote them."""
    pictures = turn["metadata"]["pictures"]
    spans = [range(one["offset"], one["offset"] + one["length"]) for one in pictures]
    ids = turn["prompt_token_ids"]

    assert [one["step"] for one in pictures] == row["image_steps"]
    assert sorted(n for span in spans for n in span) == [
        number for number, token in enumerate(ids) if token == IMAGE
    ]
    assert all(ids[span[0] - 1] == IMAGE_START for span in spans)
    assert all((to := span[-1] + 1) < len(ids) and ids[to] == IMAGE_END for span in spans)


def _rows(run: Path) -> list[dict[str, Any]]:
    table = DeltaTable(run / "tables" / "calls").to_pyarrow_table()
    return sorted(table.to_pylist(), key=lambda row: (row["episode_id"], row["call"]))


def check_tokens(read: Sequence[Mapping[str, Any]], run: Path) -> None:
    """Hold each branch against the tokens that the engine gave, masked but for its own replies."""
    rows = _rows(run)
    assert {row["role"] for row in rows} == {"policy", "repair"}
    assert all(row["completion_logprobs"] for row in rows)
    for trace in read:
        record = trace["record"]
        own = [row for row in rows if row["episode_id"] == record["id"]]
        asked_at = {call["node"]: row for call, row in zip(record["calls"], own, strict=True)}
        assert record["agent"]["trainable"] is bool(own)
        for branch in trace["branches"]:
            check_branch(branch, [asked_at.pop(node) for node in branch["nodes"]])
        assert asked_at == {}, "every reply is in a branch, and in one alone"


def check_branch(branch: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> None:
    """Hold one branch against its calls, of which each goes on from the one before."""
    whole = [*calls[-1]["prompt_token_ids"], *calls[-1]["completion_token_ids"]] if calls else []
    mask, logprobs = [False] * len(whole), [0.0] * len(whole)
    for call in calls:
        start = len(call["prompt_token_ids"])
        stop = start + len(call["completion_token_ids"])
        mask[start:stop] = [True] * (stop - start)
        logprobs[start:stop] = call["completion_logprobs"]

    assert branch["token_ids"] == whole
    assert branch["mask"] == mask
    assert branch["logprobs"] == logprobs


MEANT = (
    episode_of(FIRST, SECOND),
    episode_of(FIRST, asked([user(1), said("a"), user(2)], "c", [1, 9, 9, 4, 5, 6, 7], [8])),
    episode_of(asked([user(0)], "a"), asked([user(0), said("a"), user(1)], "b")),
    make_episode(stop_reason=StopReason.FAILED).model_copy(
        update={"failure_kind": "browser", "failure_message": "it died"}
    ),
)
"""Episodes whose calls go on from one another, are written anew, have no tokens, and are not there."""


@pytest.mark.browser
def test_the_library_finds_the_branches_that_were_meant(read: Read) -> None:
    check_lossless(read.meant, read.meant_traces)
    assert [
        [branch["token_ids"] for branch in trace["branches"]] for trace in read.meant_traces
    ] == [
        [[1, 2, 3, 4, 5, 6, 7, 8]],
        [[1, 2, 3, 4, 5], [1, 9, 9, 4, 5, 6, 7, 8]],
        [[]],
        [[]],
    ]
    [only] = read.meant_traces[0]["branches"]
    assert only["mask"] == [False, False, False, True, True, False, False, True]
    assert only["logprobs"] == [0.0, 0.0, 0.0, -0.5, -0.5, 0.0, 0.0, -0.5]
    assert [trace["record"]["ok"] for trace in read.meant_traces] == [True, True, True, False]


def test_openenv_reads_what_was_meant_and_refuses_what_was_altered(tmp_path: Path) -> None:
    group = [
        told_of(episode_of(FIRST, SECOND.model_copy(update={"call": 1}))),
        told_of(episode_of(FIRST, episode_id="2" * 32, trainable=False)),
    ]
    pieces = OpenEnv(pictures=Pictures.FILES).group_pieces(group, Counter())
    whole, masked = (dict(piece.record) for piece in pieces if isinstance(piece, Line))
    lies = [altered(whole, change) for change in ALTERATIONS]
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (whole, masked, *lies)))

    read = reread(path, reader="training_trace_reader.py")

    assert [line["trace"] for line in read[:2]] == [whole["trace"], masked["trace"]]
    assert ["refused" in line for line in read] == [False] * 2 + [True] * len(lies)


ALTERATIONS: tuple[dict[str, Any], ...] = (
    {"loss_mask": [0]},
    {"loss_mask": [1] * 5},
    {"per_token_logps": [-0.5]},
    {"per_token_logps": [0.5, -0.5]},
    {"prompt_token_ids": []},
    {"node_id": "call-1"},
    {"reward": 1.0},
)
"""What is no turn of a training trace, each for a reason of its own."""


def altered(line: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line whose first turn is another."""
    trace = line["trace"]
    first, *others = trace["turns"]
    return {**line, "trace": {**trace, "turns": [{**first, **changes}, *others]}}
