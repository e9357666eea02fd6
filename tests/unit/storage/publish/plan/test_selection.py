"""Which episodes a version publishes, and in which order."""

from dataclasses import replace

import pyarrow as pa
import pytest
from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.memory_run import (
    RULE,
    TRAIN,
    VALIDATION,
    MemoryRun,
    MemorySnapshot,
    commit_unit,
    small_run,
    tables_of,
)

from schemas.episodes.episode import Episode
from schemas.errors import Damaged, NotFound
from schemas.verdicts.acceptance import AcceptanceStatus
from schemas.verdicts.verdict import Status, Verdict
from storage.publish.plan.selection import Selection, select


def _select(snapshot: MemorySnapshot, *, include_rejected: bool = False) -> Selection:
    return select(tables_of(snapshot), RULE, include_rejected=include_rejected)


def test_only_what_the_rule_accepts_is_published() -> None:
    chosen = _select(small_run().seal())

    assert chosen.count(AcceptanceStatus.ACCEPTED) == 10
    assert chosen.count(AcceptanceStatus.REJECTED) == 2
    assert all(episode.acceptance.accepted for episode in chosen.published)
    assert len(list(chosen.published)) == 10


def test_rejected_episodes_are_published_when_asked_for() -> None:
    chosen = _select(small_run().seal(), include_rejected=True)

    published = list(chosen.published)
    assert len(published) == 12
    assert [e.acceptance.rejected_because for e in published if not e.acceptance.accepted] == [
        ("replay: failed: The site said so.",),
        ("replay: failed: The site said so.",),
    ]


def test_an_episode_nobody_judged_is_not_rejected() -> None:
    run = MemoryRun()
    task = make_task()
    run.commit([task], make_unit([task])[1])

    chosen = _select(run.seal())

    assert chosen.count(AcceptanceStatus.UNJUDGED) == 1
    assert list(chosen.published) == []


def test_the_highest_round_of_a_verifier_counts() -> None:
    run = MemoryRun()
    task = make_task()
    _, [episode] = make_unit([task])
    run.commit([task], [episode])
    run.judge([make_verdict(episode, verifier=name) for name in RULE.passed if name != "replay"])
    run.judge([make_verdict(episode, verifier="replay", status=Status.ERROR)])
    before = _select(run.seal())
    run.judge([make_verdict(episode, verifier="replay", round_=1)])
    after = _select(run.seal())

    assert list(before.published) == []
    assert [e.episode_id for e in after.published] == [episode.episode_id]


def test_a_duplicate_names_its_original() -> None:
    run = MemoryRun()
    [episode, *_] = commit_unit(run, 1, TRAIN)
    [other] = commit_unit(run, 2, TRAIN, tasks=1, attempts=1)
    run.judge([_fingerprints(episode), _fingerprints(other)])
    first, copy = sorted([episode.episode_id, other.episode_id])

    chosen = _select(run.seal())

    assert first in {one.episode_id for one in chosen.published}
    [rejected] = [one for one in chosen.candidates if one.episode_id == copy]
    assert rejected.status is AcceptanceStatus.REJECTED
    assert rejected.acceptance.duplicate_of == first
    assert rejected.acceptance.rejected_because == (f"novelty: repeats: a copy of {first}",)


def _fingerprints(episode: Episode) -> Verdict:
    """Return a verdict of `novelty` by which every episode is a copy of every other."""
    evidence = {"trajectory": "a", "course": "b", "pictures": ["0"], "task": "c"}
    found = make_verdict(episode, verifier="novelty", round_=1)
    return found.model_copy(update={"evidence": evidence})


def test_a_verdict_on_nothing_is_passed_over() -> None:
    run = small_run()
    _, [stranger] = make_unit([make_task(999)])
    run.judge([make_verdict(stranger)])

    assert len(_select(run.seal()).candidates) == 12


def test_the_order_does_not_depend_on_where_rows_lie() -> None:
    snapshot = small_run().seal()
    turned = {
        name: [pa.concat_tables(parts).take(list(range(sum(map(len, parts))))[::-1])]
        for name, parts in snapshot.rows.items()
    }

    assert _select(replace(snapshot, rows=turned)) == _select(snapshot)


def test_units_come_in_the_order_they_ended() -> None:
    run = MemoryRun()
    last = commit_unit(run, 9, TRAIN)
    first = commit_unit(run, 1, TRAIN)
    middle = commit_unit(run, 5, VALIDATION)

    units = list(dict.fromkeys(e.unit_id for e in _select(run.seal()).candidates))

    assert units == [first[0].unit_id, middle[0].unit_id, last[0].unit_id]


def test_a_version_without_episodes_is_refused() -> None:
    with pytest.raises(NotFound, match=r"version 1 .* holds no episode"):
        _select(MemoryRun().seal())


def test_an_episode_whose_task_is_gone_is_named() -> None:
    snapshot = small_run().seal()
    parts = snapshot.rows["tasks"]
    without = replace(snapshot, rows={**snapshot.rows, "tasks": parts[1:]})

    with pytest.raises(Damaged, match=r"its task .* has no row"):
        _select(without)


def test_origins_count_what_is_published() -> None:
    chosen = _select(small_run().seal())

    assert chosen.origins["policy"] == {"teacher": 6, "model": 4}
    assert chosen.origins["browser"] == {"chromium": 10}
