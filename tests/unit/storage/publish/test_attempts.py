"""What is published of every attempt: its row, its verdicts, and the results of its policy."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.episodes.factories import make_prompt, make_task, make_unit, make_verdict
from support.runs.memory_run import (
    RULE,
    TRAIN,
    MemoryRun,
    MemorySnapshot,
    commit_unit,
    contents,
    later,
    published,
    small_run,
    tables_of,
    written_at,
)

from schemas.episodes.episode import Episode, PolicyKind, StopReason
from schemas.tables.tables import Row, from_row, to_row
from schemas.verdicts.acceptance import JudgedEpisode, accept_all
from schemas.verdicts.verdict import Acceptance, Status, Verdict
from storage.publish.plan.build import build
from storage.publish.plan.config_columns import TABLE_CONFIGS, config_schema
from storage.publish.plan.manifest import MANIFEST, null_columns_by_config, read_manifest
from storage.publish.plan.plan import PublishPlan, plan_files
from storage.publish.plan.selection import select

ATTEMPTS = ("attempts", "results", "verdicts")


def _rows(folder: Path, config: str) -> list[Row]:
    files = sorted((folder / "data" / config).glob("*.parquet"))
    return [row for path in files for row in pq.read_table(path).to_pylist()]


def _unit(
    run: MemoryRun,
    number: int,
    *,
    attempts: int = 4,
    untrainable: Sequence[int] = (),
    not_done: Sequence[int] = (),
    unjudged: Sequence[int] = (),
    rejected: Sequence[int] = (),
) -> list[Episode]:
    """Commit and judge a task's attempts, some of which came to a bad end."""
    task = make_task(number)
    _, made = make_unit([task], attempts=attempts)
    broken = {"stop_reason": StopReason.FAILED, "failure_kind": "browser", "trainable": False}
    episodes = [
        later(one.model_copy(update=broken if place in untrainable else {}), number)
        for place, one in enumerate(made)
    ]
    run.commit([task], episodes)
    bad = {"outcome": {*untrainable, *not_done}, "replay": {*rejected}}
    run.judge(
        [
            make_verdict(
                one,
                verifier=name,
                status=Status.FAILED if place in bad.get(name, ()) else Status.PASSED,
            )
            for place, one in enumerate(episodes)
            if place not in unjudged
            for name in RULE.passed
        ]
    )
    return episodes


def test_every_attempt_has_a_row_that_says_what_became_of_it(tmp_path: Path) -> None:
    run = MemoryRun()
    good, lost, bad, broken, open_ = _unit(
        run, 1, attempts=5, not_done=[1], rejected=[2], untrainable=[3], unjudged=[4]
    )

    report = published(run.seal(), tmp_path)

    rows = {row["episode_id"]: row for row in _rows(tmp_path, "attempts")}
    said = {
        id_: (
            row["status"],
            row["accepted"],
            row["success"],
            row["trainable"],
            row["deciding_reason"],
        )
        for id_, row in rows.items()
    }
    assert said == {
        good.episode_id: ("accepted", True, True, True, None),
        lost.episode_id: ("rejected", False, False, True, "outcome: failed: The site said so."),
        bad.episode_id: ("rejected", False, True, True, "replay: failed: The site said so."),
        broken.episode_id: ("rejected", False, False, False, "outcome: failed: The site said so."),
        open_.episode_id: ("unjudged", False, None, True, f"{RULE.passed[0]}: not judged"),
    }
    assert rows[broken.episode_id]["failure_kind"] == "browser"
    assert {row["template_id"] for row in rows.values()} == {TRAIN}
    assert (report.rows["trajectories"], report.rows["attempts"]) == (1, 5)
    assert {row["episode_id"] for row in _rows(tmp_path, "steps")} == {good.episode_id}


@pytest.mark.parametrize("include_rejected", [False, True])
def test_a_reader_recomputes_from_the_verdicts_what_was_accepted(
    tmp_path: Path,
    include_rejected: bool,  # noqa: FBT001
) -> None:
    published(small_run().seal(), tmp_path, include_rejected=include_rejected)
    attempts, verdicts = _rows(tmp_path, "attempts"), _rows(tmp_path, "verdicts")

    of_attempt = [
        JudgedEpisode(
            row["episode_id"],
            row["task_id"],
            tuple(from_row(Verdict, v) for v in verdicts if v["episode_id"] == row["episode_id"]),
            row["split"],
        )
        for row in attempts
    ]
    again = accept_all(RULE, of_attempt)

    assert len(attempts) == 12
    for row in attempts:
        found = again[row["episode_id"]]
        assert {name: row[name] for name in Acceptance.model_fields} == to_row(found.acceptance)
        assert (row["status"], row["success"]) == (found.status.value, found.success)


