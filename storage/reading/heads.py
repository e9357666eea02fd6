"""The heads of all episodes of a run or a dataset: one row each, with what lists, filters and figures are made of.

A run is judged here by its rule, as a publication would. A dataset has the results of its own rule; its attempts that
are no trajectories have a row without steps.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from schemas.tables.tables import Row
from schemas.verdicts.acceptance import RunJudgement, accept_all, deciding_reason
from schemas.verdicts.verdict import Acceptance
from storage.publish.plan.candidate import family_of
from storage.publish.plan.verdict_reader import Judged, judged_episodes, read_standing_reviews
from storage.reading.opened import Opened
from storage.reading.row_files import RowFiles, stretches

_WORDS = pa.dictionary(pa.int32(), pa.string())

HEADS = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "unit", "task")),
        *((name, _WORDS) for name in ("template", "family", "site", "policy", "policy_kind")),
        *((name, _WORDS) for name in ("model", "split", "status", "reason", "verifier", "stop")),
        *((name, _WORDS) for name in ("failure", "replay", "difficulty", "fault", "day", "lost")),
        ("attempt", pa.int32()),
        ("n_steps", pa.int32()),
        ("tokens", pa.int64()),
        *((name, pa.float64()) for name in ("reward", "cost", "seconds", "engine_seconds")),
        *((name, pa.bool_()) for name in ("success", "done", "trainable", "shown")),
        ("started", pa.timestamp("us", tz="UTC")),
        *((name, pa.string()) for name in ("goal", "answer", "failure_message")),
        ("reasons", pa.list_(pa.string())),
        ("acceptance", pa.string()),
        ("statuses", pa.map_(pa.string(), pa.string())),
    ]
)
"""The columns of heads. `id`, `unit`, `task`: ids; `verifier`: the one whose verdict decided, None where none did;
`lost`: the stage of `STAGES` that it did not pass, `unjudged` where nobody can say, None where it was accepted;
`tokens`: of prompts and replies; `cost`: USD; `seconds`: from start to end; `shown`: whether its steps are here;
`acceptance`: the rule's result as JSON, without the sketch; `statuses`: the latest status of each verifier; of a dataset
empty, as its verdicts are rows of their own."""

STAGES = ("finish", "reward", "replay", "seen", "novelty", "rule")
"""What an attempt passes on its way to be accepted: it does not break, the site pays, it is replayed, what its actions rest on
is in its pictures, it is no copy, and all else that the rule asks for."""

_EPISODE_COLUMNS = (
    *("episode_id", "unit_id", "task_id", "attempt", "instruction", "site", "policy"),
    *("policy_kind", "model", "stop_reason", "failure_kind", "failure_message", "answer"),
    *("n_steps", "reward", "done", "trainable", "prompt_tokens", "completion_tokens"),
    *("engine_seconds", "wall_seconds", "cost_usd", "started_at"),
)
_TASK_COLUMNS = ("task_id", "template_id", "difficulty", "fault", "split", "instruction")
_ROWS_AT_ONCE = 2_048


def heads_of(opened: Opened) -> Iterator[pa.RecordBatch]:
    """Yield the heads of all episodes but withdrawn ones, a few thousand rows at a time; this blocks.

    Raises:
        Damaged: a file cannot be read, or lacks a column without which no episode is known.
    """
    tasks = {row["task_id"]: row for row in rows_of(opened.files.get("tasks", ()), _TASK_COLUMNS)}
    found = _of_run(opened, tasks) if opened.is_run else _of_dataset(opened, tasks)
    piece: list[Row] = []
    for row in found:
        piece.append(row)
        if len(piece) == _ROWS_AT_ONCE:
            yield pa.RecordBatch.from_pylist(piece, schema=HEADS)
            piece = []
    if piece:
        yield pa.RecordBatch.from_pylist(piece, schema=HEADS)


def rows_of(files: RowFiles, columns: tuple[str, ...]) -> Iterator[Row]:
    """Yield the rows of some files with these columns, None where a file lacks one."""
    for stretch in stretches(files):
        known = [name for name in columns if name in stretch.columns]
        nothing: Row = dict.fromkeys(columns)
        for batch in stretch.read(known):
            yield from (nothing | row for row in batch.to_pylist())


def _of_run(opened: Opened, tasks: Mapping[str, Row]) -> Iterator[Row]:
    if opened.tables is None or opened.rule is None:
        raise TypeError("expected a run")
    rows = [
        row
        for row in rows_of(opened.files.get("episodes", ()), _EPISODE_COLUMNS)
        if row["episode_id"] not in opened.withdrawn
    ]
    owners = {row["episode_id"]: row["task_id"] for row in rows}
    kept = dict[str, Judged]()
    splits = {id_: (tasks.get(task) or {}).get("split") or "" for id_, task in owners.items()}
    judged = judged_episodes(opened.tables, owners, splits, to=kept)
    results = accept_all(opened.rule, judged, read_standing_reviews(opened.tables, owners))
    for row in rows:
        id_ = row["episode_id"]
        yield _head(row, tasks.get(row["task_id"]) or {}) | {
            **(result := _judgement(results[id_], kept.get(id_, Judged()))),
            "lost": _lost_at(result, outside=row["trainable"] is False),
            "split": splits[id_] or None,
            "shown": True,
        }


def _lost_at(result: Mapping[str, Any], *, outside: bool) -> str | None:
    """Return the stage at which an attempt was lost; `outside`: it broke for reasons outside the policy."""
    if result["status"] == "accepted":
        return None
    if outside:
        return "finish"
    if result["status"] == "unjudged":
        return "unjudged"
    if not result["success"]:
        return "reward"
    return result["verifier"] if result["verifier"] in STAGES else "rule"


def _judgement(result: RunJudgement, judged: Judged) -> Row:
    acceptance = result.acceptance
    reasons = acceptance.rejected_because
    return {
        "status": result.status.value,
        "success": result.success,
        "replay": acceptance.replay,
        **_reason(deciding_reason(reasons) if reasons else None),
        "reasons": list(reasons),
        "acceptance": acceptance.model_dump_json(exclude={"sketch"}),
        "statuses": sorted(judged.statuses),
    }


def _reason(text: str | None) -> Row:
    """Return the deciding reason, cut to a line, and the verifier that it names."""
    if text is None:
        return {"reason": None, "verifier": None}
    return {"reason": text.splitlines()[0][:200], "verifier": text.partition(":")[0][:80]}


def _head(row: Mapping[str, Any], task: Mapping[str, Any]) -> Row:
    template = str(task.get("template_id") or row.get("template_id") or "?")
    started = row.get("started_at")
    return {
        "id": row["episode_id"],
        "unit": row.get("unit_id"),
        "task": row["task_id"],
        "attempt": row.get("attempt"),
        "template": template,
        "family": family_of(template),
        "site": row.get("site"),
        "policy": row.get("policy"),
        "policy_kind": row.get("policy_kind"),
        "model": row.get("model"),
        "stop": row.get("stop_reason"),
        "failure": row.get("failure_kind"),
        "failure_message": row.get("failure_message"),
        "difficulty": task.get("difficulty"),
        "fault": task.get("fault"),
        "day": None if started is None else f"{started:%Y-%m-%d}",
        "n_steps": row.get("n_steps"),
        "tokens": (row.get("prompt_tokens") or 0) + (row.get("completion_tokens") or 0),
        "reward": row.get("reward"),
        "cost": row.get("cost_usd"),
        "seconds": row.get("wall_seconds"),
        "engine_seconds": row.get("engine_seconds"),
        "done": row.get("done"),
        "trainable": row.get("trainable"),
        "started": started,
        "goal": row.get("instruction") or task.get("instruction") or "",
        "answer": row.get("answer"),
    }


def _of_dataset(opened: Opened, tasks: Mapping[str, Row]) -> Iterator[Row]:
    columns = tuple(name for name in Acceptance.model_fields if name != "sketch")
    more = (*columns, "status", "success", "deciding_reason", "template_id")
    files = opened.files
    published = {
        row["episode_id"]: row
        for row in rows_of(files.get("episodes", ()), (*_EPISODE_COLUMNS, *columns))
    }
    attempts = rows_of(files["attempts"], (*_EPISODE_COLUMNS, *more)) if "attempts" in files else ()
    for row in attempts or published.values():
        id_ = row["episode_id"]
        shown = published.get(id_)
        known = {name: value for name, value in row.items() if value is not None}
        whole = (shown or {}) | known
        reasons = whole.get("rejected_because") or []
        status = whole.get("status") or ("accepted" if whole.get("accepted") else "rejected")
        told = whole.get("deciding_reason") or (deciding_reason(reasons) if reasons else None)
        yield _head(whole, tasks.get(whole["task_id"]) or {}) | {
            "split": whole.get("split"),
            "replay": whole.get("replay"),
            **(result := {"status": status, "success": whole.get("success"), **_reason(told)}),
            "lost": _lost_at(result, outside=whole.get("trainable") is False),
            "reasons": list(reasons),
            "acceptance": Acceptance.model_validate(
                {name: whole[name] for name in columns if whole.get(name) is not None}
            ).model_dump_json(exclude={"sketch"}),
            "statuses": [],
            "shown": shown is not None,
        }