def test_a_result_counts_what_a_policy_is_to_be_blamed_for(tmp_path: Path) -> None:
    run = MemoryRun()
    _unit(run, 1, attempts=6, not_done=[1, 2], rejected=[3], untrainable=[4], unjudged=[5])
    published(run.seal(), tmp_path)

    [row] = _rows(tmp_path, "results")

    counts = ("attempts", "successes", "accepted", "outside_failures", "unjudged")
    assert tuple(row[name] for name in counts) == (4, 2, 1, 1, 1)
    assert row["pass_at_1"] == row["pass_at_k"][0] == 0.5
    assert row["pass_at_k"] == pytest.approx([1 / 2, 5 / 6, 1, 1])
    assert (row["success_low"], row["success_high"]) == pytest.approx((0.150, 0.850), abs=1e-3)


def test_a_group_of_one_attempt_has_a_result_and_one_of_none_that_counts_has_no_rate(
    tmp_path: Path,
) -> None:
    run = MemoryRun()
    _unit(run, 1, attempts=1)
    _unit(run, 2, attempts=1, untrainable=[0])
    published(run.seal(), tmp_path)

    alone, broken = _rows(tmp_path, "results")

    assert (alone["attempts"], alone["pass_at_1"], alone["pass_at_k"]) == (1, 1.0, [1.0])
    assert (broken["attempts"], broken["outside_failures"]) == (0, 1)
    assert (broken["pass_at_1"], broken["pass_at_k"], broken["success_low"]) == (None, [], None)


def test_each_policy_at_a_task_has_a_result_of_its_own(tmp_path: Path) -> None:
    run = MemoryRun()
    task = make_task(1)
    _, made = make_unit([task], attempts=5)
    kinds = [
        {},
        {"policy": "noisy", "policy_kind": PolicyKind.CLUMSY},
        {"policy": "m", "policy_kind": PolicyKind.MODEL, "model": "one"},
        {"policy": "m", "policy_kind": PolicyKind.MODEL, "model": "other"},
        {"policy": "m", "policy_kind": PolicyKind.MODEL, "model": "other"},
    ]
    episodes = [one.model_copy(update=kind) for one, kind in zip(made, kinds, strict=True)]
    run.commit([task], episodes)
    run.judge([make_verdict(one, verifier=name) for one in episodes for name in RULE.passed])
    published(run.seal(), tmp_path)

    found = {
        (row["policy"], row["policy_kind"], row["model"]): row["attempts"]
        for row in _rows(tmp_path, "results")
    }
    assert found == {
        ("teacher", "teacher", None): 1,
        ("noisy", "clumsy", None): 1,
        ("m", "model", "one"): 1,
        ("m", "model", "other"): 2,
    }


def test_a_run_of_rejected_attempts_alone_publishes_why(tmp_path: Path) -> None:
    run = MemoryRun()
    _unit(run, 1, not_done=range(4))

    report = published(run.seal(), tmp_path)

    assert {*report.rows} == {"tasks", *ATTEMPTS}
    assert {row["deciding_reason"] for row in _rows(tmp_path, "attempts")} == {
        "outcome: failed: The site said so."
    }
    [result] = _rows(tmp_path, "results")
    assert (result["attempts"], result["successes"], result["success_low"]) == (4, 0, 0.0)


def _plan(snapshot: MemorySnapshot, *, shard_bytes: int) -> PublishPlan:
    tables = tables_of(snapshot)
    chosen = select(tables, RULE, include_rejected=False)
    return plan_files(tables, chosen, run_id="0" * 32, shard_bytes=shard_bytes)


@pytest.mark.parametrize(
    ("verifier", "status", "configs"),
    [
        ("replay", Status.FAILED, {*ATTEMPTS, "trajectories", "steps", "observations"}),
        ("seen", Status.PASSED, {"verdicts"}),
        ("replay", Status.ERROR, {*ATTEMPTS, "trajectories", "steps", "observations"}),
    ],
    ids=["decides", "says the same again", "takes a verdict back"],
)
def test_a_judgement_writes_the_files_that_hold_it_and_no_other(
    verifier: str, status: Status, configs: set[str]
) -> None:
    run = MemoryRun()
    units = [commit_unit(run, number, TRAIN) for number in range(8)]
    before = _plan(run.seal(), shard_bytes=3_000)
    episode = units[4][2]
    run.judge([make_verdict(episode, verifier=verifier, round_=1, status=status)])
    after = _plan(run.seal(), shard_bytes=3_000)

    kept = {file.recipe for file in after.files}
    changed = [file for file in before.files if file.recipe not in kept]
    holding = Counter(
        file.config
        for file in before.files
        if file.config in configs and episode.episode_id in {c.episode_id for c in file.episodes}
    )
    assert Counter(file.config for file in changed) == holding
    assert {*holding} == configs
    assert all(sum(file.config == config for file in before.files) > 1 for config in ATTEMPTS)


def _turned(parts: Sequence[pa.Table]) -> list[pa.Table]:
    table = pa.concat_tables(parts)
    return [table.take(list(range(table.num_rows))[::-1])]


@pytest.mark.parametrize("config", ATTEMPTS)
def test_the_bytes_do_not_depend_on_how_the_verdicts_lie(config: str) -> None:
    snapshot = small_run().seal()
    turned = {name: _turned(snapshot.rows[name]) for name in ("verdicts", "episodes")}
    found = []
    for one in (snapshot, replace(snapshot, rows={**snapshot.rows, **turned})):
        tables = tables_of(one)
        [planned] = [
            file
            for file in _plan(one, shard_bytes=1 << 30).files
            if (file.config, file.split) == (config, "train")
        ]
        [shard] = build(tables, planned, shard_bytes=1 << 30)
        found.append((planned.recipe, shard.sha256))

    assert found[0] == found[1]


def test_verdicts_are_those_of_the_run_in_the_order_in_which_they_were_given(
    tmp_path: Path,
) -> None:
    run = MemoryRun()
    [one, other] = commit_unit(run, 1, TRAIN, tasks=1)
    run.judge([make_verdict(one, verifier="replay", round_=1, status=Status.FAILED)])
    snapshot = run.seal()
    published(snapshot, tmp_path)

    rows = _rows(tmp_path, "verdicts")

    stored = pa.concat_tables(snapshot.rows["verdicts"]).to_pylist()
    assert sorted(map(repr, rows)) == sorted(map(repr, stored))
    assert [row["episode_id"] for row in rows] == [one.episode_id] * 6 + [other.episode_id] * 5
    assert [row["round"] for row in rows] == [0] * 5 + [1] + [0] * 5


def test_the_schema_is_the_same_from_run_to_run(tmp_path: Path) -> None:
    """Whoever acted, whatever was judged, and whether or not a column has a value."""
    bare, rich = MemoryRun(), small_run()
    [task] = [make_task(1)]
    _, [episode] = make_unit([task], n_steps=0, prompt=make_prompt())
    bare.commit([task], [episode])
    for name, run in {"bare": bare, "rich": rich}.items():
        published(run.seal(), tmp_path / name)

    paths = sorted(tmp_path.rglob("*.parquet"))

    assert {path.parent.name for path in paths} == {*TABLE_CONFIGS}
    for path in paths:
        assert pq.read_schema(path).equals(config_schema(path.parent.name)), path


def _null_throughout(folder: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for config in sorted(path.name for path in (folder / "data").iterdir()):
        table = pa.concat_tables(map(pq.read_table, (folder / "data" / config).glob("*.parquet")))
        names = {name for name in table.column_names if table[name].null_count == table.num_rows}
        found |= {config: names} if names else {}
    return found


def test_columns_that_are_null_throughout_are_named_on_the_card(tmp_path: Path) -> None:
    published(small_run().seal(), tmp_path, shard_mb=1)

    expected = _null_throughout(tmp_path)
    files = read_manifest((tmp_path / MANIFEST).read_bytes(), MANIFEST).files
    named = null_columns_by_config(files)
    card = (tmp_path / "README.md").read_text()

    assert {config: set(names) for config, names in named.items()} == expected
    for config, names in named.items():
        assert f"\n* `{config}`: {', '.join(f'`{name}`' for name in names)}\n" in card
    assert "sights" in expected["observations"]
    assert "model" not in expected["calls"]


def test_a_column_with_one_value_in_one_split_is_not_named(tmp_path: Path) -> None:
    run = small_run()
    task = make_task(77)
    _, [episode] = make_unit([task])
    run.commit([task], [later(episode.model_copy(update={"answer": "42"}), 9)])
    run.judge([make_verdict(episode, verifier=name) for name in RULE.passed])
    published(run.seal(), tmp_path)

    files = read_manifest((tmp_path / MANIFEST).read_bytes(), MANIFEST).files

    null = null_columns_by_config(files)["trajectories"]
    assert "answer" not in null
    assert "failure_kind" in null


def test_what_an_earlier_version_published_gets_the_new_files_and_keeps_its_own(
    tmp_path: Path,
) -> None:
    """Its manifest neither counts attempts nor says which columns hold nothing."""
    snapshot = small_run().seal()
    published(snapshot, tmp_path / "fresh" / "to")
    old = tmp_path / "old" / "to"
    published(snapshot, old)
    manifest = json.loads((old / MANIFEST).read_text())
    for file in manifest["files"]:
        del file["nulls"]
        if file["config"] in ATTEMPTS:
            (old / file["path"]).unlink()
    manifest["files"] = [one for one in manifest["files"] if one["config"] not in ATTEMPTS]
    for config in ATTEMPTS:
        del manifest["counts"][config]
    (old / MANIFEST).write_text(json.dumps(manifest))
    (old / "README.md").write_text("an earlier card")
    times = written_at(old)
    kept = [path for path in contents(old) if path.endswith(".parquet")]

    report = published(snapshot, old)

    assert contents(old) == contents(tmp_path / "fresh" / "to")
    assert {path: written_at(old)[str(old / path)] for path in kept} == {
        path: times[str(old / path)] for path in kept
    }
    assert report.put == 9 + 2  # a file of each config and split, the card and the manifest
    assert published(snapshot, old).put == 0
